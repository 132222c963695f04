use metrics::{Counter, Histogram, counter, histogram};
use quinn::ConnectionStats;

use crate::matches::telemetry::catalogue;

/// Upper edges, in seconds, of the buckets of a round-trip time: from one
/// machine to half way round the world.
pub(crate) const RTT_EDGES: [f64; 11] =
    [0.0005, 0.001, 0.005, 0.01, 0.02, 0.04, 0.08, 0.12, 0.2, 0.4, 1.0];

/// Upper edges, in snapshots a second, of the buckets of the rate that a line is found to carry. A
/// line is sent every snapshot, every second one or every third one. So 60, 30 and 20 are edges for
/// 60 snapshots a second, and 128 and 64 for 128.
pub(crate) const SNAPSHOT_RATE_EDGES: [f64; 7] = [10.0, 20.0, 30.0, 45.0, 60.0, 64.0, 128.0];

/// Metrics of the paths to all clients, as QUIC sees them.
pub(crate) struct PathMetrics {
    rtt: Histogram,
    snapshot_rate: Histogram,
    sent: [Counter; 2],
    received: [Counter; 2],
    packets: Counter,
    lost: Counter,
    congestion: Counter,
}

impl PathMetrics {
    pub(crate) fn register() -> Self {
        let direction = |name: &'static str| {
            [
                counter!(catalogue::DATAGRAMS, "direction" => name),
                counter!(catalogue::UDP_BYTES, "direction" => name),
            ]
        };
        Self {
            rtt: histogram!(catalogue::RTT),
            snapshot_rate: histogram!(catalogue::SNAPSHOT_RATE),
            sent: direction("sent"),
            received: direction("received"),
            packets: counter!(catalogue::PACKETS),
            lost: counter!(catalogue::PACKETS_LOST),
            congestion: counter!(catalogue::CONGESTION),
        }
    }

    /// Notes how many snapshots a second a client's line is found to carry.
    pub(crate) fn snapshot_rate(&self, rate: f64) {
        self.snapshot_rate.record(rate);
    }

    /// Adds the changes of a connection's counters between two readings.
    pub(crate) fn observe(&self, before: &ConnectionStats, now: &ConnectionStats) {
        let grown = |counter: &Counter, before: u64, now: u64| {
            counter.increment(now.saturating_sub(before));
        };
        self.rtt.record(now.path.rtt.as_secs_f64());
        grown(&self.sent[0], before.udp_tx.datagrams, now.udp_tx.datagrams);
        grown(&self.sent[1], before.udp_tx.bytes, now.udp_tx.bytes);
        grown(&self.received[0], before.udp_rx.datagrams, now.udp_rx.datagrams);
        grown(&self.received[1], before.udp_rx.bytes, now.udp_rx.bytes);
        grown(&self.packets, before.path.sent_packets, now.path.sent_packets);
        grown(&self.lost, before.path.lost_packets, now.path.lost_packets);
        grown(&self.congestion, before.path.congestion_events, now.path.congestion_events);
    }
}
