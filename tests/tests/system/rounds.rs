//! A match that goes on from map to map: nobody is dropped, and on each map clients decode the
//! server's state exactly.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use client_bot::swarm::Swarm;
use obsp_client::Disconnected;
use obsp_client::quic::{Client, ClientEvent, Connector, Trust};
use obsp_proto::control::{ChatLine, ClosingReason, MapHash, MatchEvent, PlayerName, RoundPhase};
use obsp_sim::Command;
use server::{Options, PageOptions, RoundOptions, Server};
use tests::harness::pages::{get, metric};
use tests::harness::{ServerProcess, foreign_map, own_map};
use tokio::time::timeout;

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(60);

fn serve(max_players: u16, rounds: RoundOptions) -> Server {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let options = Options {
        listen: vec![any_port],
        pages: PageOptions::at(any_port),
        max_players,
        rounds,
        objects: 40,
        ..Options::new(String::new())
    };
    Server::start(&options).unwrap()
}

fn maps(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| own_map(name).to_string_lossy().into_owned()).collect()
}

async fn end(running: Server) {
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

/// The maps of the long rotation: three of this project, and a foreign one, which is compiled while
/// the others are played.
fn rotation() -> Vec<String> {
    let mut rotation = maps(&["arena.obsp", "warren.obsp", "terrain.obsp"]);
    let foreign = foreign_map("id-gpl/dm4.map");
    rotation.extend(foreign.map(|path| path.to_string_lossy().into_owned()));
    rotation
}

/// Waits until this many players are in the world, with its map loaded.
async fn until_in_the_world(http: SocketAddr, players: f64) {
    let inside = "game_entities{kind=\"player\"}";
    while metric(&get(http, "/metrics").await.body, inside) < players {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
}

#[tokio::test]
async fn a_full_match_goes_through_all_maps_and_nobody_is_dropped() {
    let rotation = rotation();
    let list = rotation.join(",");
    let arguments =
        ["--maps", &list, "--round-time", "6s", "--intermission", "1s", "--objects", "40"];
    let mut server = ServerProcess::start(&arguments);
    let swarm = Swarm { seed: 3, ..Swarm::new(server.udp, 32) };
    // The bots play until each map has had its round and the first one comes again. The time that
    // this takes depends on the machine's load.
    let http = server.http;
    let all_maps = async {
        let worlds = rotation.len() as f64;
        while metric(&get(http, "/metrics").await.body, "game_levels_total") < worlds {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        // All bots must also follow to the first map.
        until_in_the_world(http, 32.0).await;
    };
    let stop = async { timeout(2 * HANG, all_maps).await.expect("all maps are played in time") };
    let report = swarm.run(stop, |_| ()).await.unwrap();
    println!("{report}");
    assert_eq!((report.joined, report.refused, report.dropped), (32, 0, 0), "{report}");
    assert_eq!((report.reconnects, report.digest_mismatches), (0, 0), "{report}");
    assert!(report.worlds_min > rotation.len() as u64, "a bot was left behind: {report}");
    assert!(report.digests > 32 * 3, "{report}");
    let page = get(http, "/metrics").await.body;
    for map in &rotation {
        let name = Path::new(map).file_stem().unwrap().to_string_lossy();
        let series = format!("game_map_info{{map=\"{name}\"");
        assert!(page.contains(&series), "{name} was not played: {page}");
    }
    assert_eq!(metric(&page, "game_digest_mismatches_total"), 0.0);
    assert_eq!(metric(&page, "game_joins_total"), 32.0);
    server.signal("TERM");
    let code = tokio::task::spawn_blocking(move || server.wait()).await.unwrap();
    assert_eq!(code, Some(0), "the server process ends without an error");
}

/// Plays until `done` returns true.
async fn play_until(
    client: &mut Client,
    mut done: impl FnMut(&Client, Option<&MatchEvent>) -> bool,
) {
    let playing = async {
        loop {
            if let ClientEvent::CommandDue = client.next().await.unwrap() {
                client.command(Command { forward: 127, ..Command::default() });
            }
            while let Some((_, event)) = client.next_event() {
                if done(client, Some(&event)) {
                    return;
                }
            }
            if done(client, None) {
                return;
            }
        }
    };
    timeout(HANG, playing).await.expect("the awaited event comes in time");
}

#[tokio::test]
async fn a_round_begins_after_the_warm_up_and_ends_with_an_intermission() {
    let rounds = RoundOptions {
        maps: maps(&["arena.obsp"]),
        round_time: Some(Duration::from_secs(2)),
        warm_up: Duration::from_secs(1),
        intermission: Duration::from_secs(1),
        ..RoundOptions::default()
    };
    let running = serve(2, rounds);
    let connector = Connector::new(running.local_addr(), Trust::Loopback).unwrap();
    let name = PlayerName::new("one").unwrap();
    let mut client = connector.join(&name, MapHash::ANY).await.unwrap();
    let first = client.session().hello().unwrap().clone();
    let (mut seen, mut maps) = (Vec::new(), Vec::new());
    play_until(&mut client, |_, event| {
        if let Some(MatchEvent::Round { phase, ends, next }) = event
            && seen.last().is_none_or(|(last, _)| last != phase)
        {
            seen.push((*phase, ends.is_some()));
            maps.push(next.as_ref().map(|map| map.as_str().to_owned()));
        }
        seen.len() == 4
    })
    .await;
    let phases: Vec<_> = seen.iter().map(|(phase, _)| *phase).collect();
    use RoundPhase::{Intermission, Playing, WarmUp};
    assert_eq!(phases, [WarmUp, Playing, Intermission, Playing], "{seen:?}");
    assert_eq!(maps, [None, None, Some("arena".to_owned()), None]);
    // The connection is the same, the world is another one of the same map, and ticks went on.
    let last = client.session().hello().unwrap();
    assert_eq!((last.map, last.ticket), (first.map, first.ticket));
    assert!(last.tick > first.tick, "{} {}", first.tick, last.tick);
    client.leave().await;
    end(running).await;
}

/// Symptom: a map that cannot be played was left out, with a warning only when its turn came.
#[test]
fn a_rotation_with_a_map_that_cannot_be_played_does_not_start() {
    let folder = std::env::temp_dir().join(format!("rotation-check-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (file, content) in [("bad.obsp", "no map"), ("bad.map", "{ \"classname\" ")] {
        let path = folder.join(file);
        std::fs::write(&path, content).unwrap();
        let mut rotation = maps(&["arena.obsp"]);
        rotation.push(path.to_string_lossy().into_owned());
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let rounds = RoundOptions { maps: rotation, ..RoundOptions::default() };
        let options = Options {
            listen: vec![any_port],
            pages: PageOptions::at(any_port),
            rounds,
            ..Options::new(String::new())
        };
        let error = Server::start(&options).expect_err(file).to_string();
        assert!(error.contains(file), "{error}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn players_vote_for_a_map_and_go_there() {
    let rounds = RoundOptions {
        maps: maps(&["arena.obsp", "warren.obsp"]),
        round_time: Some(Duration::from_secs(600)),
        votes: vec![server::Vote::Map],
        ..RoundOptions::default()
    };
    let running = serve(3, rounds);
    let mut voters = Vec::new();
    for name in ["one", "two", "three"] {
        let connector = Connector::new(running.local_addr(), Trust::Loopback).unwrap();
        let name = PlayerName::new(name).unwrap();
        voters.push(connector.join(&name, MapHash::ANY).await.unwrap());
    }
    voters[0].say(ChatLine::new("/votemap nowhere").unwrap());
    voters[0].say(ChatLine::new("/votemap warren").unwrap());
    let is_called = |_: &Client, event: Option<&MatchEvent>| matches!(event, Some(MatchEvent::Announced { line }) if line.as_str().contains("calls a vote"));
    play_until(&mut voters[1], is_called).await;
    voters[1].say(ChatLine::new("/yes").unwrap());
    for voter in &mut voters {
        let is_there = |client: &Client, _: Option<&MatchEvent>| {
            client.session().hello().is_some_and(|hello| hello.map_name.as_str() == "warren")
        };
        play_until(voter, is_there).await;
    }
    drop(voters);
    end(running).await;
}

/// An operator tests votes with `client-bot --vote-map warren`.
#[tokio::test]
async fn bots_vote_for_a_map_and_go_there() {
    let rounds = RoundOptions {
        maps: maps(&["arena.obsp", "warren.obsp"]),
        round_time: Some(Duration::from_secs(600)),
        votes: vec![server::Vote::Map],
        ..RoundOptions::default()
    };
    let running = serve(3, rounds);
    let swarm = Swarm {
        seed: 5,
        vote_map: Some("warren".to_owned()),
        ..Swarm::new(running.local_addr(), 3)
    };
    let http = running.http_addr();
    let there = async {
        while metric(&get(http, "/metrics").await.body, "game_levels_total") < 1.0 {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        until_in_the_world(http, 3.0).await;
    };
    let stop = async { timeout(HANG, there).await.expect("the vote is carried") };
    let report = swarm.run(stop, |_| ()).await.unwrap();
    assert_eq!((report.joined, report.dropped, report.worlds_min), (3, 0, 2), "{report}");
    end(running).await;
}

#[tokio::test]
async fn a_server_that_drains_ends_after_the_round() {
    let rounds = RoundOptions {
        maps: maps(&["arena.obsp", "warren.obsp"]),
        round_time: Some(Duration::from_secs(3)),
        intermission: Duration::from_secs(1),
        ..RoundOptions::default()
    };
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let options = Options {
        listen: vec![any_port],
        pages: PageOptions::at(any_port),
        max_players: 2,
        rounds,
        // The drain is longer than the test waits for anything.
        drain: Some(Duration::from_secs(600)),
        ..Options::new(String::new())
    };
    let running = Server::start(&options).unwrap();
    let connector = Connector::new(running.local_addr(), Trust::Loopback).unwrap();
    let mut client = connector.join(&PlayerName::new("one").unwrap(), MapHash::ANY).await.unwrap();
    running.drain();
    let (mut seen, mut told) = (Vec::new(), Vec::new());
    let playing = async {
        loop {
            match client.next().await {
                Ok(ClientEvent::CommandDue) => _ = client.command(Command::default()),
                Ok(ClientEvent::NewWorld) => panic!("the match goes on"),
                Ok(_) => {}
                Err(lost) => break lost,
            }
            while let Some((_, event)) = client.next_event() {
                match event {
                    MatchEvent::Round { phase, next, .. } => seen.push((phase, next)),
                    MatchEvent::Announced { line } => told.push(line.to_string()),
                    _ => {}
                }
            }
        }
    };
    let lost = timeout(HANG, playing).await.expect("the server ends after the round");
    assert!(matches!(lost, Disconnected::Closed(ClosingReason::ShuttingDown)), "{lost}");
    // There is no next map.
    assert_eq!(seen.last(), Some(&(RoundPhase::Intermission, None)), "{seen:?}");
    assert!(told[0].contains("600 s, or after this round"), "{told:?}");
    timeout(HANG, running.ending()).await.expect("the server ends");
    end(running).await;
}
