use glam::{DMat3, DVec3};
use maps::geometry::{Aabb, Plane};

use super::Body;
use crate::pose::{Pose, bend};

/// Planes of a tree and corners of parts may miss each other by this: what
/// welding corners and faces read as flat leave, in units.
const SURFACE: f64 = 1e-3;

/// A body on its way, as one sees it who rides on another.
pub(super) struct Relative {
    rotations: [DMat3; 2],
    translations: [DVec3; 2],
    still: bool,
    /// Whatever is not proven to be farther from a plane than this may be on
    /// its other side.
    slack: f64,
}

/// Distances from a plane, over the whole tick.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Front,
    Back,
    Both,
}

impl Relative {
    /// `a` as seen from `b`; `None` if either turns farther than the bound is
    /// proven for.
    pub(super) fn new(a: &Body, b: &Body, margin: f64) -> Option<Self> {
        let still = a.motion.is_still() && b.motion.is_still();
        let at = |end: usize| {
            let poses = |body: &Body| [body.motion.start.position, body.motion.end.position][end];
            let inverse = b.rotations[end].transpose();
            (inverse * a.rotations[end], inverse * (poses(a) - poses(b)))
        };
        let (first, last) = (at(0), if still { at(0) } else { at(1) });
        let bend = if still { 0.0 } else { bend(way(a), way(b), margin)? };
        Some(Self {
            rotations: [first.0, last.0],
            translations: [first.1, last.1],
            still,
            slack: margin + bend + SURFACE,
        })
    }

    /// `plane`, given in the axes of the one ridden on, in the axes of the
    /// body: at the beginning and at the end.
    pub(super) fn seen_from_body(&self, plane: &Plane) -> [Plane; 2] {
        let at = |end: usize| Plane {
            normal: self.rotations[end].transpose() * plane.normal,
            distance: plane.distance - plane.normal.dot(self.translations[end]),
        };
        let first = at(0);
        [first, if self.still { first } else { at(1) }]
    }

    /// On which side of the plane, given in body axes, a box stays.
    #[inline]
    pub(super) fn side_of_box(&self, planes: &[Plane; 2], bounds: &Aabb) -> Side {
        let (centre, half) = (bounds.centre(), bounds.half_extents());
        self.side(planes, |plane| {
            let (middle, reach) = (plane.signed_distance(centre), plane.normal.abs().dot(half));
            (middle - reach, middle + reach)
        })
    }

    /// On which side of the plane, given in body axes, something stays whose
    /// least and greatest distance `extent` measures.
    #[inline]
    pub(super) fn side(&self, planes: &[Plane; 2], extent: impl Fn(&Plane) -> (f64, f64)) -> Side {
        let (mut least, mut greatest) = extent(&planes[0]);
        if !self.still {
            let last = extent(&planes[1]);
            (least, greatest) = (least.min(last.0), greatest.max(last.1));
        }
        if least > self.slack {
            Side::Front
        } else if greatest < -self.slack {
            Side::Back
        } else {
            Side::Both
        }
    }
}

/// Where a body begins and ends, and the radius that holds it.
fn way<'a>(body: &'a Body) -> ([&'a Pose; 2], f64) {
    ([&body.motion.start, &body.motion.end], body.radius)
}
