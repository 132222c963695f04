//! Blackouts of some seconds.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tests::badline::{Conditions, Line};
use tests::harness::undisturbed;
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use super::player::{Seen, join, run_in_circles};
use super::{PROMPT, proxy, start};
use crate::PLACES;

/// Players on each line.
const PLAYERS: usize = 3;

/// Half a round trip.
const DELAY: Duration = Duration::from_millis(20);

/// Time in the match before and after the blackout.
const BEFORE: Duration = Duration::from_secs(2);
const AFTER: Duration = Duration::from_secs(2);

/// Longest time from the end of the blackout to the next snapshot.
const RECOVERY: Duration = Duration::from_millis(250);

/// Minimum distance along the ground by which each player gets away in the time after the blackout,
/// in units. Players run at 320 units a second in circles, but may be in each other's way.
const WAY: f32 = 16.0;

/// A blackout of 3 s once left players without snapshots for 6.4 s: the packets sent meanwhile
/// filled the congestion window, and QUIC probed ever more seldom. After a blackout of 5 s some
/// players were kicked.
#[tokio::test]
async fn after_a_blackout_snapshots_come_again_at_once() {
    let _place = PLACES.acquire().await;
    let server = start(&[]).await;
    let scenario = async || {
        let mut lines = JoinSet::new();
        for seconds in [1, 3, 5, 8] {
            lines.spawn(play_through(server.udp, Duration::from_secs(seconds)));
        }
        lines.join_all().await.into_iter().flatten().collect()
    };
    let failures = undisturbed(PROMPT, scenario).await;
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Plays through a blackout, and returns the failures.
async fn play_through(server: SocketAddr, blackout: Duration) -> Vec<String> {
    let conditions = Conditions { delay: DELAY, ..Conditions::default() };
    let proxy = proxy(server, Line::both(conditions), blackout.as_secs());
    let mut clients = Vec::new();
    for number in 0..PLAYERS {
        clients.push(join(proxy.address(), &format!("player {number}")).await);
    }
    let dark = Instant::now() + BEFORE;
    let light = dark + blackout;
    let end = light + AFTER;
    let players: JoinSet<Seen> =
        clients.into_iter().map(|client| run_in_circles(client, end)).collect();
    sleep_until(dark.into()).await;
    proxy.blackout(blackout);
    let players = players.join_all().await;

    let mut failures = Vec::new();
    for (number, seen) in players.iter().enumerate() {
        let (gap, way) = (seen.longest_gap(end), seen.way(end - AFTER / 2, end));
        println!(
            "{blackout:?}: player {number} had no snapshot for {gap:?}, then went {way} units"
        );
        let mut fail =
            |what: String| failures.push(format!("{blackout:?}: player {number} {what}"));
        if let Some(lost) = &seen.lost {
            fail(format!("was dropped: {lost}"));
        } else if gap < blackout - DELAY {
            fail(format!("lacked snapshots only for {gap:?}, so the blackout did not happen"));
        } else if gap > blackout + RECOVERY {
            fail(format!("had no snapshot for {gap:?}"));
        } else if way < WAY {
            fail(format!("moved only {way} units afterwards"));
        }
        if seen.mismatches > 0 {
            fail(format!("saw {} mismatches", seen.mismatches));
        }
    }
    failures
}
