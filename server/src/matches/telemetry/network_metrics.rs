//! Metrics of the network thread.

pub(crate) mod answers;
pub(crate) mod connection_metrics;
pub(crate) mod path_metrics;
pub(crate) mod round_metrics;
pub(crate) mod visitor_metrics;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use metrics::{Counter, Gauge, counter, gauge};
use obsp_proto::control::Reason;

use super::catalogue;
use crate::common::labelled;
use crate::door::admission::limit::Limit;
use answers::Answers;
use connection_metrics::Connections;
use path_metrics::PathMetrics;
use round_metrics::RoundMetrics;

/// Metrics of the network thread for a match.
pub(crate) struct NetworkMetrics {
    /// Metrics of the connections' paths.
    pub(crate) path: PathMetrics,
    /// How many connections there are in each state.
    pub(crate) connections: Connections,
    pub(crate) snapshots_skipped: Counter,
    pub(crate) snapshots_unaffordable: Counter,
    pub(crate) effects: Counter,
    pub(crate) effect_bytes: Counter,
    pub(crate) effects_cut: Counter,
    pub(crate) digest_mismatches: Counter,
    pub(crate) chat_lines: Counter,
    pub(crate) retries: Counter,
    pub(crate) maps_sent: Counter,
    /// Whether players who are heard are sent snapshots.
    pub(crate) answers: Answers,
    command_datagrams: Counter,
    players: Gauge,
    joins: Counter,
    rejoins: Counter,
    snapshots: Counter,
    snapshot_bytes: Counter,
    snapshot_entities: Counter,
    /// The time to send the snapshots of one tick.
    pub(crate) round: RoundMetrics,
    /// Bytes of snapshots since the last status line.
    recent_bytes: AtomicU64,
    dropped_datagrams: [Counter; DroppedDatagram::ALL.len()],
    limits: [Counter; Limit::ALL.len()],
    refusals: [Counter; Reason::ALL.len()],
    disconnects: [Counter; Reason::ALL.len()],
    left_fighting: Counter,
}

labelled! {
    /// Why a datagram was dropped.
    pub(crate) enum DroppedDatagram {
        /// The datagram's player sends more than the match can use.
        Surplus = "surplus",
        /// The datagram's sender has not joined.
        Unready = "unready",
        /// The datagram breaks the protocol.
        Malformed = "malformed",
        /// The server sent the datagram, and the path did not take it.
        Unsent = "unsent",
    }
}

impl NetworkMetrics {
    /// The metrics of a match. `connections` numbers the connections of the whole server.
    pub(crate) fn register(connections: Arc<AtomicU64>) -> Self {
        Self {
            players: gauge!(catalogue::PLAYERS),
            path: PathMetrics::register(),
            connections: Connections::register(connections),
            round: RoundMetrics::register(),
            joins: counter!(catalogue::JOINS),
            rejoins: counter!(catalogue::REJOINS),
            snapshots: counter!(catalogue::SNAPSHOTS),
            snapshot_bytes: counter!(catalogue::SNAPSHOT_BYTES),
            snapshot_entities: counter!(catalogue::SNAPSHOT_ENTITIES),
            snapshots_skipped: counter!(catalogue::SNAPSHOTS_SKIPPED),
            snapshots_unaffordable: counter!(catalogue::SNAPSHOTS_UNAFFORDABLE),
            effects: counter!(catalogue::EFFECTS),
            effect_bytes: counter!(catalogue::EFFECT_BYTES),
            effects_cut: counter!(catalogue::EFFECTS_CUT),
            digest_mismatches: counter!(catalogue::DIGEST_MISMATCHES),
            chat_lines: counter!(catalogue::CHAT_LINES),
            retries: counter!(catalogue::RETRIES),
            maps_sent: counter!(catalogue::MAPS_SENT),
            answers: Answers::new(Instant::now()),
            command_datagrams: counter!(catalogue::COMMAND_DATAGRAMS),
            dropped_datagrams: DroppedDatagram::ALL
                .map(|reason| counter!(catalogue::DATAGRAMS_DROPPED, "reason" => reason.label())),
            limits: Limit::ALL.map(|limit| counter!(catalogue::LIMITS, "limit" => limit.label())),
            refusals: by_reason(catalogue::REFUSALS, Reason::refuses),
            recent_bytes: AtomicU64::new(0),
            disconnects: by_reason(catalogue::DISCONNECTS, Reason::disconnects),
            left_fighting: counter!(catalogue::LEFT_FIGHTING),
        }
    }

    /// Counts a datagram of a player or spectator.
    pub(crate) fn received_commands(&self) {
        self.answers.heard();
        self.command_datagrams.increment(1);
    }

    /// Counts a snapshot of this many entities that was handed to the network.
    pub(crate) fn sent_snapshot(&self, bytes: usize, entities: u64) {
        self.snapshots.increment(1);
        self.snapshot_entities.increment(entities);
        self.snapshot_bytes.increment(bytes as u64);
        self.recent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes of snapshots since the last call.
    pub(crate) fn take_recent_bytes(&self) -> u64 {
        self.recent_bytes.swap(0, Ordering::Relaxed)
    }

    /// Counts a datagram that was dropped.
    pub(crate) fn dropped(&self, reason: DroppedDatagram) {
        self.dropped_datagrams[reason as usize].increment(1);
    }

    /// Counts something that was refused or cut off because of a limit.
    pub(crate) fn limited(&self, limit: Limit) {
        self.limits[limit as usize].increment(1);
    }

    /// Counts a client that was refused.
    pub(crate) fn refused(&self, reason: Reason) {
        debug_assert!(reason.refuses(), "{reason:?}");
        self.refusals[reason as usize].increment(1);
    }

    /// Counts a new player. `players` is the number of players now.
    pub(crate) fn joined(&self, players: usize) {
        self.joins.increment(1);
        self.players.set(players as f64);
    }

    /// Notes how many players there are.
    pub(crate) fn players(&self, players: usize) {
        self.players.set(players as f64);
    }

    /// Counts a player who is back after the connection was lost.
    pub(crate) fn rejoined(&self) {
        self.rejoins.increment(1);
    }

    /// Counts a player who left in a fight and whose body stays.
    pub(crate) fn left_fighting(&self) {
        self.left_fighting.increment(1);
    }

    /// Counts a player who has left. `players` is the number of players who remain.
    pub(crate) fn left(&self, players: usize, reason: Reason) {
        debug_assert!(reason.disconnects(), "{reason:?}");
        self.disconnects[reason as usize].increment(1);
        self.players.set(players as f64);
    }
}

/// A counter for each reason that `applies`; the others count nothing.
fn by_reason(name: &'static str, applies: fn(Reason) -> bool) -> [Counter; Reason::ALL.len()] {
    Reason::ALL.map(|reason| {
        if applies(reason) { counter!(name, "reason" => reason.code()) } else { Counter::noop() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_listed_in_their_order() {
        for (index, reason) in DroppedDatagram::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index, "{reason:?}");
        }
    }
}
