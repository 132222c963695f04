//! Where items lie.

use glam::{DQuat, DVec3};
use obsp::geometry::Aabb;
use obsp::model::Model;
use obsp_sim::SweptShape;

use crate::world_mut::WorldMut;

/// Quake lifts an item before it drops it, because many are drawn in the floor.
const LIFT: f64 = 6.0;

/// An item that meets no floor within this many units hangs where it is drawn.
const DROP: f64 = 256.0;

/// Half of the side of a cube that drops in the place of an item that is drawn in a wall.
const SMALL: f64 = 1.0;

/// Quake makes the boxes of items wider by this many units, so that they are taken more easily.
const EASE: DVec3 = DVec3::new(15.0, 15.0, 0.0);

/// Drops an item's box to the floor, and returns the box where it lies. Lifts and doors count as
/// floor. Where the box is in a wall, its middle drops; `None` if that is in solid as well.
pub(super) fn drop_to_floor(world: &WorldMut<'_>, drawn: &Aabb) -> Option<Aabb> {
    let half = drawn.half_extents();
    let foot = |half: f64| drawn.centre().with_z(drawn.min.z + half + LIFT);
    let fallen = fall(world, half, foot(half.z)).map(|at| at.z - half.z);
    let low = fallen.or_else(|| Some(fall(world, DVec3::splat(SMALL), foot(SMALL))?.z - SMALL))?;
    let down = DVec3::Z * (low - drawn.min.z);
    Some(Aabb { min: drawn.min + down, max: drawn.max + down })
}

/// The end of a box's fall; `None` if it starts in something.
fn fall(world: &WorldMut<'_>, half: DVec3, from: DVec3) -> Option<DVec3> {
    // `inverse_mass` is `None` for kinematic bodies, and for players, who are no floor.
    let is_floor = |id| world.inverse_mass(id).is_none() && world.player_kind(id).is_none();
    let way = [from, from - DVec3::Z * (DROP + LIFT)];
    let hit = world.sweep_where(SweptShape::Box(half), DQuat::IDENTITY, way, is_floor);
    match hit {
        _ if hit.start_solid => None,
        _ if hit.fraction < 1.0 => Some(hit.at),
        _ => Some(from - DVec3::Z * LIFT),
    }
}

/// Whether a player with this box picks an item with that box up.
pub(super) fn touches(player: &Aabb, item: &Aabb) -> bool {
    Aabb { min: item.min - EASE, max: item.max + EASE }.overlaps(player)
}

/// The place of a picture of a model that lies at the bottom of a box.
pub(super) fn of_picture(bounds: &Aabb, model: &Model) -> DVec3 {
    bounds.centre().with_z(bounds.min.z - model.bounds().min.z)
}
