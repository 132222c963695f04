//! The metrics behind `/metrics`, and the figures of the status line.
//!
//! Each server has a recorder of its own, so two in one process never mix.
//! Every series is registered at the start: a counter that never moved reads
//! zero instead of being absent. What the simulation counts by itself is read
//! from the published state on request ([`Telemetry::render`]),
//! not copied every tick. `deploy/METRICS.md` describes each metric, and a
//! test holds the two together.

mod admin_metrics;
mod catalogue;
mod certificate_metrics;
mod connection_metrics;
mod cost;
mod heartbeat;
mod identity;
mod limit;
mod log_metrics;
mod match_metrics;
mod network_metrics;
mod path_metrics;
mod process_metrics;
mod recent_ticks;
mod recording_metrics;
mod round_metrics;
mod socket_metrics;
mod tick_metrics;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use metrics_exporter_prometheus::{
    BuildError, Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};

use obsp_proto::server::JitterStats;
use obsp_sim::{Counters, State};

use crate::published::PublishedState;
use crate::spans::Spans;
use crate::token_bucket::{Rate, TokenBucket};

pub(crate) use admin_metrics::AdminMetrics;
use certificate_metrics::CertificateMetrics;
pub(crate) use connection_metrics::{Connected, ConnectionState};
pub use cost::Bookkeeping;
pub(crate) use heartbeat::{STALL, Stall};
pub(crate) use identity::Identity;
pub(crate) use limit::Limit;
use log_metrics::LogMetrics;
use match_metrics::MatchMetrics;
pub(crate) use network_metrics::{DroppedDatagram, NetworkMetrics};
pub(crate) use path_metrics::PathMetrics;
use process_metrics::ProcessMetrics;
use recording_metrics::RecordingMetrics;
pub(crate) use round_metrics::{Part, RoundMetrics};
use socket_metrics::SocketMetrics;
pub(crate) use socket_metrics::inode;
pub(crate) use tick_metrics::{TickMetrics, TickPhases, TickSummary};

/// Age up to which a page of metrics is handed out again to who looks on: however
/// many do, one is worked out a second at most.
const FRESH: Duration = Duration::from_secs(1);

/// Pages that are worked out for Prometheus: each takes about a millisecond.
const SCRAPES: Rate = Rate { per_second: 10.0, burst: 50.0 };

/// All metrics of one server.
pub(crate) struct Telemetry {
    /// Written by the tick thread.
    pub(crate) tick: TickMetrics,
    /// Written by the network thread.
    pub(crate) network: NetworkMetrics,
    pub(crate) certificate: CertificateMetrics,
    /// Spans of single joins, map transfers and ticks.
    pub(crate) spans: Spans,
    game: MatchMetrics,
    process: ProcessMetrics,
    socket: SocketMetrics,
    recording: RecordingMetrics,
    log: LogMetrics,
    /// Where series are registered that begin later.
    recorder: Arc<PrometheusRecorder>,
    /// Requests of administrators.
    pub(crate) admin: AdminMetrics,
    page: PrometheusHandle,
    /// Pages worked out for Prometheus.
    scrapes: Mutex<TokenBucket>,
    /// The page as it was worked out last.
    last: Mutex<Option<(Instant, Bytes)>>,
}

impl Telemetry {
    /// The metrics of a server, all at zero.
    pub(crate) fn new(identity: &Identity<'_>) -> Result<Self, BuildError> {
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
        let recorder = Arc::new(recorder);
        let page = recorder.handle();
        Ok(metrics::with_local_recorder(&*recorder, || {
            catalogue::describe();
            Self {
                recorder: Arc::clone(&recorder),
                admin: AdminMetrics::register(),
                tick: TickMetrics::register(),
                network: NetworkMetrics::register(),
                certificate: CertificateMetrics::register(identity.self_signed),
                spans: identity.spans.clone(),
                game: MatchMetrics::register(identity),
                process: ProcessMetrics::register(),
                socket: SocketMetrics::register(identity.udp_inode),
                recording: RecordingMetrics::register(identity.recording.clone()),
                log: LogMetrics::register(),
                page,
                scrapes: Mutex::new(TokenBucket::full(Instant::now())),
                last: Mutex::default(),
            }
        }))
    }

    /// The match goes on in another world, on this map.
    pub(crate) fn enters(&self, map: &str, map_hash: &str, load_time: Duration) {
        metrics::with_local_recorder(&*self.recorder, || {
            self.game.enters(map, map_hash, load_time.as_secs_f64());
        });
    }

    /// The page that Prometheus scrapes, with the match as it was when `published`.
    pub(crate) fn render(&self, published: &PublishedState) -> String {
        self.render_match(&published.state, &published.counters, &published.commands)
    }

    /// The same page, with the match as these have it.
    fn render_match(&self, state: &State, counters: &Counters, commands: &JitterStats) -> String {
        self.game.observe(state, counters, commands);
        self.tick.observe(Instant::now());
        self.process.observe();
        self.socket.observe();
        self.recording.observe();
        self.log.observe();
        self.page.render()
    }

    /// The page that Prometheus scrapes, as it is now; the last one, if it was asked
    /// for more often than any monitoring does.
    pub(crate) fn scraped_page(&self, published: &PublishedState, now: Instant) -> Bytes {
        let mut scrapes = self.scrapes.lock().unwrap_or_else(PoisonError::into_inner);
        let may = scrapes.take(SCRAPES, 1.0, now);
        drop(scrapes);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, page)) = &*last
            && !may
        {
            return page.clone();
        }
        let page = Bytes::from(self.render(published));
        *last = Some((now, page.clone()));
        page
    }

    /// The same page and how old it is, worked out anew if it is not fresh at
    /// `now`: many who ask cost no more than a few.
    pub(crate) fn shared_page(
        &self,
        published: &PublishedState,
        now: Instant,
    ) -> (Bytes, Duration) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, page)) = &*last
            && let age = now.saturating_duration_since(*then)
            && age < FRESH
        {
            return (page.clone(), age);
        }
        let page = Bytes::from(self.render(published));
        *last = Some((now, page.clone()));
        (page, Duration::ZERO)
    }

    /// Datagrams that the kernel threw away before the server read them; 0 where it
    /// does not tell.
    pub(crate) fn kernel_drops(&self) -> u64 {
        self.socket.drops().unwrap_or_default()
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

    use obsp_proto::control::Reason;

    use super::*;
    use crate::test_match;

    /// Kind and labels of each metric.
    type Metrics = BTreeMap<String, (String, BTreeSet<String>)>;

    fn telemetry() -> Telemetry {
        let identity = Identity {
            map: "m",
            map_hash: "h",
            tick_rate: 60,
            max_players: 4,
            map_load: 0.5,
            recording: Arc::default(),
            self_signed: true,
            spans: Spans::default(),
            udp_inode: None,
        };
        Telemetry::new(&identity).unwrap()
    }

    fn page() -> String {
        let telemetry = telemetry();
        telemetry.tick.ticked(Duration::from_millis(3), false, 0);
        let (_requests, requests) = mpsc::sync_channel(1);
        let (_match, latest) = test_match(requests);
        let published = latest.borrow().clone();
        telemetry.render(&published)
    }

    /// The metrics on the page.
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

    /// The metrics in `deploy/METRICS.md`.
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
    fn the_page_for_operators_lists_every_reason_and_where_it_is_counted() {
        let page = include_str!("../../deploy/METRICS.md");
        let (_, section) = page.split_once("## Reasons").unwrap();
        let rows: Vec<_> = section.lines().filter(|line| line.starts_with("| `")).collect();
        let expected = Reason::ALL.map(|reason| {
            let counted = match (reason.refuses(), reason.disconnects()) {
                (true, true) => "refusals, disconnects",
                (true, false) => "refusals",
                _ => "disconnects",
            };
            format!("| `{}` | {counted} | {reason} |", reason.code())
        });
        assert_eq!(rows, expected);
        let exported = self::page();
        for reason in Reason::ALL {
            for (metric, counts) in [
                ("game_refusals_total", reason.refuses()),
                ("game_disconnects_total", reason.disconnects()),
            ] {
                let series = format!("{metric}{{reason=\"{}\"}} 0\n", reason.code());
                assert_eq!(exported.contains(&series), counts, "{series}");
            }
        }
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
        let (_match, latest) = test_match(requests);
        let published = latest.borrow().clone();
        let begin = Instant::now();
        let mut pages = BTreeSet::new();
        for request in 0..4000 {
            telemetry.tick.ticked(Duration::from_millis(3), false, 0);
            let now = begin + Duration::from_millis(request);
            let (page, age) = telemetry.shared_page(&published, now);
            assert_eq!(age, Duration::from_millis(request % 1000));
            pages.insert(page);
        }
        assert_eq!(pages.len(), 4);
    }

    #[test]
    fn the_page_tells_the_percentiles_of_the_last_minute_and_none_without_ticks() {
        let telemetry = telemetry();
        let (_requests, requests) = mpsc::sync_channel(1);
        let (_match, latest) = test_match(requests);
        let published = latest.borrow().clone();
        let told = |quantile: &str| {
            let series =
                format!("game_tick_duration_last_minute_seconds{{quantile=\"{quantile}\"}} ");
            let page = telemetry.render(&published);
            let value = page.lines().find_map(|line| line.strip_prefix(&series)).unwrap();
            value.parse::<f64>().unwrap()
        };
        assert!(told("0.99").is_nan());
        for tick in 0..200 {
            let milliseconds = if tick % 20 == 0 { 2 } else { 1 };
            telemetry.tick.ticked(Duration::from_millis(milliseconds), false, 0);
        }
        assert!((told("0.5") - 0.001).abs() < 4e-5, "{}", told("0.5"));
        assert!((told("0.99") - 0.002).abs() < 7e-5, "{}", told("0.99"));
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
