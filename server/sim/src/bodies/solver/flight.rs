//! Bodies that touch nothing: they fall along a parabola and spin by Euler's equations, both
//! without sub-steps.

use glam::DVec3;

use super::{MAX_SPEED, max_spin, proposal};
use crate::bodies::entities::Entity;
use crate::bodies::guard::Proposal;
use crate::collision::pose::Pose;
use crate::collision::shape::Shape;
use crate::conventions::GRAVITY;

/// Moves a body by `seconds`: writes its velocities, and returns its target if it moves.
pub(super) fn fly(entity: &mut Entity, shape: &Shape, seconds: f64) -> Option<Proposal> {
    let start = *entity.placement()?.pose();
    let drive = entity.drive();
    let before = entity.velocity;
    let acceleration = drive.linear - DVec3::Z * GRAVITY;
    entity.velocity = (before + acceleration * seconds).clamp_length_max(MAX_SPEED);
    let spin = (entity.angular + drive.angular * seconds)
        * damped(shape.material.angular_damping(), seconds);
    let spin = spin.clamp_length_max(max_spin(seconds));
    let (orientation, angular) = shape.top.spun(start.orientation, spin, seconds);
    entity.angular = angular;
    let shift = (before + entity.velocity) * (0.5 * seconds);
    (entity.sleep.held, entity.sleep.held_by_solver) = (false, false);
    let target = Pose { position: start.position + shift, orientation };
    proposal(entity.id.slot, [&start, &target], shape.radius, seconds)
}

/// The factor by which damping reduces a body's spin within a step: an approximate exponential. Its
/// error is of the third order in the exponent, and it is above zero for any exponent.
pub(super) fn damped(damping: f64, seconds: f64) -> f64 {
    let exponent = damping * seconds;
    1.0 / (1.0 + exponent * (1.0 + 0.5 * exponent))
}
