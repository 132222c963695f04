//! The end of a server. The server tells the players how much time they have, and lets nobody join
//! meanwhile. It ends when the last player has left or the time is over.

use std::time::{Duration, Instant};

use obsp_client::Disconnected;
use obsp_client::quic::{Client, Connector, JoinError, Trust};
use obsp_proto::control::{ClosingReason, MapHash, MatchEvent, PlayerName, RefusalReason};
use tests::harness::pages::get;
use tests::harness::{ServerProcess, own_map};
use tokio::time::timeout;

use super::{HANG, play_to_the_end};

/// A drain far longer than [`HANG`], so that a test that waited for its end would fail.
const LONG: &str = "10m";

fn start(drain: &str) -> ServerProcess {
    let map = own_map("arena.obsp").to_string_lossy().into_owned();
    ServerProcess::start(&["--map", &map, "--drain", drain])
}

async fn join(process: &ServerProcess, name: &str) -> Result<Client, JoinError> {
    let connector = Connector::new(process.udp, Trust::Loopback).unwrap();
    let name = PlayerName::new(name).unwrap();
    timeout(HANG, connector.join(&name, MapHash::ANY)).await.expect("the server answers in time")
}

/// Waits for the announcement that the server will end, and returns it.
async fn is_told(client: &mut Client) -> String {
    let hearing = async {
        loop {
            client.next().await.expect("the match goes on");
            while let Some((_, event)) = client.next_event() {
                if let MatchEvent::Announced { line } = event {
                    return line.to_string();
                }
            }
        }
    };
    timeout(HANG, hearing).await.expect("the announcement comes in time")
}

/// Waits until the process has ended, and returns its exit code.
async fn ends(mut process: ServerProcess) -> Option<i32> {
    let ended = tokio::task::spawn_blocking(move || process.wait());
    timeout(HANG, ended).await.expect("the server ends in time").unwrap()
}

#[tokio::test]
async fn a_server_that_drains_lets_players_finish_and_nobody_join() {
    let process = start(LONG);
    let mut player = join(&process, "one").await.unwrap();
    process.signal("TERM");
    let line = is_told(&mut player).await;
    assert!(line.contains("shuts down in") && line.contains("600 s"), "{line}");

    let ready = get(process.http, "/readyz").await;
    assert!(ready.status == 503 && ready.body.starts_with("draining"), "{}", ready.body);
    assert_eq!(get(process.http, "/healthz").await.status, 200);
    let info: serde_json::Value =
        serde_json::from_str(&get(process.http, "/info").await.body).unwrap();
    assert!(info["draining_seconds"].as_f64().unwrap() > 500.0, "{info}");
    let refused = join(&process, "other").await.unwrap_err();
    assert!(matches!(refused, JoinError::Refused(RefusalReason::NotReady)), "{refused}");
    // Fleets and service managers may send the signal again.
    process.signal("TERM");
    for _ in 0..30 {
        player.next().await.expect("the match goes on");
    }
    player.leave().await;
    assert_eq!(ends(process).await, Some(0));
}

#[tokio::test]
async fn remaining_players_are_told_goodbye_when_the_drain_ends() {
    let process = start("1s");
    let mut player = join(&process, "one").await.unwrap();
    let begin = Instant::now();
    process.signal("TERM");
    is_told(&mut player).await;
    let lost = timeout(HANG, play_to_the_end(&mut player)).await.unwrap();
    assert!(matches!(lost, Disconnected::Closed(ClosingReason::ShuttingDown)), "{lost}");
    assert!(begin.elapsed() >= Duration::from_secs(1), "{:?}", begin.elapsed());
    drop(player);
    assert_eq!(ends(process).await, Some(0));
}

#[tokio::test]
async fn a_second_interrupt_ends_a_draining_server_at_once() {
    let process = start(LONG);
    let mut player = join(&process, "one").await.unwrap();
    process.signal("INT");
    is_told(&mut player).await;
    process.signal("INT");
    let lost = timeout(HANG, play_to_the_end(&mut player)).await.unwrap();
    assert!(matches!(lost, Disconnected::Closed(ClosingReason::ShuttingDown)), "{lost}");
    drop(player);
    assert_eq!(ends(process).await, Some(0));
}

#[tokio::test]
async fn an_empty_server_ends_at_once() {
    let process = start(LONG);
    process.signal("TERM");
    assert_eq!(ends(process).await, Some(0));
}
