//! The motion of one body in the axes of another, for the BSP stages.

use glam::{DMat3, DVec3};
use obsp::geometry::{Aabb, Plane};

use super::Body;
use crate::collision::pose::{Pose, relative_sagitta};

/// Planes of a tree and corners of parts may disagree by this, in units, because corners are welded
/// and faces are treated as flat.
const SURFACE: f64 = 1e-3;

/// The motion of a body in the axes of another.
pub(super) struct Relative {
    rotations: [DMat3; 2],
    translations: [DVec3; 2],
    still: bool,
    /// A feature counts as on one side of a plane only if it is proven to be farther from it than
    /// this.
    slack: f64,
}

/// The side of a plane on which something stays throughout the tick.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Front,
    Back,
    Both,
}

impl Relative {
    /// `a` as seen from `b`; `None` if either turns farther than the bound is proven for.
    pub(super) fn new(a: &Body, b: &Body, margin: f64) -> Option<Self> {
        let still = a.motion.is_still() && b.motion.is_still();
        let at = |end: usize| {
            let poses = |body: &Body| [body.motion.start.position, body.motion.end.position][end];
            let inverse = b.rotations[end].transpose();
            (inverse * a.rotations[end], inverse * (poses(a) - poses(b)))
        };
        let (first, last) = (at(0), if still { at(0) } else { at(1) });
        let relative_sagitta = if still {
            0.0
        } else {
            relative_sagitta(poses_and_radius(a), poses_and_radius(b), margin)?
        };
        Some(Self {
            rotations: [first.0, last.0],
            translations: [first.1, last.1],
            still,
            slack: margin + relative_sagitta + SURFACE,
        })
    }

    /// Converts `plane` from the axes of the other body to those of the moving one, at the
    /// beginning and at the end of the tick.
    pub(super) fn seen_from_body(&self, plane: &Plane) -> [Plane; 2] {
        let at = |end: usize| Plane {
            normal: self.rotations[end].transpose() * plane.normal,
            distance: plane.distance - plane.normal.dot(self.translations[end]),
        };
        let first = at(0);
        [first, if self.still { first } else { at(1) }]
    }

    /// The side of the plane, given in body axes, on which a box stays.
    #[inline]
    pub(super) fn side_of_box(&self, planes: &[Plane; 2], bounds: &Aabb) -> Side {
        let (centre, half) = (bounds.centre(), bounds.half_extents());
        self.side(planes, |plane| {
            let (middle, reach) = (plane.signed_distance(centre), plane.normal.abs().dot(half));
            (middle - reach, middle + reach)
        })
    }

    /// The side of the plane on which a feature stays. `extent` measures its least and its
    /// greatest distance from a plane.
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

/// First and last pose of a body, and its radius.
fn poses_and_radius<'a>(body: &'a Body) -> ([&'a Pose; 2], f64) {
    ([&body.motion.start, &body.motion.end], body.radius)
}
