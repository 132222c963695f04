//! The server as an operator starts it: a process that prints its addresses, answers its pages, and
//! ends without an error when a service manager asks it to.

mod drain;
mod recording;
mod reload;
mod stalls;

use std::process::Command;
use std::time::Duration;

use obsp_client::Disconnected;
use obsp_client::quic::{Client, Connector, Trust};
use obsp_proto::control::{ClosingReason, MapHash, PlayerName};
use tests::harness::pages::{get, metric};
use tests::harness::{MapBuilder, ServerProcess, own_map, program};
use tokio::time::timeout;

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(20);

/// Plays until the server ends the connection, and returns the reason.
async fn play_to_the_end(client: &mut Client) -> Disconnected {
    loop {
        if let Err(lost) = client.next().await {
            return lost;
        }
    }
}

#[tokio::test]
async fn a_server_process_serves_until_it_is_told_to_stop() {
    for signal in ["TERM", "INT"] {
        let map = own_map("arena.obsp").to_string_lossy().into_owned();
        let mut process = ServerProcess::start(&["--map", &map, "--drain", "0"]);
        let (server, http) = (process.udp, process.http);
        assert!(process.said("map ").starts_with("arena, hash "));
        assert!(process.said("60 Hz, ").contains("up to 32 players"));
        let pin = process.said("certificate SHA-256 ").parse().unwrap();

        assert_eq!(get(http, "/healthz").await.status, 200);
        let connector = Connector::new(server, Trust::Pin(pin)).unwrap();
        let name = PlayerName::new("witness").unwrap();
        let mut client = connector.join(&name, MapHash::ANY).await.unwrap();
        assert_eq!(metric(&get(http, "/metrics").await.body, "game_players"), 1.0);

        process.signal(signal);
        let lost = timeout(HANG, play_to_the_end(&mut client)).await.unwrap();
        assert!(matches!(lost, Disconnected::Closed(ClosingReason::ShuttingDown)), "{lost}");
        drop(client);
        connector.close().await;
        assert_eq!(process.wait(), Some(0), "SIG{signal}");
    }
}

#[test]
fn wrong_usage_and_missing_maps_end_with_their_codes_and_a_way_out() {
    for (arguments, code, says) in [
        (&["--map", "nowhere.obsp"][..], 1, "arena"),
        (&["--map", "arena.obsp", "--tick-rate", "7"], 2, "10..=128"),
        (&[], 2, "--map"),
    ] {
        let output = Command::new(program("server")).args(arguments).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
        assert!(told.contains(says), "{arguments:?}: {told}");
    }
}

#[test]
fn a_misspelt_class_of_the_map_is_warned_of() {
    let text = MapBuilder::floor().entity(&[("classname", "trigger_teleprot")]).text();
    let path = std::env::temp_dir().join(format!("misspelt-{}.map", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let map = path.to_string_lossy();
    let arguments =
        ["--map", &map, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--duration", "1s"];
    let output = Command::new(program("server")).args(arguments).output().unwrap();
    std::fs::remove_file(&path).unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    let told = "nobody handles the class trigger_teleprot, so 1 entity does nothing; did you mean \
                trigger_teleport?";
    assert!(output.status.success() && log.contains("WARN"), "{log}");
    assert_eq!(log.matches(told).count(), 1, "{log}");
}

/// The fields of a line of the log in JSON.
fn fields(line: &str) -> serde_json::Value {
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    line["fields"].clone()
}

#[tokio::test]
async fn the_log_says_why_a_player_is_gone_and_how_its_connection_was() {
    let map = own_map("arena.obsp").to_string_lossy().into_owned();
    let arguments = ["--map", &map, "--log-format", "json", "--max-players", "1"];
    let process = ServerProcess::start(&arguments);
    let pin = process.said("certificate SHA-256 ").parse().unwrap();
    let connector = Connector::new(process.udp, Trust::Pin(pin)).unwrap();
    let name = PlayerName::new("Ann \"the\" bot").unwrap();
    let mut client = connector.join(&name, MapHash::ANY).await.unwrap();
    while client.session().stats().snapshots < 30 {
        client.next().await.unwrap();
    }
    let player = client.session().player().unwrap();
    // One client finds the server full, and another never sends a hello.
    let late = PlayerName::new("late").unwrap();
    assert!(connector.join(&late, MapHash::ANY).await.is_err());
    client.leave().await;
    drop(connector);

    let joined = fields(&process.logged("player joined"));
    assert_eq!((&joined["name"], &joined["slot"]), (&name.as_str().into(), &player.slot.into()));
    let refused = fields(&process.logged("refused"));
    assert_eq!((&refused["reason"], &refused["name"]), (&"full".into(), &"late".into()));
    assert_eq!(
        refused["detail"],
        "the server is full (players: 1; reserved places are not counted)"
    );
    assert_ne!(refused["connection"], joined["connection"]);
    let left = fields(&process.logged("player left"));
    assert_eq!(left["reason"], "left");
    for same in ["connection", "address", "slot", "generation", "name"] {
        assert_eq!(left[same], joined[same], "{same}");
    }
    let number = |field: &str| left[field].as_f64().unwrap_or_else(|| panic!("{field}: {left}"));
    assert!(number("bytes_sent") > 1000.0 && number("bytes_received") > 1000.0, "{left}");
    assert!(number("packets_sent") >= 30.0 && number("rtt_ms") < 1000.0, "{left}");
    assert!(number("ticks_unheard") < 600.0 && number("seconds") > 0.0, "{left}");
    assert!(number("budget_bytes") > 0.0 && number("packets_lost") >= 0.0, "{left}");

    let page = get(process.http, "/metrics").await.body;
    assert_eq!(metric(&page, "game_refusals_total{reason=\"full\"}"), 1.0);
    assert_eq!(metric(&page, "game_disconnects_total{reason=\"left\"}"), 1.0);
}
