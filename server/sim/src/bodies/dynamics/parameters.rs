//! The parameters of one body, and their ranges.

use std::ops::RangeInclusive;

use glam::{DMat3, DVec3};
use obsp::model::Material;
use serde::{Deserialize, Serialize};

use super::error::BodyError;
use super::locked_axes::LockedAxes;
use crate::collision::mass::MassProperties;
use crate::collision::shape::Shape;

/// Share by which a moment of inertia may exceed the sum of the other two, because of rounding.
const MOMENT_ROUNDING: f64 = 1e-9;

/// How one body answers to forces. A body begins with the numbers of its model's
/// [material](Material).
///
/// ```
/// # use std::sync::Arc;
/// # use glam::{DQuat, DVec3};
/// # use obsp_sim::{Config, World};
/// use obsp_sim::{BodyMass, LockedAxes};
///
/// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
/// # let model = world.model("crate").expect("a shipped model");
/// # let at = DVec3::new(-400.0, -260.0, 100.0);
/// let id = world.spawn_body(model, at, DQuat::IDENTITY)?;
/// // A balloon that does not tip over.
/// let mut parameters = world.body_parameters(id).expect("a dynamic body");
/// parameters.mass = BodyMass::Mass(2.0);
/// parameters.gravity_scale = -0.1;
/// parameters.linear_damping = 1.0;
/// parameters.locked_axes = LockedAxes::ROTATION_LOCKED;
/// world.set_body_parameters(id, parameters)?;
/// world.step(&[]);
/// assert!(world.entity(id).expect("it is in the world").position.z > 100.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyParameters {
    /// The mass and the moments of inertia.
    pub mass: BodyMass,
    /// The share of the match's gravity that acts on the body, within
    /// [`Material::GRAVITY_SCALES`]. With zero the body floats, with a negative share it rises.
    pub gravity_scale: f64,
    /// How fast the body loses speed, per second: 0 to [`Material::MAX_LINEAR_DAMPING`].
    pub linear_damping: f64,
    /// How fast the body loses spin, per second: 0 to [`Material::MAX_ANGULAR_DAMPING`].
    pub angular_damping: f64,
    /// The axes along and about which the body may not move.
    pub locked_axes: LockedAxes,
}

/// The mass of a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum BodyMass {
    /// The volume of the model times this density, in kilograms per cubic unit, within
    /// [`Material::DENSITIES`].
    Density(f64),
    /// This mass in kilograms, within [`BodyParameters::MASSES`]. The moments of inertia are those
    /// of a solid body.
    Mass(f64),
    /// A mass, and moments of inertia of its own.
    MassAndInertia {
        /// The mass in kilograms, within [`BodyParameters::MASSES`].
        mass: f64,
        /// Moments of inertia about the three axes of the model, through its centre of mass, in
        /// kg·units². Each is the mass times a number within [`BodyParameters::UNIT_INERTIAS`], and
        /// at most the sum of the other two.
        inertia: DVec3,
    },
}

impl BodyParameters {
    /// The range of masses, in kilograms. A 32-unit crate weighs 66 kg by default, and a player
    /// 80 kg.
    ///
    /// The guard works with any masses. The solver carries a body that is up to a hundred times
    /// as heavy as the body that it stands on. Heavier bodies sink towards the lower body until the
    /// guard stops them, and such a stack may not come to rest.
    pub const MASSES: RangeInclusive<f64> = 0.01..=1e6;

    /// The range of moments of inertia per kilogram, in square units.
    pub const UNIT_INERTIAS: RangeInclusive<f64> = 0.01..=1e7;

    /// The parameters of a body by its material.
    pub(crate) fn of(material: &Material) -> Self {
        Self {
            mass: BodyMass::Density(material.density()),
            gravity_scale: material.gravity_scale(),
            linear_damping: material.linear_damping(),
            angular_damping: material.angular_damping(),
            locked_axes: LockedAxes::NONE,
        }
    }

    /// Checks the numbers against their ranges.
    pub(crate) fn check(&self) -> Result<(), BodyError> {
        match self.mass {
            BodyMass::Density(density) => within("density", density, &Material::DENSITIES)?,
            BodyMass::Mass(mass) => within("mass", mass, &Self::MASSES)?,
            BodyMass::MassAndInertia { mass, inertia } => {
                within("mass", mass, &Self::MASSES)?;
                for moment in inertia.to_array() {
                    within("inertia / mass", moment / mass, &Self::UNIT_INERTIAS)?;
                }
                let greatest = inertia.max_element();
                let others = inertia.element_sum() - greatest;
                if greatest > others * (1.0 + MOMENT_ROUNDING) {
                    return Err(BodyError::Inertia(inertia));
                }
            }
        }
        within("gravity_scale", self.gravity_scale, &Material::GRAVITY_SCALES)?;
        within("linear_damping", self.linear_damping, &(0.0..=Material::MAX_LINEAR_DAMPING))?;
        within("angular_damping", self.angular_damping, &(0.0..=Material::MAX_ANGULAR_DAMPING))
    }

    /// The mass and inertia of a body of `shape` with these parameters, which are in range.
    pub(super) fn mass_properties(&self, shape: &Shape) -> MassProperties {
        let usual = &shape.mass;
        match self.mass {
            BodyMass::Density(density) if density == shape.material.density() => usual.clone(),
            BodyMass::Density(density) => {
                let mass = density / (shape.material.density() * usual.inverse_mass);
                MassProperties::new(mass, usual.unit_inertia())
            }
            BodyMass::Mass(mass) => MassProperties::new(mass, usual.unit_inertia()),
            BodyMass::MassAndInertia { mass, inertia } => {
                MassProperties::new(mass, DMat3::from_diagonal(inertia / mass))
            }
        }
    }
}

/// Checks that a number is within its range.
pub(crate) fn within(
    name: &'static str,
    value: f64,
    range: &RangeInclusive<f64>,
) -> Result<(), BodyError> {
    match range.contains(&value) {
        true => Ok(()),
        false => {
            Err(BodyError::OutOfRange { name, value, least: *range.start(), most: *range.end() })
        }
    }
}
