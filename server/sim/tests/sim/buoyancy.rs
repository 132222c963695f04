//! Bodies in liquids, judged by the laws of Archimedes: how deep they float, what energy they have,
//! and that they come to rest. `pool` makes the liquids, `judge` computes the laws, `limits` tests
//! the least and the greatest bodies and densities, and `many` tests bodies that touch each other.

mod judge;
mod limits;
mod many;
mod pool;

use std::sync::Arc;

use glam::{DQuat, DVec3};
use judge::Surface;
use obsp::model::{Material, Model, shipped};
use obsp_sim::{BodyMass, BodyParameters, ModelId, World};
use pool::{
    GRAVITY, LEVEL, WATER, basin, brush, energy, hull, is_clean, turned, with_density, world,
};

/// Ten shapes, four of them concave.
fn shapes() -> Vec<Model> {
    let mut shapes: Vec<Model> = shipped();
    shapes.retain(|model| {
        ["crate", "barrel", "plank", "star", "l_block", "u_block"].contains(&model.name())
    });
    let (a, b, c) = (40.0, 24.0, 30.0);
    shapes.extend([
        Model::ball("ball", 20.0, 0.5).unwrap(),
        Model::cuboid("plate", DVec3::new(40.0, 40.0, 3.0)).unwrap(),
        hull(
            "wedge",
            &[
                [0.0, 0.0, 0.0],
                [a, 0.0, 0.0],
                [0.0, b, 0.0],
                [a, b, 0.0],
                [0.0, 0.0, c],
                [0.0, b, c],
            ],
        ),
        hull("pyramid", &[[-a, -a, 0.0], [a, -a, 0.0], [-a, a, 0.0], [a, a, 0.0], [0.0, 0.0, c]]),
    ]);
    assert_eq!(shapes.len(), 10);
    shapes
}

/// Ten shapes of three densities fall turned into the basin. Each comes to rest as deep as
/// Archimedes says, within two hundredths of its draught, and its energy falls all the time.
#[test]
fn ten_shapes_of_three_densities_float_as_deep_as_archimedes_says() {
    let densities = [0.002, 0.0075, 0.013];
    let models: Vec<Model> = densities
        .iter()
        .flat_map(|&density| shapes().into_iter().map(move |shape| with_density(shape, density)))
        .collect();
    let mut world = world(basin(""), models.clone());
    let mut bodies = Vec::new();
    for (number, model) in models.iter().enumerate() {
        let (row, column) = ((number / 6) as f64, (number % 6) as f64);
        let at = DVec3::new(-700.0 + 280.0 * column, -600.0 + 300.0 * row, LEVEL + 70.0);
        let id = world.spawn_body(ModelId(number as u8), at, turned(number)).unwrap();
        bodies.push((id, model, energy(&world, id, model)));
    }
    let first: Vec<f64> = bodies.iter().map(|(.., energy)| *energy).collect();
    let mut asleep_at = vec![None; bodies.len()];
    for tick in 0..60 * 30 {
        world.step(&[]);
        for (number, (id, model, least)) in bodies.iter_mut().enumerate() {
            if asleep_at[number].is_some() {
                continue;
            }
            let now = energy(&world, *id, model);
            let whole =
                first[number] - model.volume() * model.material().density() * GRAVITY * LEVEL;
            let rise = (now - *least) / whole;
            assert!(rise < 0.002, "{} {number}, tick {tick}: rose by {rise}", model.name());
            *least = least.min(now);
            if world.entity(*id).unwrap().asleep {
                asleep_at[number] = Some(tick);
            }
        }
        if tick % 100 == 0 {
            is_clean(&world, &models);
        }
        if asleep_at.iter().all(Option::is_some) {
            break;
        }
    }
    let mut failed = Vec::new();
    for (number, (id, model, _)) in bodies.iter().enumerate() {
        let state = world.entity(*id).unwrap();
        let surface = Surface::of(model);
        let volume = model.volume() * model.material().density() / WATER;
        let [lowest, _] = surface.extent(state.orientation);
        let level = surface.level(state.orientation, volume);
        let off = (LEVEL - state.position.z - level) / (level - lowest);
        let asleep = asleep_at[number];
        println!(
            "{} of {}: off by {off:.5}, asleep at {asleep:?}",
            model.name(),
            model.material().density()
        );
        if off.abs() > 0.02 || asleep.is_none() {
            failed.push((number, model.name(), off, asleep));
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

/// A crate that falls from a height goes below the surface, bobs, and sleeps. A push wakes it, and
/// it sleeps again.
#[test]
fn a_crate_that_falls_into_water_bobs_and_sleeps_until_it_is_pushed() {
    let models = shipped();
    let mut world = world(basin(""), models.clone());
    let model = world.model("crate").unwrap();
    let at = DVec3::new(100.0, 0.0, LEVEL + 150.0);
    let id = world.spawn_body(model, at, DQuat::from_rotation_x(0.4)).unwrap();
    let mut lowest = f64::MAX;
    let mut turns = 0;
    let mut rose = false;
    for round in 0..2 {
        let mut ticks = 0;
        while !world.entity(id).unwrap().asleep {
            world.step(&[]);
            let state = world.entity(id).unwrap();
            lowest = lowest.min(state.position.z);
            turns += u32::from(rose != (state.velocity.z > 0.0));
            rose = state.velocity.z > 0.0;
            ticks += 1;
            assert!(ticks < 60 * 10, "round {round}: {state:?}");
        }
        is_clean(&world, &models);
        assert!(world.entity(id).unwrap().position.z > LEVEL);
        if round == 0 {
            assert!(lowest < LEVEL && turns >= 3, "{lowest}, {turns}");
            world.add_velocity(id, DVec3::new(60.0, 0.0, 40.0)).unwrap();
            assert!(!world.entity(id).unwrap().asleep);
        }
    }
    assert!(world.entity(id).unwrap().position.x > at.x + 5.0);
}

/// Three crates on a raft come to rest.
#[test]
fn a_stack_on_the_water_comes_to_rest() {
    let models: Vec<Model> = shipped()
        .into_iter()
        .chain([Model::cuboid("raft", DVec3::new(70.0, 70.0, 8.0)).unwrap()])
        .collect();
    let mut world = world(basin(""), models.clone());
    let [raft, top] = ["raft", "crate"].map(|name| world.model(name).unwrap());
    let mut bodies = vec![
        world.spawn_body(raft, DVec3::new(300.0, 0.0, LEVEL + 10.0), DQuat::IDENTITY).unwrap(),
    ];
    for floor in 0..3 {
        let at = DVec3::new(300.0, 0.0, LEVEL + 40.0 + 34.0 * f64::from(floor));
        bodies.push(world.spawn_body(top, at, DQuat::IDENTITY).unwrap());
    }
    let mut ticks = 0;
    while bodies.iter().any(|&id| !world.entity(id).unwrap().asleep) {
        world.step(&[]);
        ticks += 1;
        if ticks % 50 == 0 {
            is_clean(&world, &models);
        }
        let states: Vec<_> = bodies.iter().map(|&id| world.entity(id).unwrap()).collect();
        assert!(ticks < 60 * 15, "{states:?}");
    }
    is_clean(&world, &models);
    // The raft carries all four, as deep as their mass demands.
    let mass: f64 = bodies.iter().map(|&id| world.mass(id).unwrap()).sum();
    let raft = world.entity(bodies[0]).unwrap();
    let surface = Surface::of(&models[models.len() - 1]);
    let displaced = surface.below(raft.orientation, raft.position.z, LEVEL).volume * WATER;
    assert!((displaced / mass - 1.0).abs() < 0.02, "{displaced} of {mass}");
}

/// A crate under a ceiling that is below the surface presses against it, and stays out of it.
#[test]
fn a_crate_under_a_ceiling_below_the_surface_stays_out_of_it() {
    let models = shipped();
    let ceiling = brush("plain", [400, -200, 150], [800, 200, 170]);
    let mut world = world(basin(&ceiling), models.clone());
    let model = world.model("crate").unwrap();
    let at = DVec3::new(600.0, 0.0, 60.0);
    let id = world.spawn_body(model, at, DQuat::from_rotation_y(0.3)).unwrap();
    let mut ticks = 0;
    while !world.entity(id).unwrap().asleep {
        world.step(&[]);
        is_clean(&world, &models);
        ticks += 1;
        assert!(ticks < 60 * 10, "{:?}", world.entity(id));
    }
    let top = world.entity(id).unwrap().position.z + 16.0;
    assert!((149.0..150.0).contains(&top), "{top}");
}

/// A body heavier than water sinks to the floor and sleeps. Without weight a body does not sink,
/// but the water still lifts it.
#[test]
fn heavy_bodies_sink_and_the_gravity_scale_scales_the_weight_alone() {
    let heavy = with_density(Model::cuboid("heavy", DVec3::splat(16.0)).unwrap(), 0.03);
    let weightless = Model::cuboid("weightless", DVec3::splat(16.0)).unwrap();
    let scaled = Material::USUAL.with_gravity_scale(0.0).unwrap();
    let models = vec![heavy, weightless.with_material(scaled)];
    // On a shelf, half of a body is above the surface.
    let shelf = brush("plain", [-800, 300, 0], [-400, 700, 240]);
    let mut world = world(basin(&shelf), models.clone());
    let ashore = DVec3::new(-600.0, 500.0, 280.0);
    let ashore = world.spawn_body(ModelId(0), ashore, DQuat::from_rotation_x(0.2)).unwrap();
    let start = DVec3::new(0.0, 400.0, 100.0);
    let heavy = world.spawn_body(ModelId(0), start, DQuat::IDENTITY).unwrap();
    let apart = start + DVec3::X * 200.0;
    let weightless = world.spawn_body(ModelId(1), apart, DQuat::IDENTITY).unwrap();
    world.step(&[]);
    // The lift of an eighth of water's density is eight times gravity, and drag is small at first.
    let speed = world.entity(weightless).unwrap().velocity.z;
    let lift = GRAVITY * WATER / 0.002 / 60.0;
    assert!(speed > 0.6 * lift && speed < lift, "{speed} of {lift}");
    for _ in 0..60 * 8 {
        world.step(&[]);
    }
    is_clean(&world, &models);
    let ashore = world.entity(ashore).unwrap();
    assert!(ashore.asleep && ashore.position.z < 256.5, "{ashore:?}");
    let heavy = world.entity(heavy).unwrap();
    assert!(heavy.asleep && heavy.position.z < 16.5, "{heavy:?}");
    assert!(world.entity(weightless).unwrap().position.z > LEVEL + 15.0);
}

/// A match that is saved between two ticks goes on like one that is not saved. Liquids push a body
/// anew in each tick, so bodies with parameters of their own search for contacts as far as they may
/// move.
#[test]
fn a_match_that_is_saved_in_every_tick_is_the_same() {
    let models = vec![Model::cuboid("block", DVec3::splat(16.0)).unwrap()];
    let mut world = world(basin(""), models.clone());
    for number in 0..6 {
        let place = DVec3::new(60.0 * f64::from(number), 0.0, 200.0);
        let id = world.spawn_body(ModelId(0), place, turned(number as usize)).unwrap();
        let own = world.body_parameters(id).unwrap();
        let light = BodyParameters { mass: BodyMass::Mass(8.0), ..own };
        world.set_body_parameters(id, light).unwrap();
    }
    for tick in 0..120 {
        let mut loaded =
            World::load(Arc::clone(world.map()), models.clone().into(), &world.save()).unwrap();
        loaded.step(&[]);
        world.step(&[]);
        assert_eq!(loaded.save(), world.save(), "tick {tick}");
    }
    is_clean(&world, &models);
}
