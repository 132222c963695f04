use glam::Vec3;

use super::support::{BodyError, Support, checked};

/// An upright cylinder about its centre: the shape of characters in Melax's game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    radius: f32,
    half_height: f32,
}

impl Cylinder {
    /// The cylinder of this radius and half height, in units.
    ///
    /// # Errors
    /// [`BodyError::Extent`] if the radius or the half height is out of range.
    pub fn new(radius: f32, half_height: f32) -> Result<Self, BodyError> {
        Ok(Self { radius: checked(radius)?, half_height: checked(half_height)? })
    }
}

impl Support for Cylinder {
    #[inline]
    fn support_point(&self, direction: Vec3) -> Vec3 {
        let rim = direction.truncate().normalize_or_zero() * self.radius;
        rim.extend(self.half_height.copysign(direction.z))
    }

    /// The distance at which a plane with this normal rests on the rim.
    #[inline]
    fn support(&self, direction: Vec3) -> f32 {
        direction.truncate().length() * self.radius + direction.z.abs() * self.half_height
    }
}
