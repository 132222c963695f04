use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use metrics::Recorder;

use super::Spans;
use super::network_metrics::visitor_metrics::VisitorMetrics;
use super::pulse::Pulses;

/// A recorder of metrics.
pub(crate) type DynRecorder = Box<dyn Recorder + Send + Sync>;

/// The parts of a server's telemetry that all its matches write to.
pub(crate) struct Registry {
    /// Signs of life of the threads.
    pub(crate) pulses: Pulses,
    /// Metrics of visitors' use of the server besides the match.
    pub(crate) visitors: VisitorMetrics,
    /// Spans of single joins, map transfers and ticks.
    pub(crate) spans: Spans,
    /// Connections since the start.
    pub(crate) connections: Arc<AtomicU64>,
    /// The recorder in which all series are registered, at the start or later.
    pub(crate) recorder: DynRecorder,
}
