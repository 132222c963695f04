//! The recorder of all metrics, and the text page that Prometheus reads.

use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

use crate::matches::telemetry::DynRecorder;
use crate::matches::telemetry::catalogue;
use crate::matches::telemetry::network_metrics::path_metrics;
use crate::matches::telemetry::tick_metrics;

/// Writes the metrics of a recorder as a text page.
pub(super) struct Exporter(PrometheusHandle);

/// A recorder, and the exporter of what it records.
pub(super) fn recorder() -> Result<(DynRecorder, Exporter), BuildError> {
    let whole = |name: &str| Matcher::Full(name.to_owned());
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(whole(catalogue::TICK_DURATION), &tick_metrics::DURATION_EDGES)?
        .set_buckets_for_metric(whole(catalogue::TICK_PHASE), &tick_metrics::PHASE_EDGES)?
        .set_buckets_for_metric(whole(catalogue::TICK_DELAY), &tick_metrics::DELAY_EDGES)?
        .set_buckets_for_metric(whole(catalogue::RTT), &path_metrics::RTT_EDGES)?
        .set_buckets_for_metric(
            whole(catalogue::SNAPSHOT_RATE),
            &path_metrics::SNAPSHOT_RATE_EDGES,
        )?
        .build_recorder();
    let page = recorder.handle();
    Ok((Box::new(recorder), Exporter(page)))
}

impl Exporter {
    /// The page.
    pub(super) fn render(&self) -> String {
        self.0.render()
    }

    /// Condenses what histograms have collected.
    pub(super) fn run_upkeep(&self) {
        self.0.run_upkeep();
    }
}
