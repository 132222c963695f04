//! Where the impulses of two bodies act that meet fast within a tick.
//!
//! The two points of a contact are apart until the bodies meet, and slip past each other while
//! they touch: at a thousand units per second by many units. If the impulses on both did not act
//! at one place, they would turn the two bodies as a whole. So they act at the middle of the two
//! points, wherever these are at each sub-step.

use arrayvec::ArrayVec;

use super::body::Bodies;
use super::constraint::{ConstraintPoint, ContactConstraint};
use super::lanes::{Lanes, Vec3Lanes};
use super::restitution::meets;
use crate::bodies::contact::MAX_POINTS;
use crate::collision::distances::REST_GAP;

/// From the centres of both bodies of each lane to one of its points on them, when the tick began.
pub(super) type Anchors = ArrayVec<[Vec3Lanes; 2], MAX_POINTS>;

/// The lanes whose two bodies both move, and meet at any of their points: each is another island's.
fn lanes_that_meet(constraint: &ContactConstraint, points: &[ConstraintPoint]) -> Lanes {
    let points = &points[constraint.points.clone()];
    let meet = points.iter().fold(Lanes::ZERO, |any, point| any | meets(point));
    let moves = Lanes::new(constraint.bodies[1].map(|body| f32::from(u8::from(body > 0))));
    meet & moves.simd_gt(Lanes::ZERO)
}

/// The places of the points of a constraint whose impulses act at the middle; none if one of its
/// bodies stands still, which cannot be turned.
pub(super) fn anchors(constraint: &ContactConstraint, points: &[ConstraintPoint]) -> Anchors {
    let points = &points[constraint.points.clone()];
    points.iter().filter(|_| constraint.is_mutual).map(|point| point.anchors).collect()
}

/// Lets the impulses of a constraint act at the middle of its points, where these are now, and
/// updates its separations. The next sub-step begins with the impulses of this one: they act there.
pub(super) fn act_between(
    constraint: &ContactConstraint,
    points: &mut [ConstraintPoint],
    anchors: &Anchors,
    bodies: &mut Bodies,
) {
    let normal = constraint.axes[0];
    let lanes = lanes_that_meet(constraint, points);
    let displacements = [0, 1].map(|k| {
        let rows = constraint.bodies[k].map(|body| bodies.displacements[body as usize]);
        let columns = [0, 1, 2].map(|at| Vec3Lanes::from_rows(rows.map(|of| of.columns[at])));
        (Vec3Lanes::from_rows(rows.map(|of| of.shift)), columns)
    });
    for (point, anchors) in points[constraint.points.clone()].iter_mut().zip(anchors) {
        let turned = [0, 1].map(|k: usize| {
            let ([x, y, z], columns) = (anchors[k].components(), displacements[k].1);
            columns[0] * x + columns[1] * y + columns[2] * z
        });
        let moved = [0, 1].map(|k: usize| displacements[k].0 + turned[k]);
        let apart = normal * point.gap + moved[1] - moved[0];
        let separation = apart.dot(normal) - Lanes::splat(REST_GAP as f32);
        point.separation = lanes.select(separation, point.separation);
        let half = apart * Lanes::splat(0.5);
        let arms = [anchors[0] + turned[0] + half, anchors[1] + turned[1] - half];
        let arms = [0, 1].map(|k: usize| arms[k].selected(lanes, point.anchors[k]));
        let changes = constraint.set_arms(point, arms);
        for (own, change) in constraint.bodies.iter().zip(changes) {
            for (body, change) in own.iter().zip(change.to_rows()) {
                bodies.change_impulses(*body as usize, change);
            }
        }
    }
}
