//! Kinematic bodies that a player meets. A kinematic body carries the players who stand on it, and
//! pushes the players in its way. The bodies that stand on it carry and push players as well. A
//! conveyor stands still: its surface alone carries players.

use glam::DVec3;
use obsp::geometry::Aabb;

use crate::collision::cascade::{Body, box_at};
use crate::collision::pose::Pose;
use crate::collision::shape::Shape;

/// A kinematic body that moves, or whose surface moves.
#[derive(Clone, Copy)]
pub(crate) struct Driver<'a> {
    pub(crate) slot: u16,
    pub(crate) shape: &'a Shape,
    pub(crate) pose: Pose,
    pub(crate) velocity: DVec3,
    /// Angular velocity, in radians per second, world axes.
    pub(crate) angular: DVec3,
    /// Velocity of the surface relative to the body.
    pub(crate) surface: DVec3,
    /// Whether something stopped the body in the last tick. The body carries nobody in that case.
    pub(crate) is_held: bool,
}

/// Maximum number of levels of a load. Crates on a lift are one level, and the bodies on them are
/// the next.
const LEVELS: usize = 4;

/// A body may stand on another body if the distance in units between its lowest point and the
/// other's highest point is at most this. A fast lift moves about as far in a tick.
const ON_TOP: f64 = 4.0;

/// Something that a kinematic body may carry.
pub(crate) struct Load<'a> {
    pub(crate) slot: u16,
    pub(crate) shape: &'a Shape,
    pub(crate) pose: Pose,
    pub(crate) bounds: Aabb,
}

/// Adds the loads that stand on the kinematic bodies, and the loads on top of these. For a player,
/// each load has the velocity of the body below it. Otherwise a player who stands on a crate would
/// stop the lift under the crate.
pub(crate) fn add_loads<'a>(drivers: &mut Vec<Driver<'a>>, mut loads: Vec<Load<'a>>, seconds: f64) {
    let mut below: Vec<(Driver, Aabb)> =
        drivers.iter().filter(|driver| driver.moves()).map(|it| (*it, it.bounds())).collect();
    for _ in 0..LEVELS {
        let mut above = Vec::new();
        loads.retain(|load| {
            let stands_on = |(_, support): &&(Driver, Aabb)| {
                let (low, high) = (load.bounds.min, load.bounds.max);
                (low.z - support.max.z).abs() < ON_TOP
                    && low.truncate().cmplt(support.max.truncate()).all()
                    && high.truncate().cmpgt(support.min.truncate()).all()
            };
            let Some((driver, _)) = below.iter().find(stands_on) else { return true };
            let velocity = driver.velocity_at(load.pose.position, seconds);
            let Load { slot, shape, pose, bounds } = *load;
            let (angular, surface) = (DVec3::ZERO, DVec3::ZERO);
            let carried = Driver { slot, shape, pose, velocity, angular, surface, ..*driver };
            above.push((carried, bounds));
            false
        });
        if above.is_empty() {
            return;
        }
        drivers.extend(above.iter().map(|(driver, _)| *driver));
        below = above;
    }
}

/// How a body carries a player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Carry {
    /// The velocity of the body's surface under the player.
    pub(crate) velocity: DVec3,
    /// The speed with which the body itself rises or falls there.
    pub(crate) vertical_speed: f64,
    /// Whether something stopped the body in the last tick: see [`Driver::is_held`].
    pub(crate) is_held: bool,
}

/// How a body pushes a player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Push {
    /// Unit normal of the body's surface, towards the player.
    pub(crate) normal: DVec3,
    /// The speed along the normal with which the player gets out of the way.
    pub(crate) speed: f64,
}

impl<'a> Driver<'a> {
    /// The body with its motion in a tick of `seconds`.
    pub(crate) fn body(&self, seconds: f64) -> Body<'a> {
        Body::moving(self.shape, self.pose, self.target(seconds))
    }

    fn bounds(&self) -> Aabb {
        box_at(&self.shape.bounds, &self.pose)
    }

    pub(crate) fn target(&self, seconds: f64) -> Pose {
        self.pose.advanced(self.velocity, self.angular, seconds)
    }

    /// Whether the body itself moves.
    pub(crate) fn moves(&self) -> bool {
        self.velocity != DVec3::ZERO || self.angular != DVec3::ZERO
    }

    /// How the body carries a player who stands at `point`, where its surface has this `normal`,
    /// over a tick of `seconds`.
    pub(crate) fn carry(&self, point: DVec3, normal: DVec3, seconds: f64) -> Carry {
        let velocity = self.velocity_at(point, seconds);
        let vertical_speed = velocity.z.abs();
        // A surface moves along itself.
        let surface = self.surface.reject_from_normalized(normal);
        let is_held = self.is_held;
        let velocity = if is_held { DVec3::ZERO } else { velocity + surface };
        Carry { velocity, vertical_speed, is_held }
    }

    /// Upper bound of the speed of all of its points.
    pub(crate) fn point_speed(&self) -> f64 {
        self.velocity.length() + self.angular.length() * self.shape.radius
    }

    /// The velocity, over a tick of `seconds`, of the body's point that is at `point` now. It is
    /// along the chord of the point's way. Along the tangent, a turning body would carry its
    /// players outward.
    pub(crate) fn velocity_at(&self, point: DVec3, seconds: f64) -> DVec3 {
        if self.angular == DVec3::ZERO {
            return self.velocity;
        }
        let arm = point - self.pose.position;
        let local = self.pose.orientation.inverse() * arm;
        self.velocity + (self.target(seconds).orientation * local - arm) / seconds
    }
}
