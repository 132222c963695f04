//! A pair of convex parts that are near each other, and the points at which
//! they touch: what a search for contacts finds and the solver works on.

use arrayvec::ArrayVec;
use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use crate::bodies::blocker::Blocker;
use crate::collision::separation::Features;

/// Most points of one pair of parts: four carry any load that a plane can carry.
pub(crate) const MAX_POINTS: usize = 4;

/// The points of a manifold.
pub(crate) type Points = ArrayVec<ContactPoint, MAX_POINTS>;

/// One point of a manifold.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ContactPoint {
    /// Where it is on the awake body, in the body's own axes: by this a point is matched with
    /// last tick's. In the world it was where the body's pose of the search puts it.
    pub(crate) local: Vec3,
    /// Distance along the normal, in units.
    #[serde(with = "saved_gap")]
    pub(crate) gap: f32,
    /// Last impulse of the solver in kilogram units per second, along the normal and the two
    /// [`tangents`]. The solver has no more digits.
    pub(crate) impulse: [f32; 3],
}

impl ContactPoint {
    /// The point on the other body, given that on this one.
    pub(crate) fn on_other(&self, on_body: DVec3, axis: DVec3) -> DVec3 {
        on_body + axis * f64::from(self.gap)
    }
}

/// A gap is saved as the `f64` of the same value, which recordings have had from the first.
mod saved_gap {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(gap: &f32, serializer: S) -> Result<S::Ok, S::Error> {
        f64::from(*gap).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f32, D::Error> {
        Ok(f64::deserialize(from)? as f32)
    }
}

/// Two unit directions at right angles to the `normal` of a contact and to each other, along
/// which friction is solved. Where the normal's height changes its sign, they turn round.
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
    /// The other body.
    pub(crate) other: Blocker,
    /// Indices of the parts of the one and of the other.
    pub(crate) parts: (u16, u16),
}

/// Two convex parts that are near each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Pair {
    pub(crate) key: PairKey,
    /// Normal of the plane between them, a unit direction from the body.
    pub(crate) axis: DVec3,
    /// The vertices between which they are closest, if a search found them.
    pub(crate) features: Features,
    /// A lower bound of their distance when they were searched, in units, at a value of `f32`.
    pub(crate) gap: f64,
    /// Where they touch or will touch this tick; empty if they will not.
    pub(crate) points: Points,
}
