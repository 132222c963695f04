//! Conventions that all modules share: gravity, ground that carries, and headings.

use std::ops::RangeInclusive;

use glam::{DQuat, DVec2};

/// Downward acceleration, in units per second squared.
pub(crate) const GRAVITY: f64 = 800.0;

/// Minimum height of the normal of ground that carries: the cosine of about 45.6 degrees.
pub(crate) const WALKABLE: f64 = 0.7;

/// The unit vector of a heading of 65,536 steps a turn.
pub(crate) fn heading(yaw: u16) -> DVec2 {
    let angle = f64::from(yaw) * (std::f64::consts::TAU / 65536.0);
    DVec2::new(libm::cos(angle), libm::sin(angle))
}

/// An angle in radians as a heading of 65,536 steps a turn.
pub(crate) fn yaw_of(angle: f64) -> u16 {
    ((angle / std::f64::consts::TAU * 65536.0).round() as i64).rem_euclid(65536) as u16
}

/// A rotation by `angle` radians about +Z.
pub(crate) fn turn(angle: f64) -> DQuat {
    let half = angle * 0.5;
    DQuat::from_xyzw(0.0, 0.0, libm::sin(half), libm::cos(half))
}

/// The gravity of bodies by default, in units per second squared.
pub const BODY_GRAVITY: f64 = GRAVITY;

/// The range of the gravity of bodies, in units per second squared.
pub const BODY_GRAVITIES: RangeInclusive<f64> = 0.0..=4000.0;
