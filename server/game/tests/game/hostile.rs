//! A game that tries to make bodies overlap: every method that a match calls makes random calls
//! with absurd arguments. After every tick no two bodies overlap, all numbers are finite, and the
//! data for clients is within its bounds. Nothing panics.
//!
//! `HOSTILE_MATCHES` is the number of matches, and `HOSTILE_SEED` the seed of the first.

mod calls;
mod placed;

use std::sync::Arc;

use glam::DVec3;
use obsp::Spaces;
use obsp::model::{Model, shipped};
use obsp_game::{
    Audience, Event, Field, Game, Match, PlayerInfo, Replicated, Respawn, RunningMatch, Subject,
    Values, Vitals, VolumeId, WorldMut,
};
use obsp_sim::audit::Audit;
use obsp_sim::{Buttons, Command, Config, EntityId, MovementParameters, PlayerKind, Random, World};
use serde::{Deserialize, Serialize, Serializer};

use crate::drawn::{brush, map};
use calls::{HARMLESS, KINDS, mischief, point};

/// Ticks of a match.
const TICKS: u32 = 24;

/// Half of the room's side length, and the room's height, in units. The room is small, so that
/// bodies often meet.
const HALF: f64 = 160.0;
const HEIGHT: f64 = 192.0;

/// Maximum number of events that a game may send per tick, and limit in bytes of one.
const MOST_EVENTS: usize = 32;
const MOST_BYTES: usize = 256;

/// Fields with the narrowest and the widest range, and one far from zero.
const BIT: Field = Field::new("bit", -1, 0);
const WIDE: Field = Field::new("wide", -32_768, 32_767);
const FAR: Field = Field::new("far", i32::MAX - 9, i32::MAX);

/// The only model whose bodies have fields.
const TOLD: &str = "crate";

#[derive(Clone, Debug)]
struct Hostile;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    /// Ids of entities, of which some are gone.
    known: Vec<EntityId>,
    volumes: u64,
    sensors: u32,
    /// The numbers of calls that changed the world, by kind.
    done: Vec<u64>,
}

impl Game for Hostile {
    type State = State;

    fn models(&self) -> Vec<Model> {
        models()
    }

    fn brush_models(&self, map: &obsp::Map) -> Vec<Model> {
        drawn_models(map)
    }

    fn movements(&self, usual: MovementParameters) -> Vec<(&'static str, MovementParameters)> {
        let haste = MovementParameters { run_speed: 1000.0, jump_speed: 1000.0, ..usual };
        let frozen = MovementParameters { run_speed: 1.0, jump_speed: 0.0, gravity: 0.0, ..usual };
        vec![("haste", haste), ("frozen", frozen)]
    }

    /// Changes lines, keeps some, and passes others on to players who may have left.
    fn said(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        line: &mut String,
    ) -> Audience {
        mischief(state, world);
        line.push_str("\n\0");
        match world.random().below(3) {
            0 => Audience::Everyone,
            1 => Audience::Players(vec![player; 3]),
            _ => Audience::Nobody,
        }
    }

    fn set_up(&self, world: &mut WorldMut<'_>) -> State {
        let mut state = State::default();
        (0..20).for_each(|_| mischief(&mut state, world));
        state
    }

    fn joined(&self, state: &mut State, world: &mut WorldMut<'_>, player: EntityId) {
        state.known.push(player);
        mischief(state, world);
    }

    fn left(&self, state: &mut State, world: &mut WorldMut<'_>, _: EntityId) {
        mischief(state, world);
    }

    fn command(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        _: EntityId,
        command: &mut Command,
    ) {
        mischief(state, world);
        command.forward = world.random().bits() as i8;
        command.yaw = world.random().bits() as u16;
    }

    fn moved(&self, state: &mut State, world: &mut WorldMut<'_>, _: EntityId, _: &Command) {
        mischief(state, world);
    }

    fn missile_moved(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        missile: EntityId,
        flies: bool,
    ) {
        mischief(state, world);
        // A stopped missile that is not removed moves again in the next tick.
        if !flies && world.random().below(2) == 0 {
            let _ = world.remove(missile);
        }
    }

    fn entered(&self, state: &mut State, world: &mut WorldMut<'_>, _: VolumeId, _: EntityId) {
        mischief(state, world);
    }

    fn left_volume(&self, state: &mut State, world: &mut WorldMut<'_>, _: VolumeId, _: EntityId) {
        mischief(state, world);
    }

    fn touched(&self, state: &mut State, world: &mut WorldMut<'_>, _: EntityId, _: EntityId) {
        mischief(state, world);
    }

    fn parted(&self, state: &mut State, world: &mut WorldMut<'_>, _: EntityId, _: EntityId) {
        mischief(state, world);
    }

    fn detached(&self, state: &mut State, world: &mut WorldMut<'_>, _: EntityId, _: EntityId) {
        mischief(state, world);
    }

    fn tick(&self, state: &mut State, world: &mut WorldMut<'_>) {
        (0..6).for_each(|_| mischief(state, world));
    }

    fn respawn(&self, state: &mut State, world: &mut WorldMut<'_>, _: EntityId) -> Respawn {
        mischief(state, world);
        match world.random().below(4) {
            0 => Respawn::Wait,
            1 => Respawn::SpawnPoint,
            _ => Respawn::At { position: point(world), yaw: world.random().bits() as u16 },
        }
    }

    fn vitals(&self, state: &State, player: EntityId) -> Option<Vitals> {
        let is_known = state.known.contains(&player);
        is_known.then_some(Vitals { health: u16::MAX, score: i16::MIN })
    }

    fn replicated(&self) -> Replicated {
        Replicated {
            of_match: vec![WIDE, FAR],
            of_own_player: vec![WIDE],
            of_players: vec![BIT, FAR],
            of_bodies: vec![(TOLD, vec![BIT])],
            events: vec!["told".into(), "shouted".into()],
        }
    }

    fn values(&self, state: &State, world: &World, of: Subject, values: &mut Values<'_>) {
        let value =
            [i64::MIN, i64::MAX, 0, -1, 70_000][(state.done.iter().sum::<u64>() % 5) as usize];
        match of {
            Subject::Match => [WIDE, FAR].iter().for_each(|field| values.set(field, value)),
            Subject::Player(_) => [BIT, FAR].iter().for_each(|field| values.set(field, value)),
            Subject::OwnPlayer(_) => values.set(&WIDE, value),
            Subject::Body(id) => {
                assert!(world.entity(id).is_some(), "{id:?}");
                values.set(&BIT, value);
            }
        }
    }
}

/// A value that serde cannot encode.
struct Refused;

impl Serialize for Refused {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("the value has no encoding"))
    }
}

/// The shipped models, and two kinematic ones. The model of the room's entity of brushes follows.
fn models() -> Vec<Model> {
    let driven = [("driven_slab", "crate"), ("driven_block", "l_block")].map(|(name, like)| {
        let like = shipped().into_iter().find(|model| model.name() == like);
        let like = like.expect("a shipped model");
        Model::from_obj(name, like.source())
            .expect("the source is that of a valid model")
            .as_kinematic()
    });
    shipped().into_iter().chain(driven).collect()
}

/// The brushes of the room's entity as a model.
fn drawn_models(map: &obsp::Map) -> Vec<Model> {
    map.entities().iter().filter_map(|entity| map.model_of(entity).ok()).collect()
}

/// All models of a match.
fn all_models(map: &obsp::Map) -> Vec<Model> {
    [models(), drawn_models(map)].concat()
}

/// An entity of brushes about the origin, up to this height.
fn trigger(height: f64) -> String {
    let brush = brush(DVec3::new(-64.0, -64.0, 0.0), DVec3::new(64.0, 64.0, height));
    format!("{{\n\"classname\" \"trigger_hill\"\n{brush}}}\n")
}

/// A closed room with a pillar, two spawn points, an entity of brushes, deep water and a puddle of
/// lava.
fn room() -> Arc<obsp::Map> {
    let wall = 32.0;
    let (low, high) = (DVec3::new(-HALF, -HALF, 0.0), DVec3::new(HALF, HALF, HEIGHT));
    let mut brushes = String::new();
    for axis in 0..3 {
        for upper in [false, true] {
            let (mut min, mut max) = (low - wall, high + wall);
            if upper {
                min[axis] = high[axis]
            } else {
                max[axis] = low[axis]
            }
            brushes += &brush(min, max);
        }
    }
    brushes += &brush(DVec3::new(-16.0, -16.0, 0.0), DVec3::new(16.0, 16.0, 64.0));
    for (liquid, from, to) in [
        ("*water", DVec3::new(24.0, 24.0, 0.0), DVec3::new(HALF, HALF, 100.0)),
        ("*lava", DVec3::new(-HALF, -HALF, 0.0), DVec3::new(-60.0, -60.0, 12.0)),
    ] {
        brushes += &brush(from, to).replace("stone", liquid);
    }
    let mut entities = trigger(80.0);
    for at in ["-100 0 24", "100 0 24"] {
        entities += &format!("{{\n\"classname\" \"info_player_start\"\n\"origin\" \"{at}\"\n}}\n");
    }
    map(&Spaces::default(), &brushes, &entities)
}

/// A number from the environment.
fn number(variable: &str, default: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

/// Checks that the events and values for clients are within their bounds.
fn check_told(game: &Match<Hostile>) {
    let own = game.events().iter().filter_map(|event| match event {
        Event::Game(event) | Event::Private { event, .. } => Some(event.data().len()),
        _ => None,
    });
    let lengths: Vec<usize> = own.collect();
    assert!(lengths.len() <= MOST_EVENTS, "{} events", lengths.len());
    assert!(lengths.iter().all(|length| *length <= MOST_BYTES), "{lengths:?}");
    let (world, told) = (game.world(), game.values(&game.world().state()));
    for field in [&WIDE, &FAR] {
        let value = told.of_match.get(&[WIDE, FAR], field.name()).expect(
            "the game declares the \
            field",
        );
        assert!((field.least()..=field.most()).contains(&value), "{} is {value}", field.name());
    }
    // Players outside of the world have values as well, each once.
    let players = told.of_own_players.iter().map(|(id, _)| *id);
    assert_eq!(players.collect::<Vec<_>>(), world.players());
    assert!(told.of_entities.iter().all(|(id, _)| world.entity(*id).is_some()));
}

/// What happened in a match.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// The digest at the end.
    digest: u64,
    /// The numbers of calls that have changed the world, by kind.
    done: Vec<u64>,
    /// The number of emergency replacements.
    replaced: u64,
    /// The sum over all ticks of the number of players in liquids.
    wet: usize,
}

/// Plays a match and audits every tick. If `saved`, the match is saved in every tick, and the match
/// that is loaded from the bytes goes on.
fn play(map: &Arc<obsp::Map>, audit: &mut Audit, seed: u64, saved: bool) -> Outcome {
    let config = Config { tick_rate: 60, seed, objects: 4, max_players: 6 };
    let mut game = Match::new(Hostile, Arc::clone(map), config).expect("the room can be played");
    let mut keys = Random::new(seed);
    let (mut players, mut wet) = (Vec::new(), 0);
    for tick in 0..TICKS {
        match keys.below(6) {
            0 | 1 => players.extend(game.join_as(PlayerKind::Box)),
            2 => {
                let info = PlayerInfo::named("Ann\n".repeat(keys.below(40) as usize));
                players.extend(game.join(PlayerKind::Hovertank, info));
            }
            3 if !players.is_empty() => {
                let index = keys.below(players.len() as u64) as usize;
                game.leave(players.swap_remove(index));
            }
            4 if !players.is_empty() => {
                let index = keys.below(players.len() as u64) as usize;
                game.say(players[index], ["hello", "", "\0"][keys.below(3) as usize]);
            }
            _ => {}
        }
        let mut command = || {
            let buttons = Buttons::from_bits(keys.bits() as u32 & 0b1111_1111_1111_1011_1111)
                .unwrap_or_default();
            Command { forward: 127, yaw: keys.bits() as u16, buttons, ..Command::default() }
        };
        let commands: Vec<_> = players.iter().map(|id| (*id, command())).collect();
        game.step(&commands);
        let faults = audit.check_match(game.world());
        assert!(faults.is_empty(), "HOSTILE_SEED={seed}, tick {tick}: {faults:?}");
        check_told(&game);
        let is_wet = |id: &EntityId| game.world().submersion(*id).is_some();
        wet += game.state().known.iter().filter(|id| is_wet(id)).count();
        if saved {
            let loaded = game.restore(&game.save());
            loaded.unwrap_or_else(|why| panic!("HOSTILE_SEED={seed}, tick {tick}: {why}"));
        }
    }
    let replaced = game.world().counters().emergency_replacements;
    Outcome { digest: game.digest(), done: game.state().done.clone(), replaced, wet }
}

#[test]
fn a_hostile_game_cannot_make_two_bodies_overlap() {
    let map = room();
    let mut audit = Audit::new(&map, &all_models(&map)).expect("the room can be audited");
    let (first, matches) = (number("HOSTILE_SEED", 1), number("HOSTILE_MATCHES", 200));
    let (mut done, mut replaced, mut wet) = (vec![0; KINDS as usize], 0, 0);
    for seed in first..first + matches {
        let outcome = play(&map, &mut audit, seed, false);
        done.iter_mut().zip(outcome.done).for_each(|(all, of_match)| *all += of_match);
        replaced += outcome.replaced;
        wet += outcome.wet;
    }
    let all: u64 = done.iter().sum();
    println!("{matches} matches, {all} calls changed the world, {replaced} replacements");
    println!("players were in liquids in {wet} ticks; calls by kind: {done:?}");
    assert!(all > 50 * matches, "only {all} calls changed the world, in {matches} matches");
    assert_eq!(replaced, 0, "a body overlapped another one and was replaced");
    if matches >= 200 {
        let never = (0..KINDS).filter(|kind| done[*kind as usize] == 0);
        assert_eq!(never.collect::<Vec<_>>(), HARMLESS, "kinds of calls that never did anything");
        assert!(wet > 0, "no player was in a liquid");
    }
}

#[test]
fn a_hostile_game_is_deterministic() {
    let map = room();
    let mut audit = Audit::new(&map, &all_models(&map)).expect("the room can be audited");
    let mut play = |seed| play(&map, &mut audit, seed, false);
    assert_eq!(play(7), play(7));
    assert_ne!(play(7).digest, play(8).digest);
}

/// A world is saved and loaded whole, no matter what a game has done to it.
#[test]
fn a_hostile_match_is_the_same_when_it_is_saved_in_every_tick() {
    let map = room();
    let mut audit = Audit::new(&map, &all_models(&map)).expect("the room can be audited");
    let (first, matches) = (number("HOSTILE_SEED", 1), number("HOSTILE_MATCHES", 30));
    for seed in first..first + matches {
        let whole = play(&map, &mut audit, seed, false);
        assert_eq!(play(&map, &mut audit, seed, true), whole, "HOSTILE_SEED={seed}");
    }
}
