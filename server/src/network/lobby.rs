use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use tokio::sync::broadcast;

use super::admission::Admission;
use super::away::{AwayPlayer, LeavingRules};
use super::endpoint::Limits;
use super::send_groups::{Cadence, SendGroups};
use crate::clients::Client;
use crate::level::News;
use crate::match_handle::MatchHandle;
use crate::matches::{Matches, OfMatch};
use crate::seats::JoinRequest;
use crate::tickets::Tickets;

/// The state that all connections of a match share.
pub(crate) struct Lobby {
    /// The match.
    pub(crate) game: Arc<MatchHandle>,
    /// Requests for a seat, to the tick thread.
    pub(crate) joins: SyncSender<JoinRequest>,
    /// The groups in which connections receive the state of each tick.
    pub(crate) send_groups: Arc<SendGroups>,
    /// Tickets of players, and the bodies and places of players who are away.
    pub(crate) tickets: Tickets<AwayPlayer, Client>,
    /// The rules for the bodies of players whose connection ends.
    pub(crate) leaving: LeavingRules,
    /// The whole server's table of addresses and their shares.
    pub(crate) admission: Arc<Admission>,
    /// Bytes of snapshots that each player is sent a second at most.
    pub(crate) client_budget: u32,
    /// How spectators are served.
    pub(crate) spectators: Spectators,
    /// The limits that connections are configured for.
    pub(crate) limits: Limits,
}

impl OfMatch for Arc<Lobby> {
    fn game(&self) -> &Arc<MatchHandle> {
        &self.game
    }
}

/// The lobbies of a server's matches.
pub(crate) type Lobbies = Matches<Arc<Lobby>>;

/// How spectators are served.
pub(crate) struct Spectators {
    /// The ticks whose snapshots spectators are sent.
    pub(crate) cadence: Cadence,
    /// Bytes of snapshots that each spectator is sent a second at most.
    pub(crate) budget: u32,
}

/// A receiver of the events of a level.
pub(super) type Events = broadcast::Receiver<News>;
