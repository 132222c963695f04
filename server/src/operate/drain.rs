//! Draining: the time between the request to end the server and its end. Nobody may join any more,
//! and players may play on, at most until the end of their round.

use std::sync::Arc;
use std::time::Duration;

use obsp_proto::Time;
use obsp_proto::control::{ChatLine, MatchEvent, RoundPhase};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tracing::{info, warn};

use crate::matches::Matches;
use crate::matches::match_handle::MatchHandle;

/// Time between two checks whether somebody still plays.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How many checks in a row may find the tick thread hanging, before the drain no longer waits for
/// players.
const HANGING_CHECKS: u32 = 3;

/// The remaining time at which the server announces the shutdown once more.
const LAST_CALL: Duration = Duration::from_secs(10);

/// Waits until the server is asked to drain, and then drains all matches.
pub(crate) async fn run(games: &Matches<Arc<MatchHandle>>) {
    games.first().stop.drain_requested().await;
    let mut matches: JoinSet<()> = games.iter().map(|game| drain(Arc::clone(game))).collect();
    while matches.join_next().await.is_some() {}
}

/// Drains a match: notifies the players, and returns when the last of them has left, when the round
/// or the time is over, or when the tick thread hangs.
async fn drain(game: Arc<MatchHandle>) {
    let prefix = game.prefix();
    let Some(mut left) = game.stop.draining() else { return };
    let players = game.clients.players();
    info!(players, seconds = left.as_secs_f64(), "{prefix}draining: no client may join any more");
    if players > 0 {
        announce(&game, left, game.rounds.status().rules.ends());
    }
    let (mut last_call, mut over) = (left > LAST_CALL, None::<Time>);
    let mut hanging = 0;
    while !left.is_zero() && game.clients.players() > 0 {
        // One check is not enough: after the whole process stood still, the first check may come
        // before the first tick.
        hanging = if game.telemetry.tick.is_stalled() { hanging + 1 } else { 0 };
        if hanging > HANGING_CHECKS {
            warn!("{prefix}the tick thread hangs: players are not waited for");
            break;
        }
        if last_call && left <= LAST_CALL {
            last_call = false;
            announce(&game, left, false);
        }
        sleep(POLL_INTERVAL.min(left)).await;
        // Once the server is asked to end, `draining` returns `None`, and the drain also ends.
        left = game.stop.draining().unwrap_or_default();
        // The drain ends a little before the match would continue in the next world.
        over = over.or_else(|| end_of_intermission(&game));
        let until_over = over.map_or(Duration::MAX, |over| over.since(game.now() + POLL_INTERVAL));
        left = left.min(until_over);
    }
    info!(players = game.clients.players(), "{prefix}drained");
}

/// The end of the intermission, if the match is in one.
fn end_of_intermission(game: &MatchHandle) -> Option<Time> {
    let status = game.rounds.status();
    status.ends.filter(|_| status.phase == RoundPhase::Intermission)
}

fn announce(game: &MatchHandle, left: Duration, round_ends: bool) {
    let or_before = if round_ends { ", or after this round if that is sooner" } else { "" };
    let line = format!("The server shuts down in {} s{or_before}", left.as_secs_f64().ceil());
    // A short line of letters and digits is always a valid line of chat.
    if let Ok(line) = ChatLine::new(&line) {
        game.announce(MatchEvent::Announced { line });
    }
}
