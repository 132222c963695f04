//! Blow's filter cascade for one pair: cheap tests first, and each may end
//! the matter only with a proof.
//!
//! A pair is always a *moving* body (which may stand still) against a
//! *standing* obstacle: another body, or a solid of the world, which is one
//! more polyhedron to this code. Each stage asks the same question, whether
//! the body keeps more than a margin away for the whole of its motion: the
//! spheres, the six planes of the two boxes, the plane that divided the pair
//! last time, and at last the convex parts themselves
//! ([`passage`](crate::impact::passage)).

use glam::DVec3;
use maps::geometry::{Aabb, ConvexSolid};

use crate::counters::{Counters, Stage};
use crate::impact::{Passage, passage};
use crate::pose::{Motion, Pose};
use crate::separation::Part;
use crate::shape::Shape;

/// A body on its way.
pub(crate) struct Moving<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) motion: Motion,
    arc: f64,
}

impl<'a> Moving<'a> {
    pub(crate) fn new(shape: &'a Shape, start: Pose, end: Pose) -> Self {
        let motion = Motion::new(start, end);
        let arc = Motion::arc(&motion.start, &motion.end, shape.radius);
        Self { shape, motion, arc }
    }

    /// The speedbox: everywhere the body can be during the motion.
    pub(crate) fn bounds(&self) -> Aabb {
        let ends =
            self.shape.bounds_at(&self.motion.start).union(self.shape.bounds_at(&self.motion.end));
        ends.inflated(self.arc)
    }

    /// Greatest `axis · x` over the parts, at both ends, arc included.
    fn extent(&self, axis: DVec3) -> f64 {
        let reach = |pose: &Pose| parts_extent(&self.shape.parts, pose, axis);
        let first = reach(&self.motion.start);
        if self.motion.start == self.motion.end {
            return first;
        }
        first.max(reach(&self.motion.end)) + self.arc
    }

    fn box_extent(&self, axis: DVec3) -> f64 {
        let reach = |pose: &Pose| oriented_box_extent(&self.shape.bounds, pose, axis);
        reach(&self.motion.start).max(reach(&self.motion.end)) + self.arc
    }
}

/// What stands in the way.
#[derive(Clone, Copy)]
pub(crate) enum Obstacle<'a> {
    /// Another body, where it stands now.
    Body(&'a Shape, Pose),
    /// A solid of the world.
    Solid(&'a ConvexSolid),
}

impl<'a> Obstacle<'a> {
    fn pose(&self) -> Pose {
        match self {
            Self::Body(_, pose) => *pose,
            Self::Solid(_) => Pose::at(DVec3::ZERO),
        }
    }

    fn bounds(&self) -> &Aabb {
        match self {
            Self::Body(shape, _) => &shape.bounds,
            Self::Solid(solid) => solid.bounds(),
        }
    }

    fn solids(&self) -> &'a [ConvexSolid] {
        match *self {
            Self::Body(shape, _) => &shape.parts,
            Self::Solid(solid) => std::slice::from_ref(solid),
        }
    }

    /// The obstacle's convex parts where they stand.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part<'a>> + use<'a> {
        let pose = self.pose();
        let fixed = matches!(self, Self::Solid(_));
        let place = move |solid| if fixed { Part::fixed(solid) } else { Part::new(solid, &pose) };
        self.solids().iter().map(place)
    }

    pub(crate) fn centre(&self) -> DVec3 {
        match self {
            Self::Body(_, pose) => pose.position,
            Self::Solid(solid) => solid.bounds().centre(),
        }
    }
}

/// The stages before the exact test, for a motion that must keep more than
/// `margin` away: whether one of them proves that it does. `axis` is the
/// plane of last time, as a unit direction towards the obstacle.
pub(crate) fn filtered(
    moving: &Moving,
    obstacle: &Obstacle,
    margin: f64,
    axis: Option<DVec3>,
    counters: &mut Counters,
) -> bool {
    if let Obstacle::Body(shape, pose) = obstacle {
        let apart = spheres_apart(moving, shape, pose, margin);
        counters.note(Stage::Spheres, apart);
        if apart {
            return true;
        }
    }
    let apart = boxes_apart(moving, obstacle, margin);
    counters.note(Stage::Boxes, apart);
    if apart {
        return true;
    }
    let Some(axis) = axis else { return false };
    let pose = obstacle.pose();
    let apart = -parts_extent(obstacle.solids(), &pose, -axis) - moving.extent(axis) > margin;
    counters.note(Stage::Plane, apart);
    apart
}

/// The whole cascade: how far the motion is free. `axis` takes home the last
/// dividing direction.
pub(crate) fn pass(
    moving: &Moving,
    obstacle: &Obstacle,
    margin: f64,
    axis: &mut Option<DVec3>,
    counters: &mut Counters,
) -> Passage {
    if filtered(moving, obstacle, margin, *axis, counters) {
        return Passage::Free;
    }
    counters.impact_queries += 1;
    let mut earliest = Passage::Free;
    let fallback = obstacle.centre() - moving.motion.start.position;
    for other in obstacle.parts() {
        for part in &moving.shape.parts {
            let mut direction =
                axis.unwrap_or_else(|| fallback.try_normalize().unwrap_or(DVec3::Z));
            let found = passage(
                (part, moving.shape.radius),
                &moving.motion,
                &other,
                margin,
                &mut direction,
                &mut counters.impact_iterations,
            );
            *axis = Some(direction);
            earliest = match (earliest, found) {
                (_, Passage::Overlapping) => {
                    counters.note(Stage::Exact, true);
                    return Passage::Overlapping;
                }
                (Passage::Blocked(a), Passage::Blocked(b)) if a.time <= b.time => {
                    Passage::Blocked(a)
                }
                (earliest, Passage::Free) => earliest,
                (_, blocked) => blocked,
            };
        }
    }
    counters.note(Stage::Exact, true);
    earliest
}

fn spheres_apart(moving: &Moving, shape: &Shape, pose: &Pose, margin: f64) -> bool {
    let (start, end) = (moving.motion.start.position, moving.motion.end.position);
    let along = end - start;
    let to = pose.position - start;
    let length_squared = along.length_squared();
    let t =
        if length_squared > 0.0 { (to.dot(along) / length_squared).clamp(0.0, 1.0) } else { 0.0 };
    let reach = moving.shape.radius + shape.radius + margin;
    (to - along * t).length_squared() > reach * reach
}

/// The six face directions of the two boxes: most of the separating-axis
/// test for little of its cost; the nine edge pairs are left to later stages.
fn boxes_apart(moving: &Moving, obstacle: &Obstacle, margin: f64) -> bool {
    let pose = obstacle.pose();
    let (ours, theirs) = (moving.motion.start.rotation(), pose.rotation());
    let centre = pose.position + theirs * obstacle.bounds().centre();
    let toward = centre - moving.motion.start.position;
    let axes = [ours.x_axis, ours.y_axis, ours.z_axis, theirs.x_axis, theirs.y_axis, theirs.z_axis];
    axes.into_iter().any(|axis| {
        let axis = if axis.dot(toward) < 0.0 { -axis } else { axis };
        -oriented_box_extent(obstacle.bounds(), &pose, -axis) - moving.box_extent(axis) > margin
    })
}

fn oriented_box_extent(bounds: &Aabb, pose: &Pose, axis: DVec3) -> f64 {
    let local = pose.orientation.inverse() * axis;
    local.dot(bounds.centre()) + local.abs().dot(bounds.half_extents()) + axis.dot(pose.position)
}

fn parts_extent(parts: &[ConvexSolid], pose: &Pose, axis: DVec3) -> f64 {
    let local = pose.orientation.inverse() * axis;
    let vertices = parts.iter().flat_map(|part| part.vertices());
    let reach = vertices.fold(f64::NEG_INFINITY, |reach, &v| reach.max(local.dot(v)));
    reach + axis.dot(pose.position)
}
