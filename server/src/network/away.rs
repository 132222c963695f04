//! Players whose connection is lost, and who may come back: body, score and place wait
//! for them (`--rejoin`), idle.

use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_proto::control::{MatchEvent, PlayerName, Reason};
use tokio::time::sleep;
use tracing::info;

use super::admission::KeptPlace;
use super::lobby::Lobby;
use crate::clients::Registration;
use crate::seats::Seat;

/// Time between two looks at whose time is over.
const LOOK: Duration = Duration::from_millis(250);

/// The body, score and places of a player who is away. [`release`] gives them up.
#[derive(Debug)]
pub(crate) struct Away {
    pub(super) name: PlayerName,
    pub(super) player_id: Option<u64>,
    /// The player's place among the clients.
    pub(super) registration: Registration,
    /// Their place in the table of addresses.
    pub(super) place: KeptPlace,
    /// Their body, unless the connection was lost between two worlds.
    pub(super) seat: Option<Seat>,
}

/// Whether a connection that ended for this reason may be followed by another one of
/// the same player.
pub(super) fn may_come_back(reason: Reason) -> bool {
    use Reason::{FellBehind, Lost, Replaced, TimedOut, Unread};
    matches!(reason, FellBehind | Lost | Replaced | TimedOut | Unread)
}

/// Gives up what a player has left behind, or leaves: others are told.
pub(super) fn release(away: Away, lobby: &Lobby) {
    let Away { registration, seat, .. } = away;
    if let Some(seat) = seat {
        let player = seat.player;
        seat.level.roster.remove(player);
        lobby.game.announce_in(&seat.level, MatchEvent::Left { player });
    }
    drop(registration);
    lobby.game.telemetry.network.players(lobby.game.clients.players());
}

/// Gives up what nobody came back for in time, and what was left by those who were
/// removed meanwhile, for as long as it is polled.
pub(crate) async fn expire(lobby: Arc<Lobby>) {
    loop {
        sleep(LOOK).await;
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
