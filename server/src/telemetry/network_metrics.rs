use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use metrics::{Counter, Gauge, counter, gauge};
use proto::control::RefusalReason;

use super::catalogue;
use super::connection_metrics::Connections;
use super::line_metrics::LineMetrics;
use super::round_metrics::RoundMetrics;

/// What the network thread counts.
pub(crate) struct NetworkMetrics {
    /// What the connections' paths are like.
    pub(crate) line: LineMetrics,
    /// How many connections there are.
    pub(crate) connections: Connections,
    pub(crate) snapshots_skipped: Counter,
    pub(crate) snapshots_unaffordable: Counter,
    pub(crate) digest_mismatches: Counter,
    pub(crate) chat_lines: Counter,
    pub(crate) retries: Counter,
    pub(crate) maps_sent: Counter,
    pub(crate) command_datagrams: Counter,
    players: Gauge,
    joins: Counter,
    snapshots: Counter,
    snapshot_bytes: Counter,
    snapshot_entities: Counter,
    /// What sending the news of one tick takes.
    pub(crate) round: RoundMetrics,
    /// Bytes of snapshots since the last status line.
    recent_bytes: AtomicU64,
    dropped_datagrams: [Counter; DroppedDatagram::ALL.len()],
    refusals: [Counter; Refusal::ALL.len()],
    disconnects: [Counter; Disconnect::ALL.len()],
}

/// Why a datagram came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DroppedDatagram {
    /// Its player has more on the way than the match can use.
    Surplus,
    /// Its sender has not joined.
    Unready,
    /// It is not what the protocol has.
    Malformed,
    /// It was ours, and the path did not take it.
    Unsent,
}

impl DroppedDatagram {
    const ALL: [Self; 4] = [Self::Surplus, Self::Unready, Self::Malformed, Self::Unsent];

    fn label(self) -> &'static str {
        match self {
            Self::Surplus => "surplus",
            Self::Unready => "unready",
            Self::Malformed => "malformed",
            Self::Unsent => "unsent",
        }
    }
}

/// Why somebody did not become a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// They speak another version of the protocol.
    WrongVersion,
    /// No place was left.
    Full,
    /// They have another map.
    WrongMap,
    /// Their name is not fit to be shown.
    BadName,
    /// The match could not answer.
    NotReady,
    /// The operator does not want them.
    Banned,
    /// More connections are open than the server takes.
    Overloaded,
    /// The handshake or the hello failed or took too long.
    NoHello,
    /// They broke the protocol.
    Malformed,
}

/// Why a player is no longer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disconnect {
    /// They said goodbye.
    Left,
    /// They closed the connection without a goodbye.
    Closed,
    /// They were silent too long.
    TimedOut,
    /// The connection broke.
    Lost,
    /// They broke the protocol.
    Malformed,
    /// The server is shutting down.
    Shutdown,
}

impl Refusal {
    const ALL: [Self; 9] = [
        Self::WrongVersion,
        Self::Full,
        Self::WrongMap,
        Self::BadName,
        Self::NotReady,
        Self::Banned,
        Self::Overloaded,
        Self::NoHello,
        Self::Malformed,
    ];

    fn label(self) -> &'static str {
        match self {
            Self::WrongVersion => "wrong_version",
            Self::Full => "full",
            Self::WrongMap => "wrong_map",
            Self::BadName => "bad_name",
            Self::NotReady => "not_ready",
            Self::Banned => "banned",
            Self::Overloaded => "overloaded",
            Self::NoHello => "no_hello",
            Self::Malformed => "malformed",
        }
    }
}

impl From<&RefusalReason> for Refusal {
    fn from(reason: &RefusalReason) -> Self {
        match reason {
            RefusalReason::WrongVersion { .. } => Self::WrongVersion,
            RefusalReason::Full { .. } => Self::Full,
            RefusalReason::WrongMap { .. } => Self::WrongMap,
            RefusalReason::BadName => Self::BadName,
            RefusalReason::NotReady => Self::NotReady,
            RefusalReason::Banned => Self::Banned,
        }
    }
}

impl Disconnect {
    const ALL: [Self; 6] =
        [Self::Left, Self::Closed, Self::TimedOut, Self::Lost, Self::Malformed, Self::Shutdown];

    fn label(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Closed => "closed",
            Self::TimedOut => "timed_out",
            Self::Lost => "lost",
            Self::Malformed => "malformed",
            Self::Shutdown => "shutdown",
        }
    }
}

/// What a player did, as a log line says it.
impl fmt::Display for Disconnect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Left => "left",
            Self::Closed => "closed the connection",
            Self::TimedOut => "was silent too long",
            Self::Lost => "lost the connection",
            Self::Malformed => "broke the protocol",
            Self::Shutdown => "was told that the server is shutting down",
        })
    }
}

impl NetworkMetrics {
    pub(super) fn register() -> Self {
        Self {
            players: gauge!(catalogue::PLAYERS),
            line: LineMetrics::register(),
            connections: Connections::register(),
            round: RoundMetrics::register(),
            joins: counter!(catalogue::JOINS),
            snapshots: counter!(catalogue::SNAPSHOTS),
            snapshot_bytes: counter!(catalogue::SNAPSHOT_BYTES),
            snapshot_entities: counter!(catalogue::SNAPSHOT_ENTITIES),
            snapshots_skipped: counter!(catalogue::SNAPSHOTS_SKIPPED),
            snapshots_unaffordable: counter!(catalogue::SNAPSHOTS_UNAFFORDABLE),
            digest_mismatches: counter!(catalogue::DIGEST_MISMATCHES),
            chat_lines: counter!(catalogue::CHAT_LINES),
            retries: counter!(catalogue::RETRIES),
            maps_sent: counter!(catalogue::MAPS_SENT),
            command_datagrams: counter!(catalogue::COMMAND_DATAGRAMS),
            dropped_datagrams: DroppedDatagram::ALL
                .map(|reason| counter!(catalogue::DATAGRAMS_DROPPED, "reason" => reason.label())),
            refusals: Refusal::ALL
                .map(|reason| counter!(catalogue::REFUSALS, "reason" => reason.label())),
            recent_bytes: AtomicU64::new(0),
            disconnects: Disconnect::ALL
                .map(|reason| counter!(catalogue::DISCONNECTS, "reason" => reason.label())),
        }
    }

    /// Counts a snapshot of so many entities handed to the network.
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

    /// Counts a datagram that came to nothing.
    pub(crate) fn dropped(&self, reason: DroppedDatagram) {
        self.dropped_datagrams[reason as usize].increment(1);
    }

    /// Counts somebody who did not become a player.
    pub(crate) fn refused(&self, reason: Refusal) {
        self.refusals[reason as usize].increment(1);
    }

    /// Counts a new player, who is one of `players`.
    pub(crate) fn joined(&self, players: usize) {
        self.joins.increment(1);
        self.players.set(players as f64);
    }

    /// Counts a player who is no longer one, and leaves `players` behind.
    pub(crate) fn left(&self, players: usize, reason: Disconnect) {
        self.disconnects[reason as usize].increment(1);
        self.players.set(players as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_listed_in_their_order() {
        for (index, reason) in Refusal::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index, "{reason:?}");
        }
        for (index, reason) in DroppedDatagram::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index, "{reason:?}");
        }
        for (index, reason) in Disconnect::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index, "{reason:?}");
        }
    }
}
