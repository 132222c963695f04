//! Volumes that a fast entity passes within a tick.

use std::collections::BTreeSet;

use glam::{DQuat, DVec3};
use obsp::Spaces;
use obsp::geometry::Aabb;
use obsp_game::{Game, Match, Respawn, RunningMatch, VolumeId, WorldMut};
use obsp_sim::{Config, EntityId, MissileMotion, PlayerKind};
use serde::{Deserialize, Serialize};

use crate::drawn::{brush, map};

/// The tick rates of all tests, in ticks per second.
const RATES: [u32; 4] = [10, 20, 60, 128];

/// The place where players come into the world, in front of the volume.
const HOME: DVec3 = DVec3::new(-600.0, 0.0, 300.0);

/// Units per second.
const SPEED: f64 = 1000.0;

/// A game that notes what crosses its two volumes: a thin wall, and a plate under the floor's
/// height.
#[derive(Clone, Debug)]
struct Gates;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    calls: Vec<(u16, EntityId, bool)>,
    /// Where the game puts a player after their own move in the next tick.
    send_to: Option<DVec3>,
}

impl Game for Gates {
    type State = State;

    fn set_up(&self, world: &mut WorldMut<'_>) -> State {
        let min = DVec3::new(0.0, -200.0, 0.0);
        world.add_volume(&Aabb { min, max: min + DVec3::new(8.0, 400.0, 800.0) });
        let min = DVec3::new(-700.0, -200.0, -8.0);
        world.add_volume(&Aabb { min, max: min + DVec3::new(1400.0, 400.0, 8.0) });
        State::default()
    }

    fn moved(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        _: &obsp_sim::Command,
    ) {
        if let Some(place) = state.send_to.take() {
            world.teleport(player, place, DQuat::IDENTITY).expect("the place is free");
        }
    }

    fn entered(&self, state: &mut State, _: &mut WorldMut<'_>, volume: VolumeId, id: EntityId) {
        state.calls.push((volume.0, id, true));
    }

    fn left_volume(&self, state: &mut State, _: &mut WorldMut<'_>, volume: VolumeId, id: EntityId) {
        state.calls.push((volume.0, id, false));
    }

    fn respawn(&self, _: &mut State, _: &mut WorldMut<'_>, _: EntityId) -> Respawn {
        Respawn::At { position: HOME, yaw: 0 }
    }
}

fn play(tick_rate: u32) -> Match<Gates> {
    let floor = brush(DVec3::new(-1024.0, -256.0, -32.0), DVec3::new(1024.0, 256.0, 0.0));
    let wall = brush(DVec3::new(1000.0, -256.0, 0.0), DVec3::new(1024.0, 256.0, 800.0));
    let spawn = "{\n\"classname\" \"info_player_start\"\n\"origin\" \"-600 100 25\"\n}\n";
    let config = Config { tick_rate, seed: 3, objects: 0, max_players: 4 };
    let map = map(&Spaces::default(), &(floor + &wall), spawn);
    Match::new(Gates, map, config).expect("the map can be played")
}

fn throw(game: &mut Match<Gates>, (x, y): (f64, f64), speed: f64) -> EntityId {
    let rocket = game.world().model("rocket").expect("a shipped model");
    let from = DVec3::new(x, y, 300.0);
    let thrown =
        game.world_mut().spawn_missile(rocket, MissileMotion::Straight, from, DVec3::X * speed);
    thrown.expect("the place is free")
}

fn run(game: &mut Match<Gates>, seconds: f64) {
    let ticks = (seconds / game.world().seconds()).round() as u32;
    (0..ticks).for_each(|_| game.step(&[]));
}

#[test]
fn a_fast_missile_enters_and_leaves_a_thin_volume_at_every_rate() {
    for rate in RATES {
        for offset in 0..25 {
            let mut game = play(rate);
            let missile = throw(&mut game, (-300.0 - 4.0 * f64::from(offset), 50.0), SPEED);
            run(&mut game, 0.7);
            let expected = [(0, missile, true), (0, missile, false)];
            assert_eq!(game.state().calls, expected, "{rate} Hz, {offset}");
        }
    }
}

#[test]
fn a_fast_player_enters_and_leaves_a_thin_volume_at_every_rate() {
    for rate in RATES {
        for offset in 0..25 {
            let mut game = play(rate);
            let player = game.join_as(PlayerKind::Box).expect("there is a place");
            let from = DVec3::new(-300.0 - 4.0 * f64::from(offset), 0.0, 700.0);
            let world = game.world_mut();
            world.teleport(player, from, DQuat::IDENTITY).expect("the place is free");
            world.set_velocity(player, DVec3::X * 2.0 * SPEED, DVec3::ZERO).expect(
                "the player \
                exists",
            );
            run(&mut game, 0.4);
            let expected = [(0, player, true), (0, player, false)];
            assert_eq!(game.state().calls, expected, "{rate} Hz, {offset}");
        }
    }
}

/// A missile that bursts on the wall behind a volume in the tick in which it comes through.
#[test]
fn a_missile_that_ends_behind_a_volume_has_come_through() {
    let mut game = play(10);
    let missile = throw(&mut game, (-100.0, 50.0), 4500.0);
    for _ in 0..5 {
        game.step(&[]);
    }
    assert_eq!(game.world().entity(missile), None, "the missile has met the wall");
    assert_eq!(game.state().calls, [(0, missile, true), (0, missile, false)]);
}

#[test]
fn a_teleport_across_a_volume_reports_nothing() {
    for rate in RATES {
        let mut game = play(rate);
        let player = game.join_as(PlayerKind::Box).expect("there is a place");
        run(&mut game, 0.1);
        let beyond = DVec3::new(500.0, 0.0, 300.0);
        game.world_mut().teleport(player, beyond, DQuat::IDENTITY).expect("the place is free");
        run(&mut game, 0.1);
        // Now the game puts the player to the other side within a tick, after the player's own
        // move.
        let back = State { send_to: Some(DVec3::new(-500.0, 0.0, 300.0)), ..State::default() };
        let bytes = bincode::serde::encode_to_vec(&back, bincode::config::standard());
        game.load_state(&bytes.expect("plain data")).expect("the state can be read");
        run(&mut game, 0.1);
        let place = game.world().entity(player).expect("the player exists").position;
        assert!(place.x < 0.0, "{place}");
        assert_eq!(game.state().calls, [], "{rate} Hz");
    }
}

/// A player who moves over a volume in the floor may touch the volume, but does not enter it.
#[test]
fn a_body_that_slides_along_a_volume_does_not_enter_it() {
    for rate in RATES {
        let mut game = play(rate);
        let player = game.join_as(PlayerKind::Box).expect("there is a place");
        let world = game.world_mut();
        let on_floor = DVec3::new(-600.0, 0.0, 30.0);
        world.teleport(player, on_floor, DQuat::IDENTITY).expect("the place is free");
        run(&mut game, 0.5);
        let pushed = game.world_mut().set_velocity(player, DVec3::X * 400.0, DVec3::ZERO);
        pushed.expect("the player exists");
        run(&mut game, 0.5);
        assert_eq!(game.state().calls, [], "{rate} Hz");
    }
}

/// Throws a missile in every third tick, at changing speeds.
fn throw_in_turn(game: &mut Match<Gates>) {
    let tick = game.world().tick() as u32;
    if tick.is_multiple_of(3) {
        let lane = f64::from(tick / 3 % 11) * 16.0 - 80.0;
        throw(game, (-120.0 - lane, lane), SPEED * f64::from(1 + tick % 4));
    }
}

#[test]
fn a_restored_match_reports_the_same_and_calls_stay_paired() {
    for rate in RATES {
        let mut game = play(rate);
        for _ in 0..rate {
            throw_in_turn(&mut game);
            game.step(&[]);
        }
        let mut restored = play(rate);
        restored.restore(&game.save()).expect("the save belongs to the same match");
        for tick in 0..2 * rate {
            for game in [&mut game, &mut restored] {
                if tick < rate {
                    throw_in_turn(game);
                }
                game.step(&[]);
            }
            assert_eq!(restored.digest(), game.digest(), "{rate} Hz, {tick}");
        }
        let calls = &game.state().calls;
        assert_eq!(&restored.state().calls, calls, "{rate} Hz");
        assert!(calls.len() >= (rate / 3) as usize, "{rate} Hz: {}", calls.len());
        let mut inside = BTreeSet::new();
        for &(volume, id, enters) in calls {
            let of = (volume, id);
            let changed = if enters { inside.insert(of) } else { inside.remove(&of) };
            assert!(changed, "{rate} Hz: {volume} {id:?}");
        }
        assert!(inside.is_empty(), "{rate} Hz: {inside:?}");
    }
}
