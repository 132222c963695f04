//! The games of `server/examples`: each is played by scripts with every tick audited, and by
//! bots over a real server.

mod chat;
mod flags;
mod haste;
mod lagged_match;
mod lift_rides;
mod mover_hall;
mod mover_table;
mod movers;
mod pads;
mod visited;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use client_bot::swarm::Swarm;
use obsp::model::Model;
use obsp::{Source, Spaces, compile};
use obsp_client::quic::{ClientEvent, Connector, Trust};
use obsp_game::{
    AnyGame, Event, EventKind, Game, Match, Replicated, Respawn, RunningMatch, WorldMut,
};
use obsp_proto::control::{MapHash, MatchEvent, PlayerName};
use obsp_proto::game_data::GameData;
use obsp_sim::{Buttons, Command, Config, EntityId, PlayerKind};
use server::Server;
use server::soak::{SoakOptions, soak_game};
use tests::harness::pages::get;
use tokio::time::timeout;

use crate::sumo;

#[allow(dead_code, reason = "an example has a `main` of its own")]
#[path = "../../../server/examples/bowling.rs"]
mod bowling;
#[path = "../../../server/examples/capture_the_flag/rules.rs"]
mod capture_the_flag;
#[allow(dead_code, reason = "an example has a `main` of its own")]
#[path = "../../../server/examples/king_of_the_hill.rs"]
mod king_of_the_hill;
#[path = "../../../server/examples/repair_pads/rules.rs"]
mod repair_pads;

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(30);

fn map(name: &str) -> String {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../server/examples");
    examples.join(name).to_string_lossy().into_owned()
}

/// Lets scripts play for a minute, twice with one seed and once with another.
fn plays_clean(game: &dyn AnyGame, name: &str) {
    let options = SoakOptions {
        players: 8,
        objects: 0,
        ticks: 3_600,
        audit_every: 1,
        ..SoakOptions::new(map(name))
    };
    let report = soak_game(game, &options).unwrap();
    assert_eq!(report.audits, 3_601, "every tick is audited");
    assert_eq!((report.interpenetrations, report.tunnelled), (0, 0), "{:?}", report.findings);
    assert_eq!(report.emergency_replacements, 0);
    assert_eq!(report.warnings, [""; 0]);
    assert_eq!(soak_game(game, &options).unwrap().digest, report.digest);
    let other = SoakOptions { seed: 2, ..options };
    assert_ne!(soak_game(game, &other).unwrap().digest, report.digest);
}

#[test]
fn sumo_is_played_clean() {
    plays_clean(&sumo::Sumo, "sumo.map");
}

#[test]
fn king_of_the_hill_is_played_clean() {
    plays_clean(&king_of_the_hill::KingOfTheHill, "king_of_the_hill.map");
}

#[test]
fn bowling_with_models_of_its_own_is_played_clean() {
    let models = PathBuf::from(map("models"));
    let game = bowling::Bowling::new(&models).unwrap();
    plays_clean(&game, "bowling.map");
    let missing = bowling::Bowling::new(&models.join("none")).unwrap_err().to_string();
    assert!(missing.contains("none/ball.obj"), "{missing}");
}

#[test]
fn a_ball_that_is_bowled_at_the_pins_scores() {
    let game = bowling::Bowling::new(&PathBuf::from(map("models"))).unwrap();
    let source = Source::read(map("bowling.map").as_ref()).unwrap();
    let compiled = compile(&source, &Spaces::default(), &Default::default(), &mut |_, _, _| ());
    let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 1 };
    let mut lane = Match::new(game, compiled.unwrap().map.into(), config).unwrap();
    let player = lane.join_as(PlayerKind::Box).unwrap();
    let mut told = Vec::new();
    for tick in 0..1_200 {
        // The player bowls straight ahead, after walking to the middle of the lane.
        let fires = tick == 300;
        let buttons = if fires { Buttons::PRIMARY } else { Buttons::default() };
        let state = lane.world().entity(player).unwrap();
        let right = (state.position.y * 4.0).clamp(-127.0, 127.0) as i8;
        lane.step(&[(player, Command { right, buttons, ..Command::default() })]);
        for event in lane.events() {
            if let Event::Announced { line } = event {
                told.push(line.clone());
            }
        }
    }
    let score = lane.vitals(player).unwrap().score;
    assert!(score > 0, "{told:?}");
    assert_eq!(told.len(), 1, "{told:?}");
}

/// Symptom: nobody got the announcement that a game made when somebody joined. Cause: a tick began
/// by forgetting all events, and players join between two ticks. Cure: a tick forgets only the
/// events that the tick before it has reported.
#[test]
fn announcements_of_a_joining_player_are_told_once_with_the_next_tick() {
    let source = Source::read(map("king_of_the_hill.map").as_ref()).unwrap();
    let compiled = compile(&source, &Spaces::default(), &Default::default(), &mut |_, _, _| ());
    let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 2 };
    let game = king_of_the_hill::KingOfTheHill;
    let mut hill = Match::new(game, compiled.unwrap().map.into(), config).unwrap();
    let announced = |hill: &Match<king_of_the_hill::KingOfTheHill>| {
        hill.events().iter().filter(|event| matches!(event, Event::Announced { .. })).count()
    };
    hill.step(&[]);
    hill.join_as(PlayerKind::Box).unwrap();
    assert_eq!(announced(&hill), 0, "an announcement came before the next tick");
    hill.step(&[]);
    assert_eq!(announced(&hill), 1);
    hill.step(&[]);
    assert_eq!(announced(&hill), 0);
}

/// A game that lets nobody into the world.
#[derive(Clone, Debug)]
struct Nowhere;

impl Game for Nowhere {
    type State = ();

    fn set_up(&self, _: &mut WorldMut<'_>) {}

    fn respawn(&self, (): &mut (), _: &mut WorldMut<'_>, _: EntityId) -> Respawn {
        Respawn::Wait
    }
}

/// Symptom: a player who was out of a round could not be kicked. Cause: a player's client was
/// looked up among the entities in the world. Cure: it is looked up among the players who have a
/// client.
///
/// Symptom: a player who had joined less than a second before could not be kicked either. Cause:
/// clients were found by measurements that are taken twice a second. Cure: the tick thread tells a
/// client which entity it steers before a state shows that entity.
#[tokio::test]
async fn a_player_outside_of_the_world_can_be_kicked() {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = Server::builder().map(map("sumo.map")).game(Nowhere);
    let server = server.listen(any_port).http(any_port).max_players(1).bind().await.unwrap();
    let mut handle = server.handle();
    let (done, over) = tokio::sync::oneshot::channel::<()>();
    let bots = Swarm::new(server.local_addr(), 1);
    let playing = bots.run(async { drop(over.await) }, |_| ());
    let watching = async {
        loop {
            let update = handle.next().await.expect("the match goes on");
            assert_eq!(update.state().entities.iter().filter(|e| e.kind.is_player()).count(), 0);
            let Some(player) = update.players().next() else { continue };
            // The kick must work at once, even if the client has joined only a moment before.
            handle.kick(player, "out is out").expect("a player whom the state shows can be kicked");
            break;
        }
        while handle.next().await.expect("the match goes on").players().next().is_some() {}
        drop(done);
    };
    let (_, kicked) = tokio::join!(playing, timeout(HANG, watching));
    kicked.expect("the bot joins and is kicked");
    handle.shutdown();
    tokio::task::spawn_blocking(|| server.join()).await.unwrap().unwrap();
}

#[tokio::test]
async fn bots_play_sumo_on_a_server_that_a_program_builds_and_steers() {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = Server::builder().map(map("sumo.map")).game(sumo::Sumo);
    let server = server.listen(any_port).http(any_port).max_players(4).bind().await.unwrap();
    let mut handle = server.handle();
    let (done, over) = tokio::sync::oneshot::channel::<()>();
    let bots = Swarm::new(server.local_addr(), 4);
    let playing = bots.run(async { drop(over.await) }, |_| ());
    let watching = async {
        let (mut players, mut shoves) = (0, 0);
        while players < 4 || shoves == 0 {
            let update = handle.next().await.expect("the match goes on");
            let entities = &update.state().entities;
            players = players.max(entities.iter().filter(|e| e.kind.is_player()).count());
            let shove = |event: &&Event| matches!(event, Event::Ray { .. });
            shoves += update.events().iter().filter(shove).count();
            assert_eq!(update.map(), "sumo");
        }
        handle.say("well shoved").unwrap();
        assert!(handle.say("").is_err(), "an empty line is refused");
        assert!(handle.change_map("no such map").is_err());
        drop(done);
    };
    let (report, watched) = tokio::join!(playing, timeout(HANG, watching));
    watched.expect("four bots join and shove");
    let report = report.unwrap();
    assert_eq!(report.joined, 4, "{report:?}");
    assert_eq!(report.digest_mismatches, 0, "{report:?}");
    handle.shutdown();
    tokio::task::spawn_blocking(|| server.join()).await.unwrap().unwrap();
}

/// A client without any code of the game walks onto the hill. It reads the game's values and events
/// by name: who holds the hill and for how long, the player's team, and whether the player can
/// kick.
#[tokio::test]
async fn a_client_reads_the_values_and_events_of_a_game_by_name() {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let game = king_of_the_hill::KingOfTheHill;
    let server = Server::builder().map(map("king_of_the_hill.map")).game(game);
    let server = server.listen(any_port).http(any_port).max_players(4).bind().await.unwrap();
    let connector = Connector::new(server.local_addr(), Trust::Loopback).unwrap();
    let name = PlayerName::new("Ann").unwrap();
    let mut client = timeout(HANG, connector.join(&name, MapHash::ANY)).await.unwrap().unwrap();
    let schema = Arc::clone(&client.session().hello().unwrap().schema);
    let events: Vec<&str> = schema.events().iter().map(EventKind::name).collect();
    assert_eq!(events, ["hill_taken", "round_over"]);
    let own = client.session().player().unwrap();
    let mut taken = Vec::new();
    let walk = async {
        loop {
            if let ClientEvent::CommandDue = client.next().await.unwrap() {
                // The player walks to the middle of the room, and kicks at nothing on the way.
                let (away, fires) = match client.motion() {
                    Some((tick, motion)) => (motion.position, tick.0.is_multiple_of(60)),
                    None => (Default::default(), false),
                };
                let heading = f64::atan2(f64::from(-away.y), f64::from(-away.x));
                let yaw = (heading / std::f64::consts::TAU * 65_536.0) as i32 as u16;
                let forward = if away.truncate().length() > 20.0 { 127 } else { 0 };
                let buttons = if fires { Buttons::PRIMARY } else { Buttons::default() };
                client.command(Command { forward, yaw, buttons, ..Command::default() });
            }
            while let Some((_, event)) = client.next_event() {
                if let MatchEvent::Game(event) = event {
                    assert_eq!(event.kind(), 0);
                    taken.push(event.decode::<(String, u32)>().unwrap());
                }
            }
            let view = client.view();
            let team = view.value(own, "team");
            if view.match_value("holder") == Some(1) && view.match_value("red_seconds") >= Some(2) {
                assert_eq!((team, view.match_value("blue_seconds")), (Some(0), Some(0)));
                if view.own_value("can_kick") == Some(1) {
                    break;
                }
            }
        }
    };
    timeout(HANG, walk).await.expect("a team of one holds the hill");
    assert_eq!(taken.first(), Some(&("Red".to_owned(), 0)));
    let view = client.view();
    assert_eq!((view.value(own, "holder"), view.match_value("no such field")), (None, None));
    let stats = *client.session().stats();
    assert!(stats.digests > 0 && stats.digest_mismatches == 0, "{stats:?}");
    client.leave().await;
    server.handle().shutdown();
    tokio::task::spawn_blocking(|| server.join()).await.unwrap().unwrap();
}

/// A game that sends a secret to each player, and to all players the number of secrets so far.
#[derive(Clone, Debug)]
struct Secrets;

impl Game for Secrets {
    /// The number of ticks with both players, and the number of secrets sent to each player.
    type State = (u32, u32);

    fn set_up(&self, _: &mut WorldMut<'_>) -> (u32, u32) {
        (0, 0)
    }

    fn replicated(&self) -> Replicated {
        Replicated { events: vec!["secret".into(), "told".into()], ..Replicated::default() }
    }

    fn tick(&self, (ticks, told): &mut (u32, u32), world: &mut WorldMut<'_>) {
        let players = world.players();
        *ticks += u32::from(players.len() == 2);
        // Events reach a player only some time after joining, so the game waits.
        if *ticks > 120 && *told < 50 {
            for player in players {
                world.send_to(player, "secret", &(player.slot, *told)).unwrap();
            }
            world.send("told", &*told).unwrap();
            *told += 1;
        }
    }
}

/// An event for one player reaches this player alone, in order with the events for all.
#[tokio::test]
async fn a_private_event_reaches_its_player_alone_and_in_order() {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = Server::builder().map(map("sumo.map")).game(Secrets);
    let server = server.listen(any_port).http(any_port).max_players(2).bind().await.unwrap();
    let connector = Connector::new(server.local_addr(), Trust::Loopback).unwrap();
    let hear = async |name: &str| {
        let name = PlayerName::new(name).unwrap();
        let mut client = connector.join(&name, MapHash::ANY).await.unwrap();
        let own = client.session().player().unwrap().slot;
        let mut heard = Vec::new();
        while heard.len() < 100 {
            if let ClientEvent::CommandDue = client.next().await.unwrap() {
                client.command(Command::default());
            }
            while let Some((_, event)) = client.next_event() {
                let MatchEvent::Game(event) = event else { continue };
                heard.push(match event.kind() {
                    0 => event.decode::<(u16, u32)>().unwrap(),
                    _ => (u16::MAX, event.decode::<u32>().unwrap()),
                });
            }
        }
        let expected: Vec<_> = (0..50).flat_map(|n| [(own, n), (u16::MAX, n)]).collect();
        assert_eq!(heard, expected);
        client
    };
    let both = async { tokio::join!(hear("Ann"), hear("Bob")) };
    let (ann, bob) = timeout(HANG, both).await.expect("all events arrive");
    drop((ann, bob));
    server.handle().shutdown();
    tokio::task::spawn_blocking(|| server.join()).await.unwrap().unwrap();
}

/// The models in a game's code reach its clients, which predict with their shapes.
#[tokio::test]
async fn a_client_has_the_shapes_of_a_games_own_models() {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let game = bowling::Bowling::new(Path::new(&map("models"))).unwrap();
    let server = Server::builder().map(map("bowling.map")).game(game.clone());
    let server = server.listen(any_port).http(any_port).max_players(1).bind().await.unwrap();
    let connector = Connector::new(server.local_addr(), Trust::Loopback).unwrap();
    let name = PlayerName::new("Ann").unwrap();
    let client = timeout(HANG, connector.join(&name, MapHash::ANY)).await.unwrap().unwrap();
    let known = client.prediction().unwrap().map().models.clone();
    let shapes = |models: &[Model]| -> Vec<(String, String)> {
        models.iter().map(|model| (model.name().into(), model.source().into())).collect()
    };
    assert_eq!(shapes(&known), shapes(&Game::models(&game)));
    assert!(known.iter().any(|model| model.name() == "pin"));
    client.leave().await;
    server.handle().shutdown();
    tokio::task::spawn_blocking(|| server.join()).await.unwrap().unwrap();
}

/// A designer's `game.toml` beside the map makes players faster and lighter. A client fetches it
/// when it joins, and predicts with the same numbers.
#[tokio::test]
async fn a_client_predicts_by_the_numbers_of_the_game_file_beside_the_map() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("game_file");
    std::fs::create_dir_all(&folder).unwrap();
    let hill = folder.join("king_of_the_hill.map");
    std::fs::copy(map("king_of_the_hill.map"), &hill).unwrap();
    let file = folder.join("game.toml");
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = || {
        let game = king_of_the_hill::KingOfTheHill;
        let server = Server::builder().map(&hill).game(game);
        server.listen(any_port).http(any_port).max_players(1)
    };
    std::fs::write(&file, "[movement]\nrun_sped = 500\n").unwrap();
    let refused = server().bind().await.err().map(|error| error.to_string()).unwrap();
    assert!(refused.contains("game.toml: line 2, column 1: unknown field"), "{refused}");

    std::fs::write(&file, "[movement]\nrun_speed = 500\ngravity = 300\n").unwrap();
    let server = server().bind().await.unwrap();
    let connector = Connector::new(server.local_addr(), Trust::Loopback).unwrap();
    let name = PlayerName::new("Ann").unwrap();
    let mut client = timeout(HANG, connector.join(&name, MapHash::ANY)).await.unwrap().unwrap();
    let map = Arc::clone(client.prediction().unwrap().map());
    let hash = client.session().hello().unwrap().game.expect("the hello names the game's file");
    // A web page gets the same bytes by HTTP.
    let page = get(server.http_addr(), &format!("/games/{hash}")).await;
    assert_eq!(page.status, 200);
    assert_eq!(GameData::from_bytes(&page.bytes).unwrap().hash(), Some(hash));
    assert_eq!(get(server.http_addr(), &format!("/games/{}", "0".repeat(64))).await.status, 404);
    let told = map.movement.usual();
    assert_eq!((told.run_speed, told.gravity, told.jump_speed), (500.0, 300.0, 270.0));
    let (mut fastest, mut commands) = (0.0_f32, 0_u32);
    let mut errors = Vec::new();
    let run = async {
        while commands < 300 {
            match client.next().await.unwrap() {
                ClientEvent::CommandDue => {
                    commands += 1;
                    let yaw = (commands / 60 * 16_384) as u16;
                    let jumps = commands.is_multiple_of(20);
                    let buttons = if jumps { Buttons::JUMP } else { Buttons::default() };
                    client.command(Command { forward: 127, yaw, buttons, ..Command::default() });
                }
                ClientEvent::Snapshot { error, .. } => {
                    errors.extend(error.filter(|error| !error.disturbed).map(|error| error.units));
                }
                ClientEvent::NewWorld => panic!("the match has one world"),
            }
            let velocity = client.motion().map(|(_, motion)| motion.velocity);
            fastest = fastest.max(velocity.unwrap_or_default().truncate().length());
        }
    };
    timeout(HANG, run).await.expect("the client plays for five seconds");
    assert!(
        fastest > 400.0,
        "the player ran at {fastest} units a second, no faster than without the file"
    );
    // On a busy machine some commands come too late, and barrels are in the way, so the median
    // counts.
    errors.sort_by(f64::total_cmp);
    assert!(errors.len() > 20, "{errors:?}");
    assert_eq!(errors[errors.len() / 2], 0.0, "{errors:?}");
    client.leave().await;
    server.handle().shutdown();
    tokio::task::spawn_blocking(|| server.join()).await.unwrap().unwrap();
}
