use glam::DVec3;
use serde::{Deserialize, Serialize};

/// An oriented plane `normal · x = distance`. The front is where `normal · x > distance`. A solid
/// lies *behind* its planes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plane {
    /// Unit normal.
    pub normal: DVec3,
    /// Distance from the origin along the normal, in units.
    pub distance: f64,
}

impl Plane {
    /// The plane with this unit normal through `point`.
    pub fn through(normal: DVec3, point: DVec3) -> Self {
        Self { normal, distance: normal.dot(point) }
    }

    /// Signed distance of `point`: positive in front.
    #[inline]
    pub fn signed_distance(&self, point: DVec3) -> f64 {
        self.normal.dot(point) - self.distance
    }

    /// Whether the normal has length one, except for rounding, and the distance is finite.
    pub(crate) fn is_sound(&self) -> bool {
        (self.normal.length_squared() - 1.0).abs() < 1e-6 && self.distance.is_finite()
    }

    /// This plane, seen from the other side.
    pub fn flipped(&self) -> Self {
        Self { normal: -self.normal, distance: -self.distance }
    }
}
