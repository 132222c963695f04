//! The metrics behind `/metrics`, and the figures of the status line.
//!
//! Each server has a recorder of its own, so the metrics of two servers in one process never mix.
//! Every series is registered at the start: a counter that never moved reads zero instead of being
//! absent. The simulation's own counters are read from the published state on request
//! ([`Telemetry::observe`]), not copied every tick. The metrics that a server has once are in
//! `server_telemetry`. Each match has a [`Telemetry`], whose series carry its name (`match_label`)
//! if the server has several. `deploy/METRICS.md` describes each metric, and a test compares the
//! two.

mod admin_metrics;
mod answers;
mod catalogue;
mod certificate_metrics;
mod connection_metrics;
mod cost;
mod heartbeat;
mod identity;
mod limit;
mod log_metrics;
mod match_label;
mod match_metrics;
mod network_metrics;
mod path_metrics;
mod process_metrics;
mod pulse;
mod recent_ticks;
mod recording_metrics;
mod round_metrics;
mod server_telemetry;
mod socket_metrics;
mod tick_metrics;
mod webhook_metrics;

use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_proto::control::MatchName;
use obsp_proto::server::JitterStats;
use obsp_sim::{Counters, State};

use crate::published::PublishedState;
use crate::spans::Spans;

pub(crate) use admin_metrics::AdminMetrics;
pub(crate) use connection_metrics::{Connected, ConnectionState};
pub use cost::Bookkeeping;
pub(crate) use heartbeat::{STALL, Stall};
pub(crate) use identity::{Identity, ServerIdentity};
pub(crate) use limit::Limit;
use match_label::MatchLabel;
use match_metrics::MatchMetrics;
pub(crate) use network_metrics::{DroppedDatagram, NetworkMetrics};
pub(crate) use path_metrics::PathMetrics;
pub(crate) use pulse::{EventLoop, Pulse};
use recording_metrics::RecordingMetrics;
pub(crate) use round_metrics::{Part, RoundMetrics};
pub(crate) use server_telemetry::ServerTelemetry;
pub(crate) use socket_metrics::inode;
pub(crate) use tick_metrics::{TickMetrics, TickPhases, TickSummary};
pub(crate) use webhook_metrics::{PostOutcome, WebhookMetrics};

/// All metrics of one match.
pub(crate) struct Telemetry {
    /// The metrics that the server has once.
    pub(crate) server: Arc<ServerTelemetry>,
    /// The name of the match, where the server has several.
    label: Option<MatchName>,
    /// Written by the tick thread.
    pub(crate) tick: TickMetrics,
    /// Written by the network thread.
    pub(crate) network: NetworkMetrics,
    /// Spans of single joins, map transfers and ticks.
    pub(crate) spans: Spans,
    game: MatchMetrics,
    recording: RecordingMetrics,
}

impl Telemetry {
    /// The metrics of a match of `server`, all at zero.
    pub(crate) fn new(server: &Arc<ServerTelemetry>, identity: &Identity<'_>) -> Self {
        let label = identity.label.clone();
        let recorder = MatchLabel::new(&server.recorder, label.as_ref());
        metrics::with_local_recorder(&recorder, || Self {
            server: Arc::clone(server),
            label: label.clone(),
            tick: TickMetrics::register(),
            network: NetworkMetrics::register(Arc::clone(&server.connections)),
            spans: server.spans.clone(),
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
        let recorder = MatchLabel::new(&self.server.recorder, self.label.as_ref());
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
    fn observe_match(
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

    fn identity(label: Option<&str>) -> Identity<'static> {
        Identity {
            label: label.map(|name| name.parse().unwrap()),
            map: "m",
            map_hash: "h",
            tick_rate: 60,
            max_players: 4,
            map_load: 0.5,
            recording: Arc::default(),
        }
    }

    fn telemetry() -> Telemetry {
        let server = ServerTelemetry::new(&ServerIdentity::default()).unwrap();
        Telemetry::new(&Arc::new(server), &identity(None))
    }

    fn render(telemetry: &Telemetry, published: &PublishedState) -> String {
        telemetry.server.render(|| telemetry.observe(published))
    }

    fn page() -> String {
        let telemetry = telemetry();
        telemetry.tick.ticked(Duration::from_millis(3), false, 0);
        let (_requests, requests) = mpsc::sync_channel(1);
        let (_match, latest) = test_match(requests);
        let published = latest.borrow().clone();
        render(&telemetry, &published)
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
    fn series_carry_the_name_of_their_match_where_there_are_two() {
        let server = Arc::new(ServerTelemetry::new(&ServerIdentity::default()).unwrap());
        let matches = ["main", "duel"].map(|name| Telemetry::new(&server, &identity(Some(name))));
        matches[1].tick.ticked(Duration::from_millis(3), false, 0);
        matches[1].enters("other", "h", Duration::ZERO);
        let page = server.render(|| {});
        for series in [
            "game_ticks_total{match=\"duel\"} 1\n",
            "game_ticks_total{match=\"main\"} 0\n",
            "game_players{match=\"main\"} 0\n",
            "game_map_info{match=\"duel\",map=\"other\",hash=\"h\"} 1\n",
            "game_refusals_total{match=\"main\",reason=\"full\"} 0\n",
        ] {
            assert!(page.contains(series), "{series}{page}");
        }
        // Both matches have the same series. `duel` has one more, because it has played a second map.
        let count = |name| page.matches(&format!("match=\"{name}\"")).count();
        assert_eq!(count("main") + 1, count("duel"));
        // A series of the server has no such label. A match's series always has it.
        let alone = exported(&self::page());
        let both = exported(&page);
        let labelled = both.iter().filter(|(_, (_, labels))| labels.contains("match"));
        let labelled: BTreeSet<_> = labelled.map(|(name, _)| name.clone()).collect();
        assert!(labelled.len() > alone.len() / 2, "{labelled:?}");
        for line in page.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let name = line.split(['{', ' ']).next().unwrap();
            let parts = ["_bucket", "_sum", "_count"];
            let base = parts.iter().find_map(|part| name.strip_suffix(part)).unwrap_or(name);
            let is_of_a_match = labelled.contains(base) || labelled.contains(name);
            assert_eq!(line.contains("match=\""), is_of_a_match, "{line}");
        }
    }

    #[test]
    fn the_page_for_operators_lists_every_reason_and_where_it_is_counted() {
        let page = include_str!("../../deploy/REFUSALS.md");
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
            let (page, age) = telemetry.server.shared_page(now, || telemetry.observe(&published));
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
        let rendered = |quantile: &str| {
            let series =
                format!("game_tick_duration_last_minute_seconds{{quantile=\"{quantile}\"}} ");
            let page = render(&telemetry, &published);
            let value = page.lines().find_map(|line| line.strip_prefix(&series)).unwrap();
            value.parse::<f64>().unwrap()
        };
        assert!(rendered("0.99").is_nan());
        for tick in 0..200 {
            let milliseconds = if tick % 20 == 0 { 2 } else { 1 };
            telemetry.tick.ticked(Duration::from_millis(milliseconds), false, 0);
        }
        assert!((rendered("0.5") - 0.001).abs() < 4e-5, "{}", rendered("0.5"));
        assert!((rendered("0.99") - 0.002).abs() < 7e-5, "{}", rendered("0.99"));
    }

    #[test]
    fn every_usual_deadline_is_an_edge() {
        for rate in [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 64.0, 100.0, 120.0, 128.0] {
            let deadline = 1.0 / rate;
            assert!(tick_metrics::DURATION_EDGES.contains(&deadline), "1/{rate} s is not an edge");
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
