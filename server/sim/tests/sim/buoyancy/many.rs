//! Many bodies in the pool, which touch each other.

use glam::{DQuat, DVec3};
use obsp::model::{Model, shipped};
use obsp_sim::{EntityId, ModelId, World};

use super::pool::{LEVEL, basin, energy, is_clean, turned, with_density, world};

/// The energy of all bodies together.
fn total(world: &World, bodies: &[(EntityId, Model)]) -> f64 {
    bodies.iter().map(|(id, model)| energy(world, *id, model)).sum()
}

/// Runs a match until all bodies sleep. Their energy together never rises by more than a share of
/// what they lose in all.
fn settle(world: &mut World, bodies: &[(EntityId, Model)], models: &[Model], most: u64) {
    let first = total(world, bodies);
    let (mut least, mut rise) = (first, 0.0_f64);
    while bodies.iter().any(|(id, _)| !world.entity(*id).unwrap().asleep) {
        world.step(&[]);
        let now = total(world, bodies);
        rise = rise.max(now - least);
        least = least.min(now);
        if world.tick().is_multiple_of(100) {
            is_clean(world, models);
        }
        let awake = bodies.iter().filter(|(id, _)| !world.entity(*id).unwrap().asleep).count();
        assert!(world.tick() < most, "{awake} are awake after {most} ticks");
    }
    is_clean(world, models);
    println!("asleep after {} ticks", world.tick());
    let share = rise / (first - least);
    assert!(share < 0.01, "the energy rose by {share} of what was lost");
}

/// Two stacks of crates on rafts, one beside the other, fall into the pool.
#[test]
fn the_energy_of_stacks_together_falls_and_they_sleep() {
    let raft = Model::cuboid("raft", DVec3::new(70.0, 70.0, 8.0)).unwrap();
    let models: Vec<Model> = shipped().into_iter().chain([raft]).collect();
    let mut world = world(basin(""), models.clone());
    let mut bodies = Vec::new();
    for side in [-75.0, 75.0] {
        for floor in 0..4 {
            let name = if floor == 0 { "raft" } else { "crate" };
            let id = world.model(name).unwrap();
            let height = if floor == 0 { 20.0 } else { 12.0 + 34.0 * f64::from(floor) };
            let at = DVec3::new(300.0 + side, 0.0, LEVEL + height + 8.0);
            let body = world.spawn_body(id, at, DQuat::IDENTITY).unwrap();
            bodies.push((body, models[usize::from(id.0)].clone()));
        }
    }
    settle(&mut world, &bodies, &models, 60 * 30);
}

/// A heap of crates, barrels and planks of three densities falls into the pool. All come to rest.
#[test]
fn a_heap_that_falls_into_the_pool_comes_to_rest() {
    let mut models: Vec<Model> = shipped();
    models.retain(|model| ["crate", "barrel", "plank"].contains(&model.name()));
    let densities = [0.002, 0.008, 0.03];
    let models: Vec<Model> = models
        .iter()
        .flat_map(|model| densities.map(|density| with_density(model.clone(), density)))
        .collect();
    let mut world = world(basin(""), models.clone());
    let mut bodies = Vec::new();
    for number in 0..54_usize {
        let [column, row, floor] = [number % 3, number / 3 % 3, number / 9];
        let cell = DVec3::new(column as f64, row as f64, floor as f64);
        let model = number % models.len();
        let at = cell * 75.0 + DVec3::new(-100.0, -100.0, LEVEL - 100.0);
        let body = world.spawn_body(ModelId(model as u8), at, turned(number)).unwrap();
        bodies.push((body, models[model].clone()));
    }
    settle(&mut world, &bodies, &models, 60 * 60);
}
