//! The material of a model's bodies: the properties that affect their motion.

use thiserror::Error;

/// How the surface of a model's bodies behaves in contacts, and how fast they lose spin.
///
/// ```
/// use obsp::model::Material;
///
/// // A puck that slides far and spins for ever.
/// let ice = Material::new(0.02, 0.1)?.with_angular_damping(0.0)?;
/// assert_eq!(ice.angular_damping(), 0.0);
/// # Ok::<(), obsp::model::MaterialError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    pub(super) friction: f64,
    pub(super) restitution: f64,
    pub(super) angular_damping: f64,
}

/// A coefficient is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{name} is {value}, not between 0 and {most}")]
pub struct MaterialError {
    /// The name of the coefficient.
    pub name: &'static str,
    /// The value of the coefficient.
    pub value: f64,
    /// The greatest value that is allowed.
    pub most: f64,
}

impl Material {
    /// The default material: boxes stay on ramps up to 31 degrees, and hardly bounce. The world
    /// and players have the same friction, and no restitution.
    pub const USUAL: Self = Self { friction: 0.6, restitution: 0.2, angular_damping: 0.4 };

    /// Maximum coefficient of friction. Rubber on dry ground has little more than 1, and a body
    /// with more than 2 sticks to walls.
    pub const MAX_FRICTION: f64 = 2.0;

    /// Maximum coefficient of restitution. Beyond 1, impacts would gain energy.
    pub const MAX_RESTITUTION: f64 = 1.0;

    /// Maximum angular damping, per second. With this value a body loses its spin within a few
    /// ticks.
    pub const MAX_ANGULAR_DAMPING: f64 = 100.0;

    /// The material with these coefficients, and the default damping.
    ///
    /// # Errors
    /// One of the coefficients is negative, too great, or not a number.
    pub fn new(friction: f64, restitution: f64) -> Result<Self, MaterialError> {
        within("friction", friction, Self::MAX_FRICTION)?;
        within("restitution", restitution, Self::MAX_RESTITUTION)?;
        Ok(Self { friction, restitution, ..Self::USUAL })
    }

    /// This material with another angular damping.
    ///
    /// # Errors
    /// The damping is negative, too great, or not a number.
    pub fn with_angular_damping(self, angular_damping: f64) -> Result<Self, MaterialError> {
        within("angular_damping", angular_damping, Self::MAX_ANGULAR_DAMPING)?;
        Ok(Self { angular_damping, ..self })
    }

    /// Coulomb's coefficient of friction. A contact has the geometric mean of the coefficients of
    /// its two materials.
    pub const fn friction(&self) -> f64 {
        self.friction
    }

    /// Coefficient of restitution. A contact has the greater of the coefficients of its two
    /// materials.
    pub const fn restitution(&self) -> f64 {
        self.restitution
    }

    /// Angular damping, per second. With a damping of *c*, the spin is multiplied by 1/(1 + *c*
    /// *h*) in each step of *h* seconds. A small *c* is the share of the spin that a body loses per
    /// second. Zero keeps the angular momentum of a body in free flight.
    pub const fn angular_damping(&self) -> f64 {
        self.angular_damping
    }
}

fn within(name: &'static str, value: f64, most: f64) -> Result<(), MaterialError> {
    match (0.0..=most).contains(&value) {
        true => Ok(()),
        false => Err(MaterialError { name, value, most }),
    }
}

impl Default for Material {
    fn default() -> Self {
        Self::USUAL
    }
}
