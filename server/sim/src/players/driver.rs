//! Kinematic bodies as players meet them: they carry who stands on them, and push who is in
//! their way. What stands on one does so, too.

use glam::DVec3;
use obsp::geometry::Aabb;

use crate::collision::cascade::{Body, box_at};
use crate::collision::pose::Pose;
use crate::collision::shape::Shape;

/// A kinematic body that moves.
#[derive(Clone, Copy)]
pub(crate) struct Driver<'a> {
    pub(crate) slot: u16,
    pub(crate) shape: &'a Shape,
    pub(crate) pose: Pose,
    pub(crate) velocity: DVec3,
    /// Radians per second, world axes.
    pub(crate) angular: DVec3,
    /// Whether something stopped it in the last tick: it carries nobody then.
    pub(crate) is_held: bool,
}

/// Levels of a load: crates on a lift, and who stands on them.
const LEVELS: usize = 4;

/// A body whose lowest point is no farther than this above or below the highest one of another,
/// in units, may stand on it: the way of a fast lift in a tick.
const ON_TOP: f64 = 4.0;

/// Something that a kinematic body may carry.
pub(crate) struct Load<'a> {
    pub(crate) slot: u16,
    pub(crate) shape: &'a Shape,
    pub(crate) pose: Pose,
    pub(crate) bounds: Aabb,
}

/// Adds what stands on the kinematic bodies, and what stands on that: for a player all of it
/// moves as the body below does. Otherwise one who stands on a crate would stop its lift.
pub(crate) fn add_loads<'a>(drivers: &mut Vec<Driver<'a>>, mut loads: Vec<Load<'a>>, seconds: f64) {
    let mut below: Vec<(Driver, Aabb)> =
        drivers.iter().map(|driver| (*driver, driver.bounds())).collect();
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
            let carried = Driver { slot, shape, pose, velocity, angular: DVec3::ZERO, ..*driver };
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
    /// The velocity of its surface under the player.
    pub(crate) velocity: DVec3,
    /// As [`Driver::is_held`].
    pub(crate) is_held: bool,
}

/// How a body pushes a player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Push {
    /// Unit normal of its surface, towards the player.
    pub(crate) normal: DVec3,
    /// The speed along it with which the player gets out of the way.
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

    fn target(&self, seconds: f64) -> Pose {
        self.pose.advanced(self.velocity, self.angular, seconds)
    }

    /// Upper bound of the speed of all of its points.
    pub(crate) fn surface_speed(&self) -> f64 {
        self.velocity.length() + self.angular.length() * self.shape.radius
    }

    /// The velocity of its point that is at `point` now, over a tick of `seconds`: along the
    /// chord, or who stands on a turning body would be carried outward.
    pub(crate) fn velocity_at(&self, point: DVec3, seconds: f64) -> DVec3 {
        if self.angular == DVec3::ZERO {
            return self.velocity;
        }
        let arm = point - self.pose.position;
        let local = self.pose.orientation.inverse() * arm;
        self.velocity + (self.target(seconds).orientation * local - arm) / seconds
    }
}
