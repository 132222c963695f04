//! Several matches in one server, on one port: each has its own players, chat, levels,
//! recording and metrics, and nothing of one is seen in another.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use client_bot::swarm::{Report, Swarm};
use obsp_client::quic::{Client, ClientEvent, Connector, JoinError, Trust};
use obsp_client::{Credentials, Disconnected};
use obsp_proto::control::{
    ChatLine, ClosingReason, MapHash, MatchEvent, PlayerName, RefusalReason,
};
use obsp_proto::token::{JoinKey, TokenClaims};
use obsp_sim::Command;
use server::replay::{ReplayOptions, replay, replay_game};
use server::{
    JoiningOptions, MatchBuilder, Options, PageOptions, QueryOptions, Server, StartError,
};
use tests::harness::own_map;
use tests::harness::pages::{get, metric};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::sumo;

mod crashes;

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(60);

fn ring() -> MatchBuilder {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../server/examples");
    MatchBuilder::new(examples.join("sumo.map")).game(sumo::Sumo).max_players(4)
}

fn options() -> Options {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let joining = JoiningOptions { rejoin: Duration::from_secs(20), ..JoiningOptions::default() };
    Options {
        listen: vec![any_port],
        pages: PageOptions::at(any_port),
        max_players: 8,
        joining,
        ..Options::new(own_map("arena.obsp").to_string_lossy())
    }
}

/// The arena game on the arena as `main`, and sumo as `ring`.
async fn serve() -> Server {
    Server::builder().options(options()).add_match("ring", ring()).bind().await.unwrap()
}

async fn end(running: Server) {
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

fn into(match_name: &str) -> Credentials {
    Credentials { match_name: match_name.parse().ok(), ..Credentials::default() }
}

async fn join(running: &Server, name: &str, by: &Credentials) -> Result<Client, JoinError> {
    let connector = Connector::new(running.local_addr(), Trust::Loopback).unwrap();
    let name = PlayerName::new(name).unwrap();
    timeout(HANG, connector.join_with(&name, MapHash::ANY, by)).await.unwrap()
}

/// Plays until `done` returns a value, and collects the events in `heard`.
async fn play<T>(
    client: &mut Client,
    heard: &mut Vec<MatchEvent>,
    mut done: impl FnMut(&ClientEvent, &[MatchEvent]) -> Option<T>,
) -> Result<T, Disconnected> {
    let playing = async {
        loop {
            let event = client.next().await?;
            if let ClientEvent::CommandDue = event {
                client.command(Command::default());
            }
            while let Some((_, event)) = client.next_event() {
                heard.push(event);
            }
            if let Some(found) = done(&event, heard) {
                return Ok(found);
            }
        }
    };
    timeout(HANG, playing).await.expect("the awaited event comes in time")
}

/// Plays for this many snapshots.
async fn look_on(client: &mut Client, heard: &mut Vec<MatchEvent>, mut snapshots: u32) {
    let one = |event: &ClientEvent, _: &[MatchEvent]| {
        assert_ne!(*event, ClientEvent::NewWorld, "this match must not change its map");
        snapshots -= u32::from(matches!(event, ClientEvent::Snapshot { .. }));
        (snapshots == 0).then_some(())
    };
    play(client, heard, one).await.unwrap();
}

fn swarm(running: &Server, match_name: &str, bots: u32) -> Swarm {
    Swarm { match_name: match_name.parse().ok(), ..Swarm::new(running.local_addr(), bots) }
}

/// Sends bots into a match, until `over` is dropped.
fn send_in(bots: Swarm, over: &watch::Sender<()>) -> JoinHandle<Report> {
    let mut over = over.subscribe();
    tokio::spawn(async move {
        let end = async { while over.changed().await.is_ok() {} };
        bots.run(end, |_| ()).await.unwrap()
    })
}

/// The names of the players in these events.
fn names(heard: &[MatchEvent]) -> BTreeSet<String> {
    let joined = heard.iter().filter_map(|event| match event {
        MatchEvent::Joined { name, .. } => Some(name.to_string()),
        _ => None,
    });
    joined.collect()
}

#[tokio::test]
async fn two_games_on_one_port_see_nothing_of_one_another() {
    let running = serve().await;
    let mut ann = join(&running, "Ann", &Credentials::default()).await.unwrap();
    let mut bob = join(&running, "Bob", &into("ring")).await.unwrap();
    let map = |client: &Client| client.session().hello().unwrap().map_name.to_string();
    assert_eq!((map(&ann), map(&bob)), ("arena".to_owned(), "sumo".to_owned()));
    let limit = |client: &Client| client.session().hello().unwrap().player_limit;
    assert_eq!((limit(&ann), limit(&bob)), (8, 4));

    let bots = [swarm(&running, "main", 3), swarm(&running, "ring", 2)];
    let over = watch::Sender::new(());
    let playing = bots.map(|bots| send_in(bots, &over));
    let (mut told_ann, mut told_bob) = (Vec::new(), Vec::new());
    let all = |told: &[MatchEvent], count| (names(told).len() == count).then_some(());
    play(&mut ann, &mut told_ann, |_, told| all(told, 4)).await.unwrap();
    play(&mut bob, &mut told_bob, |_, told| all(told, 3)).await.unwrap();
    for (name, players) in [("main", 4), ("ring", 3)] {
        let handle = running.match_handle(name).unwrap();
        assert_eq!((handle.match_name(), handle.latest().players().count()), (name, players));
    }
    assert!(running.match_handle("nowhere").is_none());

    // A chat line reaches only players of its own match.
    ann.say(ChatLine::new("hello arena").unwrap());
    bob.say(ChatLine::new("hello ring").unwrap());
    running.match_handle("ring").unwrap().say("wrestle").unwrap();
    let said = |told: &[MatchEvent], text: &str| {
        let is = |event: &MatchEvent| {
            matches!(event, MatchEvent::Said { line, .. } | MatchEvent::Announced { line }
                if line.as_str() == text)
        };
        told.iter().any(is)
    };
    let both = |told: &[MatchEvent]| said(told, "hello ring") && said(told, "wrestle");
    play(&mut bob, &mut told_bob, |_, told| both(told).then_some(())).await.unwrap();
    let own = |_: &ClientEvent, told: &[MatchEvent]| said(told, "hello arena").then_some(());
    play(&mut ann, &mut told_ann, own).await.unwrap();
    look_on(&mut ann, &mut told_ann, 30).await;
    look_on(&mut bob, &mut told_bob, 30).await;
    assert!(!said(&told_ann, "hello ring") && !said(&told_ann, "wrestle"), "{told_ann:?}");
    assert!(!said(&told_bob, "hello arena"), "{told_bob:?}");
    assert_eq!((names(&told_ann).len(), names(&told_bob).len()), (4, 3));
    assert!(!names(&told_bob).contains("Ann") && !names(&told_ann).contains("Bob"));

    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_players{match=\"main\"}"), 4.0);
    assert_eq!(metric(&page, "game_players{match=\"ring\"}"), 3.0);
    // A player who has fallen off the ring waits outside the world.
    assert!(metric(&page, "game_entities{match=\"ring\",kind=\"player\"}") <= 3.0);
    assert_eq!(metric(&page, "game_chat_lines_total{match=\"ring\"}"), 1.0);

    // In both matches, the bots decoded every snapshot to the server's digests.
    drop(over);
    for bots in playing {
        let report = bots.await.unwrap();
        assert!(report.passed(), "{report}");
        assert_eq!(report.digest_mismatches, 0, "{report}");
    }
    drop((ann, bob));
    end(running).await;
}

#[tokio::test]
async fn a_player_is_kicked_in_one_match_and_stays_in_the_other_with_the_same_id() {
    let running = serve().await;
    let mut ann = join(&running, "Ann", &into("main")).await.unwrap();
    let mut bob = join(&running, "Bob", &into("ring")).await.unwrap();
    let handle = running.match_handle("ring").unwrap();
    let player = bob.session().player().unwrap();
    handle.kick(player, "stepped out").unwrap();
    let removed = play(&mut bob, &mut Vec::new(), |_, _| None::<()>).await.unwrap_err();
    let Disconnected::Closed(ClosingReason::Removed(why)) = removed else { panic!("{removed}") };
    assert_eq!(why.as_str(), "stepped out");
    look_on(&mut ann, &mut Vec::new(), 30).await;
    assert!(
        handle.kick(ann.session().player().unwrap(), "").is_err(),
        "Ann is in another match, so this one cannot kick her"
    );

    // A ticket is valid in its own match alone.
    let ticket = ann.ticket();
    let mut carl = join(&running, "Carl", &Credentials { ticket, ..into("ring") }).await.unwrap();
    assert_eq!(carl.session().hello().unwrap().map_name.as_str(), "sumo");
    look_on(&mut ann, &mut Vec::new(), 10).await;
    look_on(&mut carl, &mut Vec::new(), 10).await;
    let back = join(&running, "Ann", &Credentials { ticket, ..into("main") }).await.unwrap();
    assert_eq!(back.session().player(), ann.session().player());
    drop((ann, back, carl));
    end(running).await;
}

/// A player who joins a second match with another token leaves the first match.
#[tokio::test]
async fn one_player_is_in_one_match_at_a_time() {
    let key = JoinKey::generate().unwrap();
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("matches-join-key");
    std::fs::write(&file, key.to_hex()).unwrap();
    let joining = JoiningOptions { join_key: Some(file), ..options().joining };
    let any_port = vec![SocketAddr::from(([127, 0, 0, 1], 0))];
    let query = QueryOptions { query: any_port };
    let options = Options { joining, query, ..options() };
    let running =
        Server::builder().options(options).add_match("ring", ring()).bind().await.unwrap();
    let token = |match_name: &str, player| {
        let name = PlayerName::new(&format!("player {player}")).unwrap();
        let claims =
            TokenClaims { player, name, reserved: false, servers: vec![], user_data: vec![] };
        let expires = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs() + 60;
        Credentials { token: key.seal(&claims, expires).unwrap(), ..into(match_name) }
    };
    let mut first = join(&running, "x", &token("main", 7)).await.unwrap();
    let mut other = join(&running, "x", &token("main", 8)).await.unwrap();
    let mut second = join(&running, "x", &token("ring", 7)).await.unwrap();
    let lost = play(&mut first, &mut Vec::new(), |_, _| None::<()>).await.unwrap_err();
    assert!(matches!(lost, Disconnected::Closed(ClosingReason::Replaced)), "{lost}");
    look_on(&mut second, &mut Vec::new(), 10).await;
    look_on(&mut other, &mut Vec::new(), 10).await;
    // A server browser shows both matches.
    let port = running.query_addr().unwrap();
    let asked = tokio::task::spawn_blocking(move || {
        let mut client = a2s::A2SClient::new().unwrap();
        client.set_timeout(HANG).unwrap();
        (client.info(port).unwrap(), client.players(port).unwrap())
    });
    let (info, players) = asked.await.unwrap();
    assert_eq!((info.name.as_str(), info.game.as_str()), ("Arena, Sumo", "Arena, Sumo"));
    assert_eq!(
        (info.map.as_str(), info.players, info.max_players),
        ("main: arena, ring: sumo", 2, 12)
    );
    let names: BTreeSet<_> = players.iter().map(|player| player.name.clone()).collect();
    assert_eq!(names, ["player 7", "player 8"].map(String::from).into());
    drop((second, other));
    end(running).await;
}

#[tokio::test]
async fn a_match_that_there_is_not_is_refused_with_those_that_there_are() {
    let running = serve().await;
    let refused = join(&running, "Ann", &into("nowhere")).await.map(drop).unwrap_err();
    let JoinError::Refused(RefusalReason::NoSuchMatch { matches }) = &refused else {
        panic!("{refused}")
    };
    assert_eq!(matches.to_string(), "main, ring");
    for path in ["/info", "/scene", "/effects/0"] {
        let answer = get(running.http_addr(), &format!("{path}?match=nowhere")).await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.body.contains("main, ring"), "{path}: {}", answer.body);
    }
    let of = async |query: &str| {
        let body = get(running.http_addr(), &format!("/info{query}")).await.body;
        serde_json::from_str::<serde_json::Value>(&body).unwrap()
    };
    let (first, second) = (of("").await, of("?match=ring").await);
    assert_eq!((first["match"].as_str(), first["map"].as_str()), (Some("main"), Some("arena")));
    assert_eq!((second["match"].as_str(), second["map"].as_str()), (Some("ring"), Some("sumo")));
    assert_eq!(second["matches"][1]["name"], "ring");
    assert_eq!((&first["matches"], second["max_players"].as_u64()), (&second["matches"], Some(4)));
    let page = get(running.http_addr(), "/metrics").await.body;
    let refusals = "game_refusals_total{match=\"main\",reason=\"no_such_match\"}";
    assert_eq!(metric(&page, refusals), 1.0);
    end(running).await;

    let taken = Server::builder().options(options()).add_match("main", ring()).bind().await;
    assert!(matches!(taken, Err(StartError::MatchNameTaken(_))));
}

/// A recording names its game. A program with that game replays it; `server replay`, which has only
/// the rules of the arena, refuses it and names the game.
#[tokio::test]
async fn a_match_of_another_game_is_recorded_and_run_again_by_its_rules() {
    let file = std::env::temp_dir().join(format!("matches-{}-ring.obsr", std::process::id()));
    let ring = ring().record(&file);
    let running = Server::builder().options(options()).add_match("ring", ring).bind().await;
    let running = running.unwrap();
    let over = watch::Sender::new(());
    let playing = send_in(swarm(&running, "ring", 3), &over);
    let mut ann = join(&running, "Ann", &into("ring")).await.unwrap();
    look_on(&mut ann, &mut Vec::new(), 120).await;
    drop(over);
    assert!(playing.await.unwrap().passed());
    drop(ann);
    end(running).await;
    let map = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/examples/sumo.map");
    let map = Some(map.to_string_lossy().into_owned());
    let options = ReplayOptions { map, ..ReplayOptions::new(&file) };
    let replayed = replay_game(&sumo::Sumo, &options).unwrap();
    assert!(replayed.passed(), "{replayed}");
    let refused = replay(&options).unwrap_err().to_string();
    std::fs::remove_file(&file).unwrap();
    let expected = "the recording is of the game Sumo, and this program plays Arena; the program \
                    that serves Sumo runs it again with --replay FILE";
    assert_eq!(refused, expected);
}

#[tokio::test]
async fn a_match_goes_on_to_another_map_and_the_other_stays_and_both_replay() {
    let file = |name: &str| {
        std::env::temp_dir().join(format!("matches-{}-{name}.obsr", std::process::id()))
    };
    let (main, duel) = (file("main"), file("duel"));
    let warren = own_map("warren.obsp");
    let builder = MatchBuilder::new(&warren).seed(7).objects(20).record(&duel);
    let options = Options { record: Some(main.clone()), ..options() };
    let running = Server::builder().options(options).add_match("duel", builder).bind().await;
    let running = running.unwrap();
    let mut ann = join(&running, "Ann", &Credentials::default()).await.unwrap();
    let mut bob = join(&running, "Bob", &into("duel")).await.unwrap();
    let bots = [swarm(&running, "main", 2), swarm(&running, "duel", 2)];
    let over = watch::Sender::new(());
    let playing = bots.map(|bots| send_in(bots, &over));
    let terrain = own_map("terrain.obsp");
    running.match_handle("main").unwrap().change_map(&terrain.to_string_lossy()).unwrap();
    let (mut told_ann, mut told_bob) = (Vec::new(), Vec::new());
    let changes = async {
        let new = |event: &ClientEvent, _: &[MatchEvent]| {
            matches!(event, ClientEvent::NewWorld).then_some(())
        };
        play(&mut ann, &mut told_ann, new).await.unwrap();
        look_on(&mut ann, &mut told_ann, 30).await;
    };
    tokio::join!(changes, look_on(&mut bob, &mut told_bob, 90));
    assert_eq!(ann.session().hello().unwrap().map_name.as_str(), "terrain");
    assert_eq!(bob.session().hello().unwrap().map_name.as_str(), "warren");
    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_levels_total{match=\"main\"}"), 1.0);
    assert_eq!(metric(&page, "game_levels_total{match=\"duel\"}"), 0.0);
    drop(over);
    for bots in playing {
        let report = bots.await.unwrap();
        assert!(report.passed() && report.digest_mismatches == 0, "{report}");
    }
    drop((ann, bob));
    end(running).await;

    let second = PathBuf::from(format!("{}.1", main.display()));
    let arena = own_map("arena.obsp");
    for (recording, map) in [(main, arena), (second, terrain), (duel, warren)] {
        let map = Some(map.to_string_lossy().into_owned());
        let replayed = replay(&ReplayOptions { map, ..ReplayOptions::new(&recording) }).unwrap();
        std::fs::remove_file(&recording).unwrap();
        assert!(replayed.passed(), "{}: {replayed}", recording.display());
    }
}
