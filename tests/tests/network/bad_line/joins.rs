//! Joins over lines of every kind, with the map and without it.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_client::quic::{Connector, MapStore, Trust};
use obsp_proto::control::{MapHash, PlayerName};
use tests::badline::{Conditions, Line};
use tests::harness::{setting, undisturbed};
use tokio::task::JoinSet;

use super::player::run_in_circles;
use super::{PROMPT, proxy, start};
use crate::PLACES;

/// The conditions of a join.
#[derive(Clone, Copy, Debug)]
struct Join {
    /// Round-trip time in milliseconds.
    round_trip: u64,
    /// Whether the map comes from the server.
    fetched: bool,
    tick_rate: u32,
    /// Percent of datagrams lost in each direction.
    loss: u32,
    /// Bandwidth from the server in kbit/s; unlimited if `None`.
    width: Option<u16>,
}

/// Longest time from joining, with the map, to moving.
const MOVES_WITHIN: Duration = Duration::from_secs(2);

/// Distance along the ground that counts as moving, in units.
const WAY: f32 = 32.0;

/// Time for which a player stays after joining. No player may be dropped in this time.
const STAY: Duration = Duration::from_secs(4);

/// Guards against three past faults. The commands of a player with a long round trip were all too
/// early and never used. A player who fetched the map stood still, because the server's only full
/// answer had come before the map. A player who fetched the map over a narrow or lossy line was
/// kicked.
///
/// Each pair of values of two properties is tested, except for maps that come over a narrow line,
/// or over a line that is both long and lossy. `LINE_JOINS=1` tests all combinations and takes some
/// minutes: to fetch the map over 64 kbit/s takes 80 s.
#[tokio::test]
async fn every_player_moves_soon_after_joining() {
    let join = |(round_trip, fetched, tick_rate, loss, width)| Join {
        round_trip,
        fetched,
        tick_rate,
        loss,
        width,
    };
    let covering = [
        (5, false, 60, 0, Some(192)),
        (5, true, 128, 5, None),
        (5, true, 60, 0, Some(192)),
        (80, false, 128, 5, Some(192)),
        (80, true, 60, 0, None),
        (300, false, 60, 5, None),
        (300, true, 128, 0, None),
        (600, false, 128, 0, None),
        (600, true, 60, 0, None),
        (80, false, 60, 0, Some(64)),
        (80, false, 128, 1, Some(64)),
    ];
    let joins: Vec<Join> = match setting("LINE_JOINS", 0) {
        0 => covering.into_iter().map(join).collect(),
        _ => all(),
    };
    let _place = PLACES.acquire().await;
    let mut failures = Vec::new();
    let slow = start(&["--tick-rate", "60"]).await;
    let fast = start(&["--tick-rate", "128"]).await;
    for batch in joins.chunks(16) {
        let scenario = async || {
            let mut players = JoinSet::new();
            for &join in batch {
                let server = if join.tick_rate == 60 { slow.udp } else { fast.udp };
                players.spawn(play(server, join));
            }
            players.join_all().await.into_iter().flatten().collect()
        };
        failures.extend(undisturbed(PROMPT, scenario).await);
    }
    assert!(failures.is_empty(), "{} of {}: {failures:#?}", failures.len(), joins.len());
}

/// All combinations of conditions.
fn all() -> Vec<Join> {
    let mut joins = Vec::new();
    for round_trip in [5, 15, 25, 40, 80, 300, 600] {
        for number in 0..36 {
            let [fetched, fast] = [1, 2].map(|bit| number & bit != 0);
            let tick_rate = if fast { 128 } else { 60 };
            let width = [None, Some(192), Some(64)][number / 4 % 3];
            joins.push(Join {
                round_trip,
                fetched,
                tick_rate,
                loss: [0, 1, 5][number / 12],
                width,
            });
        }
    }
    joins
}

/// Joins and plays, and returns the failure.
async fn play(server: SocketAddr, join: Join) -> Option<String> {
    let both = Conditions {
        delay: Duration::from_millis(join.round_trip) / 2,
        loss: f64::from(join.loss) / 100.0,
        ..Conditions::default()
    };
    let down = Conditions { bandwidth: join.width.map(f64::from), ..both.clone() };
    let proxy = proxy(server, Line { up: both, down }, join.round_trip + u64::from(join.loss));
    let maps = if join.fetched { MapStore::new(Vec::new()) } else { MapStore::default() };
    let connector = Connector::new(proxy.address(), Trust::Loopback).unwrap();
    let connector = connector.with_maps(Arc::new(maps));
    let begin = Instant::now();
    let client = match connector.join(&PlayerName::new("joining").unwrap(), MapHash::ANY).await {
        Ok(client) => client,
        Err(error) => return Some(format!("{join}: could not join: {error}")),
    };
    let joined = Instant::now();
    if join.fetched && client.motion().is_none() {
        return Some(format!("{join}: the client has the map, but not the player's position"));
    }
    let seen = run_in_circles(client, joined + STAY).await;
    let first = seen.places.first().map(|&(_, place)| place.truncate());
    let moved = seen
        .places
        .iter()
        .find(|(_, place)| first.is_some_and(|first| place.truncate().distance(first) >= WAY));
    let moved = moved.map(|&(at, _)| at - joined);
    println!("{join}: joined within {:?}, moved after {moved:?}", joined - begin);
    if let Some(lost) = seen.lost {
        return Some(format!("{join}: dropped: {lost}"));
    }
    if seen.mismatches > 0 {
        return Some(format!("{join}: {} mismatches", seen.mismatches));
    }
    match moved {
        Some(time) if time <= MOVES_WITHIN => None,
        Some(time) => Some(format!("{join}: moved only after {time:?}")),
        None => Some(format!("{join}: never moved; {} answers", seen.places.len())),
    }
}

impl fmt::Display for Join {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { round_trip, fetched, tick_rate, loss, width } = self;
        let map = if *fetched { "fetched" } else { "local" };
        let width = width.map_or("free".to_owned(), |width| format!("{width} kbit/s"));
        write!(out, "{round_trip} ms, map {map}, {tick_rate} Hz, {loss} %, {width}")
    }
}
