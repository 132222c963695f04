//! The measurements of one match: by its tick thread, by the network thread, and by its recording.
//!
//! The simulation's own counters are read from the published state on request
//! ([`Telemetry::observe`]), not copied every tick. The series carry the name of the match
//! (`match_label`) if the server has several. Metrics that exist once for a server, and the page of
//! all metrics, are in `operate::metrics`.

pub(crate) mod catalogue;
mod heartbeat;
mod identity;
mod match_label;
pub(crate) mod match_metrics;
pub(crate) mod network_metrics;
pub(crate) mod pulse;
mod recording_metrics;
mod registry;
#[cfg_attr(not(feature = "otlp"), path = "telemetry/no_spans.rs")]
mod spans;
pub(crate) mod tick_metrics;

use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_proto::control::MatchName;
use obsp_proto::server::JitterStats;
use obsp_sim::{Counters, State};

use super::tick_thread::published::PublishedState;

pub(crate) use heartbeat::{STALL, Stall};
pub(crate) use identity::Identity;
use match_label::MatchLabel;
use match_metrics::MatchMetrics;
pub(crate) use network_metrics::connection_metrics::{Connected, ConnectionState};
pub(crate) use network_metrics::path_metrics::PathMetrics;
pub(crate) use network_metrics::round_metrics::{Part, RoundMetrics};
pub(crate) use network_metrics::{DroppedDatagram, NetworkMetrics};
pub(crate) use pulse::{EventLoop, Pulse};
use recording_metrics::RecordingMetrics;
pub(crate) use registry::{DynRecorder, Registry};
pub(crate) use spans::{JoinSpan, Spans};
pub(crate) use tick_metrics::{TickMetrics, TickPhases, TickSummary};

/// All metrics of one match.
pub(crate) struct Telemetry {
    /// The part that all matches of the server share.
    pub(crate) registry: Arc<Registry>,
    /// The name of the match, if the server has several.
    label: Option<MatchName>,
    /// The metrics that the tick thread writes.
    pub(crate) tick: TickMetrics,
    /// The metrics that the network thread writes.
    pub(crate) network: NetworkMetrics,
    /// Spans of single joins, map transfers and ticks.
    pub(crate) spans: Spans,
    game: MatchMetrics,
    recording: RecordingMetrics,
}

impl Telemetry {
    /// The metrics of a match, all at zero, in the registry of its server.
    pub(crate) fn new(registry: &Arc<Registry>, identity: &Identity<'_>) -> Self {
        let label = identity.label.clone();
        let recorder = MatchLabel::new(&*registry.recorder, label.as_ref());
        metrics::with_local_recorder(&recorder, || Self {
            registry: Arc::clone(registry),
            label: label.clone(),
            tick: TickMetrics::register(),
            network: NetworkMetrics::register(Arc::clone(&registry.connections)),
            spans: registry.spans.clone(),
            game: MatchMetrics::register(identity),
            recording: RecordingMetrics::register(identity.recording.clone()),
        })
    }

    /// Whether the series carry the name of the match, because the server has several.
    pub(crate) fn is_labelled(&self) -> bool {
        self.label.is_some()
    }

    /// Notes that the match goes on in another world, on this map.
    pub(crate) fn enters(&self, map: &str, map_hash: &str, load_time: Duration) {
        let recorder = MatchLabel::new(&*self.registry.recorder, self.label.as_ref());
        metrics::with_local_recorder(&recorder, || {
            self.game.enters(map, map_hash, load_time.as_secs_f64());
        });
    }

    /// Updates the metrics from a published state.
    pub(crate) fn observe(&self, published: &PublishedState) {
        let PublishedState { state, counters, commands, stuck_players, .. } = published;
        self.observe_match(state, counters, commands, *stuck_players);
    }

    /// Updates the metrics from these parts of a published state.
    pub(crate) fn observe_match(
        &self,
        state: &State,
        counters: &Counters,
        commands: &JitterStats,
        stuck_players: usize,
    ) {
        self.game.observe(state, counters, commands, stuck_players);
        self.tick.observe(Instant::now());
        self.recording.observe();
    }
}
