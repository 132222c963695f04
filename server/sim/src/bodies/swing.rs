//! Swings: a kinematic body goes to and fro between two places for ever, as a pendulum does. A
//! client that knows the swing knows the body's motion in advance, as with the trajectories of
//! Quake III (`TR_SINE`).

use std::f64::consts::PI;

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A body nearer than this, in units, to the place where a tick should bring it has reached it.
const THERE: f64 = 1.0 / 256.0;

/// The swing of a kinematic body.
///
/// [`World::swing`](crate::World::swing) starts one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Swing {
    /// One end of the way, in units.
    pub place: DVec3,
    /// The vector to the other end, in units.
    pub way: DVec3,
    /// Ticks from one end to the other: at least one, at most [`Swing::MAX_TICKS`].
    pub ticks: u32,
    /// The ticks that the body has swung, modulo the ticks of the way there and back.
    pub at: u32,
}

impl Swing {
    /// The greatest number of ticks from one end to the other: months at 60 Hz.
    pub const MAX_TICKS: u32 = 1 << 30;

    /// The body's place at the end of its present tick.
    pub(crate) fn aim(&self) -> DVec3 {
        let share = f64::from(self.at) / f64::from(self.ticks);
        self.place + self.way * (0.5 - 0.5 * libm::cos(PI * share))
    }

    /// Whether all numbers are finite and in their ranges.
    pub(crate) fn is_sound(&self) -> bool {
        let ticks = (1..=Self::MAX_TICKS).contains(&self.ticks) && self.at < 2 * self.ticks;
        ticks && self.place.is_finite() && self.way.is_finite()
    }

    /// Advances the swing by a tick if the body is where it should be. If something holds the body
    /// up, the swing waits. Returns the velocity of a body at `position` in its next tick of
    /// `seconds`, in units per second.
    pub(crate) fn go_on(&mut self, position: DVec3, seconds: f64) -> DVec3 {
        if position.distance(self.aim()) <= THERE {
            self.at = (self.at + 1) % (2 * self.ticks);
        }
        (self.aim() - position) / seconds
    }
}
