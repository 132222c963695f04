//! Players whose connection is lost and who may come back. Their body, score and place are kept,
//! idle, for the time of `--rejoin`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_proto::control::{MatchEvent, PlayerName, Reason};
use tokio::time::sleep;
use tracing::info;

use super::admission::KeptPlace;
use super::lobby::Lobby;
use crate::clients::Registration;
use crate::seats::Seat;

/// Time between two checks for players whose time to come back is over.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The body, score and places of a player who is away. [`release`] gives them up.
#[derive(Debug)]
pub(crate) struct AwayPlayer {
    pub(super) name: PlayerName,
    pub(super) player_id: Option<u64>,
    /// The player's place among the clients.
    pub(super) registration: Registration,
    /// The player's place in the table of addresses.
    pub(super) place: KeptPlace,
    /// The player's body. `None` if the connection was lost between two levels.
    pub(super) seat: Option<Seat>,
}

/// Whether a player may come back after a connection that ended for this reason.
pub(super) fn may_come_back(reason: Reason) -> bool {
    use Reason::{FellBehind, Lost, Replaced, TimedOut, Unread};
    matches!(reason, FellBehind | Lost | Replaced | TimedOut | Unread)
}

/// Gives up everything that was kept for a player, and announces to the others that the player
/// left.
pub(super) fn release(away: AwayPlayer, lobby: &Lobby) {
    let AwayPlayer { registration, seat, .. } = away;
    if let Some(seat) = seat {
        let player = seat.player;
        seat.level.roster.remove(player);
        lobby.game.announce_in(&seat.level, MatchEvent::Left { player });
    }
    drop(registration);
    lobby.game.telemetry.network.players(lobby.game.clients.players());
}

/// Releases players who did not come back in time, and players who were removed while away. Runs
/// for as long as it is polled.
pub(crate) async fn expire(lobby: Arc<Lobby>) {
    loop {
        sleep(POLL_INTERVAL).await;
        for away in lobby.tickets.expired(Instant::now()) {
            info!(
                connection = away.registration.number,
                name = away.name.as_str(),
                "the player did not come back"
            );
            release(away, &lobby);
        }
        for away in lobby.tickets.withdraw(|away| away.registration.is_removed()) {
            info!(
                connection = away.registration.number,
                name = away.name.as_str(),
                "the player was removed while away"
            );
            release(away, &lobby);
        }
    }
}
