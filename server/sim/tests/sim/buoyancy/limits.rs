//! The least and the greatest bodies and densities, and the kinds of liquids.

use glam::{DQuat, DVec3};
use obsp::model::{Material, Model};
use obsp_sim::ModelId;

use super::pool::{
    GRAVITY, LEVEL, WATER, basin, basin_of, brush, energy, is_clean, turned, with_density, world,
    world_at,
};

/// The lightest bodies there are bob faster than ticks follow. They gain no energy, and rest at
/// the surface.
#[test]
fn the_lightest_bodies_come_to_rest_at_any_tick_rate() {
    let halves = [DVec3::splat(1.0), DVec3::new(20.0, 20.0, 0.5), DVec3::new(60.0, 2.0, 2.0)];
    let densities = [*Material::DENSITIES.start(), 0.002];
    let models: Vec<Model> = densities
        .iter()
        .flat_map(|&density| halves.map(|half| (half, density)))
        .map(|(half, density)| with_density(Model::cuboid("light", half).unwrap(), density))
        .collect();
    let map = basin("");
    for rate in [60, 240] {
        let mut world = world_at(rate, map.clone(), models.clone());
        let mut bodies = Vec::new();
        for (number, model) in models.iter().enumerate() {
            // Some begin below the surface.
            let height = if number % 2 == 0 { LEVEL + 90.0 } else { LEVEL - 90.0 };
            let at = DVec3::new(-600.0 + 200.0 * number as f64, 0.0, height);
            let id = world.spawn_body(ModelId(number as u8), at, turned(number)).unwrap();
            bodies.push((id, model, energy(&world, id, model)));
        }
        for tick in 0..rate * 20 {
            world.step(&[]);
            for &(id, model, first) in &bodies {
                let weight = model.volume() * model.material().density() * GRAVITY;
                let rise = (energy(&world, id, model) - first) / (weight * 90.0);
                assert!(rise < 0.01, "{rate} Hz, tick {tick}: {id:?} rose by {rise}");
            }
        }
        is_clean(&world, &models);
        for &(id, ..) in &bodies {
            let state = world.entity(id).unwrap();
            // The lightest rod is still, and does not fall asleep.
            assert!(state.velocity.length() < 1.0, "{rate} Hz: {state:?}");
            assert!((state.position.z - LEVEL).abs() < 4.0, "{rate} Hz: {state:?}");
        }
    }
}

/// A hundredth lighter than water, a body floats; a hundredth heavier, it sinks to the floor. A
/// body as heavy as water stays wherever it is. Its motion after a push comes to an end. The
/// heaviest body comes to rest on the floor.
#[test]
fn densities_about_that_of_water_and_the_greatest() {
    let heaviest = *Material::DENSITIES.end();
    let models: Vec<Model> = [0.99 * WATER, 1.01 * WATER, WATER, WATER, heaviest]
        .map(|density| with_density(Model::cuboid("block", DVec3::splat(16.0)).unwrap(), density))
        .into();
    let mut world = world(basin(""), models.clone());
    let heights = [LEVEL - 10.0, 20.0, 100.0, 100.0, LEVEL + 100.0];
    let bodies: Vec<_> = (0..5)
        .map(|number| {
            let at = DVec3::new(-400.0 + 200.0 * number as f64, 0.0, heights[number]);
            world.spawn_body(ModelId(number as u8), at, DQuat::IDENTITY).unwrap()
        })
        .collect();
    world.add_velocity(bodies[3], DVec3::X * 60.0).unwrap();
    let first: Vec<f64> =
        bodies.iter().zip(&models).map(|(&id, model)| energy(&world, id, model)).collect();
    for tick in 0..60 * 20 {
        world.step(&[]);
        for ((&id, model), first) in bodies.iter().zip(&models).zip(&first) {
            let rise = energy(&world, id, model) / first - 1.0;
            assert!(rise < 0.001, "tick {tick}: {id:?} rose by {rise}");
        }
    }
    is_clean(&world, &models);
    let states = bodies.iter().map(|&id| world.entity(id).unwrap());
    let states: Vec<_> = states.collect();
    let draught = LEVEL - (states[0].position.z - 16.0);
    assert!((draught / 31.68 - 1.0).abs() < 0.02 && states[0].asleep, "{:?}", states[0]);
    assert!(states[1].position.z < 16.5 && states[1].asleep, "{:?}", states[1]);
    assert!((states[2].position.z - 100.0).abs() < 0.5, "{:?}", states[2]);
    let [pushed, way] = [states[3].velocity.length(), states[3].position.x - 200.0];
    // The drag takes at least three times the speed each second.
    assert!(pushed < 0.1 && way > 1.0 && way < 60.0 / 3.0, "{:?}", states[3]);
    assert!(states[4].position.z < 16.5 && states[4].asleep, "{:?}", states[4]);
}

/// A cube with sides of half a unit, and blocks of hundreds of units, float as deep as Archimedes
/// says.
#[test]
fn tiny_and_huge_bodies_float() {
    let halves = [DVec3::splat(0.25), DVec3::new(250.0, 200.0, 60.0), DVec3::new(80.0, 80.0, 5.0)];
    let models: Vec<Model> =
        halves.map(|half| with_density(Model::cuboid("block", half).unwrap(), 0.3 * WATER)).into();
    let mut world = world(basin(""), models.clone());
    let bodies: Vec<_> = halves
        .iter()
        .enumerate()
        .map(|(number, half)| {
            let at = DVec3::new(-500.0 + 500.0 * number as f64, 0.0, LEVEL + half.z + 4.0);
            let id = world.spawn_body(ModelId(number as u8), at, DQuat::IDENTITY).unwrap();
            (id, energy(&world, id, &models[number]))
        })
        .collect();
    for tick in 0..60 * 20 {
        world.step(&[]);
        for (number, &(id, first)) in bodies.iter().enumerate() {
            let rise = energy(&world, id, &models[number]) / first - 1.0;
            assert!(rise < 0.001, "tick {tick}: {number} rose by {rise}");
        }
    }
    is_clean(&world, &models);
    for (&(id, _), half) in bodies.iter().zip(halves) {
        let state = world.entity(id).unwrap();
        let share = (LEVEL - (state.position.z - half.z)) / (2.0 * half.z) / 0.3;
        assert!((share - 1.0).abs() < 0.02 && state.asleep, "{half}: {share}, {state:?}");
    }
}

/// Densities of the kinds of liquids, in kilograms per cubic unit, as PHYSICS.md gives them.
const KINDS: [(&str, f64); 3] = [("*water", WATER), ("*slime", 0.018), ("*lava", 0.022)];

/// The heavier the liquid, the less deep a crate floats.
#[test]
fn a_crate_floats_in_slime_and_lava_as_archimedes_says() {
    let strips: String = (0..)
        .zip(KINDS)
        .map(|(strip, (texture, _))| {
            brush(texture, [-1024 + 680 * strip, -1024, 0], [-344 + 680 * strip, 1024, 256])
        })
        .collect();
    let model = with_density(Model::cuboid("block", DVec3::splat(16.0)).unwrap(), 0.01);
    let mut world = world(basin_of(&strips), vec![model.clone()]);
    let bodies: Vec<_> = (0..3)
        .map(|strip| {
            let at = DVec3::new(-684.0 + 680.0 * f64::from(strip), 0.0, LEVEL + 40.0);
            world.spawn_body(ModelId(0), at, DQuat::IDENTITY).unwrap()
        })
        .collect();
    for _ in 0..60 * 12 {
        world.step(&[]);
    }
    is_clean(&world, &[model]);
    for (&id, (texture, density)) in bodies.iter().zip(KINDS) {
        let state = world.entity(id).unwrap();
        let draught = LEVEL - (state.position.z - 16.0);
        let off = draught / (32.0 * 0.01 / density) - 1.0;
        assert!(off.abs() < 0.02 && state.asleep, "{texture}: off by {off}, {state:?}");
    }
}

/// A crate that is half in water and half in lava leans towards the water, and rests where it
/// displaces its own mass of both. The displaced mass is summed over small boxes into which the
/// crate is divided.
#[test]
fn a_crate_between_two_liquids_displaces_its_mass_of_both() {
    let halves = brush("*water", [-1024, -1024, 0], [0, 1024, 256])
        + &brush("*lava", [0, -1024, 0], [1024, 1024, 256]);
    let half = DVec3::new(20.0, 16.0, 16.0);
    let model = with_density(Model::cuboid("block", half).unwrap(), 0.006);
    let mut world = world(basin_of(&halves), vec![model.clone()]);
    let id = world.spawn_body(ModelId(0), DVec3::new(0.0, 0.0, LEVEL + 20.0), DQuat::IDENTITY);
    let id = id.unwrap();
    let mut ticks = 0;
    while !world.entity(id).unwrap().asleep {
        world.step(&[]);
        ticks += 1;
        assert!(ticks < 60 * 30, "{:?}", world.entity(id));
    }
    is_clean(&world, std::slice::from_ref(&model));
    let state = world.entity(id).unwrap();
    let count = 48;
    let part = half * 2.0 / f64::from(count);
    let (mut displaced, mut moment) = (0.0, 0.0);
    for index in 0..count * count * count {
        let cell = [index % count, index / count % count, index / count / count];
        let local = (DVec3::from_array(cell.map(f64::from)) + 0.5) * part - half;
        let at = state.position + state.orientation * local;
        if at.z < LEVEL {
            let mass = part.element_product() * if at.x < 0.0 { KINDS[0].1 } else { KINDS[2].1 };
            (displaced, moment) = (displaced + mass, moment + mass * (at.x - state.position.x));
        }
    }
    let off = displaced / (model.volume() * 0.006) - 1.0;
    assert!(off.abs() < 0.02, "off by {off}: {state:?}");
    let arm = moment / displaced;
    assert!(arm.abs() < 0.2, "the lift is {arm} units beside the middle: {state:?}");
    let up = state.orientation * DVec3::X;
    assert!(up.z > 0.01, "the side in the lava is the higher one: {state:?}");
}
