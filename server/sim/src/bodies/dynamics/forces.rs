//! The forces that a game puts on a body.

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use super::error::BodyError;
use super::locked_axes::LockedAxes;
use super::parameters::within;
use crate::bodies::roles::Drive;
use crate::collision::mass::MassProperties;

/// Maximum component of the sum of the forces on a body, in kg·units/s². It moves the heaviest body
/// to the highest speed within a tick of a thousandth of a second.
const MAX_FORCE: f64 = 1e13;

/// Maximum component of the sum of the torques on a body, in kg·units²/s².
const MAX_TORQUE: f64 = 1e16;

/// Greatest acceleration by forces, in units per second squared, and radians per second squared. A
/// body reaches its highest speed and spin within a tick of a thousandth of a second.
const MAX_ACCELERATIONS: [f64; 2] = [1e7, 1e7];

/// How long a force acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ForceSpan {
    /// For the next tick only. If the body skips that tick because of overload, the force acts when
    /// the body makes up for it.
    Tick,
    /// Until the forces of the body are reset.
    UntilReset,
}

/// The sum of forces on a body, in kg·units/s², and of torques about its centre of mass, in
/// kg·units²/s², both in the world's axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Wrench {
    pub(crate) force: DVec3,
    pub(crate) torque: DVec3,
}

impl Wrench {
    /// The sum of two wrenches.
    ///
    /// # Errors
    /// The sum is beyond the greatest force or torque, or not a number.
    fn plus(self, other: Self) -> Result<Self, BodyError> {
        let sum = Self { force: self.force + other.force, torque: self.torque + other.torque };
        sum.check()?;
        Ok(sum)
    }

    fn check(&self) -> Result<(), BodyError> {
        for (name, vector, most) in
            [("force", self.force, MAX_FORCE), ("torque", self.torque, MAX_TORQUE)]
        {
            for component in vector.to_array() {
                within(name, component, &(-most..=most))?;
            }
        }
        Ok(())
    }
}

/// The forces that a game puts on a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Forces {
    /// The forces until they are reset.
    pub(crate) lasting: Wrench,
    /// The forces of one tick.
    pub(crate) of_tick: Wrench,
}

impl Forces {
    /// Adds a force and a torque.
    ///
    /// # Errors
    /// The sum is out of range; nothing changes then.
    pub(crate) fn add(&mut self, added: Wrench, span: ForceSpan) -> Result<(), BodyError> {
        let sum = match span {
            ForceSpan::Tick => &mut self.of_tick,
            ForceSpan::UntilReset => &mut self.lasting,
        };
        *sum = sum.plus(added)?;
        Ok(())
    }

    /// Checks that both sums are in range.
    pub(crate) fn check(&self) -> Result<(), BodyError> {
        self.lasting.check()?;
        self.of_tick.check()
    }

    /// The accelerations by the forces in a motion of so many `ticks`.
    pub(super) fn drive(
        &self,
        mass: &MassProperties,
        rotation: DMat3,
        locked: LockedAxes,
        ticks: u16,
    ) -> Drive {
        // A body that skipped a tick moves by two ticks at once. The forces of one tick are spread
        // over both.
        let share = 1.0 / f64::from(ticks.max(1));
        let force = self.lasting.force + self.of_tick.force * share;
        let torque = self.lasting.torque + self.of_tick.torque * share;
        let [linear, angular] = MAX_ACCELERATIONS;
        let inverse = world_inverse_inertia(mass, rotation, locked);
        Drive {
            linear: locked.translation(force * mass.inverse_mass).clamp_length_max(linear),
            angular: (inverse * torque).clamp_length_max(angular),
        }
    }
}

/// The inverse inertia, in the world's axes, of a body that is turned by `rotation`.
pub(crate) fn world_inverse_inertia(
    mass: &MassProperties,
    rotation: DMat3,
    locked: LockedAxes,
) -> DMat3 {
    if locked.any_rotation() && mass.inverse_mass > 0.0 {
        locked.inverse_inertia(rotation * mass.inertia * rotation.transpose())
    } else {
        rotation * mass.inverse_inertia * rotation.transpose()
    }
}
