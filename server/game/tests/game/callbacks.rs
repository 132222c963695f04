//! The calls that a match makes to its game, on a platform in the open air.

use glam::{DQuat, DVec3};
use obsp::Spaces;
use obsp_game::{Audience, Event, Game, Match, PlayerInfo, Respawn, RunningMatch, WorldMut};
use obsp_sim::{Buttons, Command, Config, EntityId, PlayerKind};
use serde::{Deserialize, Serialize};

use crate::drawn::{brush, map};

/// Ticks for which a player who fell stays out.
const OUT: u32 = 10;

/// The place where players come in, far from the only spawn point.
const HOME: DVec3 = DVec3::new(-100.0, 0.0, 29.0);

/// A game that notes the calls it gets.
#[derive(Clone, Debug)]
struct Notes;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    lower: Option<EntityId>,
    upper: Option<EntityId>,
    contacts: Vec<Contact>,
    /// Calls of `respawn` since a player last came into the world.
    asked: u32,
    agent: Option<EntityId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Contact {
    Touched(EntityId, EntityId),
    Parted(EntityId, EntityId),
}

impl Game for Notes {
    type State = State;

    /// One crate lies on another, and the lower one is watched.
    fn set_up(&self, world: &mut WorldMut<'_>) -> State {
        let model = world.model("crate").expect("a shipped model");
        let mut put = |z| world.spawn_body(model, DVec3::new(0.0, 0.0, z), DQuat::IDENTITY).ok();
        let (lower, upper) = (put(16.1), put(49.0));
        world.watch(lower.expect("the place is free"));
        State { lower, upper, ..State::default() }
    }

    fn touched(&self, state: &mut State, _: &mut WorldMut<'_>, entity: EntityId, by: EntityId) {
        state.contacts.push(Contact::Touched(entity, by));
    }

    fn parted(&self, state: &mut State, _: &mut WorldMut<'_>, entity: EntityId, by: EntityId) {
        state.contacts.push(Contact::Parted(entity, by));
    }

    fn respawn(&self, state: &mut State, world: &mut WorldMut<'_>, _: EntityId) -> Respawn {
        state.asked += 1;
        if world.tick() > 0 && state.asked <= OUT {
            return Respawn::Wait;
        }
        state.asked = 0;
        Respawn::At { position: HOME, yaw: 0 }
    }

    /// Puts an agent at a free place after the first player has joined.
    fn joined(&self, state: &mut State, world: &mut WorldMut<'_>, player: EntityId) {
        assert_ne!(state.agent, Some(player), "the agent never joins as a player");
        if state.agent.is_some() {
            return;
        }
        let mut agent = |position| world.spawn_agent_at(PlayerKind::Box, position, 16_384);
        // Far outside of the map.
        assert!(agent(DVec3::splat(1e6)).is_err());
        state.agent = agent(DVec3::new(200.0, 200.0, 29.0)).ok();
    }
}

fn play() -> Match<Notes> {
    let platform = brush(DVec3::new(-256.0, -256.0, -32.0), DVec3::new(256.0, 256.0, 0.0));
    let spawn = "{\n\"classname\" \"info_player_start\"\n\"origin\" \"-200 200 25\"\n}\n";
    let config = Config { tick_rate: 60, seed: 3, objects: 0, max_players: 4 };
    Match::new(Notes, map(&Spaces::default(), &platform, spawn), config)
        .expect("the map can be played")
}

fn run(game: &mut Match<Notes>, ticks: u32, commands: &[(EntityId, Command)]) {
    (0..ticks).for_each(|_| game.step(commands));
}

fn walking(forward: i8) -> Command {
    Command { forward, buttons: Buttons::WALK, ..Command::default() }
}

/// Sleeping bodies are in no contact pair. If a match did not remember their touch, it would report
/// that they part when they fall asleep, and touch again when they wake.
#[test]
fn bodies_that_fall_asleep_have_not_parted() {
    let mut game = play();
    let (lower, upper) = (game.state().lower.unwrap(), game.state().upper.unwrap());
    let touched = Contact::Touched(lower, upper);
    run(&mut game, 300, &[]);
    let asleep = |id| game.world().entity(id).is_some_and(|entity| entity.asleep);
    assert!(asleep(lower) && asleep(upper));
    assert_eq!(game.state().contacts, [touched]);
    game.world_mut().add_velocity(upper, DVec3::X * 3.0).expect("the prop exists");
    run(&mut game, 300, &[]);
    assert_eq!(game.state().contacts, [touched]);
    let aside = DVec3::new(100.0, 100.0, 17.0);
    game.world_mut().teleport(upper, aside, DQuat::IDENTITY).expect("the place is free");
    run(&mut game, 1, &[]);
    assert_eq!(game.state().contacts, [touched, Contact::Parted(lower, upper)]);
}

/// A player who shoves a body runs into it only in every other tick. All these ticks are one touch.
#[test]
fn a_player_who_shoves_a_body_touches_it_once_and_parts_from_it_once() {
    let mut game = play();
    let (lower, upper) = (game.state().lower.unwrap(), game.state().upper.unwrap());
    game.world_mut().remove(upper).expect("the prop exists");
    let player = game.join_as(PlayerKind::Box).expect("there is a place");
    run(&mut game, 90, &[(player, walking(127))]);
    let (touched, parted) = (Contact::Touched(lower, player), Contact::Parted(lower, player));
    assert_eq!(game.state().contacts, [touched]);
    let shoved = game.world().entity(lower).expect("the prop exists").position;
    assert!(shoved.x > 8.0, "{shoved}");
    run(&mut game, 10, &[(player, walking(-127))]);
    assert_eq!(game.state().contacts, [touched], "a quarter of a second has not passed");
    run(&mut game, 10, &[(player, walking(-127))]);
    assert_eq!(game.state().contacts, [touched, parted]);
    // A player who leaves the world parts at once.
    run(&mut game, 30, &[(player, walking(127))]);
    assert_eq!(game.state().contacts, [touched, parted, touched]);
    game.world_mut().take_out(player).expect("the player is in the world");
    run(&mut game, 1, &[]);
    assert_eq!(game.state().contacts, [touched, parted, touched, parted]);
}

/// Symptom: a player who fell out of an open map came back at any spawn point, although the game
/// chose another place. Cause: the world put fallen players back by itself, before the game was
/// asked.
#[test]
fn a_player_who_falls_out_of_the_map_comes_back_where_the_game_says() {
    let mut game = play();
    let player = game.join_as(PlayerKind::Box).expect("there is a place");
    let aside = Command { yaw: 16_384, forward: 127, ..Command::default() };
    let is_there = |game: &Match<Notes>| game.world().entity(player).is_some();
    let fell = (0..400).position(|_| {
        game.step(&[(player, aside)]);
        !is_there(&game)
    });
    assert!(fell.is_some(), "the player falls");
    assert_eq!(game.world().counters().fallen, 1);
    for _ in 1..OUT {
        game.step(&[]);
        assert!(!is_there(&game), "the game keeps the player out of the world");
    }
    game.step(&[]);
    assert!(game.events().contains(&Event::Spawned { player }), "{:?}", game.events());
    let back = game.world().entity(player).expect("the player is back in the world").position;
    assert!(back.distance(HOME) < 2.0, "{back}");
}

#[test]
fn an_agent_comes_at_once_where_the_game_wants_it() {
    let mut game = play();
    game.join_as(PlayerKind::Box).expect("there is a place");
    let agent = game.state().agent.expect("there is room");
    let at = game.world().entity(agent).expect("the entity is in the world").position;
    assert!(at.distance(DVec3::new(200.0, 200.0, 29.0)) < 2.0, "{at}");
    assert_eq!(game.world().players().len(), 2);
}

/// A game that keeps commands to itself, passes a team's lines on to the team, and adds the number
/// of ready players to all others.
#[derive(Clone, Debug)]
struct Moderated;

impl Game for Moderated {
    type State = Vec<EntityId>;

    fn set_up(&self, _: &mut WorldMut<'_>) -> Vec<EntityId> {
        Vec::new()
    }

    fn uses_player_ids(&self) -> bool {
        true
    }

    fn said(
        &self,
        ready: &mut Vec<EntityId>,
        world: &mut WorldMut<'_>,
        player: EntityId,
        line: &mut String,
    ) -> Audience {
        if line == "!ready" {
            ready.push(player);
            world.announce(format!("{:?} is ready", world.player(player)));
            return Audience::Nobody;
        }
        if let Some(to_team) = line.strip_prefix("team ") {
            *line = to_team.to_owned();
            let even = |id: &EntityId| id.slot % 2 == player.slot % 2;
            return Audience::Players(world.players().into_iter().filter(even).collect());
        }
        *line = format!("{line} ({} ready)", ready.len());
        Audience::Everyone
    }
}

#[test]
fn a_game_hears_what_players_say_and_chooses_the_listeners() {
    let platform = brush(DVec3::new(-256.0, -256.0, -32.0), DVec3::new(256.0, 256.0, 0.0));
    let spawn = "{\n\"classname\" \"info_player_start\"\n\"origin\" \"0 0 25\"\n}\n";
    let map = map(&Spaces::default(), &platform, spawn);
    let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 3 };
    let mut game = Match::new(Moderated, map, config).unwrap();
    let ann = PlayerInfo { name: "Ann".into(), player_id: Some(7) };
    let [ann, bob, cid] = [ann, PlayerInfo::named("Bob"), PlayerInfo::default()]
        .map(|info| game.join(PlayerKind::Box, info).unwrap());
    assert_eq!(game.player(ann).map(|ann| ann.player_id), Some(Some(7)));
    assert_eq!((game.player(cid), game.said().len()), (None, 0));
    game.step(&[]);
    let before = game.digest();
    game.say(ann, "!ready");
    game.say(cid, "team to me");
    game.say(bob, "hello");
    game.say(EntityId { slot: 9, generation: 9 }, "nobody");
    assert_ne!(game.digest(), before, "the game's state changes at once");
    let told = |game: &Match<Moderated>| -> Vec<(String, Audience)> {
        let line = |event: &Event| match event {
            Event::Said { line, to, .. } => Some((line.clone(), to.clone())),
            Event::Announced { line } => Some((line.clone(), Audience::Everyone)),
            _ => None,
        };
        game.events().iter().filter_map(line).collect()
    };
    assert_eq!(told(&game), [], "lines come with the next tick");
    // A saved match has the lines that are on their way.
    let saved = game.save();
    for again in 0..2 {
        game.step(&[]);
        assert_eq!(game.said().len(), if again == 0 { 3 } else { 0 });
        let [ready, team, all] = &told(&game)[..] else { panic!("{:?}", told(&game)) };
        assert!(ready.0.contains("\"Ann\"") && ready.0.ends_with("is ready"), "{ready:?}");
        assert_eq!(*team, ("to me".to_owned(), Audience::Players(vec![ann, cid])));
        assert_eq!(*all, ("hello (1 ready)".to_owned(), Audience::Everyone));
        game.step(&[]);
        assert_eq!((told(&game).len(), game.said().len()), (0, 0));
        game.restore(&saved).unwrap();
    }
    assert_eq!(game.player(ann).map(|ann| ann.name.as_str()), Some("Ann"));
    // A name is part of the match: another name is another match.
    let with_names = game.digest();
    game.leave(bob);
    game.join(PlayerKind::Box, PlayerInfo::named("Bo")).unwrap();
    assert_ne!(game.digest(), with_names);
    assert_eq!(game.player(bob), None);
}
