//! A server that is killed and comes back.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use client_bot::swarm::Swarm;
use tests::harness::pages::{get, metric};
use tests::harness::{ServerProcess, own_map};
use tokio::sync::oneshot;
use tokio::time::sleep;

const BOTS: u32 = 6;

/// Time in the match before the server is killed, and time until the server comes back.
const BEFORE: Duration = Duration::from_secs(3);
const GONE: Duration = Duration::from_secs(2);

/// Longest time from the server's restart until all bots are back in the match. It is half of the
/// remaining time-out of silence, so that waiting for the time-out fails the test.
const BACK_WITHIN: Duration = Duration::from_secs(4);

/// Clients of a server that was killed and came back after 2 s once waited for their whole
/// time-out of silence, and bots never came back.
#[tokio::test]
async fn bots_come_back_to_a_server_that_was_killed() {
    let map = own_map("arena.obsp").to_string_lossy().into_owned();
    let state = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bad_line_restarts");
    let state = state.to_string_lossy().into_owned();
    let arguments = ["--map", &map, "--state-dir", &state];
    let mut server = ServerProcess::start(&arguments);
    let udp = server.udp;
    let (done, over) = oneshot::channel::<()>();
    let swarm = Swarm::new(udp, BOTS);
    let bots = tokio::spawn(async move { swarm.run(async { drop(over.await) }, |_| {}).await });
    until_all_play(&server, Duration::from_secs(30)).await;
    sleep(BEFORE).await;
    server.signal("KILL");
    server.wait();
    sleep(GONE).await;
    let server = ServerProcess::start_at(udp, &arguments);
    until_all_play(&server, BACK_WITHIN).await;
    sleep(Duration::from_secs(1)).await;
    drop(done);
    let report = bots.await.unwrap().unwrap();
    println!("{report}");
    assert!(report.passed(), "{report}");
    assert_eq!(report.reconnects, u64::from(BOTS), "{report}");
}

/// Waits until all bots are in the match.
async fn until_all_play(server: &ServerProcess, patience: Duration) {
    let begin = Instant::now();
    loop {
        let players = metric(&get(server.http, "/metrics").await.body, "game_players");
        if players == f64::from(BOTS) {
            println!("all bots play after {:?}", begin.elapsed());
            return;
        }
        assert!(
            begin.elapsed() < patience,
            "after {patience:?} only {players} of {BOTS} bots play"
        );
        sleep(Duration::from_millis(50)).await;
    }
}
