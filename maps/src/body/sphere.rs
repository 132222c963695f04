use glam::Vec3;

use super::support::{BodyError, Support, checked};

/// A ball about its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    radius: f32,
}

impl Sphere {
    /// The ball of this radius, in units.
    ///
    /// # Errors
    /// [`BodyError::Extent`] if the radius is out of range.
    pub fn new(radius: f32) -> Result<Self, BodyError> {
        Ok(Self { radius: checked(radius)? })
    }
}

impl Support for Sphere {
    #[inline]
    fn support_point(&self, direction: Vec3) -> Vec3 {
        direction * self.radius
    }

    #[inline]
    fn support(&self, _: Vec3) -> f32 {
        self.radius
    }
}
