//! What the bodies of a model are made of, as far as contacts notice.

use thiserror::Error;

/// How the surface of a model's bodies behaves in contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    pub(super) friction: f64,
    pub(super) restitution: f64,
}

/// A number that no surface has.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{name} is {value}, not within 0 and {most}")]
pub struct MaterialError {
    /// Which number.
    pub name: &'static str,
    /// What it is.
    pub value: f64,
    /// The most that is allowed.
    pub most: f64,
}

impl Material {
    /// The usual one, which the world and players have as well: boxes stay on ramps up to 31
    /// degrees, and hardly bounce.
    pub const USUAL: Self = Self { friction: 0.6, restitution: 0.2 };

    /// Greatest coefficient of friction: rubber on dry ground has little more than 1, and
    /// what exceeds 2 sticks to walls.
    pub const MAX_FRICTION: f64 = 2.0;

    /// Greatest coefficient of restitution: beyond 1 impacts would gain energy.
    pub const MAX_RESTITUTION: f64 = 1.0;

    /// The material with these coefficients.
    ///
    /// # Errors
    /// One of them is negative, too great, or no number.
    pub fn new(friction: f64, restitution: f64) -> Result<Self, MaterialError> {
        for (name, value, most) in [
            ("friction", friction, Self::MAX_FRICTION),
            ("restitution", restitution, Self::MAX_RESTITUTION),
        ] {
            if !(0.0..=most).contains(&value) {
                return Err(MaterialError { name, value, most });
            }
        }
        Ok(Self { friction, restitution })
    }

    /// Coefficient of friction, by Coulomb; that of a contact is the geometric mean of both.
    pub const fn friction(&self) -> f64 {
        self.friction
    }

    /// Coefficient of restitution; that of a contact is the greater of both.
    pub const fn restitution(&self) -> f64 {
        self.restitution
    }
}

impl Default for Material {
    fn default() -> Self {
        Self::USUAL
    }
}
