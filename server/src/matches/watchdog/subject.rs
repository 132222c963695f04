use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::{error, warn};

use super::judge::Finding;
use crate::matches::match_handle::MatchHandle;
use crate::matches::telemetry::{EventLoop, Pulse, Stall};

/// Something that gives signs of life.
pub(super) enum Subject<'a> {
    /// The tick thread of a match.
    Ticks(&'a Arc<MatchHandle>),
    /// The snapshots to the players of a match.
    Answers(&'a Arc<MatchHandle>),
    /// The event loop of a thread.
    Loop(EventLoop, &'a Pulse),
}

impl Subject<'_> {
    /// Whether a match cannot go on while this subject hangs. A hang of any other subject is only
    /// reported.
    pub(super) fn is_vital(&self) -> bool {
        !matches!(self, Self::Loop(which, _) if *which != EventLoop::Network)
    }

    /// Whether nobody waits for signs of life any more.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Ticks(game) | Self::Answers(game) if game.has_failed())
    }

    /// Time that has passed at `now` since the last sign of life.
    pub(super) fn age(&self, now: Instant) -> Duration {
        match self {
            Self::Ticks(game) => game.telemetry.tick.age(now),
            Self::Answers(game) => game.silence(now).unwrap_or_default(),
            Self::Loop(_, pulse) => pulse.age(now).unwrap_or_default(),
        }
    }

    /// The last completed period without a sign of life.
    pub(super) fn last_stall(&self) -> Option<Stall> {
        match self {
            Self::Ticks(game) => game.telemetry.tick.last_stall(),
            Self::Answers(game) => game.telemetry.network.answers.last_stall(),
            Self::Loop(_, pulse) => pulse.last_stall(),
        }
    }

    /// Counts and logs a finding. `age` is the time since the last sign of life.
    pub(super) fn note(&self, finding: Finding, age: Duration) {
        match self {
            Self::Ticks(game) => note_ticks(game, finding, age),
            Self::Answers(game) => note_answers(game, finding, age),
            Self::Loop(which, _) => note_loop(which.thread(), finding, age),
        }
    }
}

fn note_ticks(game: &MatchHandle, finding: Finding, age: Duration) {
    if matches!(finding, Finding::Hangs | Finding::Stalled { .. }) {
        game.telemetry.tick.stalled();
    }
    let prefix = game.prefix();
    match finding {
        // The match's failure is logged when it is given up.
        Finding::HangsForGood => {}
        Finding::Hangs => error!(
            "{prefix}the tick thread hangs: no tick was finished for {:.1} s; players in the match: {}",
            age.as_secs_f64(),
            game.clients.players(),
        ),
        Finding::Recovered(stall) => warn!(
            "{prefix}the tick thread goes on: no tick was finished for {:.1} s",
            stall.lasted.as_secs_f64()
        ),
        Finding::Stalled { stall, whole_process } => warn!(
            "{prefix}no tick was finished for {:.1} s: {}",
            stall.lasted.as_secs_f64(),
            if whole_process {
                "the whole process stood still (stopped, suspended, or without a processor)"
            } else {
                "the tick thread was busy or without a processor"
            }
        ),
    }
}

fn note_answers(game: &MatchHandle, finding: Finding, age: Duration) {
    let (prefix, players) = (game.prefix(), game.clients.players());
    match finding {
        Finding::Hangs => error!(
            "{prefix}no snapshot was sent for {:.1} s, though players are heard; players in the match: {players}",
            age.as_secs_f64(),
        ),
        Finding::Recovered(_) => warn!("{prefix}snapshots are sent again"),
        // A match without players sends no snapshot for a long time, which is not a fault.
        Finding::HangsForGood | Finding::Stalled { .. } => {}
    }
}

fn note_loop(thread: &str, finding: Finding, age: Duration) {
    match finding {
        Finding::HangsForGood => {}
        Finding::Hangs => error!(
            "the {thread} hangs: its event loop has not turned for {:.1} s",
            age.as_secs_f64()
        ),
        Finding::Recovered(stall) => warn!(
            "the {thread} goes on: its event loop did not turn for {:.1} s",
            stall.lasted.as_secs_f64()
        ),
        // If the whole process stood still, the finding about the tick thread already reports it.
        Finding::Stalled { whole_process: true, .. } => {}
        Finding::Stalled { stall, .. } => warn!(
            "the event loop of the {thread} did not turn for {:.1} s: it was busy or without a processor",
            stall.lasted.as_secs_f64()
        ),
    }
}
