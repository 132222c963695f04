//! The page of all metrics, beside `deploy/METRICS.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use obsp_proto::control::Reason;

use super::server_telemetry::{ServerIdentity, ServerTelemetry};
use super::socket_metrics::inode;
use crate::matches::telemetry::{Identity, Telemetry, tick_metrics};
use crate::matches::tick_thread::published::PublishedState;
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

fn telemetry() -> (ServerTelemetry, Telemetry) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let udp_inodes = inode(&socket).into_iter().collect();
    let identity_of_server = ServerIdentity { udp_inodes, ..ServerIdentity::default() };
    let server = ServerTelemetry::new(&identity_of_server).unwrap();
    let telemetry = Telemetry::new(&server.registry, &identity(None));
    (server, telemetry)
}

fn render(
    (server, telemetry): &(ServerTelemetry, Telemetry),
    published: &PublishedState,
) -> String {
    server.render(|| telemetry.observe(published))
}

fn page() -> String {
    let telemetry = telemetry();
    telemetry.1.tick.ticked(Duration::from_millis(3), false, 0);
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

/// The metrics in `deploy/METRICS.md` that exist on this system.
fn documented() -> Metrics {
    let page = include_str!("../../../../deploy/METRICS.md");
    let exists = |row: &&str| cfg!(target_os = "linux") || !row.contains("*Linux*");
    let rows = page.lines().filter(|line| line.starts_with("| `game_")).filter(exists);
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
    let matches =
        ["main", "duel"].map(|name| Telemetry::new(&server.registry, &identity(Some(name))));
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
    let page = include_str!("../../../../deploy/REFUSALS.md");
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
        telemetry.1.tick.ticked(Duration::from_millis(3), false, 0);
        let now = begin + Duration::from_millis(request);
        let (server, telemetry) = &telemetry;
        let (page, age) = server.shared_page(now, || telemetry.observe(&published));
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
        let series = format!("game_tick_duration_last_minute_seconds{{quantile=\"{quantile}\"}} ");
        let page = render(&telemetry, &published);
        let value = page.lines().find_map(|line| line.strip_prefix(&series)).unwrap();
        value.parse::<f64>().unwrap()
    };
    assert!(rendered("0.99").is_nan());
    for tick in 0..200 {
        let milliseconds = if tick % 20 == 0 { 2 } else { 1 };
        telemetry.1.tick.ticked(Duration::from_millis(milliseconds), false, 0);
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
