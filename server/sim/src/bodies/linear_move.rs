//! Linear moves: a kinematic body waits for some ticks, goes in a straight line to its goal at a
//! constant speed, and rests there. A client that knows the move knows the body's motion in
//! advance, as with the trajectories of Quake III (`TR_LINEAR_STOP`).

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A body nearer to its goal than this, in units, has arrived.
const THERE: f64 = 1.0 / 1024.0;

/// The move of a kinematic body to a place.
///
/// [`World::move_linear`](crate::World::move_linear) starts one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearMove {
    /// The body's position at the end, in units.
    pub goal: DVec3,
    /// Units per second, above zero. In the last tick the body moves just by the rest of the way.
    pub speed: f64,
    /// Ticks for which the body stays where it is, before it starts.
    pub delay: u32,
}

impl LinearMove {
    /// Whether a body with this move and this velocity is on its way. Otherwise it rests, or waits.
    pub(crate) fn is_under_way(of: Option<Self>, velocity: DVec3) -> bool {
        velocity != DVec3::ZERO || of.is_some_and(|of| of.delay == 0)
    }

    /// The velocity, in units per second, of a body at `position` in its next tick of `seconds`,
    /// whatever the delay; `None` if it is at its goal.
    pub(crate) fn velocity(&self, position: DVec3, seconds: f64) -> Option<DVec3> {
        let way = self.goal - position;
        let far = way.length();
        if far <= THERE {
            return None;
        }
        let is_last = far <= self.speed * seconds + THERE;
        Some(if is_last { way / seconds } else { way * (self.speed / far) })
    }
}
