//! The cost of setting up a match, in operations: time would depend on the machine.

use super::*;
use crate::counters::Stage;

/// A walled floor that reaches `half` units from the origin.
fn hall(half: i32) -> Arc<obsp::Map> {
    let out = half + 16;
    let blocks = [
        ([-half, -half, -16], [half, half, 0]),
        ([-out, -out, 0], [-half, out, 512]),
        ([half, -out, 0], [out, out, 512]),
        ([-half, -out, 0], [half, -half, 512]),
        ([-half, half, 0], [half, out, 512]),
    ];
    let brushes: String = blocks.map(|(min, max)| block(min, max)).concat();
    compiled(&brushes, [100 - half, 100 - half, 25], "")
}

/// Operations for each prop that is scattered and comes to rest: bodies that are awake and
/// pairs that touch, tick by tick, and tests of the cascade behind the grid.
fn operations(objects: u32, half: i32) -> f64 {
    let config = Config { objects, ..CONFIG };
    let world = World::unsettled(hall(half), shipped().into(), config);
    let mut world = world.expect("the hall can be played");
    world.set_budget(None);
    let mut operations = 0;
    while world.entities.iter().any(|entity| entity.mobility().is_guarded()) {
        world.advance_props(Vec::new());
        operations += world.counters().bodies_cost;
    }
    world.count();
    let Counters { entities, cascade, .. } = *world.counters();
    assert_eq!(entities, u64::from(objects), "every object has found a place");
    for stage in Stage::ALL.into_iter().filter(|stage| *stage != Stage::Grid) {
        operations += cascade[stage as usize].tests;
    }
    operations as f64 / entities as f64
}

/// With the same room for each prop, setting up is linear in the number of props. (In a hall of
/// one size it is not: more props fall on others, and wake them.)
#[test]
fn a_prop_among_thousands_costs_what_it_does_among_hundreds() {
    let (few, many) = (operations(500, 500), operations(3_000, 1_225));
    println!("{few:.0} operations among 500, {many:.0} among 3,000");
    assert!((0.7..1.3).contains(&(many / few)), "{few:.0} among 500, {many:.0} among 3,000");
}
