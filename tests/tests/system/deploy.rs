//! The files in `deploy/`, tested against the server. Rules and dashboard name metrics that exist,
//! Prometheus' own tool finds nothing wrong with them, and a real Prometheus that scrapes a real
//! server answers every query.

mod files;
mod fleet;
mod prometheus;
mod recipes;
mod reload;
mod traces;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use client_bot::swarm::Swarm;
use files::{alerts, dashboard_queries, exported, folder, names, read, recorded};
use prometheus::{Prometheus, installed};
use server::{Options, PageOptions, Server};
use tests::harness;
use tokio::sync::Notify;

/// Far longer than Prometheus needs to scrape a match.
const HANG: Duration = Duration::from_secs(60);

#[test]
fn rules_and_dashboard_name_metrics_that_exist() {
    let known: BTreeSet<String> = exported().into_iter().chain(recorded()).collect();
    let dashboard = dashboard_queries().join("\n");
    for (file, text) in [
        ("rules.yml", read("prometheus/rules.yml")),
        ("rules_test.yml", read("prometheus/rules_test.yml")),
        ("arena.json", dashboard),
    ] {
        let unknown: Vec<_> =
            names(&text).into_iter().filter(|name| !known.contains(name)).collect();
        assert!(unknown.is_empty(), "{file} names metrics that do not exist: {unknown:?}");
    }
    // Every rule must have a test.
    let tried = read("prometheus/rules_test.yml");
    for rule in alerts().into_iter().chain(recorded()) {
        assert!(tried.contains(&rule), "rules_test.yml has no test of {rule}");
    }
    // The metrics that an operator must never miss need a rule.
    for watched in ["game_digest_mismatches_total", "game_emergency_replacements_total"] {
        assert!(names(&read("prometheus/rules.yml")).contains(watched), "no rule about {watched}");
    }
}

/// Every alert leads the operator to its instructions.
#[test]
fn every_alert_leads_to_its_runbook() {
    let (rules, page) = (read("prometheus/rules.yml"), read("TROUBLESHOOTING.md"));
    let rules: Vec<_> = rules.split("- alert: ").skip(1).collect();
    assert_eq!(rules.len(), alerts().len());
    for (alert, rule) in alerts().into_iter().zip(rules) {
        let runbook = format!("runbook: \"deploy/TROUBLESHOOTING.md#{}\"", alert.to_lowercase());
        assert!(rule.contains(&runbook), "{alert} does not say {runbook}");
        let section = page.split(&format!("### {alert}\n")).nth(1);
        let text = section.unwrap_or_else(|| panic!("TROUBLESHOOTING.md has no section {alert}"));
        assert!(!text.starts_with(['#', '\n']), "the section {alert} is empty");
    }
}

#[test]
fn promtool_finds_nothing_wrong() {
    let Some(promtool) = installed("promtool") else { return };
    for arguments in [
        ["check", "config", "prometheus.yml"],
        ["check", "rules", "rules.yml"],
        ["test", "rules", "rules_test.yml"],
    ] {
        let output = Command::new(&promtool)
            .args(arguments)
            .current_dir(folder().join("prometheus"))
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}:\n{told}{errors}");
    }
}

/// Waits until the value of a query is in the range `expected`.
async fn is_told(prometheus: &Prometheus, query: &str, expected: RangeInclusive<f64>) {
    let begin = Instant::now();
    loop {
        let value = prometheus.value(query).await;
        if value.is_some_and(|value| expected.contains(&value)) {
            return;
        }
        assert!(begin.elapsed() < HANG, "{query} is {value:?}, not {expected:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn a_real_prometheus_answers_every_query_about_a_match() {
    let Some(program) = installed("prometheus") else { return };
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let map = harness::own_map("arena.obsp").to_string_lossy().into_owned();
    let options =
        Options { listen: vec![any_port], pages: PageOptions::at(any_port), ..Options::new(map) };
    let running = Server::start(&options).unwrap();
    let prometheus = Prometheus::start(Path::new(&program), running.http_addr()).await;
    let swarm = Swarm::new(running.local_addr(), 4);
    let seen = Notify::new();
    let looking = async {
        is_told(&prometheus, "sum(game_players)", 4.0..=4.0).await;
        is_told(&prometheus, "sum(rate(game_ticks_total[5s]))", 50.0..=66.0).await;
        for series in ["game_tick_phase_seconds_count", "game_rtt_seconds_count"] {
            is_told(&prometheus, &format!("sum({series})"), 1.0..=f64::INFINITY).await;
        }
        seen.notify_one();
    };
    let (report, ()) = tokio::join!(swarm.run(seen.notified(), |_| {}), looking);
    assert!(report.unwrap().passed());
    is_told(&prometheus, "up", 1.0..=1.0).await;

    for query in dashboard_queries() {
        let query = query.replace("$instance", ".*").replace("$__rate_interval", "10s");
        if let Err(error) = prometheus.query(&query).await {
            panic!("{query}: {error}");
        }
    }
    assert!(!prometheus.rules().await.contains("\"health\":\"err\""));

    // A tick thread that hangs raises an alert, here with a real server.
    let held = running.hold_ticks();
    let hangs = "sum(ALERTS{alertname=\"ArenaTicksHang\", alertstate=\"firing\"})";
    is_told(&prometheus, hangs, 1.0..=1.0).await;
    drop(held);

    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}
