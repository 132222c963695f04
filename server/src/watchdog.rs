//! The watchdog logs when a tick thread has not finished a tick for a second or more. It gives up a
//! match whose tick thread hangs for too long. If that was the last match, it ends the server.
//!
//! The tick thread notes the end of each tick in its heartbeat
//! ([`Stall`](crate::telemetry::Stall)). The watchdog runs on the network
//! thread and looks at it four times a second. It tells two faults apart: the
//! tick thread *hangs* while the rest of the process runs, which is a defect of
//! this server; or the *whole process* stood still, because somebody stopped it,
//! the machine slept or had no processor to spare. Time in which the watchdog
//! itself did not run is never counted as a hang.
//!
//! The watchdog also reports to the service manager, if there is one: that the server is ready once
//! it ticks, a sign of life as long as it ticks, and that it ends.

mod gate;
mod service_manager;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tracing::{error, warn};

pub(crate) use gate::Gate;
pub use gate::TicksHeld;
pub(crate) use service_manager::ServiceManager;

use crate::error::RunError;
use crate::match_handle::MatchHandle;
use crate::matches::Matches;
use crate::telemetry::{STALL, Stall};
use service_manager::Ticking;

/// Time between two checks of the heartbeat. A hang is reported at most this much later than
/// [`STALL`].
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// At most this much of the time between two checks counts as watched. In the rest, the watchdog
/// itself did not run.
const WATCHED: Duration = Duration::from_millis(500);

/// The finding of a check of the heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    /// The tick thread hangs, which was not known before.
    Hangs,
    /// The tick thread hangs for longer than it may.
    HangsForGood,
    /// The tick thread hung and ticks again.
    Recovered(Stall),
    /// No tick was finished for a while, but ticks come again.
    Stalled {
        /// The time without ticks.
        stall: Stall,
        /// Whether the watchdog did not run either.
        whole_process: bool,
    },
}

/// The watchdog's memory from one check to the next. It reads no clock.
#[derive(Debug)]
struct Watchdog {
    /// How long a hang may last. `None` means for ever.
    limit: Option<Duration>,
    /// When it last checked.
    checked_at: Instant,
    /// Time between that check and the one before it.
    last_gap: Duration,
    /// Time without a finished tick that the watchdog has observed itself.
    watched: Duration,
    hangs: bool,
    /// The last stall that was reported.
    reported: Option<Stall>,
}

impl Watchdog {
    fn new(now: Instant, limit: Option<Duration>) -> Self {
        let (last_gap, watched) = (Duration::ZERO, Duration::ZERO);
        Self { limit, checked_at: now, last_gap, watched, hangs: false, reported: None }
    }

    /// The finding at `now`, when the last tick was finished `age` ago and the last stall that
    /// is over was `last_stall`.
    fn check(&mut self, now: Instant, age: Duration, last_stall: Option<Stall>) -> Option<Finding> {
        let gap = now.saturating_duration_since(self.checked_at);
        let widest_gap = gap.max(self.last_gap);
        (self.checked_at, self.last_gap) = (now, gap);
        if age >= gap {
            self.watched += gap.min(WATCHED);
            if self.limit.is_some_and(|limit| self.watched >= limit) {
                return Some(Finding::HangsForGood);
            }
            let is_new = !self.hangs && self.watched >= STALL;
            self.hangs |= is_new;
            return is_new.then_some(Finding::Hangs);
        }
        self.watched = Duration::ZERO;
        let hung = std::mem::take(&mut self.hangs);
        let stall = last_stall.filter(|stall| self.reported != Some(*stall))?;
        self.reported = Some(stall);
        // If the whole process stood still, so did the watchdog. The check that came late may be
        // the one before the first tick.
        let whole_process = widest_gap * 2 > stall.lasted;
        Some(if hung {
            Finding::Recovered(stall)
        } else {
            Finding::Stalled { stall, whole_process }
        })
    }
}

/// Watches the tick thread of each match for as long as it is polled. A tick thread that has hung
/// for `limit` will not go on, and nobody can end it, so its match is given up. Returns once the
/// last match is given up, because only a restart helps then.
pub(crate) async fn watch(
    games: &Matches<Arc<MatchHandle>>,
    limit: Option<Duration>,
    manager: &mut ServiceManager,
) -> RunError {
    let begin = Instant::now();
    let mut watched: Vec<_> =
        games.iter().map(|game| (game, Watchdog::new(begin, limit))).collect();
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let now = Instant::now();
        let age = |game: &MatchHandle| game.telemetry.tick.age(now);
        let ticks =
            |game: &Arc<MatchHandle>| age(game) < STALL && game.latest.borrow().state.tick > 0;
        // A match that has failed was reported when it failed, and nobody waits for its ticks.
        let ticking = match games.played().any(ticks) {
            true if games.played().all(ticks) => Ticking::All,
            true => Ticking::Some,
            false => Ticking::None,
        };
        manager.report(now, ticking, || {
            match games.played().map(|game| age(game)).max().filter(|age| *age >= STALL) {
                None => format!("players: {} of {}", games.players(), games.player_limit()),
                Some(age) => format!("no tick was finished for {} s", age.as_secs()),
            }
        });
        for (game, watchdog) in &mut watched {
            if game.has_failed() {
                continue;
            }
            let (age, tick) = (age(game), &game.telemetry.tick);
            let Some(finding) = watchdog.check(now, age, tick.last_stall()) else { continue };
            if matches!(finding, Finding::Hangs | Finding::Stalled { .. }) {
                tick.stalled();
            }
            if finding == Finding::HangsForGood {
                let seconds = age.as_secs();
                let why = format!(
                    "the tick thread hangs: no tick was finished for {seconds} s; a thread cannot be \
                     ended, so it is left behind"
                );
                // The flag is set before the match fails. If the thread comes back, it sees the
                // failure and clears the flag.
                game.is_left_behind.store(true, Ordering::Relaxed);
                if !game.fail(&why) {
                    return RunError::Hangs { seconds };
                }
                continue;
            }
            finding.tell(game, age);
        }
    }
}

impl Finding {
    /// Logs the finding of a match.
    fn tell(self, game: &MatchHandle, age: Duration) {
        let prefix = game.prefix();
        match self {
            Self::Hangs | Self::HangsForGood => error!(
                "{prefix}the tick thread hangs: no tick was finished for {:.1} s; players in the match: {}",
                age.as_secs_f64(),
                game.clients.players(),
            ),
            Self::Recovered(stall) => warn!(
                "{prefix}the tick thread goes on: no tick was finished for {:.1} s",
                stall.lasted.as_secs_f64()
            ),
            Self::Stalled { stall, whole_process } => warn!(
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
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(5);

    /// A tick thread and a watchdog in virtual time.
    struct Stage {
        watchdog: Watchdog,
        now: Instant,
        ticked: Instant,
        last_stall: Option<Stall>,
    }

    impl Stage {
        fn new() -> Self {
            let now = Instant::now();
            let watchdog = Watchdog::new(now, Some(LIMIT));
            Self { watchdog, now, ticked: now, last_stall: None }
        }

        fn wait(&mut self, milliseconds: u64) {
            self.now += Duration::from_millis(milliseconds);
        }

        fn tick(&mut self) {
            let lasted = self.now - self.ticked;
            if lasted >= STALL {
                self.last_stall = Some(Stall { ended: self.now, lasted });
            }
            self.ticked = self.now;
        }

        fn check(&mut self) -> Option<Finding> {
            self.watchdog.check(self.now, self.now - self.ticked, self.last_stall)
        }

        /// Looks as often as the watchdog does, for so long.
        fn watch(&mut self, milliseconds: u64) -> Vec<Finding> {
            let mut findings = Vec::new();
            for _ in 0..milliseconds / 250 {
                self.wait(250);
                findings.extend(self.check());
            }
            findings
        }

        /// Looks as often as the watchdog does, for so long, while ticks come.
        fn play(&mut self, milliseconds: u64) -> Vec<Finding> {
            let mut findings = Vec::new();
            for _ in 0..milliseconds / 250 {
                self.wait(245);
                self.tick();
                self.wait(5);
                findings.extend(self.check());
            }
            findings
        }
    }

    #[test]
    fn a_match_that_ticks_is_nothing_to_tell() {
        assert_eq!(Stage::new().play(60_000), []);
    }

    #[test]
    fn a_hang_is_told_once_and_its_end_too() {
        let mut stage = Stage::new();
        stage.play(1000);
        assert_eq!(stage.watch(4000), [Finding::Hangs]);
        let findings = stage.play(2000);
        let [Finding::Recovered(stall)] = findings[..] else { panic!("{findings:?}") };
        assert_eq!(stall.lasted, Duration::from_millis(4250));
        // The next hang is reported anew.
        assert_eq!(stage.watch(2000), [Finding::Hangs]);
    }

    #[test]
    fn a_hang_beyond_the_limit_is_for_good() {
        let mut stage = Stage::new();
        stage.play(1000);
        assert_eq!(stage.watch(5250)[..2], [Finding::Hangs, Finding::HangsForGood]);
        stage.watchdog = Watchdog::new(stage.now, None);
        assert_eq!(stage.watch(3_600_000), [Finding::Hangs]);
    }

    #[test]
    fn a_process_that_was_stopped_does_not_hang_however_long() {
        for tick_thread_first in [true, false] {
            let mut stage = Stage::new();
            stage.play(1000);
            stage.wait(3_600_000);
            if tick_thread_first {
                stage.tick();
                stage.wait(1);
            }
            let mut findings: Vec<_> = stage.check().into_iter().collect();
            findings.extend(stage.play(2000));
            let [Finding::Stalled { stall, whole_process: true }] = findings[..] else {
                panic!("tick thread first: {tick_thread_first}: {findings:?}")
            };
            assert!(stall.lasted > Duration::from_secs(3599));
        }
    }

    #[test]
    fn a_stall_that_ends_before_it_is_told_blames_the_tick_thread() {
        let mut stage = Stage::new();
        stage.play(1000);
        assert_eq!(stage.watch(750), []);
        stage.wait(245);
        let findings = stage.play(1000);
        let [Finding::Stalled { stall, whole_process: false }] = findings[..] else {
            panic!("{findings:?}")
        };
        assert!(stall.lasted >= STALL && stall.lasted < Duration::from_millis(1300));
    }
}
