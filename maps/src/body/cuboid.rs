use glam::{Mat3, Quat, Vec3};

use super::support::{BodyError, Support, checked};

/// A box along the axes, about its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    half_extents: Vec3,
}

/// A box rotated about its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TurnedCuboid {
    /// From the box's own axes to the world's, and its transpose.
    turn: Mat3,
    back: Mat3,
    cuboid: Cuboid,
}

impl Cuboid {
    /// The box of these half extents, in units.
    ///
    /// # Errors
    /// [`BodyError::Extent`] if one of them is out of range.
    pub fn new(half_extents: Vec3) -> Result<Self, BodyError> {
        for extent in half_extents.to_array() {
            checked(extent)?;
        }
        Ok(Self { half_extents })
    }

    /// The same box, turned by a unit quaternion.
    pub fn turned(self, orientation: Quat) -> TurnedCuboid {
        let turn = Mat3::from_quat(orientation);
        TurnedCuboid { turn, back: turn.transpose(), cuboid: self }
    }
}

impl Support for Cuboid {
    #[inline]
    fn support_point(&self, direction: Vec3) -> Vec3 {
        self.half_extents.copysign(direction)
    }

    #[inline]
    fn support(&self, direction: Vec3) -> f32 {
        self.half_extents.dot(direction.abs())
    }
}

impl Support for TurnedCuboid {
    #[inline]
    fn support_point(&self, direction: Vec3) -> Vec3 {
        self.turn * self.cuboid.support_point(self.back * direction)
    }

    #[inline]
    fn support(&self, direction: Vec3) -> f32 {
        self.cuboid.support(self.back * direction)
    }
}
