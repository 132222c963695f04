//! What an operator's programs see of a real server: its pages, and that the
//! audit of a served match finds nothing.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use server::{Options, Running, Server};
use tests::harness;
use tests::harness::pages::{get, metric};

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(20);

fn serve() -> Running {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let map = harness::own_map("arena.obsp").to_string_lossy().into_owned();
    let options =
        Options { listen: any_port, http: any_port, audit_every: 10, ..Options::new(map) };
    Server::start(&options).unwrap()
}

#[tokio::test]
async fn a_server_tells_who_it_is_and_that_it_is_ready() {
    let running = serve();
    let address = running.http_addr();
    assert_eq!(get(address, "/healthz").await.status, 200);
    let begin = Instant::now();
    while get(address, "/readyz").await.status != 200 {
        assert!(begin.elapsed() < HANG, "never ready");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    let info: serde_json::Value = serde_json::from_str(&get(address, "/info").await.body).unwrap();
    assert_eq!(info["map"], "arena");
    assert_eq!(info["map_hash"], running.map_hash().to_string());
    assert_eq!(info["tick_rate"], 60);
    assert_eq!(info["snapshot_rate"], 60);
    assert_eq!(info["max_players"], 32);
    assert_eq!(info["players"], 0);
    assert_eq!(info["port"], running.local_addr().port());
    assert_eq!(info["certificate_sha256"], running.certificate_sha256().to_string());
    assert_eq!(info["self_signed"], true);
    assert_eq!(info["protocol"], proto::PROTOCOL_VERSION);

    let page = loop {
        let page = get(address, "/metrics").await.body;
        if metric(&page, "game_audits_total") >= 2.0 {
            break page;
        }
        assert!(begin.elapsed() < HANG, "no audit");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(metric(&page, "game_audit_failures_total"), 0.0);
    // Pages that look on share what was worked out for one of them.
    let shared = get(address, "/figures").await.body;
    assert_eq!(get(address, "/figures").await.body, shared);
    let names = |page: &str| -> BTreeSet<String> {
        let series = page.lines().filter(|line| !line.starts_with('#'));
        series.filter_map(|line| Some(line.rsplit_once(' ')?.0.to_owned())).collect()
    };
    let missing: Vec<_> = names(&page).difference(&names(&shared)).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(metric(&page, "game_process_resident_memory_bytes") > 1e6);
    assert!(metric(&page, "game_tick_phase_seconds_count{phase=\"sim\"}") > 0.0);

    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_page_finds_all_that_it_asks_for() {
    let running = serve();
    let address = running.http_addr();
    let page = get(address, "/").await;
    assert_eq!(page.status, 200);
    assert!(page.body.starts_with("<!doctype html>"), "{}", page.body);
    for path in ["/web/main.js", "/web/wire/snapshot.js", "/web/style.css"] {
        assert_eq!(get(address, path).await.status, 200, "{path}");
    }
    for path in ["/web/", "/web/no.js", "/web/../Cargo.toml", "/web/wire/vectors.test.mjs"] {
        assert_eq!(get(address, path).await.status, 404, "{path}");
    }

    let json = async |path: &str| -> serde_json::Value {
        let answer = get(address, path).await;
        assert_eq!(answer.status, 200, "{path}");
        serde_json::from_str(&answer.body).unwrap()
    };
    let scene = json("/scene").await;
    assert_eq!(scene["hash"], running.map_hash().to_string());
    let models: Vec<_> = scene["models"].as_array().unwrap().iter().map(|m| &m["name"]).collect();
    assert_eq!((models.len(), models[0].as_str()), (12, Some("crate")));
    let polygons = scene["polygons"].as_array().unwrap();
    assert!(polygons.len() > 100);
    for polygon in polygons {
        let corners = polygon.as_array().unwrap().len();
        assert!(corners >= 9 && corners % 3 == 0, "{polygon}");
    }
    // Walls that face the void would hide the arena from above.
    let highest = scene["bounds"]["max"][2].as_f64().unwrap();
    let on_top = |polygon: &&serde_json::Value| {
        polygon.as_array().unwrap().chunks(3).all(|corner| corner[2] == highest)
    };
    assert_eq!(polygons.iter().filter(on_top).count(), 0);

    assert_eq!(json("/effects/0").await, serde_json::json!([]));
    let stages = json("/cascade").await["stages"].as_array().unwrap().len();
    assert_eq!(stages, sim::Stage::COUNT);
    assert!(json("/contacts").await["points"].is_array());
    assert_eq!(json("/onion/60").await["sizes"][0], "point");
    for path in ["/onion/inf", "/onion/high", "/effects/-1"] {
        assert_eq!(get(address, path).await.status, 400, "{path}");
    }
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}
