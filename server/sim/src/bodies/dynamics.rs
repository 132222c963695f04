//! The dynamics of single bodies: mass, gravity, damping, locked axes, the forces of a game, and
//! the lift of liquids.
//!
//! A model's material gives the parameters of all its bodies. A body to which a game has given
//! parameters or forces of its own keeps them in a `Box`. Any other body has only an empty
//! `Option`, and costs nothing more.

mod buoyancy;
mod error;
mod forces;
mod locked_axes;
mod parameters;

use glam::{DMat3, DQuat};
use serde::{Deserialize, Serialize};

pub(crate) use buoyancy::{Buoyancy, Displaced, Floating, density};
pub use error::BodyError;
pub use forces::ForceSpan;
pub(crate) use forces::{Forces, Wrench, world_inverse_inertia};
pub use locked_axes::LockedAxes;
pub(crate) use parameters::within;
pub use parameters::{BodyMass, BodyParameters};

use crate::bodies::roles::Drive;
use crate::collision::mass::MassProperties;
use crate::collision::shape::Shape;

/// How far the length of a kept orientation may differ from 1.
const UNIT: f64 = 1e-6;

/// The parameters and forces that one body has of its own, if any.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Dynamics(Option<Box<OwnDynamics>>);

/// The parameters and forces of one body.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OwnDynamics {
    pub(crate) parameters: BodyParameters,
    pub(crate) forces: Forces,
    /// The orientation of a body whose rotation is locked, while it is in limbo. It comes back
    /// with that orientation.
    pub(crate) kept: Option<DQuat>,
    /// The mass by the parameters and the shape.
    #[serde(skip)]
    pub(crate) mass: MassProperties,
}

impl Dynamics {
    /// The body's own parameters and forces; `None` if it has none.
    pub(crate) fn own(&self) -> Option<&OwnDynamics> {
        self.0.as_deref()
    }

    /// The parameters of a body of `shape`.
    pub(crate) fn parameters(&self, shape: &Shape) -> BodyParameters {
        self.own().map_or_else(|| BodyParameters::of(&shape.material), |own| own.parameters)
    }

    /// Sets the parameters of a body of `shape`, which are in range.
    pub(crate) fn set_parameters(&mut self, shape: &Shape, parameters: BodyParameters) {
        self.change(shape, |own| own.parameters = parameters);
    }

    /// The forces on the body.
    pub(crate) fn forces(&self) -> Forces {
        self.own().map(|own| own.forces).unwrap_or_default()
    }

    /// Sets the forces on a body of `shape`, which are in range.
    pub(crate) fn set_forces(&mut self, shape: &Shape, forces: Forces) {
        self.change(shape, |own| own.forces = forces);
    }

    /// Changes what the body has of its own. A body whose parameters are those of its material,
    /// and on which no force acts, has nothing of its own afterwards.
    fn change(&mut self, shape: &Shape, change: impl FnOnce(&mut OwnDynamics)) {
        let usual = BodyParameters::of(&shape.material);
        let own = self.0.get_or_insert_with(|| {
            let (forces, mass) = (Forces::default(), MassProperties::default());
            Box::new(OwnDynamics { parameters: usual, forces, kept: None, mass })
        });
        change(own);
        if own.parameters == usual && own.forces == Forces::default() {
            self.0 = None;
        } else {
            own.mass = own.parameters.mass_properties(shape);
        }
    }

    /// Whether a force acts on the body in this tick alone.
    pub(crate) fn has_forces_of_tick(&self) -> bool {
        self.own().is_some_and(|own| own.forces.of_tick != Wrench::default())
    }

    /// Ends a tick in which a body of `shape` moved. The forces of one tick end.
    pub(crate) fn end_tick(&mut self, shape: &Shape) {
        if self.has_forces_of_tick() {
            self.change(shape, |own| own.forces.of_tick = Wrench::default());
        }
    }

    /// The accelerations by the forces on a body with this `rotation`, in a motion of this many
    /// `ticks`. `None` if no force acts.
    pub(crate) fn drive(&self, rotation: DMat3, ticks: u16) -> Option<Drive> {
        let own = self.own().filter(|own| own.forces != Forces::default())?;
        Some(own.forces.drive(&own.mass, rotation, own.parameters.locked_axes, ticks))
    }

    /// Notes the orientation of a body that leaves the world.
    pub(crate) fn keep(&mut self, orientation: DQuat) {
        if let Some(own) = &mut self.0 {
            own.kept = own.parameters.locked_axes.any_rotation().then_some(orientation);
        }
    }

    /// The orientation with which a body comes back from limbo: its former one if its rotation is
    /// locked, or else the identity.
    pub(crate) fn kept(&self) -> DQuat {
        self.own().and_then(|own| own.kept).unwrap_or(DQuat::IDENTITY)
    }

    /// The axes that are locked.
    pub(crate) fn locked(&self) -> LockedAxes {
        self.own().map_or(LockedAxes::NONE, |own| own.parameters.locked_axes)
    }

    /// Checks the saved fields, and computes the mass, which is not saved, for a body of `shape`.
    pub(crate) fn restore(&mut self, shape: &Shape) -> Result<(), &'static str> {
        let Some(own) = &mut self.0 else { return Ok(()) };
        let is_locked = LockedAxes::from_bits(own.parameters.locked_axes.bits()).is_some();
        if !is_locked || own.parameters.check().is_err() || own.forces.check().is_err() {
            return Err("a parameter or a force of a body is out of its range");
        }
        let is_unit = |kept: DQuat| (kept.length() - 1.0).abs() <= UNIT;
        if !own.kept.is_none_or(is_unit) {
            return Err("the orientation that a body keeps in limbo is not of length one");
        }
        own.mass = own.parameters.mass_properties(shape);
        Ok(())
    }
}
