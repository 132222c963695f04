use std::sync::Arc;
use std::time::Duration;

use obsp_game::Event;
use obsp_proto::control::{ChatError, ChatLine, MatchEvent, Reason};
use obsp_sim::{EntityId, State};
use thiserror::Error;
use tokio::sync::watch::Receiver;

use crate::common::error::StartError;
use crate::door::clients::{Client, Removal};
use crate::matches::OfMatch;
use crate::matches::match_handle::MatchHandle;
use crate::matches::rounds::RoundRequest;
use crate::matches::tick_thread::published::PublishedState;

/// A running match as the rest of a program sees it. Clones are handles of the same match.
#[derive(Clone)]
pub struct ServerHandle {
    game: Arc<MatchHandle>,
    states: Receiver<Arc<PublishedState>>,
}

/// The match after a tick.
#[derive(Clone, Debug)]
pub struct MatchUpdate(Arc<PublishedState>);

/// Why an order was not carried out.
#[derive(Debug, Error)]
pub enum CommandError {
    /// The line cannot be sent as chat.
    #[error(transparent)]
    Line(#[from] ChatError),
    /// There is no such map.
    #[error(transparent)]
    Map(#[from] StartError),
    /// The match cannot go on: its tick thread has crashed, or hangs.
    #[error("the match has ended: {0}")]
    Ended(String),
    /// No connected client steers this entity.
    #[error("no client steers the entity in slot {}", .0.slot)]
    NoSuchPlayer(EntityId),
}

impl std::fmt::Debug for ServerHandle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "ServerHandle({:?})", self.game.level())
    }
}

impl MatchUpdate {
    /// The state. Its tick numbers continue from map to map.
    pub fn state(&self) -> &State {
        &self.0.state
    }

    /// The events of the tick, in order.
    pub fn events(&self) -> &[Event] {
        &self.0.events
    }

    /// The players who have a client, including players who wait outside of the world.
    pub fn players(&self) -> impl Iterator<Item = EntityId> {
        self.0.players.iter().map(|update| update.player)
    }

    /// The name of the map.
    pub fn map(&self) -> &str {
        self.0.level.match_info.map_name.as_str()
    }
}

impl OfMatch for ServerHandle {
    fn game(&self) -> &Arc<MatchHandle> {
        &self.game
    }
}

impl ServerHandle {
    pub(super) fn new(game: Arc<MatchHandle>) -> Self {
        let states = game.latest.clone();
        Self { game, states }
    }

    /// The name by which clients ask for the match.
    pub fn match_name(&self) -> &str {
        self.game.name.as_str()
    }

    /// The match after the last tick.
    pub fn latest(&self) -> MatchUpdate {
        MatchUpdate(Arc::clone(&self.game.latest.borrow()))
    }

    /// Waits for the next tick that this handle has not seen. A caller that calls it less often
    /// than the match ticks skips ticks, and loses their events. `None` once the match is over.
    pub async fn next(&mut self) -> Option<MatchUpdate> {
        self.states.changed().await.ok()?;
        Some(MatchUpdate(Arc::clone(&self.states.borrow_and_update())))
    }

    /// Sends a line to all players.
    ///
    /// # Errors
    /// [`CommandError::Line`] if the line is empty, too long or cannot be shown.
    pub fn say(&self, line: &str) -> Result<(), CommandError> {
        let line = ChatLine::new(line)?;
        self.game.announce(MatchEvent::Announced { line });
        Ok(())
    }

    /// Removes the client that steers `player`, with this reason.
    ///
    /// # Errors
    /// [`CommandError`] if no such client is found, or the reason cannot be shown.
    pub fn kick(&self, player: EntityId, reason: &str) -> Result<(), CommandError> {
        if !reason.is_empty() {
            ChatLine::new(reason)?;
        }
        let clients = self.game.clients.list();
        let steers = |client: &Arc<Client>| client.steered.get() == Some(player);
        let client = clients.into_iter().find(steers);
        let client = client.ok_or(CommandError::NoSuchPlayer(player))?;
        client.remove(Removal::new(Reason::Removed, reason));
        Ok(())
    }

    /// Lets the match go on in another map as soon as the map is loaded. `map` is a path, or a name
    /// found in `maps/`.
    ///
    /// # Errors
    /// [`CommandError::Map`] if there is no such map, [`CommandError::Ended`] if the match has
    /// failed. A map that cannot be played is left out, with a warning in the log.
    pub fn change_map(&self, map: &str) -> Result<(), CommandError> {
        if let Some(why) = self.game.failure.get() {
            return Err(CommandError::Ended(why.clone()));
        }
        crate::matches::map_file::find(map, &crate::matches::map_file::folders())?;
        self.game.rounds.request(RoundRequest::Map(map.to_owned()));
        Ok(())
    }

    /// Refuses new players in all matches of the server, and ends the server when the last player
    /// has left, or after `time`.
    pub fn drain(&self, time: Duration) {
        self.game.stop.drain(time);
    }

    /// Says goodbye to all clients and ends the server, with all of its matches, at once.
    pub fn shutdown(&self) {
        self.game.stop.request();
    }
}
