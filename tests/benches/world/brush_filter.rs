//! A comparison of two filters that test whether the box of a body is clear of the static world.
//! The first is the tree of boxes over the brushes, which the simulation uses. The second is the
//! BSP of shifted planes, like Blow's first filter, which dropped the smaller solid down the
//! world's BSP. Both are conservative. The table has the share of boxes that each filter finds
//! clear, and its cost.
//!
//! `cargo bench -p benches --bench world -- filter`

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use obsp::body::Cuboid;
use obsp::geometry::Aabb;
use obsp::model::shipped;
use obsp::{Source, Spaces};
use obsp_sim::{Command, Config, EntityId, World};
use server::soak::Script;

use crate::maps;

/// Players who shoot, and objects that they wake.
const PLAYERS: u16 = 32;
const OBJECTS: u32 = 500;

/// Ticks from which the boxes of awake bodies are taken.
const TICKS: u32 = 600;

/// Rounds over all boxes; the fastest counts.
const ROUNDS: u32 = 30;

pub(crate) fn print() {
    println!("\n== boxes of awake bodies, {TICKS} ticks, {PLAYERS} players, {OBJECTS} objects");
    println!(
        "  {:10} {:>7} {:>12} {:>14} {:>8} {:>9} {:>11}",
        "map", "boxes", "none touched", "planes: clear", "touched", "ns, boxes", "ns, planes"
    );
    for path in maps() {
        print_map(&path);
    }
}

fn print_map(path: &Path) {
    let source = Source::read(path).unwrap_or_else(|error| panic!("{error}"));
    let compiled = obsp::compile(
        &source,
        &Spaces::default(),
        &obsp::CompileOptions::default(),
        &mut |_, _, _| {},
    );
    let map = Arc::new(compiled.unwrap_or_else(|error| panic!("{error}")).map);
    let boxes = awake_boxes(Arc::clone(&map));
    let touched = |bounds: &Aabb| {
        let mut count = 0_u32;
        map.solids_touching(bounds, |_| count += 1);
        count
    };
    let bodies: Vec<_> = boxes.iter().filter_map(body).collect();
    let is_clear = |(body, at): &(Cuboid, glam::Vec3)| !map.overlaps(body, *at);
    let share = |count: usize| 100.0 * count as f64 / boxes.len().max(1) as f64;
    let none = boxes.iter().filter(|bounds| touched(bounds) == 0).count();
    let clear = bodies.iter().filter(|body| is_clear(body)).count();
    let mean = boxes.iter().map(|bounds| f64::from(touched(bounds))).sum::<f64>();
    let by_boxes = fastest(boxes.len(), || boxes.iter().map(touched).sum());
    let by_planes = fastest(bodies.len(), || bodies.iter().map(|b| u32::from(is_clear(b))).sum());
    println!(
        "  {:10} {:7} {:10.1} % {:12.1} % {:8.1} {by_boxes:9.0} {by_planes:11.0}",
        map.name(),
        boxes.len(),
        share(none),
        share(clear),
        mean / boxes.len().max(1) as f64,
    );
}

/// The boxes of awake bodies in each tick. Each is grown by the distance that the body moves in a
/// tick.
fn awake_boxes(map: Arc<obsp::Map>) -> Vec<Aabb> {
    let config = Config { tick_rate: 60, seed: 1, objects: OBJECTS, max_players: PLAYERS };
    let mut world = World::new(map, shipped().into(), config).expect("the map can be played");
    let join =
        |player| (world.join().expect("the world has a free player slot"), Script::new(1, player));
    let mut players: Vec<(EntityId, Script)> = (0..PLAYERS).map(join).collect();
    let mut boxes = Vec::new();
    for _ in 0..TICKS {
        let next = players.iter_mut().map(|(id, script)| (*id, script.next_command()));
        let commands: Vec<(EntityId, Command)> = next.collect();
        world.step(&commands);
        let state = world.state();
        let bodies = state.entities.iter().filter(|e| !e.asleep && !e.kind.is_player());
        boxes.extend(bodies.filter_map(|body| {
            let bounds = world.bounds_of(body.id)?;
            Some(bounds.inflated(body.velocity.length() / f64::from(config.tick_rate)))
        }));
    }
    boxes
}

/// A box as a body, and the position of its middle.
fn body(bounds: &Aabb) -> Option<(Cuboid, glam::Vec3)> {
    let half = (0.5 * (bounds.max - bounds.min)).as_vec3();
    Some((Cuboid::new(half).ok()?, (0.5 * (bounds.max + bounds.min)).as_vec3()))
}

/// Nanoseconds for each of `count` boxes in the fastest round.
fn fastest(count: usize, round: impl Fn() -> u32) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        black_box(round());
        begun.elapsed().as_secs_f64()
    });
    rounds.fold(f64::INFINITY, f64::min) * 1e9 / count.max(1) as f64
}
