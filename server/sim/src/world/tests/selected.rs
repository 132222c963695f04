//! Compares rays, sweeps and nearest points for selected entities with a test of every entity, and
//! the impulses of contacts with the change of momentum.

use obsp::geometry::ConvexSolid;
use obsp::model::Material;

use super::*;
use crate::collision::cascade::{Body, Candidates, least_gap};
use crate::collision::shape::Shape;
use crate::{Random, SweptShape};

/// A room with 60 bodies of all shapes in any pose, some of them near each other.
fn crowded(seed: u64) -> World {
    let config = Config { objects: 0, seed, ..CONFIG };
    let mut world = World::new(room(), shipped().into(), config).expect("the room can be played");
    let mut random = Random::new(seed);
    let names = ["crate", "u_block", "barrel", "plank", "star", "hovertank"];
    for count in 0..60 {
        let model = world.shipped_model(names[count % names.len()]);
        let turn: [f64; 4] = std::array::from_fn(|_| random.between(-1.0, 1.0));
        let place = any_point(&mut random) * 0.6;
        // If the place is taken, no body is added.
        let _ = world.spawn_body(model, place, DQuat::from_array(turn));
    }
    world
}

fn any_point(random: &mut Random) -> DVec3 {
    let mut side = || random.between(-500.0, 500.0);
    DVec3::new(side(), side(), side().abs())
}

fn is_chosen(id: EntityId) -> bool {
    id.slot % 3 != 1
}

/// Whether a point is behind all faces of any part of a body.
fn is_in(body: &Body, point: DVec3) -> bool {
    body.parts_at_start().any(|part| part.solid.contains(part.point_to_local(point)))
}

fn bodies(world: &World) -> impl Iterator<Item = (EntityId, Body<'_>)> {
    let placed = |entity| Some((entity, world.space().standing(entity)?));
    world.entities.iter().filter_map(placed).map(|(entity, body)| (entity.id, body))
}

#[test]
fn a_ray_meets_all_that_lie_on_it_and_no_other() {
    const STEPS: u32 = 4000;
    let (mut met, mut passed) = (0, 0);
    for seed in 0..12 {
        let world = crowded(seed);
        let mut random = Random::new(seed + 100);
        for _ in 0..40 {
            let [from, to] = [any_point(&mut random), any_point(&mut random)];
            let hits = world.cast_ray_all(from, to, is_chosen);
            let distances: Vec<f64> = hits.iter().map(|hit| hit.fraction).collect();
            assert!(distances.is_sorted(), "{distances:?}");
            let end = world.cast_ray_where(from, to, |_| false);
            let is_blocked = end.fraction < 1.0 || end.start_solid;
            assert_eq!(hits.iter().filter(|hit| hit.entity.is_none()).count(), is_blocked.into());
            for (id, body) in bodies(&world) {
                let hit = hits.iter().find(|hit| hit.entity == Some(id));
                let share = |step: u32| f64::from(step) / f64::from(STEPS);
                let first = (0..=STEPS)
                    .find(|&step| is_in(&body, from.lerp(to, share(step))))
                    .filter(|&step| share(step) < end.fraction && is_chosen(id));
                match (hit, first) {
                    (Some(hit), Some(first)) => {
                        let within = share(first.saturating_sub(1)) - 1e-9..=share(first) + 1e-9;
                        assert!(within.contains(&hit.fraction), "{hit:?}, {first}");
                        assert_eq!(hit.start_solid, first == 0);
                        met += 1;
                    }
                    (None, Some(first)) => panic!("{id:?} is met at {}", share(first)),
                    // The ray grazes the body between two steps.
                    (Some(hit), None) => assert!(is_chosen(id), "{hit:?}"),
                    (None, None) => passed += 1,
                }
            }
            let first = world.cast_ray_where(from, to, is_chosen);
            assert_eq!(hits.first().map_or(1.0, |hit| hit.fraction), first.fraction);
            assert_eq!(hits.first().and_then(|hit| hit.entity), first.entity);
        }
    }
    assert!(met > 20 && passed > 10_000, "{met} {passed}");
}

#[test]
fn the_nearest_point_is_as_far_as_the_search_for_gaps_says() {
    const HALF: f64 = 0.001;
    let probe = Shape::probe(DVec3::splat(HALF)).expect("a box");
    let (mut of_bodies, mut of_map, mut inside) = (0, 0, 0);
    for seed in 0..12 {
        let world = crowded(seed);
        let mut random = Random::new(seed + 200);
        for _ in 0..60 {
            let (point, within) = (any_point(&mut random) * 0.6, random.between(0.0, 200.0));
            let at = Body::standing(&probe, Pose::at(point));
            let gap = |body: &Body| least_gap(&at, body, Candidates::ALL).unwrap_or(0.0);
            let chosen = bodies(&world).filter(|(id, _)| is_chosen(*id));
            let of_entities = chosen.map(|(id, body)| (gap(&body), Some(id)));
            let solid = |solid: &ConvexSolid| (gap(&Body::fixed(solid)), None);
            let all = world.arena.map.solids().iter().map(solid).chain(of_entities);
            let (least, entity) = all.min_by(|a, b| a.0.total_cmp(&b.0)).expect("the map");
            let Some(near) = world.nearest_point(point, within, is_chosen) else {
                assert!(least > within - 2.0 * HALF, "{least} {within}");
                continue;
            };
            assert!((near.distance - least).abs() < 2.0 * HALF, "{near:?} {least} {entity:?}");
            assert!((near.at.distance(point) - near.distance).abs() < 1e-9, "{near:?}");
            inside += u32::from(near.distance == 0.0);
            match near.entity {
                Some(id) => {
                    let body =
                        bodies(&world).find(|(other, _)| *other == id).expect("it is there").1;
                    assert!(is_chosen(id) && gap(&body) < least + 2.0 * HALF);
                    let there = Body::standing(&probe, Pose::at(near.at));
                    let beside = least_gap(&there, &body, Candidates::ALL).unwrap_or(0.0);
                    assert!(beside < 2.0 * HALF, "{near:?} is not on the body");
                    of_bodies += 1;
                }
                None => of_map += 1,
            }
        }
    }
    assert!(of_bodies > 50 && of_map > 50 && inside > 5, "{of_bodies} {of_map} {inside}");
}

#[test]
fn a_sweep_passes_what_is_not_chosen() {
    let world = crowded(1);
    let mut random = Random::new(300);
    let shape = SweptShape::Box(DVec3::splat(6.0));
    let (mut free, mut met) = (0, 0);
    for _ in 0..200 {
        let ends = [any_point(&mut random), any_point(&mut random)];
        let none = world.sweep_where(shape, DQuat::IDENTITY, ends, |_| false);
        let some = world.sweep_where(shape, DQuat::IDENTITY, ends, is_chosen);
        let all = world.sweep(shape, DQuat::IDENTITY, ends, None);
        assert_eq!(none.entity, None);
        assert!(some.entity.is_none_or(is_chosen));
        let order = [all.fraction, some.fraction, none.fraction];
        assert!(order.windows(2).all(|pair| pair[0] <= pair[1] + 1e-3), "{order:?}");
        free += u32::from(all.fraction < some.fraction - 1e-3);
        met += u32::from(some.entity.is_some());
        if let Some(first) = all.entity.filter(|_| !all.start_solid) {
            let without = world.sweep(shape, DQuat::IDENTITY, ends, Some(first));
            let farther = without.fraction > all.fraction - 1e-3 && without.entity != Some(first);
            assert!(farther, "{all:?} {without:?}");
        }
    }
    assert!(free > 10 && met > 20, "{free} {met}");
}

#[test]
fn numbers_that_are_not_finite_find_nothing() {
    let world = crowded(2);
    let usual = DVec3::new(-100.0, 50.0, 60.0);
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for at in [DVec3::splat(odd), DVec3::new(odd, 0.0, 0.0)] {
            assert_eq!(world.nearest_point(at, 10.0, |_| true), None);
            assert!(world.cast_ray_where(at, usual, |_| true).start_solid);
            assert!(world.cast_ray_all(usual, at, |_| true)[0].start_solid);
        }
        assert_eq!(world.nearest_point(usual, odd, |_| true), None);
    }
    for odd in [1e155, -1e155, 1e300] {
        assert_eq!(world.nearest_point(DVec3::splat(odd), 1e308, |_| true), None);
        let hits = world.cast_ray_all(usual, usual + DVec3::Z * odd, |_| true);
        assert!(hits.last().is_some_and(|hit| hit.entity.is_none() && hit.at.is_finite()));
    }
    assert!(world.nearest_point(usual, 1e308, |_| true).is_some());
    assert_eq!(world.nearest_point(usual, -1.0, |_| true), None);
}

/// The impulse that a body takes in a tick, summed over its contacts.
fn taken(world: &World, id: EntityId) -> DVec3 {
    world.contacts_of(id).map(|contact| contact.normal * -contact.impulse).sum()
}

/// A body that falls flat on the floor takes its momentum, whether it bounces or not.
#[test]
fn the_impulses_of_a_fall_are_the_change_of_momentum() {
    for (restitution, tick_rate) in [(0.0, 60), (0.6, 60), (1.0, 60), (0.6, 128), (0.3, 20)] {
        let material = Material::new(0.6, restitution).expect("in range");
        let models: Arc<[Model]> =
            shipped().into_iter().map(|model| model.with_material(material)).collect();
        let config = Config { tick_rate, ..CONFIG };
        let mut world = World::new(room(), models, config).expect("the room can be played");
        let model = world.shipped_model("crate");
        let place = DVec3::new(200.0, 100.0, 150.0);
        let body = world.spawn_body(model, place, DQuat::IDENTITY).expect("there is room");
        let mass = world.mass(body).expect("it has a mass");
        let gravity = 800.0 * world.seconds();
        let mut hardest = 0.0_f64;
        for tick in 0..tick_rate * 2 {
            let before = world.entity(body).expect("it is there").velocity.z;
            world.step(&[]);
            let state = world.entity(body).expect("it is there");
            let gained = state.velocity.z - before + gravity;
            let by_contacts = taken(&world, body).z / mass;
            hardest = hardest.max(by_contacts);
            if !state.asleep {
                let near = 0.02 * gained.abs() + 1.0;
                assert!(
                    (gained - by_contacts).abs() < near,
                    "{restitution} at {tick_rate} Hz, tick {tick}: {gained}, {by_contacts}"
                );
            }
        }
        let speed = (2.0 * 800.0 * (150.0 - 16.0_f64)).sqrt();
        let least = speed * (1.0 + restitution) * 0.97;
        assert!(hardest > least, "{restitution} at {tick_rate} Hz: {hardest} < {least}");
    }
}

/// The contacts also contain impacts that the solver did not foresee and the guard stopped. Both
/// bodies of an impact report the same impulse.
#[test]
fn an_impact_in_the_air_is_told_to_both() {
    for speed in [200.0, 2_000.0] {
        let mut world = empty_room();
        let left = DVec3::new(100.0, 30.0, 250.0);
        let first = world.throw("crate", left, DVec3::X * speed, DVec3::new(3.0, 5.0, -4.0));
        let right = left + DVec3::new(120.0, 6.0, 3.0);
        let second = world.throw("barrel", right, DVec3::X * -speed, DVec3::new(1.0, -9.0, 2.0));
        let [first, second] =
            [first, second].map(|slot| world.id_in(Some(slot)).expect("it is there"));
        let mass = world.mass(first).expect("it has a mass");
        let mut hit = false;
        for _ in 0..30 {
            let before = world.entity(first).expect("it is there").velocity;
            world.step(&[]);
            let [one, other] = [first, second].map(|id| taken(&world, id));
            assert!((one + other).length() <= 1e-6 * one.length(), "{one} {other}");
            if one.length() > 0.0 {
                let gained = world.entity(first).expect("it is there").velocity - before;
                let gained = gained + DVec3::Z * 800.0 * world.seconds();
                // Friction is not among the contacts.
                let missing = (gained - one / mass).length();
                assert!(missing < 0.45 * gained.length(), "{speed}: {gained} {}", one / mass);
                hit = true;
                let contacts: Vec<_> = world.contacts_of(first).collect();
                assert!(contacts.iter().any(|contact| contact.other == Some(second)));
                break;
            }
        }
        assert!(hit, "they meet at {speed}");
    }
}
