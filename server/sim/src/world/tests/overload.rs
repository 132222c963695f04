//! Ticks whose bodies cost more than their budget: which islands are degraded, and that no bodies
//! overlap even then.

use obsp::model::Material;

use super::*;
use crate::audit::Audit;
use crate::bodies::mobility::Pace;
use crate::bodies::overload::set_paces;
use crate::random::Random;

/// The models of a heap, in turns.
const MODELS: [&str; 4] = ["crate", "barrel", "small_crate", "l_block"];

/// A player in a corner, and a heap in the air on the other side of the room.
fn with_heap(bodies: u16) -> (World, EntityId) {
    let mut world = empty_room();
    let player = world.join().expect("a place");
    let mut random = Random::new(5);
    for index in 0..bodies {
        let at = |cell: u16| 150.0 + 56.0 * f64::from(cell) + aside(index);
        let position = DVec3::new(
            at(index % 5),
            at(index / 5 % 5) - 250.0,
            40.0 + 56.0 * f64::from(index / 25),
        );
        let model = MODELS[usize::from(index) % MODELS.len()];
        let spin = DVec3::new(0.0, random.between(-3.0, 3.0), random.between(-3.0, 3.0));
        world.throw(model, position, DVec3::ZERO, spin);
    }
    (world, player)
}

/// The shift of a body's layer: every other layer lies in the gaps of the one below.
fn aside(index: u16) -> f64 {
    if (index / 25).is_multiple_of(2) { 0.0 } else { 14.0 }
}

/// Kinetic energy of the bodies' centres of mass, and potential energy.
fn energy(world: &World) -> f64 {
    let bodies = world.entities.iter().filter(|entity| entity.is_rigid());
    let energy = bodies.filter_map(|entity| {
        let placement = entity.placement()?;
        let mass = 1.0 / world.arena.shapes[placement.shape()].mass.inverse_mass;
        let height = placement.pose().position.z;
        Some(mass * (0.5 * entity.velocity.length_squared() + crate::conventions::GRAVITY * height))
    });
    energy.sum()
}

fn pace(world: &World, slot: u16) -> Pace {
    world.entities.get(slot).expect("the entity exists").record.pace
}

#[test]
fn far_islands_are_degraded_first_and_none_near_a_player() {
    let mut world = empty_room();
    let player = world.join().expect("a place");
    let at = world.entity(player).expect("the entity is in the world").position;
    // The crates are beside the player, at the wall, and farthest away.
    let places = [at + DVec3::new(70.0, 0.0, 0.0), at.with_x(-100.0), at.with_x(440.0)];
    let slots = places.map(|place| world.throw("crate", place, DVec3::ZERO, DVec3::ZERO));
    let paces = |world: &World, budget: f64| {
        let mut world = world.clone();
        world.context.budget = Some(budget);
        set_paces(&mut world.entities, &world.arena.shapes, &world.pairs, &mut world.context);
        let counters = world.context.counters;
        (slots.map(|slot| pace(&world, slot)), counters.degraded_islands, counters.half_rate)
    };
    use Pace::{FewerSubSteps, Full, Skips};
    // Three islands of one body in the air: the cost is three.
    assert_eq!(paces(&world, 3.0), ([Full, Full, Full], 0, 0));
    assert_eq!(paces(&world, 2.95), ([Full, Full, FewerSubSteps], 1, 0));
    assert_eq!(paces(&world, 2.85), ([Full, FewerSubSteps, FewerSubSteps], 2, 0));
    assert_eq!(paces(&world, 2.55), ([Full, FewerSubSteps, Skips], 2, 1));
    assert_eq!(paces(&world, 0.0), ([Full, Skips, Skips], 2, 2));
}

/// Two bodies and two pairs cost four. Under a load of a hundred times its mass, a crate needs 36
/// sub-steps more than the usual four. Each costs a twentieth of the island.
#[test]
fn sub_steps_that_a_load_adds_count_against_the_budget() {
    let dense = Material::USUAL.with_density(*Material::DENSITIES.end()).expect("in range");
    let heavy = Model::cuboid("heavy", DVec3::splat(16.0)).expect("a valid model");
    let models: Vec<Model> = shipped().into_iter().chain([heavy.with_material(dense)]).collect();
    let pace_at = |upper: &str, budget: f64| {
        let mut world = World::new(room(), models.clone().into(), CONFIG).expect("a match");
        world.join().expect("a place");
        let at = [16.2, 48.4].map(|height| DVec3::new(400.0, 300.0, height));
        let slots = [("crate", at[0]), (upper, at[1])];
        let slots = slots.map(|(model, at)| world.throw(model, at, DVec3::ZERO, DVec3::ZERO));
        let touching =
            |world: &World| world.pairs.iter().filter(|pair| !pair.points.is_empty()).count();
        while touching(&world) < 2 {
            world.step(&[]);
        }
        world.context.budget = Some(budget);
        set_paces(&mut world.entities, &world.arena.shapes, &world.pairs, &mut world.context);
        (slots.map(|slot| pace(&world, slot)), world.counters().bodies_cost)
    };
    use Pace::{FewerSubSteps, Full};
    assert_eq!(pace_at("crate", 4.0), ([Full; 2], 4));
    assert_eq!(pace_at("crate", 3.9), ([FewerSubSteps; 2], 4));
    assert_eq!(pace_at("heavy", 11.3), ([Full; 2], 11));
    assert_eq!(pace_at("heavy", 11.1), ([FewerSubSteps; 2], 11));
}

/// A body that skipped a tick moves by two ticks in the next one. So after every other tick it
/// has fallen as far as a body that skipped none.
#[test]
fn a_body_at_half_rate_falls_as_fast_as_any_other() {
    let mut world = empty_room();
    world.join().expect("a place");
    let slot = world.throw("crate", DVec3::new(400.0, 300.0, 400.0), DVec3::ZERO, DVec3::ZERO);
    let mut free = world.clone();
    world.set_budget(Some(0));
    for tick in 0..30 {
        let before = world.position(slot);
        world.step(&[]);
        free.step(&[]);
        assert_eq!(world.counters().half_rate, 1);
        assert_eq!(world.position(slot) == before, tick % 2 == 0, "tick {tick}");
    }
    let (half, full) = (world.position(slot), free.position(slot));
    assert!(half.z < 350.0 && half.distance(full) < 1.5, "{half} and {full}");
}

/// Symptom: in a tick in which bodies made up for a skipped one, the counters showed no degraded
/// islands if the overload was over. Cause: they counted only the islands that the budget
/// degraded.
#[test]
fn a_tick_that_makes_up_for_a_skipped_one_is_counted_as_degraded() {
    let mut world = empty_room();
    world.join().expect("a place");
    world.throw("crate", DVec3::new(400.0, 300.0, 400.0), DVec3::ZERO, DVec3::ZERO);
    for (budget, half_rate) in [(0, 1), (1_000, 1), (1_000, 0)] {
        world.set_budget(Some(budget));
        world.step(&[]);
        let Counters { degraded_islands, half_rate: counted, .. } = *world.counters();
        assert_eq!((degraded_islands, counted), (half_rate, half_rate), "budget {budget}");
    }
}

#[test]
fn a_heap_over_its_budget_overlaps_nothing_and_comes_to_rest() {
    let (mut world, _) = with_heap(100);
    world.set_budget(Some(40));
    let mut audit = Audit::new(world.map(), &shipped()).expect("the map has all sizes");
    let (before, mut degraded, mut half_rate) = (energy(&world), 0, 0);
    let mut ticks = 0;
    while world.counters().awake > 0 || ticks == 0 {
        world.step(&[]);
        ticks += 1;
        assert!(ticks < 1_500, "{:?}", world.counters());
        assert_eq!(audit.check(&world.state()), [], "tick {ticks}");
        assert!(energy(&world) < 1.002 * before, "tick {ticks}");
        degraded += world.counters().degraded_islands;
        half_rate += world.counters().half_rate;
    }
    assert!(degraded > 100 && half_rate > 5_000, "{degraded} and {half_rate}");
    assert_eq!(world.counters().emergency_replacements, 0);
    world.step(&[]);
    let Counters { degraded_islands, half_rate, .. } = *world.counters();
    assert_eq!((degraded_islands, half_rate), (0, 0), "no tick is over the budget any more");
}

/// Two crates side by side are an island. While they fall fast, half rate would cost more than it
/// saves.
#[test]
fn only_an_island_that_moves_slowly_is_simulated_at_half_rate() {
    let mut world = empty_room();
    world.join().expect("a place");
    let at = DVec3::new(400.0, 300.0, 300.0);
    let places = [at, at + DVec3::X * 32.1];
    let slots = places.map(|place| world.throw("crate", place, DVec3::ZERO, DVec3::ZERO));
    world.step(&[]);
    for (speed, expected) in [(100.0, Pace::FewerSubSteps), (20.0, Pace::Skips)] {
        for slot in slots {
            world.entities.get_mut(slot).expect("the entity exists").velocity = DVec3::Z * -speed;
        }
        world.context.budget = Some(0.0);
        set_paces(&mut world.entities, &world.arena.shapes, &world.pairs, &mut world.context);
        assert_eq!(slots.map(|slot| pace(&world, slot)), [expected; 2], "{speed} units a second");
    }
}

#[test]
fn the_number_of_threads_degrades_nothing_else() {
    let digest = |threads| {
        let (mut world, player) = with_heap(200);
        world.set_budget(Some(150));
        world.set_threads(threads);
        let forward = Command { forward: 127, ..Command::default() };
        for _ in 0..90 {
            world.step(&[(player, forward)]);
        }
        assert!(world.counters().half_rate > 0);
        world.digest()
    };
    let one = digest(1);
    assert_eq!([2, 3, 8].map(digest), [one; 3]);
}

/// The bodies of one heap get mixed paces, which no budget gives them.
#[test]
fn bodies_of_any_pace_do_not_overlap_those_around_them() {
    for seed in 0..6 {
        let (mut world, _) = with_heap(50);
        world.set_budget(None);
        let mut audit = Audit::new(world.map(), &shipped()).expect("the map has all sizes");
        let mut random = Random::new(seed);
        let before = energy(&world);
        for slot in world.entities.slots_where(Entity::is_rigid) {
            let entity = world.entities.get_mut(slot).expect("the entity exists");
            entity.velocity = DVec3::new(0.0, 0.0, random.between(-900.0, 0.0));
        }
        let before = before.max(energy(&world));
        for tick in 0..150 {
            let rigid = world.entities.iter().filter(|entity| entity.is_rigid());
            for slot in rigid.map(|entity| entity.id.slot).collect::<Vec<_>>() {
                let entity = world.entities.get_mut(slot).expect("the entity exists");
                let paces = [Pace::Full, Pace::FewerSubSteps, Pace::Skips, Pace::Double];
                entity.record.pace = paces[random.below(4) as usize];
            }
            world.step(&[]);
            assert_eq!(audit.check(&world.state()), [], "seed {seed}, tick {tick}");
            assert!(energy(&world) < 1.002 * before, "seed {seed}, tick {tick}");
        }
        assert_eq!(world.counters().emergency_replacements, 0, "seed {seed}");
    }
}
