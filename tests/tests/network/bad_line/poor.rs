//! A match over a line that delays, loses and reorders packets all the time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use client_bot::swarm::Swarm;
use obsp_client::quic::{ClientEvent, Connector, MapStore, Trust};
use obsp_proto::control::{MapHash, PlayerName};
use server::{Options, PageOptions, Server};
use tests::badline::{Conditions, Line, Proxy};
use tests::harness;

/// A proxy in front of `server` with a round trip of 100 ms, a jitter of 20 ms and a loss of 5 % in
/// each direction. The jitter is longer than the time between two packets, so it reorders them.
fn poor_line(server: SocketAddr, seed: u64) -> Proxy {
    let conditions = Conditions {
        delay: Duration::from_millis(50),
        jitter: Duration::from_millis(20),
        loss: 0.05,
        ..Conditions::default()
    };
    super::proxy(server, Line::both(conditions), seed)
}

fn serve(max_players: u16) -> Server {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let map = harness::own_map("arena.obsp").to_string_lossy().into_owned();
    let options = Options {
        listen: vec![any_port],
        pages: PageOptions::at(any_port),
        max_players,
        ..Options::new(map)
    };
    Server::start(&options).unwrap()
}

async fn end(running: Server) {
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_bad_line_is_playable() {
    let _place = crate::PLACES.acquire().await;
    let running = serve(6);
    let proxy = poor_line(running.local_addr(), 1);
    let swarm = Swarm { duration: Some(Duration::from_secs(8)), ..Swarm::new(proxy.address(), 6) };
    let report = swarm.run(std::future::pending(), |_| {}).await.unwrap();
    println!("{report}");
    assert!(report.passed(), "{report}");
    assert!(report.digests > 6 * 8, "{report}");
    // One snapshot in twenty is lost, and some come too late to be used.
    let (rate, ticks) = (report.snapshots_per_second.min, report.server_ticks_per_second.mean);
    assert!((0.75 * ticks..1.02 * ticks).contains(&rate), "{report}");
    assert!(report.rtt_ms.p50 > 80.0, "{report}");
    // At the longest delay of 70 ms, about five packets of each bot and QUIC's own packets are
    // under way in each direction. More would mean that packets queue. By Little's law, the number
    // under way is the rate times the delay, even if the machine lets the proxy wait.
    let stats = proxy.stats();
    println!("{stats}");
    let packets = stats.up.received.max(stats.down.received) as f64;
    let under_way = packets / report.seconds * 0.07;
    assert!(under_way < 64.0, "{under_way} packets under way at once");
    end(running).await;
}

#[tokio::test]
async fn a_client_without_the_map_gets_it_over_a_bad_line() {
    let running = serve(2);
    let proxy = poor_line(running.local_addr(), 2);
    let nowhere = Arc::new(MapStore::new(Vec::new()));
    let connector = Connector::new(proxy.address(), Trust::Loopback).unwrap().with_maps(nowhere);
    let name = PlayerName::new("mapless").unwrap();
    let mut client = connector.join(&name, MapHash::ANY).await.unwrap();
    let map = client.prediction().unwrap().map();
    assert_eq!(map.map.hash(), running.map_hash().0);
    // On this map, the client's predictions agree with the server.
    let mut errors = Vec::new();
    while errors.len() < 10 {
        match client.next().await.unwrap() {
            ClientEvent::Snapshot { error, .. } => errors.extend(error),
            ClientEvent::CommandDue => {
                client.command(obsp_sim::Command { forward: 127, ..obsp_sim::Command::default() });
            }
            ClientEvent::NewWorld => unreachable!("the match has one world"),
        }
    }
    assert!(errors.iter().all(|error| error.units < 20.0), "{errors:?}");
    client.leave().await;
    end(running).await;
}

/// The task that sends the map once asked every two milliseconds how much it may send, and wrote
/// zero bytes if it could send nothing. QUIC made a packet of each write. These packets filled a
/// narrow line and delayed the map by minutes.
#[tokio::test]
async fn a_map_that_waits_for_a_narrow_line_costs_it_nothing() {
    let running = serve(1);
    let down = Conditions { bandwidth: Some(192.0), ..Conditions::default() };
    let line = Line { up: Conditions::default(), down };
    let proxy = super::proxy(running.local_addr(), line, 4);
    let connector = Connector::new(proxy.address(), Trust::Loopback).unwrap();
    let connector = connector.with_maps(Arc::new(MapStore::new(Vec::new())));
    let name = PlayerName::new("patient").unwrap();
    let joining = connector.join(&name, MapHash::ANY);
    let seconds = 3;
    let joined = tokio::time::timeout(Duration::from_secs(seconds), joining).await;
    assert!(joined.is_err(), "the map of 384 kB cannot have come in so short a time");
    let down = proxy.stats().down;
    println!("{down:?}");
    // Snapshots come 60 times a second, and the map in packets of 300 bytes and more.
    assert!(down.received < seconds * (60 + 100), "{down:?}");
    end(running).await;
}

/// QUIC pads its first packets to 1200 bytes, so nobody can join over a line that carries less. The
/// client's error names this possible cause.
#[tokio::test]
async fn a_line_that_carries_less_than_quic_needs_is_told() {
    let running = serve(1);
    let conditions = Conditions { mtu: Some(1100), ..Conditions::default() };
    let proxy = super::proxy(running.local_addr(), Line::both(conditions), 3);
    let connector = Connector::new(proxy.address(), Trust::Loopback).unwrap();
    let name = PlayerName::new("narrow").unwrap();
    let error = connector.join(&name, MapHash::ANY).await.unwrap_err().to_string();
    assert!(error.contains(&proxy.address().to_string()), "{error}");
    assert!(error.contains("1200 bytes"), "{error}");
    end(running).await;
}
