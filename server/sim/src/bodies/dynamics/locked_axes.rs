//! The world's axes along and about which a body may not move.

use std::ops::BitOr;

use glam::{BVec3, DMat3, DVec3};
use serde::{Deserialize, Serialize};

/// The axes of the world along which a body may not move, and about which it may not turn.
///
/// ```
/// use obsp_sim::LockedAxes;
///
/// // A crate that stays upright: it turns about the vertical axis alone.
/// let upright = LockedAxes::ROTATION_LOCKED_X | LockedAxes::ROTATION_LOCKED_Y;
/// assert!(upright.contains(LockedAxes::ROTATION_LOCKED_X));
/// assert!(!upright.contains(LockedAxes::ROTATION_LOCKED));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedAxes(u8);

impl LockedAxes {
    /// No axis: the body moves and turns freely.
    pub const NONE: Self = Self(0);
    /// No motion along the x axis.
    pub const TRANSLATION_LOCKED_X: Self = Self(1);
    /// No motion along the y axis.
    pub const TRANSLATION_LOCKED_Y: Self = Self(1 << 1);
    /// No motion along the z axis.
    pub const TRANSLATION_LOCKED_Z: Self = Self(1 << 2);
    /// No motion along any axis. The body may turn in its place.
    pub const TRANSLATION_LOCKED: Self = Self(0b111);
    /// No rotation about the x axis.
    pub const ROTATION_LOCKED_X: Self = Self(1 << 3);
    /// No rotation about the y axis.
    pub const ROTATION_LOCKED_Y: Self = Self(1 << 4);
    /// No rotation about the z axis.
    pub const ROTATION_LOCKED_Z: Self = Self(1 << 5);
    /// No rotation about any axis. The body keeps its orientation.
    pub const ROTATION_LOCKED: Self = Self(0b111_000);

    /// The axes with these bits, in the order of the constants; `None` if another bit is set.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits < 1 << 6 { Some(Self(bits)) } else { None }
    }

    /// The bits of the axes.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all axes of `other` are locked.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any axis is locked.
    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }

    /// Whether any rotation is locked.
    pub(crate) fn any_rotation(self) -> bool {
        self.0 & Self::ROTATION_LOCKED.0 != 0
    }

    /// One for each axis along which the body moves, zero for the others.
    pub(crate) fn free_translations(self) -> DVec3 {
        DVec3::select(axes(self.0), DVec3::ZERO, DVec3::ONE)
    }

    /// The part of a velocity or a force that moves the body.
    pub(crate) fn translation(self, vector: DVec3) -> DVec3 {
        if self.any() { DVec3::select(axes(self.0), DVec3::ZERO, vector) } else { vector }
    }

    /// The part of an angular velocity that turns the body.
    pub(crate) fn rotation(self, vector: DVec3) -> DVec3 {
        if self.any() { DVec3::select(axes(self.0 >> 3), DVec3::ZERO, vector) } else { vector }
    }

    /// The share of a body's mobility along a unit vector that is left.
    pub(crate) fn share_along(self, direction: DVec3) -> f64 {
        if !self.any() {
            return 1.0;
        }
        self.translation(direction).length_squared()
    }

    /// The inverse inertia in the world's axes of a body with `inertia` in the world's axes. It is
    /// the inverse of the inertia about the axes that are not locked.
    pub(crate) fn inverse_inertia(self, inertia: DMat3) -> DMat3 {
        let free = DVec3::select(axes(self.0 >> 3), DVec3::ZERO, DVec3::ONE);
        let kept = DMat3::from_diagonal(free);
        // A one for each locked axis makes the matrix invertible.
        let whole = kept * inertia * kept + DMat3::from_diagonal(DVec3::ONE - free);
        kept * whole.inverse() * kept
    }
}

/// The axes whose bits are set.
fn axes(bits: u8) -> BVec3 {
    BVec3::new(bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)
}

impl BitOr for LockedAxes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With one free axis, only the moment of inertia about that axis resists a torque about it.
    #[test]
    fn the_free_axis_answers_by_its_own_moment() {
        let inertia = DMat3::from_cols_array(&[4.0, 1.0, 0.5, 1.0, 6.0, -1.0, 0.5, -1.0, 8.0]);
        let upright = LockedAxes::ROTATION_LOCKED_X | LockedAxes::ROTATION_LOCKED_Y;
        let spin = upright.inverse_inertia(inertia) * DVec3::new(3.0, -5.0, 16.0);
        assert!((spin - DVec3::Z * 2.0).length() < 1e-12, "{spin}");
        let free = LockedAxes::TRANSLATION_LOCKED.inverse_inertia(inertia);
        assert!(free.abs_diff_eq(inertia.inverse(), 1e-12));
        assert_eq!(LockedAxes::ROTATION_LOCKED.inverse_inertia(inertia), DMat3::ZERO);
    }
}
