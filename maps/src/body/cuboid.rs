use glam::{Mat3, Quat, Vec3};

use super::support::{BodyError, Support, checked};

/// A box along the axes, about its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    half_extents: Vec3,
}

/// The square of a unit quaternion's length differs from one by at most this, because of rounding.
const UNIT: f64 = 1e-5;

/// A box rotated about its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TurnedCuboid {
    /// The rotation from the box's axes to the world's. `back` is its transpose.
    turn: Mat3,
    back: Mat3,
    cuboid: Cuboid,
}

impl Cuboid {
    /// The box of these half extents, in units.
    ///
    /// # Errors
    /// [`BodyError::Extent`] if one of the half extents is out of range.
    pub fn new(half_extents: Vec3) -> Result<Self, BodyError> {
        for extent in half_extents.to_array() {
            checked(extent)?;
        }
        Ok(Self { half_extents })
    }

    /// This box, turned by a quaternion of any length.
    ///
    /// # Errors
    /// [`BodyError::Orientation`] if the quaternion's length is zero or not finite.
    pub fn turned(self, orientation: Quat) -> Result<TurnedCuboid, BodyError> {
        // In `f64` the square of an `f32` neither overflows nor underflows.
        let turn = orientation.as_dquat();
        if !turn.is_finite() || turn.length_squared() == 0.0 {
            return Err(BodyError::Orientation(orientation));
        }
        let is_unit = (turn.length_squared() - 1.0).abs() < UNIT;
        let turn = if is_unit { orientation } else { turn.normalize().as_quat() };
        let turn = Mat3::from_quat(turn);
        Ok(TurnedCuboid { turn, back: turn.transpose(), cuboid: self })
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
