//! The support function of a convex body, and the extents that a body may have.

use glam::{Quat, Vec3};
use thiserror::Error;

/// Minimum extent of a body in every direction, in units. Two solid cells that meet in a plane have
/// a crack between them, as wide as the rounding of `f32`. A body of this size covers the crack
/// anywhere within Quake's coordinates. The bare point is traced through the onion BSP instead.
pub const LEAST_EXTENT: f32 = 1.0 / 64.0;

/// Maximum extent of a body, in units. No level is as large.
pub const GREATEST_EXTENT: f32 = 4096.0;

/// A convex body that moves without turning.
///
/// ```
/// use obsp::body::Support;
/// use obsp::glam::Vec3;
///
/// /// An upright capsule: a ball that is swept along a vertical line.
/// struct Capsule {
///     radius: f32,
///     half_length: f32,
/// }
///
/// impl Support for Capsule {
///     fn support_point(&self, direction: Vec3) -> Vec3 {
///         direction * self.radius + Vec3::Z * self.half_length.copysign(direction.z)
///     }
/// }
///
/// let capsule = Capsule { radius: 16.0, half_length: 12.0 };
/// assert_eq!((capsule.support(Vec3::Z), capsule.support(Vec3::X)), (28.0, 16.0));
/// ```
pub trait Support {
    /// The point of the body that is farthest along the unit vector `direction`, relative to the
    /// reference point. If there are several such points, any of them.
    fn support_point(&self, direction: Vec3) -> Vec3;

    /// How far the body extends along the unit vector `direction`, in units from the reference
    /// point. Must agree with [`Support::support_point`], and be at least [`LEAST_EXTENT`] in every
    /// direction. A smaller body may slip through at the places where solid cells meet.
    #[inline]
    fn support(&self, direction: Vec3) -> f32 {
        self.support_point(direction).dot(direction)
    }
}

/// A body that cannot be traced.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum BodyError {
    /// A radius or half extent out of range, or not a number.
    #[error("an extent is {0} units; it must be from {LEAST_EXTENT} to {GREATEST_EXTENT}")]
    Extent(f32),
    /// An orientation whose length is zero or not finite.
    #[error("{0} is not an orientation: its length is zero or not finite")]
    Orientation(Quat),
    /// No points.
    #[error("a body needs at least one point")]
    Empty,
}

/// `extent`, if it is within the limits of bodies.
pub(super) fn checked(extent: f32) -> Result<f32, BodyError> {
    if (LEAST_EXTENT..=GREATEST_EXTENT).contains(&extent) {
        Ok(extent)
    } else {
        Err(BodyError::Extent(extent))
    }
}
