use std::time::Duration;

use obsp_proto::Time;
use quinn::ConnectionStats;

use crate::matches::telemetry::PathMetrics;

/// Time between two readings of a connection's counters: often enough for a dashboard, and cheap
/// beside the snapshots.
const INTERVAL: Duration = Duration::from_secs(1);

/// QUIC's counters of a connection when they were last read.
#[derive(Default)]
pub(crate) struct PathStats {
    stats: ConnectionStats,
    looked: Option<Time>,
}

impl PathStats {
    /// Adds the changes since the last reading to the metrics, if that was long enough ago.
    pub(crate) fn observe(
        &mut self,
        connection: &quinn::Connection,
        now: Time,
        metrics: &PathMetrics,
    ) {
        if self.looked.is_some_and(|looked| now.since(looked) < INTERVAL) {
            return;
        }
        let stats = connection.stats();
        metrics.observe(&self.stats, &stats);
        self.stats = stats;
        self.looked = Some(now);
    }
}
