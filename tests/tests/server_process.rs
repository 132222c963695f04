//! The server as an operator starts it: a process that says where it serves,
//! answers its pages, and ends well when a service manager asks it to.
#![cfg(unix)]

use std::process::Command;
use std::time::Duration;

use client_bot::client::{Client, Connector, Lost, Trust};
use proto::control::{ClosingReason, MapHash, PlayerName};
use tests::harness::pages::{get, metric};
use tests::harness::{ServerProcess, own_map, program};
use tokio::time::timeout;

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(20);

/// Plays until the server ends it.
async fn play_to_the_end(client: &mut Client) -> Lost {
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
        let mut process = ServerProcess::start(&["--map", &map]);
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
        assert!(matches!(lost, Lost::Closed(ClosingReason::ShuttingDown)), "{lost}");
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
