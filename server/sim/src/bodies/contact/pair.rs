//! A pair of convex parts that are near each other, with the points at which the parts touch. A
//! search for contacts finds the pairs, and the solver works on them.

use arrayvec::ArrayVec;
use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use crate::bodies::blocker::Blocker;
use crate::collision::separation::Features;

/// Maximum number of contact points between a part and the world. With four, a coin with many
/// corners would tip over the corners that are left out.
pub(crate) const MAX_POINTS: usize = 8;

/// Maximum number of contact points between parts of two bodies. Four points carry any load that a
/// plane can carry. With more, the solver takes more passes to share the load, and stacks sway.
pub(super) const MUTUAL_POINTS: usize = 4;

/// The points of a manifold.
pub(crate) type Points = ArrayVec<ContactPoint, MAX_POINTS>;

/// One point of a manifold.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ContactPoint {
    /// Position on the awake body, in the body's own axes. Points are matched with the points of
    /// the last tick by this position. It is valid for the pose that the body had at the search.
    pub(crate) local: Vec3,
    /// Distance along the normal, in units.
    #[serde(with = "saved_gap")]
    pub(crate) gap: f32,
    /// The solver's last impulses along the normal and the two [`tangents`], in kg·units/s. The
    /// solver computes no more digits than an `f32` has.
    pub(crate) impulse: [f32; 3],
    /// The impulse along the normal that the bodies took in this tick, in kg·units/s. It includes
    /// restitution, which [`impulse`](Self::impulse) leaves out. Only games read it.
    pub(crate) taken: f32,
}

impl ContactPoint {
    /// The position on the other body, from the position `on_body` on the first.
    pub(crate) fn on_other(&self, on_body: DVec3, axis: DVec3) -> DVec3 {
        on_body + axis * f64::from(self.gap)
    }
}

/// Saves a gap as an `f64` with the value of the `f32`, because recordings contain an `f64`.
mod saved_gap {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(gap: &f32, serializer: S) -> Result<S::Ok, S::Error> {
        f64::from(*gap).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f32, D::Error> {
        Ok(f64::deserialize(from)? as f32)
    }
}

/// The two unit directions along which friction is solved. They are at right angles to the
/// contact's `normal` and to each other. Where the z component of the normal changes its sign, the
/// two directions are reversed.
pub(crate) fn tangents(normal: DVec3) -> [Vec3; 2] {
    let normal = normal.as_vec3().normalize();
    let tangent = normal.any_orthonormal_vector();
    [tangent, normal.cross(tangent)]
}

/// The two parts of a pair. Pairs are listed in the order of their keys, and the solver colors them
/// in that order.
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
    /// Normal of the plane between the two parts, a unit direction from the body to the other.
    pub(crate) axis: DVec3,
    /// The vertices at which the two parts are closest, if a search found any.
    pub(crate) features: Features,
    /// A lower bound of the distance between the parts at the search, in units, rounded to a value
    /// that an `f32` holds.
    pub(crate) gap: f64,
    /// The points at which the parts touch, or will touch in this tick; empty if they will not.
    pub(crate) points: Points,
}

/// The pairs that meet: their parts touch, or will touch in this tick.
pub(crate) fn meeting(pairs: &[Pair]) -> impl Iterator<Item = &Pair> {
    pairs.iter().filter(|pair| !pair.points.is_empty())
}

/// The slots of the two bodies of each pair that meets, except for pairs with the world.
pub(crate) fn meeting_bodies(pairs: &[Pair]) -> impl Iterator<Item = (u16, u16)> {
    meeting(pairs).filter_map(|pair| Some((pair.key.body, pair.key.other.entity()?)))
}
