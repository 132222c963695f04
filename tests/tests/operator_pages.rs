//! What an operator's programs see of a real server: its pages, and that the
//! audit of a served match finds nothing.

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
    assert!(metric(&page, "game_process_resident_memory_bytes") > 1e6);
    assert!(metric(&page, "game_tick_phase_seconds_count{phase=\"sim\"}") > 0.0);

    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}
