//! A pair of convex parts that are near each other, and the points at which they touch. A search
//! for contacts finds the pairs, and the solver works on them.

use arrayvec::ArrayVec;
use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use crate::bodies::blocker::Blocker;
use crate::collision::separation::Features;

/// Maximum number of points per pair of parts: four carry any load that a plane can carry.
pub(crate) const MAX_POINTS: usize = 4;

/// The points of a manifold.
pub(crate) type Points = ArrayVec<ContactPoint, MAX_POINTS>;

/// One point of a manifold.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ContactPoint {
    /// Position on the awake body, in the body's own axes. Points are matched with last tick's by
    /// this position. It belongs to the pose in which the search found the body.
    pub(crate) local: Vec3,
    /// Distance along the normal, in units.
    #[serde(with = "saved_gap")]
    pub(crate) gap: f32,
    /// Last impulse of the solver in kg·units/s, along the normal and the two [`tangents`]. The
    /// solver computes no more digits than an `f32` has.
    pub(crate) impulse: [f32; 3],
}

impl ContactPoint {
    /// The position on the other body, given the position on this one.
    pub(crate) fn on_other(&self, on_body: DVec3, axis: DVec3) -> DVec3 {
        on_body + axis * f64::from(self.gap)
    }
}

/// Saves a gap as the `f64` of the same value, because recordings contain an `f64`.
mod saved_gap {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(gap: &f32, serializer: S) -> Result<S::Ok, S::Error> {
        f64::from(*gap).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f32, D::Error> {
        Ok(f64::deserialize(from)? as f32)
    }
}

/// Two unit directions at right angles to the `normal` of a contact and to each other, along which
/// friction is solved. Where the z component of the normal changes its sign, the two directions are
/// reversed.
pub(crate) fn tangents(normal: DVec3) -> [Vec3; 2] {
    let normal = normal.as_vec3().normalize();
    let tangent = normal.any_orthonormal_vector();
    [tangent, normal.cross(tangent)]
}

/// The two parts of a pair. Pairs are listed, and colored by the solver, in the order of
/// their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct PairKey {
    /// Slot of the awake body.
    pub(crate) body: u16,
    /// The other body, or a solid of the world.
    pub(crate) other: Blocker,
    /// Indices of the two parts within their bodies, the awake body's part first.
    pub(crate) parts: (u16, u16),
}

/// Two convex parts that are near each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Pair {
    pub(crate) key: PairKey,
    /// Normal of the plane between them, a unit direction from the body to the other.
    pub(crate) axis: DVec3,
    /// The vertices between which they are closest, if a search found any.
    pub(crate) features: Features,
    /// A lower bound of their distance at the search, in units, rounded to a value that an `f32`
    /// holds.
    pub(crate) gap: f64,
    /// The points at which they touch, or will touch in this tick; empty if they will not.
    pub(crate) points: Points,
}
