//! A match as the parts of the server see it that do not simulate it: its latest state,
//! its clients, and the ways to tell or to ask it something.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use obsp_proto::control::{MatchEvent, MatchName};
use obsp_proto::server::MatchInfo;
use obsp_proto::{Tick, Time};
use tracing::error;

use crate::access_rules::AccessRules;
use crate::clients::{Clients, Removal};
use crate::level::{Level, News};
use crate::public_endpoint::PublicEndpoint;
use crate::published::LatestState;
use crate::rounds::Rounds;
use crate::stop::Stop;
use crate::telemetry::Telemetry;

/// The state of a match that all parts of a server share.
pub(crate) struct MatchHandle {
    /// The name that clients ask for it by.
    pub(crate) name: MatchName,
    /// The name of the game that is played.
    pub(crate) game_name: &'static str,
    /// The state after the last tick.
    pub(crate) latest: LatestState,
    /// The players and spectators that are connected.
    pub(crate) clients: Clients,
    /// The rounds that the match goes through.
    pub(crate) rounds: Rounds,
    /// The rules by which clients may join and stay, of the whole server.
    pub(crate) access: Arc<AccessRules>,
    /// Where clients reach the server, and by which certificate they know it.
    pub(crate) endpoint: Arc<PublicEndpoint>,
    /// Metrics of this match, and the spans of the server.
    pub(crate) telemetry: Arc<Telemetry>,
    /// The signal to drain or to end, of the whole server.
    pub(crate) stop: Stop,
    /// The origin of the server's [`Time`].
    pub(crate) epoch: Instant,
    /// How many matches the server plays, those left out that have failed.
    pub(crate) played: Arc<AtomicUsize>,
    /// Why the match cannot go on, if it has failed and others are played.
    pub(crate) failure: OnceLock<String>,
    /// Whether it was taken note of that the match cannot go on.
    pub(crate) is_over: AtomicBool,
    /// Whether its tick thread hangs and is left behind: nobody can end it, or waits for it.
    pub(crate) is_left_behind: Arc<AtomicBool>,
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
        let _ = level.events.send(News { tick: self.next_tick(), event, to: None });
    }

    /// Takes note that the match cannot go on. If others are played, it is said in log and
    /// metrics, its clients are told to go, and nobody else may join it; false if it was the
    /// last. Of several faults the first counts.
    pub(crate) fn fail(&self, why: &str) -> bool {
        if self.is_over.swap(true, Ordering::Relaxed) {
            return true;
        }
        if self.played.fetch_sub(1, Ordering::Relaxed) == 1 {
            return false;
        }
        error!("{}the match has failed, while others are played: {why}", self.prefix());
        // First, so that nobody joins after those are asked to go who are here.
        let _ = self.failure.set(why.to_owned());
        self.telemetry.tick.fails();
        for client in self.clients.list() {
            client.remove(Removal::match_failed());
        }
        true
    }

    /// Whether the match cannot go on.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.get().is_some()
    }

    /// The name in front of lines of the log, where the server has several matches.
    pub(crate) fn prefix(&self) -> String {
        if self.telemetry.is_labelled() { format!("match {}: ", self.name) } else { String::new() }
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
