use glam::{Mat3, Quat, Vec3};

use super::{BodyError, Support, checked};

/// A box about its centre, along the axes or turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    /// Half of each side, as a vector along it.
    sides: Mat3,
}

impl Cuboid {
    /// The box of these half extents along the axes, in units.
    ///
    /// # Errors
    /// [`BodyError::Extent`] if one of them is out of range.
    pub fn new(half_extents: Vec3) -> Result<Self, BodyError> {
        for extent in half_extents.to_array() {
            checked(extent)?;
        }
        Ok(Self { sides: Mat3::from_diagonal(half_extents) })
    }

    /// The same box, turned about its centre by a unit quaternion.
    #[must_use]
    pub fn turned(self, orientation: Quat) -> Self {
        Self { sides: Mat3::from_quat(orientation) * self.sides }
    }
}

impl Support for Cuboid {
    #[inline]
    fn support_point(&self, direction: Vec3) -> Vec3 {
        let along = self.sides.transpose() * direction;
        self.sides * Vec3::ONE.copysign(along)
    }

    #[inline]
    fn support(&self, direction: Vec3) -> f32 {
        (self.sides.transpose() * direction).abs().element_sum()
    }
}
