//! Players whose connection has ended and whose body stays. A player who lost the connection may
//! come back: body, score and place are kept, idle, for the time of `--rejoin`. A player who leaves
//! in a fight does not escape: the body stays, unprotected, until the fight is over
//! (`--combat-time`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_proto::Tick;
use obsp_proto::control::{MatchEvent, Reason};
use tokio::time::sleep;
use tracing::info;

use crate::matches::match_handle::MatchHandle;
use crate::matches::seats::away::{AwayPlayer, LeavingRules};
use crate::matches::seats::{Seat, ticks};

/// Time between two checks for players whose time to come back is over.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

impl LeavingRules {
    /// The tick from which on a body is protected, if bodies are protected at all. The player was
    /// last heard `silence` ago. The body is protected once the player has been silent for the
    /// whole combat time. So a client gains nothing by ending its connection on purpose.
    pub(super) fn protected_from(&self, game: &MatchHandle, silence: Duration) -> Option<Tick> {
        let wait = ticks(self.combat_time.saturating_sub(silence), game.match_info().tick_rate);
        self.protects.then(|| game.last_tick().after(wait))
    }
}

/// Whether a client can cause the end of its connection for this reason. The operator or the server
/// causes all other ends, and these leave no body behind.
fn is_own_doing(reason: Reason) -> bool {
    use Reason::{Idle, MatchFailed, Removed, Shutdown};
    !matches!(reason, Idle | MatchFailed | Removed | Shutdown)
}

/// How long the body of a player in `seat` stays after a connection that ended for this reason.
pub(super) fn stay(game: &MatchHandle, seat: Option<&Seat>, reason: Reason) -> Duration {
    let keep = if may_come_back(reason) { game.tickets.keep() } else { Duration::ZERO };
    let Some(seat) = seat.filter(|_| is_own_doing(reason)) else { return keep };
    let left = f64::from(seat.fight_left(game.last_tick()));
    let tick_rate = f64::from(seat.level.match_info.tick_rate.get());
    keep.max(Duration::from_secs_f64(left / tick_rate))
}

impl AwayPlayer {
    /// Whether the body may be removed early: its player has left, and the fight is over.
    fn is_out_of_fight(&self, tick: Tick) -> bool {
        self.has_left && self.seat.as_ref().is_none_or(|seat| seat.fight_left(tick) == 0)
    }
}

/// Whether a player may come back after a connection that ended for this reason.
pub(super) fn may_come_back(reason: Reason) -> bool {
    use Reason::{FellBehind, Lost, Replaced, TimedOut, Unread};
    matches!(reason, FellBehind | Lost | Replaced | TimedOut | Unread)
}

/// Gives up everything that was kept for a player who plays in another match from now on. In a
/// fight, the body stays until the fight is over, so that joining another match is not an escape.
pub(super) fn leave(mut away: AwayPlayer, game: &MatchHandle) {
    let left_before = std::mem::replace(&mut away.has_left, true);
    let stay = stay(game, away.seat.as_ref(), Reason::Left);
    let left = if stay.is_zero() {
        Some(away)
    } else {
        if !left_before {
            game.telemetry.network.left_fighting();
        }
        let ticket = away.registration.ticket();
        game.tickets.renew(ticket, &away.registration);
        game.tickets.lose(ticket, away, Instant::now() + stay)
    };
    if let Some(away) = left {
        release(away, game);
    }
}

/// Gives up everything that was kept for a player, and announces to the others that the player
/// left.
pub(super) fn release(away: AwayPlayer, game: &MatchHandle) {
    let AwayPlayer { registration, seat, .. } = away;
    if let Some(seat) = seat {
        let player = seat.player;
        seat.level.roster.remove(player);
        game.announce_in(&seat.level, MatchEvent::Left { player });
    }
    drop(registration);
    game.telemetry.network.players(game.clients.players());
}

/// Releases players who did not come back in time, and players who were removed while away. Runs
/// for as long as it is polled.
pub(crate) async fn expire(game: Arc<MatchHandle>) {
    loop {
        sleep(POLL_INTERVAL).await;
        for away in game.tickets.expired(Instant::now()) {
            let has_left = away.has_left;
            info!(
                connection = away.registration.number,
                name = away.name.as_str(),
                has_left,
                "the player did not come back"
            );
            release(away, &game);
        }
        let tick = game.last_tick();
        for away in game.tickets.withdraw(|away| away.is_out_of_fight(tick)) {
            info!(
                connection = away.registration.number,
                name = away.name.as_str(),
                "the fight of the player who left is over"
            );
            release(away, &game);
        }
        for away in game.tickets.withdraw(|away| away.registration.is_removed()) {
            info!(
                connection = away.registration.number,
                name = away.name.as_str(),
                "the player was removed while away"
            );
            release(away, &game);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_end_that_a_client_can_bring_about_is_an_escape() {
        let others: Vec<_> = Reason::ALL
            .into_iter()
            .filter(|reason| reason.disconnects() && !is_own_doing(*reason))
            .collect();
        let expected = [Reason::Removed, Reason::Idle, Reason::MatchFailed, Reason::Shutdown];
        assert_eq!(others, expected);
    }
}
