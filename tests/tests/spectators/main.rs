//! Spectators as a browser comes: over WebTransport, on the players' own port.

mod hostile;
mod spectator;

use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::time::{Duration, Instant};

use client_bot::Client;
use client_bot::client::{ClientEvent, Connector, Trust};
use obsp_proto::control::{MapHash, MatchEvent, PlayerName, RefusalReason};
use obsp_sim::{Command, Vitals};
use server::{Options, Running, Server};
use spectator::{HANG, Spectator};
use tests::harness;
use tests::harness::pages::{get, metric};
use tokio::time::timeout;

/// How long spectators look on.
const LOOK: Duration = Duration::from_secs(2);

fn serve(options: Options) -> Running {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    Server::start(&Options { listen: any_port, http: any_port, ..options }).unwrap()
}

fn options() -> Options {
    Options::new(harness::own_map("arena.obsp").to_string_lossy())
}

async fn end(running: Running) {
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

async fn player(running: &Running) -> Client {
    let connector = Connector::new(running.local_addr(), Trust::Loopback).unwrap();
    connector.join(&PlayerName::new("player").unwrap(), MapHash::ANY).await.unwrap()
}

#[tokio::test]
async fn a_spectator_sees_what_players_see_and_takes_no_place() {
    let running = serve(Options { max_players: 1, ..options() });
    let mut player = player(&running).await;
    let plays = tokio::spawn(async move {
        let begin = Instant::now();
        while begin.elapsed() < LOOK + LOOK {
            if let ClientEvent::CommandDue = timeout(HANG, player.next()).await.unwrap().unwrap() {
                player.command(Command { forward: 127, ..Command::default() });
            }
        }
        player
    });
    let mut spectator = Spectator::come(&running).await.expect("a full server shows itself");
    let hello = spectator.session.hello().unwrap();
    assert_eq!((hello.player, hello.snapshot_rate), (None, NonZeroU16::new(20).unwrap()));

    let begin = Instant::now();
    let (mut snapshots, mut digests) = (0, 0);
    while begin.elapsed() < LOOK {
        let (_, agrees) = spectator.see().await;
        assert_ne!(agrees, Some(false));
        snapshots += 1;
        digests += usize::from(agrees.is_some());
    }
    let expected = 20 * LOOK.as_secs() as usize;
    assert!((expected / 2..=expected + 2).contains(&snapshots), "{snapshots} snapshots");
    assert!(digests > 0);
    let seen = spectator.holds();
    assert!(seen.len() > running.props(), "{} of {}", seen.len(), running.props() + 1);

    let whole = Vitals { health: 100, score: 0 };
    let mut told = Vec::new();
    while !matches!(told.last(), Some(MatchEvent::Vitals { vitals, .. }) if *vitals == whole) {
        told.extend(spectator.next_event().await);
    }
    assert!(matches!(told[0], MatchEvent::Joined { .. }), "{told:?}");

    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_players"), 1.0);
    assert_eq!(metric(&page, "game_connections{state=\"watching\"}"), 1.0);
    plays.await.unwrap().leave().await;
    end(running).await;
}

#[tokio::test]
async fn spectators_have_a_limit_of_their_own() {
    let running = serve(Options { max_spectators: 1, ..options() });
    let first = Spectator::come(&running).await.expect("the first");
    let refused = Spectator::come(&running).await.err();
    assert_eq!(refused, Some(RefusalReason::Full { limit: 1 }));
    drop(first);
    let again = async { while Spectator::come(&running).await.is_err() {} };
    timeout(HANG, again).await.unwrap();
    end(running).await;
}
