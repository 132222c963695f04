//! The material of a model's bodies: the properties that affect their motion.

use std::ops::RangeInclusive;

use thiserror::Error;

/// How the bodies of a model behave: their surface in contacts, how heavy they are, how much they
/// fall, and how fast they lose speed and spin.
///
/// ```
/// use obsp::model::Material;
///
/// // A puck that slides far and spins for ever.
/// let ice = Material::new(0.02, 0.1)?.with_angular_damping(0.0)?;
/// assert_eq!(ice.angular_damping(), 0.0);
///
/// // A balloon: a hundredth as heavy as usual, it rises, and the air brakes it.
/// let balloon = Material::USUAL
///     .with_density(Material::USUAL.density() / 100.0)?
///     .with_gravity_scale(-0.1)?
///     .with_linear_damping(1.0)?;
/// assert_eq!(balloon.gravity_scale(), -0.1);
/// # Ok::<(), obsp::model::MaterialError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    pub(super) friction: f64,
    pub(super) restitution: f64,
    pub(super) angular_damping: f64,
    pub(super) linear_damping: f64,
    pub(super) gravity_scale: f64,
    pub(super) density: f64,
}

/// A number of a material is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{name} is {value}, not between {least} and {most}")]
pub struct MaterialError {
    /// The name of the number.
    pub name: &'static str,
    /// The value of the number.
    pub value: f64,
    /// The least value that is allowed.
    pub least: f64,
    /// The greatest value that is allowed.
    pub most: f64,
}

impl Material {
    /// The default material: boxes stay on ramps up to 31 degrees, and hardly bounce. The world
    /// and players have the same friction, and no restitution.
    pub const USUAL: Self = Self {
        friction: 0.6,
        restitution: 0.2,
        angular_damping: 0.4,
        linear_damping: 0.0,
        gravity_scale: 1.0,
        density: 0.002,
    };

    /// Maximum coefficient of friction. Rubber on dry ground has little more than 1, and a body
    /// with more than 2 sticks to walls.
    pub const MAX_FRICTION: f64 = 2.0;

    /// Maximum coefficient of restitution. Beyond 1, impacts would gain energy.
    pub const MAX_RESTITUTION: f64 = 1.0;

    /// Maximum angular damping, per second. With this value a body loses its spin within a few
    /// ticks.
    pub const MAX_ANGULAR_DAMPING: f64 = 100.0;

    /// Maximum linear damping, per second. With this value a body loses its speed within a few
    /// ticks.
    pub const MAX_LINEAR_DAMPING: f64 = 100.0;

    /// The range of the gravity scale. A body of scale zero floats, and a body of a negative scale
    /// rises.
    pub const GRAVITY_SCALES: RangeInclusive<f64> = -10.0..=10.0;

    /// The range of the density, in kilograms per cubic unit: a hundredth of the default to a
    /// hundred times the default.
    pub const DENSITIES: RangeInclusive<f64> = 0.00002..=0.2;

    /// The material with these coefficients, and the other numbers of [`Material::USUAL`].
    ///
    /// # Errors
    /// One of the coefficients is negative, too great, or not a number.
    pub fn new(friction: f64, restitution: f64) -> Result<Self, MaterialError> {
        within("friction", friction, 0.0..=Self::MAX_FRICTION)?;
        within("restitution", restitution, 0.0..=Self::MAX_RESTITUTION)?;
        Ok(Self { friction, restitution, ..Self::USUAL })
    }

    /// This material with another angular damping.
    ///
    /// # Errors
    /// The damping is negative, too great, or not a number.
    pub fn with_angular_damping(self, angular_damping: f64) -> Result<Self, MaterialError> {
        within("angular_damping", angular_damping, 0.0..=Self::MAX_ANGULAR_DAMPING)?;
        Ok(Self { angular_damping, ..self })
    }

    /// This material with another linear damping.
    ///
    /// # Errors
    /// The damping is negative, too great, or not a number.
    pub fn with_linear_damping(self, linear_damping: f64) -> Result<Self, MaterialError> {
        within("linear_damping", linear_damping, 0.0..=Self::MAX_LINEAR_DAMPING)?;
        Ok(Self { linear_damping, ..self })
    }

    /// This material with another gravity scale.
    ///
    /// # Errors
    /// The scale is out of [`Material::GRAVITY_SCALES`], or not a number.
    pub fn with_gravity_scale(self, gravity_scale: f64) -> Result<Self, MaterialError> {
        within("gravity_scale", gravity_scale, Self::GRAVITY_SCALES)?;
        Ok(Self { gravity_scale, ..self })
    }

    /// This material with another density, in kilograms per cubic unit.
    ///
    /// # Errors
    /// The density is out of [`Material::DENSITIES`], or not a number.
    pub fn with_density(self, density: f64) -> Result<Self, MaterialError> {
        within("density", density, Self::DENSITIES)?;
        Ok(Self { density, ..self })
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

    /// Linear damping, per second: the air brakes a body. With a damping of *c* a body that nothing
    /// else moves loses about the share *c* of its speed per second, and a body that falls gets no
    /// faster than gravity divided by *c*.
    pub const fn linear_damping(&self) -> f64 {
        self.linear_damping
    }

    /// The share of the match's gravity that acts on a body.
    pub const fn gravity_scale(&self) -> f64 {
        self.gravity_scale
    }

    /// Mass of a cubic unit, in kilograms. With the default a crate of 32 units (about 80 cm)
    /// weighs 66 kg, about as much as a player.
    pub const fn density(&self) -> f64 {
        self.density
    }
}

fn within(name: &'static str, value: f64, range: RangeInclusive<f64>) -> Result<(), MaterialError> {
    let (least, most) = range.into_inner();
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(MaterialError { name, value, least, most }),
    }
}

impl Default for Material {
    fn default() -> Self {
        Self::USUAL
    }
}
