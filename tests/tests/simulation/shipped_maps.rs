//! The shipped maps: their `.obsp` files are up to date with their sources, and a match can be
//! played on them.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use obsp::model::shipped;
use obsp_sim::{Config, World};
use tests::harness::{Random, ShippedMap, Wanderer, crowd_shapes, placed};
use tests::oracle::bodies::{Audit, Placed};

/// Maximum size of a compiled map in the repository, in bytes.
const OBSP_LIMIT: usize = 1 << 20;

/// Players of a short match on a shipped map, and its length in ticks.
const PLAYERS: u16 = 16;
const TICKS: u64 = 600;

/// Minimum extent of a player's positions in a match, in units. A stuck player stays within less.
const MOVED: f64 = 100.0;

fn suits_a_match(name: &str, props: usize, triggers: usize) {
    let map = ShippedMap::read(name);
    map.assert_current(OBSP_LIMIT);
    map.assert_spawns_have_room(32);
    map.assert_props_are_free(props);
    map.assert_triggers_lead_somewhere(triggers);
    map.assert_sealed_and_connected();
}

#[test]
fn the_arena_suits_a_match() {
    suits_a_match("arena", 60, 4);
}

#[test]
fn the_terrain_suits_a_match() {
    suits_a_match("terrain", 40, 3);
}

#[test]
fn the_warren_suits_a_match() {
    suits_a_match("warren", 40, 3);
}

/// Asserts that only a crouching player fits along the line from `from` to `to`, two units
/// above the floor.
fn only_crouching_players_fit(map: &ShippedMap, from: [f32; 3], to: [f32; 3]) {
    let world = map.world();
    let [crouching, standing] =
        ["crouching", "standing"].map(|name| world.size(name).expect("the map has this size"));
    let (from, to) = (Vec3::from(from), Vec3::from(to));
    let steps = (from.distance(to) / 16.0).ceil() as u16;
    for step in 0..=steps {
        let feet = from.lerp(to, f32::from(step) / f32::from(steps)) + Vec3::Z * 2.0;
        assert!(
            !world.is_solid(crouching, feet + Vec3::Z * 18.0),
            "a crouching player does not fit at {feet}"
        );
        assert!(
            world.is_solid(standing, feet + Vec3::Z * 28.0),
            "a standing player fits at {feet}"
        );
    }
}

#[test]
fn only_crouching_players_fit_in_the_tunnel_of_the_arena() {
    let arena = ShippedMap::read("arena");
    // The tunnel leads from the pit to the cellar.
    only_crouching_players_fit(&arena, [0.0, -544.0, -128.0], [0.0, -192.0, -128.0]);
}

#[test]
fn only_crouching_players_fit_in_the_crawlways_of_the_warren() {
    let warren = ShippedMap::read("warren");
    for (from, to) in [
        ([32.0, -272.0, -160.0], [32.0, -112.0, -160.0]),
        ([112.0, 336.0, -160.0], [256.0, 336.0, -160.0]),
        ([-272.0, -384.0, 0.0], [-112.0, -384.0, 0.0]),
        ([112.0, 0.0, 0.0], [256.0, 0.0, 0.0]),
        ([-416.0, -288.0, 160.0], [-416.0, -128.0, 160.0]),
        ([-272.0, 432.0, 160.0], [-112.0, 432.0, 160.0]),
        ([48.0, 112.0, 160.0], [48.0, 288.0, 160.0]),
    ] {
        only_crouching_players_fit(&warren, from, to);
    }
}

/// Plays a short match with the map's own props. Nothing must ever interpenetrate, and no player
/// must be stuck at their spawn point.
fn a_crowd_runs_about(name: &str, seed: u64) {
    let map = ShippedMap::read(name);
    let models = shipped();
    let mut audit = Audit::new(map.entities(), crowd_shapes(&models));
    let config = Config { tick_rate: 60, seed, objects: 0, max_players: PLAYERS };
    let mut world = World::new(Arc::new(map.world().clone()), models.into(), config)
        .expect("a match can be set up");
    let mut crowd: Vec<Wanderer> = (0..PLAYERS)
        .map(|i| {
            let id = world.join().expect("there is room for the player");
            Wanderer::new(id, Random::new(seed << 16 | u64::from(i)))
        })
        .collect();
    let mut reach = vec![(DVec3::INFINITY, DVec3::NEG_INFINITY); crowd.len()];
    for tick in 0..=TICKS {
        let state = world.state();
        let things: Vec<Placed> = state.entities.iter().map(placed).collect();
        let overlaps = audit.judge(&things);
        assert!(overlaps.is_empty(), "{name}, seed {seed}, tick {tick}: {overlaps:?}");
        for (wanderer, (low, high)) in crowd.iter().zip(&mut reach) {
            let here = state.entities.iter().find(|entity| entity.id == wanderer.id());
            let here =
                here.unwrap_or_else(|| panic!("{name}, seed {seed}, tick {tick}: player is gone"));
            (*low, *high) = (low.min(here.position), high.max(here.position));
        }
        let commands: Vec<_> = crowd.iter_mut().map(Wanderer::next_command).collect();
        world.step(&commands);
    }
    let least = reach.iter().map(|(low, high)| low.distance(*high)).fold(f64::INFINITY, f64::min);
    assert!(least > MOVED, "{name}, seed {seed}: a player stayed within {least} units");
    let drawn = map.of_class("prop").count();
    let kept = world.state().entities.len() - crowd.len();
    assert_eq!(kept, drawn, "{name}: the number of props changed");
}

#[test]
fn a_crowd_runs_about_the_terrain() {
    a_crowd_runs_about("terrain", 61);
}

#[test]
fn a_crowd_runs_about_the_warren() {
    a_crowd_runs_about("warren", 62);
}
