//! The handle of a match: its latest state, its clients, its rounds and its metrics. All parts of
//! the server that do not simulate the match use it.

pub(crate) mod who_may_see;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use obsp_proto::control::{MatchEvent, MatchName};
use obsp_proto::server::MatchInfo;
use obsp_proto::{Tick, Time};
use tracing::error;

use super::happening::Listener;
use super::level::{Level, News};
use super::rounds::Rounds;
use super::telemetry::{STALL, Telemetry};
use super::tick_thread::published::LatestState;
use crate::common::stop::Stop;
use crate::door::AccessRules;
use crate::door::admission::Admission;
use crate::door::clients::{Client, Clients, Removal};
use crate::door::introduction::Introduction;
use crate::door::outgoing::Outgoing;
use crate::door::public_endpoint::PublicEndpoint;
use crate::door::tickets::Tickets;
use crate::matches::seats::JoinRequest;
use crate::matches::seats::away::{AwayPlayer, LeavingRules};
use crate::matches::tick_thread::send_groups::{Cadence, SendGroups};

/// The state of a match that all parts of a server share.
pub(crate) struct MatchHandle {
    /// The name by which clients ask for the match.
    pub(crate) name: MatchName,
    /// The name of the game that is played.
    pub(crate) game_name: &'static str,
    /// The state after the last tick.
    pub(crate) latest: LatestState,
    /// The players and spectators that are connected.
    pub(crate) clients: Clients,
    /// The rounds that the match goes through.
    pub(crate) rounds: Arc<Rounds>,
    /// Requests for a seat, to the tick thread.
    pub(crate) joins: SyncSender<JoinRequest>,
    /// The groups in which connections receive the state of each tick.
    pub(crate) send_groups: SendGroups,
    /// Tickets of players, and the bodies and places of players who are away.
    pub(crate) tickets: Tickets<AwayPlayer, Client>,
    /// The rules for the bodies of players whose connection ends.
    pub(crate) leaving: LeavingRules,
    /// Maximum bytes of snapshots per second for each player.
    pub(crate) client_budget: u32,
    /// Maximum number of snapshots per second for each client.
    pub(crate) snapshot_limit: u32,
    /// How spectators are served.
    pub(crate) spectators: Spectators,
    /// The table of addresses and their shares. It holds for the whole server.
    pub(crate) admission: Arc<Admission>,
    /// The rules by which clients may join and stay. They hold for the whole server.
    pub(crate) access: Arc<AccessRules>,
    /// The budget of all bytes sent that do not belong to the match itself. It holds for the whole
    /// server.
    pub(crate) outgoing: Arc<Outgoing>,
    /// The address at which clients reach the server, and the certificate by which they recognise
    /// it.
    pub(crate) endpoint: Arc<PublicEndpoint>,
    /// The name of the server and its message of the day.
    pub(crate) introduction: Arc<Introduction>,
    /// The listener that takes joins, leaves and results for the webhook.
    pub(crate) webhook: Listener,
    /// Metrics of this match, and the spans of the server.
    pub(crate) telemetry: Arc<Telemetry>,
    /// The whole server's signal to drain or to end.
    pub(crate) stop: Stop,
    /// The origin of the server's [`Time`].
    pub(crate) epoch: Instant,
    /// How many of the server's matches have not failed.
    pub(crate) played: Arc<AtomicUsize>,
    /// Why the match cannot go on, if it has failed while others are played.
    pub(crate) failure: OnceLock<String>,
    /// Whether [`MatchHandle::fail`] was called.
    pub(crate) is_over: AtomicBool,
    /// Whether the server has given up the tick thread of the match, because it hangs. A thread
    /// cannot be ended from outside, so the server goes on without it.
    pub(crate) is_left_behind: Arc<AtomicBool>,
}

/// How spectators are served.
pub(crate) struct Spectators {
    /// Chooses the ticks whose snapshots are sent to spectators.
    pub(crate) cadence: Cadence,
    /// Maximum bytes of snapshots per second for each spectator.
    pub(crate) budget: u32,
}

impl MatchHandle {
    /// The server's time.
    pub(crate) fn now(&self) -> Time {
        Time::since_start(self.epoch.elapsed())
    }

    /// The current level.
    pub(crate) fn level(&self) -> Arc<Level> {
        Arc::clone(&self.latest.borrow().level)
    }

    /// The description of the match that is sent to players who join the current level.
    pub(crate) fn match_info(&self) -> Arc<MatchInfo> {
        Arc::clone(&self.latest.borrow().level.match_info)
    }

    /// Sends an event of the next tick to all clients in the current level.
    pub(crate) fn announce(&self, event: MatchEvent) {
        self.announce_in(&self.level(), event);
    }

    /// Sends an event of the next tick to all clients in `level`.
    pub(crate) fn announce_in(&self, level: &Level, event: MatchEvent) {
        // Sending fails only if there are no receivers, which is not an error.
        let _ = level.events.send(News { tick: self.next_tick(), event, to: None });
    }

    /// Marks the match as failed. If other matches are still played, the failure is logged and
    /// shown in the metrics, the match's clients are removed, and nobody else may join it. Returns
    /// false if this was the last match that was played. Only the first call has an effect; later
    /// ones return true.
    pub(crate) fn fail(&self, why: &str) -> bool {
        if self.is_over.swap(true, Ordering::Relaxed) {
            return true;
        }
        if self.played.fetch_sub(1, Ordering::Relaxed) == 1 {
            return false;
        }
        error!("{}the match has failed, while others are played: {why}", self.prefix());
        // The failure is set before the clients are removed, so that nobody joins in between.
        let _ = self.failure.set(why.to_owned());
        self.telemetry.tick.fails();
        for client in self.clients.list() {
            client.remove(Removal::match_failed());
        }
        true
    }

    /// Whether the match is alive at `now`, as its players see it: it ticks, and it sends snapshots
    /// if it hears players.
    pub(crate) fn is_alive(&self, now: Instant) -> bool {
        self.telemetry.tick.age(now) < STALL && self.silence(now).is_none()
    }

    /// Time since the last snapshot, if the match ticks and hears players but sends nothing.
    /// Without ticks there is nothing to send.
    pub(crate) fn silence(&self, now: Instant) -> Option<Duration> {
        let tick = &self.telemetry.tick;
        let ticked_lately = |age: Duration| tick.age(now) < age;
        let settled = tick.last_stall().is_none_or(|stall| now - stall.ended >= STALL);
        let silence = self.telemetry.network.answers.silence(now)?;
        (settled && ticked_lately(STALL)).then_some(silence)
    }

    /// Whether the match has failed while others were played.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.get().is_some()
    }

    /// The prefix of this match's log lines: its name if the server has several matches, else
    /// nothing.
    pub(crate) fn prefix(&self) -> String {
        if self.telemetry.is_labelled() { format!("match {}: ", self.name) } else { String::new() }
    }

    /// The last tick simulated.
    pub(crate) fn last_tick(&self) -> Tick {
        Tick::from_simulation(self.latest.borrow().state.tick).unwrap_or_default()
    }

    /// The tick after the last one simulated.
    pub(crate) fn next_tick(&self) -> Tick {
        self.last_tick().after(1)
    }
}
