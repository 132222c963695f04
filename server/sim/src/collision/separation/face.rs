//! A plane through a face of one of two convex parts, without a search. Where a vertex of the
//! other part lies in front of the face, the plane also proves which points are closest.

use glam::DVec3;
use obsp::geometry::Face;

use super::{Features, Part, Separation, gap_along};
use crate::collision::distances::ROUNDING;

/// A point up to this far outside a face, in units, still belongs to the face. This is many times
/// the rounding of a coordinate.
const ON_FACE: f64 = 1e-9;

/// A plane between two parts through a face of one of them.
pub(crate) struct FacePlane {
    /// Unit normal from the first part to the second.
    pub(crate) axis: DVec3,
    /// Verified distance along the axis; zero or less if the plane does not divide them.
    pub(crate) gap: f64,
    /// The closest point of each part, if the plane proves which ones they are.
    closest: Option<[DVec3; 2]>,
}

impl FacePlane {
    /// The plane through a face of `a` or `b`. The candidates are the face of `a` and the face of
    /// `b` that are best aligned with `guess`, a direction from `a` to `b`. Of the two, the plane
    /// that is farther from the other part is taken.
    pub(crate) fn between(a: &Part, b: &Part, guess: DVec3) -> Self {
        let (ours, theirs) = (InFront::new(a, b, guess), InFront::new(b, a, -guess));
        let of_first = || {
            let closest = ours.foot().map(|foot| [foot, ours.vertex]);
            (ours.normal, closest)
        };
        let of_second = || {
            let closest = theirs.foot().map(|foot| [theirs.vertex, foot]);
            (-theirs.normal, closest)
        };
        let is_first = ours.height >= theirs.height;
        let (mut axis, mut closest) = if is_first { of_first() } else { of_second() };
        // The two faces are parallel except for rounding. The chosen vertex may lie beside its
        // face, so the other face is tried as well.
        if closest.is_none() && (ours.height - theirs.height).abs() < ROUNDING {
            let (other_axis, found) = if is_first { of_second() } else { of_first() };
            if found.is_some() {
                (axis, closest) = (other_axis, found);
            }
        }
        Self { axis, gap: gap_along(a, b, axis), closest }
    }

    /// The separation of the two parts, if the plane proves which points are closest.
    pub(crate) fn separation(&self) -> Option<Separation> {
        let [on_a, on_b] = self.closest.filter(|_| self.gap > 0.0)?;
        let (axis, gap, features) = (self.axis, self.gap, Features::NONE);
        Some(Separation { axis, gap, on_a, on_b, features })
    }
}

/// The vertex of a part nearest to the plane of a face of another.
struct InFront<'a, 'p> {
    part: &'p Part<'a>,
    face: &'a Face,
    /// Outward normal of the face in the world.
    normal: DVec3,
    /// Height of the vertex above the plane of the face.
    height: f64,
    vertex: DVec3,
    /// The vertex in the axes of the face's part.
    seen: DVec3,
}

impl<'a, 'p> InFront<'a, 'p> {
    fn new(part: &'p Part<'a>, other: &Part, direction: DVec3) -> Self {
        let local = part.direction_to_local(direction);
        let faces = part.solid.faces();
        let (mut face, mut alignment) = (&faces[0], f64::NEG_INFINITY);
        for candidate in faces {
            let along = candidate.plane.normal.dot(local);
            if along > alignment {
                (face, alignment) = (candidate, along);
            }
        }
        let normal = part.direction_to_world(face.plane.normal);
        let vertex = other.support(-normal).1;
        let seen = part.point_to_local(vertex);
        Self { part, face, normal, height: face.plane.signed_distance(seen), vertex, seen }
    }

    /// The point of the face below the vertex; `None` if the vertex lies beside the face. This
    /// point and the vertex are the parts' closest points: neither part enters the slab between the
    /// face's plane and the vertex.
    fn foot(&self) -> Option<DVec3> {
        let foot = self.seen - self.face.plane.normal * self.height;
        let faces = self.part.solid.faces().iter();
        let mut behind = faces.map(|face| face.plane.signed_distance(foot) <= ON_FACE);
        behind.all(|behind| behind).then(|| self.part.to_world(foot))
    }
}
