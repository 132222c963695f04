//! Queries of the static world have no side effects, can run on any thread, and do not allocate.

use glam::Vec3;
use obsp::body::{Cylinder, Sphere};
use obsp::{Map, Trace};
use tests::harness::{Random, compile, own_map};

/// The answers of all queries for a position and a segment.
fn ask(world: &Map, start: Vec3, end: Vec3) -> (u32, Vec<Trace>) {
    let mut hits = Vec::with_capacity(16);
    let mut solid = 0;
    let counted = allocation_counter::measure(|| {
        for size in world.sizes() {
            let id = world.size(&size.name).expect("the map has all its sizes");
            solid += u32::from(world.is_solid(id, start));
            solid += u32::from(world.clearance(id, start, 8.0) == obsp::Clearance::Inside);
            hits.push(world.find_first_transition(id, start, end));
        }
        solid +=
            u32::from(world.leaf(start).is_some_and(|leaf| leaf.solidity == world.solidity(start)));
        let sphere = Sphere::new(12.0).expect("the radius is in range");
        let cylinder = Cylinder::new(16.0, 28.0).expect("the size is in range");
        solid += u32::from(world.overlaps(&sphere, start));
        hits.push(world.cast(&sphere, start, end));
        hits.push(world.cast(&cylinder, start, end));
        world.solids_touching(&world.bounds(), |solid| {
            assert!((solid as usize) < world.solids().len())
        });
    });
    assert_eq!(counted.count_total, 0, "queries from {start} to {end} allocated");
    (solid, hits)
}

#[test]
fn queries_are_pure_and_allocate_nothing() {
    let world = compile(&own_map("arena.map"));
    let bounds = world.bounds();
    let mut random = Random::new(8);
    let mut place = || {
        let [x, y, z] = [0, 1, 2].map(|i| random.between(bounds.min[i], bounds.max[i]) as f32);
        Vec3::new(x, y, z)
    };
    let ways: Vec<[Vec3; 2]> = (0..2000).map(|_| [place(), place()]).collect();
    let all = || ways.iter().map(|&[a, b]| ask(&world, a, b)).collect::<Vec<_>>();
    let before = all();
    assert!(before.iter().any(|(_, hits)| hits.iter().any(|hit| matches!(hit, Trace::Hit(_)))));
    // Many threads get the same answers at once.
    let agree = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| all() == before)).collect();
        threads.into_iter().all(|thread| thread.join().expect("no query panics"))
    });
    assert!(agree && all() == before);
}
