//! The keys of an entity, as Quake reads them.

use glam::DVec3;
use obsp::MapEntity;
use obsp::geometry::Aabb;
pub(super) use obsp_sim::direction_of as direction;

use crate::world_mut::WorldMut;

/// The most seconds that a key can ask for; a day.
const MAX_SECONDS: f64 = 86_400.0;

/// The number of a key; `None` if the entity has no such number or it is zero, which is the same in
/// Quake.
pub(super) fn number(entity: &MapEntity, key: &str) -> Option<f64> {
    let number: f64 = entity.get(key)?.trim().parse().ok()?;
    (number.is_finite() && number != 0.0).then_some(number)
}

/// The number of a key if it is above zero, or else `usual`.
pub(super) fn positive(entity: &MapEntity, key: &str, usual: f64) -> f64 {
    number(entity, key).filter(|number| *number > 0.0).unwrap_or(usual)
}

/// The damage of a key, from 0 to 10,000 points.
pub(super) fn damage(entity: &MapEntity, key: &str, usual: i16) -> i16 {
    number(entity, key).map_or(usual, |points| points.clamp(0.0, 10_000.0) as i16)
}

/// The health of an entity that is shot; zero for one that is not.
pub(super) fn health(entity: &MapEntity) -> i32 {
    number(entity, "health").map_or(0, |health| health.clamp(0.0, 1e6).ceil() as i32)
}

/// The `spawnflags`.
pub(super) fn flags(entity: &MapEntity) -> u32 {
    number(entity, "spawnflags").map_or(0, |flags| flags as u32)
}

/// A key in seconds as ticks; `None` for a negative number, which means for ever.
pub(super) fn ticks(
    world: &WorldMut<'_>,
    entity: &MapEntity,
    key: &str,
    usual: f64,
) -> Option<u32> {
    let seconds = number(entity, key).unwrap_or(usual);
    (seconds >= 0.0).then(|| ticks_of(world, seconds))
}

/// Seconds as ticks, rounded.
pub(super) fn ticks_of(world: &WorldMut<'_>, seconds: f64) -> u32 {
    (seconds.clamp(0.0, MAX_SECONDS) / world.seconds()).round() as u32
}

/// Three angles in degrees, or degrees per second: pitch, yaw and roll. An angle that is no number
/// is 0.
pub(super) fn angles(entity: &MapEntity, key: &str) -> [f64; 3] {
    let mut numbers = entity.get(key).unwrap_or_default().split_ascii_whitespace();
    [0; 3].map(|_| {
        let number: Option<f64> = numbers.next().and_then(|number| number.parse().ok());
        number.filter(|number| number.is_finite()).unwrap_or(0.0).clamp(-1e6, 1e6)
    })
}

/// The axis about which an entity turns: +X or +Y by a flag, or else +Z.
pub(super) fn axis(entity: &MapEntity, [x, y]: [u32; 2]) -> DVec3 {
    let flags = flags(entity);
    match flags {
        _ if flags & x != 0 => DVec3::X,
        _ if flags & y != 0 => DVec3::Y,
        _ => DVec3::Z,
    }
}

/// The box around the brushes of an entity, where they are drawn.
pub(super) fn bounds(entity: &MapEntity) -> Aabb {
    entity.solids().iter().fold(Aabb::EMPTY, |all, brush| all.union(*brush.bounds()))
}

/// The way of a door or a button with this box along a direction: Quake's `|size · movedir| − lip`.
pub(super) fn travel(bounds: &Aabb, direction: DVec3, lip: f64) -> DVec3 {
    let size = bounds.max - bounds.min;
    direction * (size.dot(direction).abs() - lip)
}

#[cfg(test)]
mod tests {
    use super::super::tests::entity;
    use super::*;

    #[test]
    fn a_number_is_finite_and_zero_is_none() {
        for odd in ["0", "inf", "NaN", "x", ""] {
            assert_eq!(number(&entity(&[("speed", odd)]), "speed"), None, "{odd}");
        }
        assert_eq!(number(&entity(&[("speed", " -2.5 ")]), "speed"), Some(-2.5));
        assert_eq!(positive(&entity(&[("speed", "-2.5")]), "speed", 100.0), 100.0);
        assert_eq!(flags(&entity(&[("spawnflags", "-1")])), 0);
        assert_eq!(flags(&entity(&[("spawnflags", "2049")])), 2049);
    }
}
