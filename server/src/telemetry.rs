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
mod connection_metrics;
mod cost;
mod line_metrics;
mod match_metrics;
mod network_metrics;
mod process_metrics;
mod round_metrics;
mod tick_metrics;

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

use crate::tick_thread::Frame;

pub(crate) use connection_metrics::{Connected, ConnectionState};
pub use cost::Bookkeeping;
pub(crate) use line_metrics::LineMetrics;
use match_metrics::MatchMetrics;
pub(crate) use network_metrics::{Disconnect, DroppedDatagram, NetworkMetrics, Refusal};
use process_metrics::ProcessMetrics;
pub(crate) use round_metrics::{Part, RoundMetrics};
pub(crate) use tick_metrics::{TickMetrics, TickPhases};

/// Age up to which a page of metrics is handed out again to who looks on: however
/// many do, one is worked out a second at most.
const FRESH: Duration = Duration::from_secs(1);

/// All metrics of one server.
pub(crate) struct Telemetry {
    /// Written by the tick thread.
    pub(crate) tick: TickMetrics,
    /// Written by the network thread.
    pub(crate) network: NetworkMetrics,
    game: MatchMetrics,
    process: ProcessMetrics,
    page: PrometheusHandle,
    /// The page as it was worked out last.
    last: Mutex<Option<(Instant, Bytes)>>,
}

/// What stays the same as long as a server runs.
pub(crate) struct Identity<'a> {
    pub(crate) map: &'a str,
    pub(crate) map_hash: &'a str,
    pub(crate) tick_rate: u32,
    pub(crate) max_players: u16,
    /// Seconds that loading or compiling the map took.
    pub(crate) map_load: f64,
}

impl Telemetry {
    /// The metrics of a server, all at zero.
    pub(crate) fn new(identity: &Identity<'_>) -> Result<Self, BuildError> {
        let whole = |name: &str| Matcher::Full(name.to_owned());
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(whole(catalogue::TICK_DURATION), &tick_metrics::DURATION_EDGES)?
            .set_buckets_for_metric(whole(catalogue::TICK_PHASE), &tick_metrics::PHASE_EDGES)?
            .set_buckets_for_metric(whole(catalogue::TICK_DELAY), &tick_metrics::DELAY_EDGES)?
            .set_buckets_for_metric(whole(catalogue::RTT), &line_metrics::RTT_EDGES)?
            .build_recorder();
        let page = recorder.handle();
        Ok(metrics::with_local_recorder(&recorder, || {
            catalogue::describe();
            Self {
                tick: TickMetrics::register(),
                network: NetworkMetrics::register(),
                game: MatchMetrics::register(identity),
                process: ProcessMetrics::register(),
                page,
                last: Mutex::default(),
            }
        }))
    }

    /// The page that Prometheus scrapes, with the match as it was at `frame`.
    pub(crate) fn render(&self, frame: &Frame) -> String {
        self.game.observe(frame);
        self.process.observe();
        self.page.render()
    }

    /// The same page and how old it is, worked out anew if it is not fresh at
    /// `now`: many who ask cost no more than a few.
    pub(crate) fn shared_page(&self, frame: &Frame, now: Instant) -> (Bytes, Duration) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, page)) = &*last
            && let age = now.saturating_duration_since(*then)
            && age < FRESH
        {
            return (page.clone(), age);
        }
        let page = Bytes::from(self.render(frame));
        *last = Some((now, page.clone()));
        (page, Duration::ZERO)
    }

    /// Condenses what histograms have collected; they grow until it is called.
    pub(crate) fn upkeep(&self) {
        self.page.run_upkeep();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::test_match;

    /// Kind and labels of each metric.
    type Metrics = BTreeMap<String, (String, BTreeSet<String>)>;

    fn telemetry() -> Telemetry {
        let identity =
            Identity { map: "m", map_hash: "h", tick_rate: 60, max_players: 4, map_load: 0.5 };
        Telemetry::new(&identity).unwrap()
    }

    fn page() -> String {
        let telemetry = telemetry();
        telemetry.tick.ticked(Duration::from_millis(3), false, 0);
        let (_requests, requests) = mpsc::sync_channel(1);
        let (_match, frames) = test_match(requests);
        let frame = frames.borrow().clone();
        telemetry.render(&frame)
    }

    /// What the page says there is.
    fn exported(page: &str) -> Metrics {
        let mut metrics = Metrics::new();
        for line in page.lines() {
            if let Some(declaration) = line.strip_prefix("# TYPE ") {
                let (name, kind) = declaration.split_once(' ').unwrap();
                metrics.insert(name.into(), (kind.into(), BTreeSet::new()));
            } else if let Some((name, labels)) = line.split_once('{') {
                let parts = ["_bucket", "_sum", "_count"];
                let histogram = parts.iter().find_map(|part| name.strip_suffix(part));
                let name = histogram.unwrap_or(name);
                let labels = labels.split_once('}').unwrap().0.split(',');
                let names = labels.map(|label| label.split_once('=').unwrap().0.to_owned());
                let known = &mut metrics.get_mut(name).unwrap().1;
                known.extend(names.filter(|label| label != "le"));
            }
        }
        metrics
    }

    /// What `deploy/METRICS.md` says there is.
    fn documented() -> Metrics {
        let page = include_str!("../../deploy/METRICS.md");
        let rows = page.lines().filter(|line| line.starts_with("| `game_"));
        rows.map(|row| {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            let code = |text: &str| text.trim_matches('`').to_owned();
            let labels = cells[3].split(", ").filter(|label| !label.is_empty()).map(code);
            (code(cells[1]), (cells[2].to_owned(), labels.collect()))
        })
        .collect()
    }

    #[test]
    fn the_page_for_operators_tells_what_is_exported() {
        assert_eq!(exported(&page()), documented());
    }

    #[test]
    fn every_metric_says_what_it_means_and_reads_zero_from_the_start() {
        let page = page();
        for name in exported(&page).keys() {
            assert!(page.contains(&format!("# HELP {name} ")), "{name} has no help");
        }
        assert!(page.contains("game_emergency_replacements_total 0\n"), "{page}");
        assert!(page.contains("game_refusals_total{reason=\"full\"} 0\n"), "{page}");
    }

    #[test]
    fn a_shared_page_is_worked_out_once_a_second_however_many_ask() {
        let telemetry = telemetry();
        let (_requests, requests) = mpsc::sync_channel(1);
        let (_match, frames) = test_match(requests);
        let frame = frames.borrow().clone();
        let begin = Instant::now();
        let mut pages = BTreeSet::new();
        for request in 0..4000 {
            telemetry.tick.ticked(Duration::from_millis(3), false, 0);
            let now = begin + Duration::from_millis(request);
            let (page, age) = telemetry.shared_page(&frame, now);
            assert_eq!(age, Duration::from_millis(request % 1000));
            pages.insert(page);
        }
        assert_eq!(pages.len(), 4);
    }

    #[test]
    fn every_usual_deadline_is_an_edge() {
        for rate in [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 64.0, 100.0, 120.0, 128.0] {
            let deadline = 1.0 / rate;
            assert!(tick_metrics::DURATION_EDGES.contains(&deadline), "1/{rate} s is no edge");
        }
        assert!(tick_metrics::DURATION_EDGES.contains(&0.00234));
        assert!(tick_metrics::DURATION_EDGES.is_sorted() && tick_metrics::PHASE_EDGES.is_sorted());
    }

    #[test]
    fn the_deadline_is_an_edge_of_the_page() {
        let edge = r#"game_tick_duration_seconds_bucket{le="0.016666666666666666"} 1"#;
        assert!(page().contains(edge));
    }
}
