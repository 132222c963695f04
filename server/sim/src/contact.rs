//! Contacts: where bodies touch, or are about to.
//!
//! [`find`] walks every awake prop through the cascade and keeps a *manifold*
//! of contact points for each pair of convex parts that will come within
//! reach this tick; [`solve`] turns them into velocities. The solver aims for
//! [`REST_GAP`] between surfaces, well outside the guard's margin, so that a
//! body at rest is never refused its place.

mod find;
mod known;
mod manifold;
mod seam;
mod solve;

use arrayvec::ArrayVec;

pub(crate) use find::{Pair, find, look_around};
pub(crate) use known::known;
pub(crate) use solve::{BOUNCE_SPEED, FRICTION, max_spin, solve};

/// The distance in units at which bodies come to rest: a tenth of a unit
/// (some 2 mm) is too thin to see and a dozen guard margins thick.
pub(crate) const REST_GAP: f64 = 0.1;

/// Most points kept for one pair of parts: four carry any load that a plane
/// can carry.
pub(crate) const MAX_POINTS: usize = 4;

/// The points of a manifold.
pub(crate) type Points = ArrayVec<ContactPoint, MAX_POINTS>;

/// One point of a manifold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContactPoint {
    /// On the awake body, world axes.
    pub(crate) on_body: glam::DVec3,
    /// Where that is in the body's own axes: how a point is known again.
    pub(crate) local: glam::DVec3,
    /// Distance along the normal, in units.
    pub(crate) gap: f64,
    /// What the solver pushed with last, kilogram units per second: along the
    /// normal and two tangents.
    pub(crate) impulse: [f64; 3],
}
