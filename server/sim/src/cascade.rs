//! Blow's filter cascade for one pair: cheap tests first, and each may end
//! the matter only with a proof.
//!
//! Both bodies may be on their way; one that stands has a motion that goes
//! nowhere, and a solid of the world is one more polyhedron. Every stage asks
//! the same question, whether the two keep more than a margin apart for the
//! whole tick: the spheres, the six planes of the two boxes, the plane that
//! divided the pair last time, and at last the convex parts themselves
//! ([`passage`](crate::impact::passage)).

use glam::DVec3;
use maps::geometry::{Aabb, ConvexSolid};

use crate::counters::{Counters, Stage};
use crate::impact::{Passage, Traveller, passage};
use crate::pose::{Motion, Pose};
use crate::separation::Part;
use crate::shape::{ROUNDING, Shape};

/// A body, or a solid of the world, on its way through the tick.
#[derive(Clone)]
pub(crate) struct Body<'a> {
    /// Convex parts, in body axes.
    pub(crate) parts: &'a [ConvexSolid],
    /// How it moves.
    pub(crate) motion: Motion,
    bounds: &'a Aabb,
    radius: f64,
    arc: f64,
}

impl<'a> Body<'a> {
    pub(crate) fn moving(shape: &'a Shape, start: Pose, end: Pose) -> Self {
        let motion = Motion::new(start, end);
        let arc = motion.arc(0.0, 1.0, shape.radius);
        Self { parts: &shape.parts, motion, bounds: &shape.bounds, radius: shape.radius, arc }
    }

    pub(crate) fn standing(shape: &'a Shape, pose: Pose) -> Self {
        Self::moving(shape, pose, pose)
    }

    /// A solid of the world: its axes are the world's.
    pub(crate) fn fixed(solid: &'a ConvexSolid) -> Self {
        let origin = Pose::at(DVec3::ZERO);
        Self {
            parts: std::slice::from_ref(solid),
            motion: Motion::new(origin, origin),
            bounds: solid.bounds(),
            radius: f64::INFINITY,
            arc: 0.0,
        }
    }

    /// The same body, standing at `pose` all the while.
    pub(crate) fn stopped(&self, pose: Pose) -> Self {
        Self { motion: Motion::new(pose, pose), arc: 0.0, ..self.clone() }
    }

    /// The speedbox: everywhere the body can be during the tick.
    pub(crate) fn speedbox(&self) -> Aabb {
        let start = box_at(self.bounds, &self.motion.start);
        if self.motion.is_still() {
            return start;
        }
        start.union(box_at(self.bounds, &self.motion.end)).inflated(self.arc)
    }

    /// The parts as they stand at the beginning of the tick.
    pub(crate) fn parts_at_start(&self) -> impl Iterator<Item = Part<'a>> + use<'a> {
        let pose = self.motion.start;
        self.parts.iter().map(move |solid| Part::new(solid, &pose))
    }

    pub(crate) fn centre(&self) -> DVec3 {
        self.motion.start.position + self.motion.start.orientation * self.bounds.centre()
    }

    /// Greatest `axis · x` at the beginning and at the end.
    fn extents(&self, axis: DVec3, extent: impl Fn(&Pose, DVec3) -> f64) -> [f64; 2] {
        let first = extent(&self.motion.start, axis);
        let last = if self.motion.is_still() { first } else { extent(&self.motion.end, axis) };
        [first, last]
    }

    fn box_extents(&self, axis: DVec3) -> [f64; 2] {
        self.extents(axis, |pose, axis| {
            let local = pose.orientation.inverse() * axis;
            local.dot(self.bounds.centre())
                + local.abs().dot(self.bounds.half_extents())
                + axis.dot(pose.position)
        })
    }

    fn part_extents(&self, axis: DVec3) -> [f64; 2] {
        self.extents(axis, |pose, axis| {
            let local = pose.orientation.inverse() * axis;
            let vertices = self.parts.iter().flat_map(|part| part.vertices());
            let reach = vertices.fold(f64::NEG_INFINITY, |reach, &v| reach.max(local.dot(v)));
            reach + axis.dot(pose.position)
        })
    }
}

/// The axis-aligned box around `bounds`, given in body axes, at `pose`.
pub(crate) fn box_at(bounds: &Aabb, pose: &Pose) -> Aabb {
    let rotation = pose.rotation();
    let half = bounds.half_extents();
    let reach = rotation.x_axis.abs() * half.x
        + rotation.y_axis.abs() * half.y
        + rotation.z_axis.abs() * half.z;
    Aabb::from_centre(pose.position + rotation * bounds.centre(), reach + ROUNDING)
}

/// The stages before the exact test: whether one of them proves that `a` and
/// `b` keep more than `margin` apart all the while. `axis` is the plane of
/// last time, as a unit direction from `a` to `b`.
pub(crate) fn filtered(
    a: &Body,
    b: &Body,
    margin: f64,
    axis: Option<DVec3>,
    counters: &mut Counters,
) -> bool {
    if b.radius.is_finite() {
        let apart = spheres_apart(a, b, margin);
        counters.note(Stage::Spheres, apart);
        if apart {
            return true;
        }
    }
    let apart = boxes_apart(a, b, margin);
    counters.note(Stage::Boxes, apart);
    if apart {
        return true;
    }
    let Some(axis) = axis else { return false };
    let apart = plane_divides(a, b, a.part_extents(axis), b.part_extents(-axis), margin);
    counters.note(Stage::Plane, apart);
    apart
}

/// The whole cascade: how far the motion from one time to another is free.
/// `axis` takes home the last dividing direction.
pub(crate) fn pass(
    a: &Body,
    b: &Body,
    span: (f64, f64),
    margin: f64,
    axis: &mut Option<DVec3>,
    counters: &mut Counters,
) -> Passage {
    if filtered(a, b, margin, *axis, counters) {
        return Passage::Free;
    }
    counters.note(Stage::Exact, true);
    counters.impact_queries += 1;
    let fallback = (b.centre() - a.centre()).try_normalize().unwrap_or(DVec3::Z);
    let mut result = Passage::Free;
    for theirs in b.parts {
        for ours in a.parts {
            let mut direction = axis.unwrap_or(fallback);
            let found = passage(
                &Traveller { solid: ours, motion: &a.motion, radius: a.radius },
                &Traveller { solid: theirs, motion: &b.motion, radius: b.radius },
                span,
                margin,
                &mut direction,
                &mut counters.impact_iterations,
            );
            *axis = Some(direction);
            result = result.earlier(found);
        }
    }
    result
}

/// Whether one plane divides the pair all the while, given how far `a` reaches
/// towards it and `b` back, at the beginning and at the end: along a fixed
/// direction both ways are straight but for the arcs, so the gap is least at
/// one of the ends.
fn plane_divides(a: &Body, b: &Body, near: [f64; 2], far: [f64; 2], margin: f64) -> bool {
    let gap = f64::min(-far[0] - near[0], -far[1] - near[1]);
    gap - a.arc - b.arc > margin
}

fn spheres_apart(a: &Body, b: &Body, margin: f64) -> bool {
    let from = b.motion.start.position - a.motion.start.position;
    let to = b.motion.end.position - a.motion.end.position;
    let along = to - from;
    let length_squared = along.length_squared();
    let time = if length_squared > 0.0 {
        (-from.dot(along) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let reach = a.radius + b.radius + margin;
    (from + along * time).length_squared() > reach * reach
}

/// The six face directions of the two boxes: most of the separating-axis
/// test for little of its cost; the nine edge pairs are left to later stages.
fn boxes_apart(a: &Body, b: &Body, margin: f64) -> bool {
    let (ours, theirs) = (a.motion.start.rotation(), b.motion.start.rotation());
    let toward = b.centre() - a.centre();
    let axes = [ours.x_axis, ours.y_axis, ours.z_axis, theirs.x_axis, theirs.y_axis, theirs.z_axis];
    axes.into_iter().any(|axis| {
        let axis = if axis.dot(toward) < 0.0 { -axis } else { axis };
        plane_divides(a, b, a.box_extents(axis), b.box_extents(-axis), margin)
    })
}
