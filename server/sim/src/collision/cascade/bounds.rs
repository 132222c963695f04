//! The cheap stages: bounding spheres, bounding boxes, one plane.

use glam::DVec3;

use super::Body;
use crate::collision::distances::ROUNDING;
use crate::collision::pose::least_between;

/// Whether the bounding spheres keep apart. Their centres move in straight lines, so the time at
/// which they are nearest has a closed form.
pub(super) fn spheres_apart(a: &Body, b: &Body, margin: f64) -> bool {
    let from = b.motion.start.position - a.motion.start.position;
    let to = b.motion.end.position - a.motion.end.position;
    let along = to - from;
    let length_squared = along.length_squared();
    let time = if length_squared > 0.0 {
        (-from.dot(along) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let reach = a.radius + b.radius + margin + ROUNDING;
    (from + along * time).length_squared() > reach * reach
}

/// Whether one of the six face directions of the two boxes keeps them apart. These do most of the
/// work of the separating-axis test at a small part of its cost. The nine edge pairs are left to
/// later stages.
pub(super) fn boxes_apart(a: &Body, b: &Body, margin: f64) -> bool {
    // Most pairs come from the search for contacts, in which nothing moves.
    if a.motion.is_still() && b.motion.is_still() {
        return a.oriented_box().is_apart_from(&b.oriented_box(), margin + ROUNDING);
    }
    let ([ours, _], [theirs, _]) = (a.rotations, b.rotations);
    let toward = b.box_centre() - a.box_centre();
    let axes = [ours.x_axis, ours.y_axis, ours.z_axis, theirs.x_axis, theirs.y_axis, theirs.z_axis];
    axes.into_iter().any(|axis| {
        let axis = if axis.dot(toward) < 0.0 { -axis } else { axis };
        divides(a, b, a.box_extents(axis), b.box_extents(-axis), margin)
    })
}

/// Whether the plane with this normal, from `a` to `b`, divides the pair.
pub(super) fn plane_divides(a: &Body, b: &Body, axis: DVec3, margin: f64) -> bool {
    divides(a, b, a.part_extents(axis), b.part_extents(-axis), margin)
}

/// Whether one plane divides the pair throughout the tick. `near` is how far `a` extends along the
/// plane's normal, and `far` how far `b` extends against it, at the beginning and at the end of the
/// tick. Along a fixed direction both motions are linear except for the arcs.
fn divides(a: &Body, b: &Body, near: [f64; 2], far: [f64; 2], margin: f64) -> bool {
    let [first, last] = [-far[0] - near[0], -far[1] - near[1]];
    let room = margin + ROUNDING;
    first.min(last) - a.arc - b.arc > room
        || least_between(first, last, a.sagitta + b.sagitta) > room
}
