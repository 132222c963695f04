//! The effects, and their places.

use glam::DVec3;

use crate::Tick;
use crate::quantise::WorldBounds;

/// An event that is shown for a moment. Players and bodies are named by their slots in the effect's
/// tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// A ray was shot.
    Ray {
        /// The shooter.
        player: u16,
        /// Start of the ray, in units.
        from: DVec3,
        /// End of the ray, in units.
        to: DVec3,
    },
    /// Something exploded.
    Blast {
        /// Centre of the explosion, in units.
        at: DVec3,
        /// Its radius in units.
        radius: f64,
    },
    /// A player lost health.
    Hurt {
        /// The player.
        player: u16,
        /// The attacker, who may have left.
        by: u16,
        /// Health lost.
        damage: u16,
    },
    /// A body was taken out of an overlap and put elsewhere.
    Replaced {
        /// The body.
        entity: u16,
    },
}

/// The effects of one tick, in the order in which they happened.
#[derive(Clone, Debug, PartialEq)]
pub struct TickEffects {
    /// The first tick whose state shows the effects.
    pub tick: Tick,
    /// The effects.
    pub effects: Vec<Effect>,
}

impl Effect {
    /// Whether the entity of this slot shot the ray, hurt a player, was hurt, or was put elsewhere.
    pub(crate) fn concerns(&self, slot: u16) -> bool {
        match *self {
            Self::Ray { player, .. } => player == slot,
            Self::Blast { .. } => false,
            Self::Hurt { player, by, .. } => player == slot || by == slot,
            Self::Replaced { entity } => entity == slot,
        }
    }

    /// Distance in units from `place` to the effect. `position` tells where the entity of a slot
    /// is. An effect without a known place is at the distance 0.
    pub(crate) fn distance(&self, place: DVec3, position: impl Fn(u16) -> Option<DVec3>) -> f64 {
        let to = |entity: Option<DVec3>| entity.map_or(0.0, |at| at.distance(place));
        match *self {
            Self::Ray { from, to, .. } => distance_to_segment(place, from, to),
            Self::Blast { at, .. } => at.distance(place),
            Self::Hurt { player, by, .. } => to(position(player).or_else(|| position(by))),
            Self::Replaced { entity } => to(position(entity)),
        }
    }
}

fn distance_to_segment(place: DVec3, from: DVec3, to: DVec3) -> f64 {
    let way = to - from;
    let along = (place - from).dot(way) / way.length_squared();
    // The nearest point of a ray without a length is its start.
    let along = if along.is_finite() { along.clamp(0.0, 1.0) } else { 0.0 };
    (from + way * along).distance(place)
}

/// The end of a ray, or the place where the ray leaves the bounds. The lattice has no points
/// beyond them, and a clamped end would turn the ray.
pub(super) fn end_within(bounds: &WorldBounds, from: DVec3, to: DVec3) -> DVec3 {
    let least = bounds.position([0; 3]);
    let greatest = bounds.position(std::array::from_fn(|axis| bounds.last(axis)));
    let mut share = 1.0_f64;
    for axis in 0..3 {
        let edge = to[axis].clamp(least[axis], greatest[axis]);
        if edge != to[axis] {
            share = share.min((edge - from[axis]) / (to[axis] - from[axis]));
        }
    }
    if share < 1.0 { from + (to - from) * share.max(0.0) } else { to }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_that_leaves_the_bounds_keeps_its_direction() {
        let bounds = WorldBounds::new([0; 3], [10; 3]).unwrap();
        let from = DVec3::splat(16.0);
        let inside = DVec3::new(3.0, 31.0, 0.0);
        assert_eq!(end_within(&bounds, from, inside), inside);
        let end = end_within(&bounds, from, from + DVec3::new(1000.0, 500.0, 0.0));
        assert_eq!(end, DVec3::new(31.96875, 16.0 + 15.96875 / 2.0, 16.0));
        // A shooter outside of the bounds has a ray without a length.
        let outside = DVec3::splat(100.0);
        assert_eq!(end_within(&bounds, outside, outside * 2.0), outside);
    }

    #[test]
    fn the_distance_to_a_ray_is_that_to_its_nearest_point() {
        let ray = Effect::Ray { player: 0, from: DVec3::ZERO, to: DVec3::X * 10.0 };
        let far = |place| ray.distance(place, |_| None);
        assert_eq!(far(DVec3::new(5.0, 3.0, 0.0)), 3.0);
        assert_eq!(far(DVec3::new(14.0, 3.0, 0.0)), 5.0);
        let point = Effect::Ray { player: 0, from: DVec3::X, to: DVec3::X };
        assert_eq!(point.distance(DVec3::ZERO, |_| None), 1.0);
    }

    #[test]
    fn a_wound_is_where_the_wounded_are_or_else_the_attacker() {
        let hurt = Effect::Hurt { player: 1, by: 2, damage: 9 };
        let at = |slot: u16| (slot == 2).then(|| DVec3::X * 7.0);
        assert_eq!(hurt.distance(DVec3::ZERO, at), 7.0);
        assert_eq!(hurt.distance(DVec3::ZERO, |slot| Some(DVec3::X * f64::from(slot))), 1.0);
        assert_eq!(hurt.distance(DVec3::ZERO, |_| None), 0.0);
        assert!(hurt.concerns(1) && hurt.concerns(2) && !hurt.concerns(3));
    }
}
