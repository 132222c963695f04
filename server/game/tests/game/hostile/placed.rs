//! The hostile game's calls on brush models, pockets, moves to places and sensors.

use glam::{DQuat, DVec3};
use obsp::geometry::Aabb;
use obsp_game::WorldMut;
use obsp_sim::{EntityId, LinearMove, ModelId, SensorId, SensorShape};

use super::State;
use super::calls::{odd, point, turned};

/// Maximum number of sensors that the game asks for.
const MOST_SENSORS: u32 = 12;

/// The number of kinds of calls.
pub(super) const KINDS: u64 = 10;

/// One call. Returns whether it has changed the world.
pub(super) fn call(
    kind: u64,
    id: EntityId,
    state: &mut State,
    world: &mut WorldMut<'_>,
    has_room: bool,
) -> bool {
    let sensor = SensorId(world.random().below(u64::from(MOST_SENSORS)) as u32);
    match kind {
        0..=2 if !has_room => false,
        // The body is where it is drawn, or anywhere.
        0 => {
            let map = world.map().clone();
            let drawn = map.entities().iter().find_map(|entity| world.model_of(entity));
            let drawn = drawn.expect("the room has a model");
            let anywhere = world.random().below(2) == 0;
            let at = if anywhere { point(world) } else { drawn.place };
            let spawned = world.spawn_body(drawn.model, at, DQuat::IDENTITY);
            state.known.extend(spawned);
            spawned.is_ok()
        }
        1 | 2 => {
            let model = ModelId((11 + world.random().below(5)) as u8);
            let (at, turned, pocket) = (point(world), turned(world), pocket(world));
            let spawned = world.spawn_body_in(model, at, turned, &pocket);
            state.known.extend(spawned);
            spawned.is_ok()
        }
        3 | 4 => {
            let pocket = (world.random().below(3) > 0).then(|| pocket(world));
            world.set_pocket(id, pocket).is_ok()
        }
        5 if state.sensors < MOST_SENSORS => {
            let half = point(world);
            let model = ModelId(world.random().below(18) as u8);
            let is_box = world.random().below(2) == 0;
            let shape = if is_box { SensorShape::Box(half) } else { SensorShape::Model(model) };
            let (at, turned) = (point(world), turned(world));
            let added = world.add_sensor(shape, at, turned).is_ok();
            state.sensors += u32::from(added);
            added
        }
        6 | 7 => move_to(id, world),
        8 => {
            let (offset, turned) = (point(world), turned(world));
            world.attach_sensor(sensor, id, offset, turned).is_ok()
        }
        _ => {
            let (at, turned) = (point(world), turned(world));
            match world.random().below(8) {
                0 => world.remove_sensor(sensor).is_ok(),
                _ => world.move_sensor(sensor, at, turned).is_ok(),
            }
        }
    }
}

/// Starts a move to a place. The move takes a tick or a part of the match, or does not end.
fn move_to(id: EntityId, world: &mut WorldMut<'_>) -> bool {
    let goal = point(world);
    let speed = match world.random().below(4) {
        0 => odd(world),
        1 => 1e6,
        _ => world.random().between(1.0, 600.0),
    };
    let delay = match world.random().below(8) {
        0 => u32::MAX,
        delay => delay as u32 - 1,
    };
    let moved = world.move_linear(id, LinearMove { goal, speed, delay });
    assert!(moved.is_ok() || world.linear_move(id).is_none_or(|of| of.goal != goal), "{id:?}");
    moved.is_ok()
}

/// A box within the room and its walls, sometimes absurd.
fn pocket(world: &mut WorldMut<'_>) -> Aabb {
    let (a, b) = (point(world), point(world));
    match world.random().below(8) {
        0 => Aabb { min: a, max: b },
        1 => Aabb { min: DVec3::splat(-1e9), max: DVec3::splat(1e9) },
        _ => Aabb { min: a.min(b) - 24.0, max: a.max(b) + 24.0 },
    }
}
