//! The separation of two convex parts, as a plane between them.
//!
//! Most parts are closest between a vertex of one and a face of the other, which needs no search
//! ([`FacePlane`]). The search (GJK) only *proposes* a direction. The reported gap is always
//! measured along that direction from all vertices of both parts. So a reported gap always belongs
//! to a plane that divides the pair, no matter how rounding affected the search.

mod face;
mod features;
mod gjk;
mod simplex;

use glam::{DMat3, DVec3};
use obsp::geometry::ConvexSolid;

pub(crate) use face::FacePlane;
pub(crate) use features::Features;

use crate::collision::oriented_box::OrientedBox;
use crate::collision::pose::Pose;

/// A convex part at one pose.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) solid: &'a ConvexSolid,
    rotation: DMat3,
    translation: DVec3,
}

impl<'a> Part<'a> {
    pub(crate) fn new(solid: &'a ConvexSolid, pose: &Pose) -> Self {
        Self::turned(solid, pose.rotation(), pose.position)
    }

    /// The part with this rotation and translation.
    pub(crate) fn turned(solid: &'a ConvexSolid, rotation: DMat3, translation: DVec3) -> Self {
        Self { solid, rotation, translation }
    }

    /// The part, moved by `shift`.
    pub(crate) fn shifted(&self, shift: DVec3) -> Self {
        Self { translation: self.translation + shift, ..*self }
    }

    /// Greatest `direction · x` over the part.
    #[inline]
    pub(crate) fn extent(&self, direction: DVec3) -> f64 {
        let local = self.rotation.transpose() * direction;
        self.solid.extent(local) + direction.dot(self.translation)
    }

    /// The vertex farthest along `direction`, and its index.
    #[inline]
    pub(crate) fn support(&self, direction: DVec3) -> (u16, DVec3) {
        let local = self.rotation.transpose() * direction;
        let index = self.solid.support(local);
        (index, self.to_world(self.solid.vertices()[usize::from(index)]))
    }

    /// The vertex with this index; `None` beyond the last.
    pub(crate) fn vertex(&self, index: usize) -> Option<DVec3> {
        self.solid.vertices().get(index).map(|&vertex| self.to_world(vertex))
    }

    /// A box in the axes of its body that holds the part.
    pub(crate) fn oriented_box(&self) -> OrientedBox {
        let half_extents = self.solid.bounds().half_extents();
        OrientedBox { axes: self.rotation, centre: self.centre(), half_extents }
    }

    pub(crate) fn centre(&self) -> DVec3 {
        self.to_world(self.solid.bounds().centre())
    }

    pub(crate) fn to_world(self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    pub(crate) fn point_to_local(&self, point: DVec3) -> DVec3 {
        self.rotation.transpose() * (point - self.translation)
    }

    pub(crate) fn direction_to_world(&self, direction: DVec3) -> DVec3 {
        self.rotation * direction
    }

    pub(crate) fn direction_to_local(&self, direction: DVec3) -> DVec3 {
        self.rotation.transpose() * direction
    }
}

/// Width of the slab between `a` and `b` across the unit `axis` from `a`
/// towards `b`: a lower bound of their distance. A negative width proves nothing.
#[inline]
pub(crate) fn gap_along(a: &Part, b: &Part, axis: DVec3) -> f64 {
    -b.extent(-axis) - a.extent(axis)
}

/// The result of a search: where two parts are closest, or that they overlap.
#[derive(Clone, Debug)]
pub(crate) enum Proximity {
    /// A plane divides them.
    Apart(Separation),
    /// No dividing plane was found.
    Overlapping,
}

/// A proven separation.
#[derive(Clone, Debug)]
pub(crate) struct Separation {
    /// Unit direction from the first part to the second.
    pub(crate) axis: DVec3,
    /// Verified distance along the axis, above zero.
    pub(crate) gap: f64,
    /// Closest point of the first part.
    pub(crate) on_a: DVec3,
    /// Closest point of the second part.
    pub(crate) on_b: DVec3,
    /// The features from which the next search of this pair starts.
    pub(crate) features: Features,
}

/// The closest points of two convex parts. The search starts along `guess`,
/// any non-zero vector from `a` to `b`; it need not be a unit vector.
pub(crate) fn separate(a: &Part, b: &Part, guess: DVec3) -> Proximity {
    separate_from(a, b, guess, Features::NONE, f64::INFINITY)
}

/// The closest points of two convex parts, by a search that starts from last time's closest
/// vertices. The search stops if the parts are proven more than `enough` apart. The result is then
/// a plane with at least that gap, not the closest points.
pub(crate) fn separate_from(
    a: &Part,
    b: &Part,
    guess: DVec3,
    features: Features,
    enough: f64,
) -> Proximity {
    let at_face = features.may_be_at_face().then(|| FacePlane::between(a, b, guess));
    match at_face.and_then(|plane| plane.separation()) {
        Some(found) => Proximity::Apart(found),
        None => gjk::search(a, b, guess, features, enough),
    }
}
