//! Pockets and sensors with extreme numbers.

use obsp::geometry::Aabb;
use obsp_sim::{SensorId, SensorShape};

use super::{Numbers, Scene, turn, vector};

/// Calls the operation `name` if it is about pockets or sensors. Returns whether it is.
pub(super) fn change(name: &str, scene: &mut Scene, n: &mut Numbers) -> bool {
    let (ids, world) = (scene.all(), &mut scene.world);
    match name {
        "World::spawn_body_in" => {
            let (min, max) = (vector(n, [-400.0; 3]), vector(n, [400.0; 3]));
            let driven = world.model("driven").expect("the match has it");
            let (at, turn) = (vector(n, [300.0, 200.0, 300.0]), turn(n));
            _ = world.spawn_body_in(driven, at, turn, &Aabb { min, max });
        }
        "World::set_pocket" => {
            let (min, max) = (vector(n, [-400.0; 3]), vector(n, [400.0; 3]));
            ids.into_iter().for_each(|id| _ = world.set_pocket(id, Some(Aabb { min, max })));
        }
        "World::add_sensor" | "World::move_sensor" | "World::attach_sensor" => {
            let shape = SensorShape::Box(vector(n, [40.0; 3]));
            let (at, turn) = (vector(n, [200.0, -100.0, 17.0]), turn(n));
            let sensor = world.add_sensor(shape, at, turn).unwrap_or(SensorId(0));
            _ = world.move_sensor(sensor, at, turn);
            world.update_sensors();
            ids.into_iter().for_each(|id| _ = world.attach_sensor(sensor, id, at, turn));
            world.update_sensors();
        }
        _ => return false,
    }
    true
}
