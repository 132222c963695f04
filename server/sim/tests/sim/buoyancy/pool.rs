//! A pool, and bodies in it.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp::Spaces;
use obsp::model::{Material, Model};
use obsp_sim::audit::Audit;
use obsp_sim::{Config, EntityId, World};

use super::judge::Surface;
use crate::drawn;

/// Density of water, in kilograms per cubic unit, as PHYSICS.md gives it.
pub(crate) const WATER: f64 = 1.0 / 64.0;

/// Gravity, in units per second squared.
pub(crate) const GRAVITY: f64 = 800.0;

/// The level of the pool, in units above its floor.
pub(crate) const LEVEL: f64 = 256.0;

/// A brush that is a box.
pub(crate) fn brush(texture: &str, min: [i32; 3], max: [i32; 3]) -> String {
    let [min, max] = [min, max].map(|corner| DVec3::from_array(corner.map(f64::from)));
    drawn::brush(min, max).replace("stone", texture)
}

/// A basin with a floor at height zero, 2,048 units square. Its water reaches up to [`LEVEL`].
pub(crate) fn basin(more: &str) -> Arc<obsp::Map> {
    // The two brushes overlap. Where they do, the lift must count only once.
    let water = brush("*water", [-1024, -1024, 0], [200, 1024, 256])
        + &brush("*water", [-40, -1024, 0], [1024, 1024, 256]);
    basin_of(&(water + more))
}

/// The basin with other liquids.
pub(crate) fn basin_of(brushes: &str) -> Arc<obsp::Map> {
    let walls = [
        ([-1056, -1056, -32], [1056, 1056, 0]),
        ([-1056, -1056, 0], [-1024, 1056, 512]),
        ([1024, -1056, 0], [1056, 1056, 512]),
        ([-1024, -1056, 0], [1024, -1024, 512]),
        ([-1024, 1024, 0], [1024, 1056, 512]),
        ([-1024, -1024, 0], [-900, -900, 300]),
    ];
    let walls: String = walls.map(|(min, max)| brush("plain", min, max)).concat();
    let spawn = "{\n\"classname\" \"info_player_start\"\n\"origin\" \"-960 -960 330\"\n}\n";
    drawn::map(&Spaces::default(), &(walls + brushes), spawn)
}

pub(crate) fn hull(name: &str, points: &[[f64; 3]]) -> Model {
    let points: Vec<DVec3> = points.iter().map(|&point| DVec3::from_array(point)).collect();
    Model::convex_hull(name, &points).unwrap()
}

pub(crate) fn with_density(model: Model, density: f64) -> Model {
    model.with_material(Material::USUAL.with_density(density).unwrap())
}

pub(crate) fn world(map: Arc<obsp::Map>, models: Vec<Model>) -> World {
    world_at(60, map, models)
}

pub(crate) fn world_at(tick_rate: u32, map: Arc<obsp::Map>, models: Vec<Model>) -> World {
    let config = Config { tick_rate, seed: 1, objects: 0, max_players: 4 };
    World::new(map, models.into(), config).unwrap()
}

pub(crate) fn turned(number: usize) -> DQuat {
    let number = number as f64;
    DQuat::from_euler(glam::EulerRot::XYZ, 0.9 * number, 0.5 * number, 1.7 * number)
}

/// The potential energy of a body and of the water, and the kinetic energy of the body, in
/// kg·units²/s².
pub(crate) fn energy(world: &World, id: EntityId, model: &Model) -> f64 {
    let state = world.entity(id).unwrap();
    let mass = model.volume() * model.material().density();
    let spin = state.orientation.conjugate() * world.spin(id).unwrap();
    let kinetic = 0.5 * mass * (state.velocity.length_squared() + spin.dot(model.inertia() * spin));
    let below = Surface::of(model).below(state.orientation, state.position.z, LEVEL);
    kinetic + GRAVITY * (mass * state.position.z + WATER * below.depths)
}

pub(crate) fn is_clean(world: &World, models: &[Model]) {
    let mut audit = Audit::new(world.map(), models).unwrap();
    let found = audit.check_match(world);
    assert!(found.is_empty(), "tick {}: {found:?}", world.tick());
}
