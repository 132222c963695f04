//! Bodies that touch nothing: they fall along a parabola and spin by Euler's equations, both
//! without sub-steps.

use glam::DVec3;

use super::body::PaddedVec3;
use super::{HELD_DISTANCE, HELD_SPEED, MAX_SPEED, distance, max_spin, proposal};
use crate::bodies::dynamics::LockedAxes;
use crate::bodies::entities::{Entity, WEIGHTLESS};
use crate::bodies::guard::Proposal;
use crate::collision::pose::Pose;
use crate::collision::shape::Shape;
use crate::collision::top::Top;

/// Moves a body by `seconds`: writes its velocities, and returns its target if it moves.
pub(super) fn fly(entity: &mut Entity, shape: &Shape, seconds: f64) -> Option<Proposal> {
    let start = *entity.placement()?.pose();
    let (drive, locked) = (entity.drive(), entity.dynamics.locked());
    let [linear_damping, angular_damping] = entity.damping(shape);
    let before = locked.translation(entity.velocity);
    let acceleration = locked.translation(drive.linear - DVec3::Z * entity.gravity(shape));
    let shift;
    (entity.velocity, shift) = if linear_damping == 0.0 {
        let velocity = (before + acceleration * seconds).clamp_length_max(MAX_SPEED);
        (velocity, (before + velocity) * (0.5 * seconds))
    } else {
        let braked = Braked::new(linear_damping, seconds);
        let shift = before * braked.gained + acceleration * braked.moved;
        (
            braked.velocity(before, acceleration).clamp_length_max(MAX_SPEED),
            shift.clamp_length_max(MAX_SPEED * seconds),
        )
    };
    let spin = (locked.rotation(entity.angular) + drive.angular * seconds)
        * damped(angular_damping, seconds);
    let spin = spin.clamp_length_max(max_spin(seconds));
    let alike = Top::default();
    // A body with a locked axis keeps its spin about the others.
    let top = if locked.any_rotation() { &alike } else { &entity.mass(shape).top };
    let (orientation, angular) = top.spun(start.orientation, spin, seconds);
    let orientation =
        if locked.contains(LockedAxes::ROTATION_LOCKED) { start.orientation } else { orientation };
    entity.angular = angular;
    let target = Pose { position: start.position + shift, orientation };
    // A body without weight rests in the air, and a body in balance rests on a liquid. A vehicle
    // never rests, even if its engine cancels gravity.
    let floats = entity.record.buoyancy.is_some_and(|buoyancy| buoyancy.rests);
    let held = (acceleration.length() < WEIGHTLESS || floats)
        && entity.player().is_none()
        && entity.velocity.length() + angular.length() * shape.radius < HELD_SPEED
        && distance([&start, &target], shape.radius) <= HELD_DISTANCE;
    (entity.sleep.held, entity.sleep.held_by_solver) = (held, held);
    proposal(entity.id.slot, [&start, &target], shape.radius, seconds)
}

/// The motion of a step under linear damping, with the approximate exponential of [`damped`]. The
/// terminal velocity is a constant acceleration divided by the damping. No step changes it, except
/// by rounding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Braked {
    /// The share of the velocity that is kept.
    kept: f64,
    /// The velocity that a unit acceleration gives, in seconds.
    gained: f64,
    /// The way that a unit acceleration gives, in square seconds.
    moved: f64,
}

impl Braked {
    pub(super) fn new(damping: f64, seconds: f64) -> Self {
        let exponent = damping * seconds;
        let kept = damped(damping, seconds);
        Self {
            kept,
            gained: seconds * (1.0 + 0.5 * exponent) * kept,
            moved: seconds * seconds * 0.5 * (1.0 + exponent) * kept,
        }
    }

    /// The velocity after the step.
    fn velocity(&self, before: DVec3, acceleration: DVec3) -> DVec3 {
        before * self.kept + acceleration * self.gained
    }

    /// The velocity after the step, in single precision.
    pub(super) fn padded_velocity(
        &self,
        before: PaddedVec3,
        acceleration: PaddedVec3,
    ) -> PaddedVec3 {
        before * self.kept as f32 + acceleration * self.gained as f32
    }
}

/// The factor by which damping reduces a body's spin within a step: an approximate exponential. Its
/// error is of the third order in the exponent, and it is above zero for any exponent.
pub(crate) fn damped(damping: f64, seconds: f64) -> f64 {
    let exponent = damping * seconds;
    1.0 / (1.0 + exponent * (1.0 + 0.5 * exponent))
}
