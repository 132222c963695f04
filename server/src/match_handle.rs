//! The match as the parts of the server see it that do not simulate it: its latest state,
//! its clients, and the ways to tell or to ask it something.

use std::sync::Arc;
use std::time::Instant;

use obsp_proto::control::MatchEvent;
use obsp_proto::server::MatchInfo;
use obsp_proto::{Tick, Time};

use crate::access_rules::AccessRules;
use crate::clients::Clients;
use crate::level::Level;
use crate::public_endpoint::PublicEndpoint;
use crate::published::LatestState;
use crate::rounds::Rounds;
use crate::stop::Stop;
use crate::telemetry::Telemetry;

/// The state of the match that all parts of a server share.
pub(crate) struct MatchHandle {
    /// The state after the last tick.
    pub(crate) latest: LatestState,
    /// The players and spectators that are connected.
    pub(crate) clients: Clients,
    /// The rounds that the match goes through.
    pub(crate) rounds: Rounds,
    /// The rules by which clients may join and stay.
    pub(crate) access: AccessRules,
    /// Where clients reach the server, and by which certificate they know it.
    pub(crate) endpoint: PublicEndpoint,
    /// Metrics and spans.
    pub(crate) telemetry: Arc<Telemetry>,
    /// The signal to drain or to end.
    pub(crate) stop: Stop,
    /// The origin of the server's [`Time`].
    pub(crate) epoch: Instant,
}

impl MatchHandle {
    /// The server's time.
    pub(crate) fn now(&self) -> Time {
        Time::since_start(self.epoch.elapsed())
    }

    /// The level that is played.
    pub(crate) fn level(&self) -> Arc<Level> {
        Arc::clone(&self.latest.borrow().level)
    }

    /// The welcome of players of the level that is played.
    pub(crate) fn match_info(&self) -> Arc<MatchInfo> {
        Arc::clone(&self.latest.borrow().level.match_info)
    }

    /// Sends an event of the next tick to all clients in the level that is played.
    pub(crate) fn announce(&self, event: MatchEvent) {
        self.announce_in(&self.level(), event);
    }

    /// Sends an event of the next tick to all clients in `level`.
    pub(crate) fn announce_in(&self, level: &Level, event: MatchEvent) {
        // Sending fails only without receivers, which is no error.
        let _ = level.events.send((self.next_tick(), event));
    }

    /// The last tick simulated.
    pub(crate) fn last_tick(&self) -> Tick {
        Tick::from_simulation(self.latest.borrow().state.tick).unwrap_or_default()
    }

    /// The tick after that.
    pub(crate) fn next_tick(&self) -> Tick {
        self.last_tick().after(1)
    }
}
