//! What an operator can see: the metrics behind `/metrics`, and the figures of
//! the status line.
//!
//! Each server has a recorder of its own, so two in one process never mix.
//! Every series is registered at the start: a counter that never moved reads
//! zero instead of being absent. What the simulation counts by itself is read
//! from the last published frame when somebody asks ([`Telemetry::render`]),
//! not copied every tick. `deploy/METRICS.md` describes each metric, and a
//! test holds the two together.

mod catalogue;
mod match_metrics;
mod network_metrics;
mod tick_metrics;

use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

use crate::tick_thread::Frame;

use match_metrics::MatchMetrics;
pub(crate) use network_metrics::{Disconnect, NetworkMetrics, Refusal};
pub(crate) use tick_metrics::TickMetrics;

/// All metrics of one server.
pub(crate) struct Telemetry {
    /// Written by the tick thread.
    pub(crate) tick: TickMetrics,
    /// Written by the network thread.
    pub(crate) network: NetworkMetrics,
    game: MatchMetrics,
    page: PrometheusHandle,
}

/// What stays the same as long as a server runs.
pub(crate) struct Identity<'a> {
    pub(crate) map: &'a str,
    pub(crate) map_hash: &'a str,
    pub(crate) tick_rate: u32,
    pub(crate) max_players: u16,
}

impl Telemetry {
    /// The metrics of a server, all at zero.
    pub(crate) fn new(identity: &Identity<'_>) -> Result<Self, BuildError> {
        let duration = Matcher::Full(catalogue::TICK_DURATION.into());
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(duration, &tick_metrics::DURATION_EDGES)?
            .build_recorder();
        let page = recorder.handle();
        Ok(metrics::with_local_recorder(&recorder, || {
            catalogue::describe();
            Self {
                tick: TickMetrics::register(),
                network: NetworkMetrics::register(),
                game: MatchMetrics::register(identity),
                page,
            }
        }))
    }

    /// The page that Prometheus scrapes, with the match as it was at `frame`.
    pub(crate) fn render(&self, frame: &Frame) -> String {
        self.game.observe(frame);
        self.page.render()
    }

    /// Condenses what histograms have collected; they grow until it is called.
    pub(crate) fn upkeep(&self) {
        self.page.run_upkeep();
    }
}
