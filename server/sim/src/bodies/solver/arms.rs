//! The place at which impulses act on two bodies that meet fast, and the inertia that they turn.
//!
//! A wheel that rolls a good part of its circumference in a tick meets the floor at a corner that
//! was far ahead when the tick began. So the arm of an impulse turns with the body.
//!
//! The two points of a contact are apart until the bodies meet, and slip past each other while the
//! bodies touch. At a thousand units per second they slip by many units. If the impulses on the two
//! bodies acted at different places, they would turn the pair of bodies as a whole. So both act at
//! the middle of the two points, wherever the points are at each sub-step.
//!
//! A fast meeting may turn a body by a large part of a radian before it ends. So impulses turn the
//! body with the inertia that it has about the world's axes at each sub-step.

use arrayvec::ArrayVec;
use glam::Vec3;

use super::body::Bodies;
use super::constraint::{ConstraintPoint, ContactConstraint};
use super::lanes::{LANES, Lanes, SymmetricLanes, Vec3Lanes};
use super::restitution::meets;
use crate::bodies::contact::MAX_POINTS;
use crate::collision::distances::REST_GAP;

/// The arms and inertias of a constraint when the tick began.
pub(super) struct Arms {
    /// For each point and each of the two bodies: the vector from the body's centre to the point on
    /// that body.
    anchors: ArrayVec<[Vec3Lanes; 2], MAX_POINTS>,
    inverse_inertias: [SymmetricLanes; 2],
}

/// The lanes whose bodies meet at any of their points. Lanes may belong to different islands, so
/// each is decided by its own points.
fn lanes_that_meet(constraint: &ContactConstraint, points: &[ConstraintPoint]) -> Lanes {
    let points = &points[constraint.points.clone()];
    points.iter().fold(Lanes::ZERO, |any, point| any | meets(point))
}

/// The arms of a constraint's points.
pub(super) fn arms(constraint: &ContactConstraint, points: &[ConstraintPoint]) -> Arms {
    let points = &points[constraint.points.clone()];
    Arms {
        anchors: points.iter().map(|point| point.anchors).collect(),
        inverse_inertias: constraint.inverse_inertias,
    }
}

/// Makes the impulses of each contact of a constraint act at the middle between the present places
/// of its two points, and updates the separations. The next sub-step starts with the impulses of
/// this sub-step, so these act at that middle as well.
pub(super) fn act_between(
    constraint: &mut ContactConstraint,
    points: &mut [ConstraintPoint],
    arms: &Arms,
    bodies: &mut Bodies,
) {
    let normal = constraint.axes[0];
    let lanes = lanes_that_meet(constraint, points);
    let [ours, theirs] = constraint.bodies;
    let displacements = [bodies.displacements_of(ours), bodies.displacements_of(theirs)];
    // A body that stands still cannot be turned, so impulses act at the point of the other body.
    let moves = constraint.bodies[1].map(|body| f32::from(u8::from(body > 0)));
    let halves = Lanes::new(moves) * Lanes::splat(0.5);
    let before = constraint.inverse_inertias;
    for k in 0..2 {
        let is_free = constraint.bodies[k].map(|body| !bodies.list[body as usize].locked.any());
        let is_free = Lanes::new(is_free.map(|is| f32::from(u8::from(is)))).simd_gt(Lanes::ZERO);
        let columns = [0, 1, 2]
            .map(|at: usize| Vec3Lanes::new([Vec3::AXES[at]; LANES]) + displacements[k].1[at]);
        constraint.inverse_inertias[k] =
            arms.inverse_inertias[k].rotated(columns).selected(lanes & is_free, before[k]);
    }
    for (point, anchors) in points[constraint.points.clone()].iter_mut().zip(&arms.anchors) {
        let turned = [0, 1].map(|k: usize| {
            let ([x, y, z], columns) = (anchors[k].components(), displacements[k].1);
            columns[0] * x + columns[1] * y + columns[2] * z
        });
        let moved = [0, 1].map(|k: usize| displacements[k].0 + turned[k]);
        let apart = normal * point.gap + moved[1] - moved[0];
        let separation = apart.dot(normal) - Lanes::splat(REST_GAP as f32);
        point.separation = lanes.select(separation, point.separation);
        let half = apart * halves;
        let arms = [anchors[0] + turned[0] + half, anchors[1] + turned[1] - half];
        let arms = [0, 1].map(|k: usize| arms[k].selected(lanes, point.anchors[k]));
        let changes = constraint.set_arms(point, arms, &before);
        for (own, change) in constraint.bodies.iter().zip(changes) {
            for (body, change) in own.iter().zip(change.to_rows()) {
                bodies.change_impulses(*body as usize, change);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::bodies::blocker::Blocker;
    use crate::bodies::contact::{ContactPoint, Pair, PairKey};
    use crate::bodies::solver::body::{SolverBody, padded, unpadded};

    /// Where the impulses on a body act, in the world.
    fn acts_at(bodies: &Bodies, body: usize, arm: Vec3Lanes) -> Vec3 {
        let shift = unpadded(bodies.displacements[body].shift);
        bodies.list[body].position.as_vec3() + shift + unpadded(arm.to_rows()[0])
    }

    #[test]
    fn impulses_act_at_one_place_wherever_the_bodies_have_moved() {
        let mut bodies = Bodies::with_capacity(2, 1.0 / 60.0);
        for (height, speed) in [(40.0, -900.0), (0.0, 0.0)] {
            let body = SolverBody::box_at(DVec3::Z * height, 0.1);
            bodies.push_moving(body, DVec3::new(500.0, 0.0, speed), DVec3::X);
        }
        let point = ContactPoint {
            local: Vec3::new(4.0, 3.0, -16.0),
            gap: 8.0,
            impulse: [40.0, 3.0, -2.0],
            ..ContactPoint::default()
        };
        let key = PairKey { body: 1, other: Blocker::Entity(2), parts: (0, 0) };
        let axis = DVec3::NEG_Z;
        let points = [point].into_iter().collect();
        let pair = Pair { key, axis, features: Default::default(), gap: 8.0, points };
        let mut points = Vec::new();
        let mut constraint = ContactConstraint::new(&bodies, &[([1, 2], &pair)], &mut points);
        let arms = arms(&constraint, &points);
        let moves = [
            (Vec3::ZERO, Vec3::ZERO),
            (Vec3::new(3.0, -1.0, -5.0), Vec3::new(0.2, 0.1, -0.3)),
            (Vec3::new(-9.0, 2.0, -3.0), Vec3::new(0.4, 0.0, 0.1)),
        ];
        for (shift, turn) in moves {
            bodies.displace(1, padded(shift), turn);
            bodies.displace(2, padded(-0.5 * shift), -turn);
            act_between(&mut constraint, &mut points, &arms, &mut bodies);
            let [ours, theirs] = [0, 1].map(|k| acts_at(&bodies, k + 1, points[0].anchors[k]));
            assert!((ours - theirs).length() < 1e-4, "{ours} {theirs}");
        }
    }
}
