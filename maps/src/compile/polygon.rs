//! Polygons of expanded solids, split by planes within the compiler's tolerance.

use glam::DVec3;

use super::planes::{PlaneId, TOLERANCE};
use crate::geometry::{Aabb, Plane, Winding};
use crate::spaces::SizeId;

/// A piece of the surface of one size's solid space.
#[derive(Clone, Debug)]
pub(super) struct Polygon {
    /// The polygon's plane, facing out of the solid.
    pub(super) plane: PlaneId,
    pub(super) size: SizeId,
    winding: Winding,
    centre: DVec3,
    half_extents: DVec3,
}

/// The side of a plane that something is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Front,
    Back,
    On,
    Both,
}

impl Polygon {
    pub(super) fn new(plane: PlaneId, size: SizeId, winding: Winding) -> Self {
        let bounds = Aabb::around(winding.vertices.iter().copied());
        let (centre, half_extents) = (bounds.centre(), bounds.half_extents());
        Self { plane, size, winding, centre, half_extents }
    }

    fn with_winding(&self, winding: Winding) -> Self {
        Self::new(self.plane, self.size, winding)
    }

    pub(super) fn winding(&self) -> &Winding {
        &self.winding
    }

    /// The side of `plane` that the polygon is on, apart from parts that extend beyond it
    /// by less than the tolerance.
    pub(super) fn side(&self, plane: &Plane) -> Side {
        let reach = self.half_extents.dot(plane.normal.abs());
        let distance = plane.signed_distance(self.centre);
        if distance > reach {
            return Side::Front;
        }
        if distance < -reach {
            return Side::Back;
        }
        side(&self.winding.vertices, plane)
    }

    /// The parts in front of and behind a plane that divides the polygon.
    pub(super) fn split(&self, plane: &Plane) -> (Option<Self>, Option<Self>) {
        let (front, back) = split(&self.winding, plane);
        (front.map(|w| self.with_winding(w)), back.map(|w| self.with_winding(w)))
    }
}

/// The side of `plane` that the points are on.
pub(super) fn side(points: &[DVec3], plane: &Plane) -> Side {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for &point in points {
        let distance = plane.signed_distance(point);
        least = least.min(distance);
        most = most.max(distance);
    }
    match (most > TOLERANCE, least < -TOLERANCE) {
        (true, true) => Side::Both,
        (true, false) => Side::Front,
        (false, true) => Side::Back,
        (false, false) => Side::On,
    }
}

/// Splits a winding. A part without an area is `None`.
pub(super) fn split(winding: &Winding, plane: &Plane) -> (Option<Winding>, Option<Winding>) {
    let count = winding.vertices.len();
    let (mut front, mut back) = (Vec::with_capacity(count + 1), Vec::with_capacity(count + 1));
    for (i, &a) in winding.vertices.iter().enumerate() {
        let b = winding.vertices[(i + 1) % count];
        let (from, to) = (plane.signed_distance(a), plane.signed_distance(b));
        if from >= 0.0 {
            front.push(a);
        }
        if from <= 0.0 {
            back.push(a);
        }
        if (from > 0.0 && to < 0.0) || (from < 0.0 && to > 0.0) {
            let cut = a + (b - a) * (from / (from - to));
            front.push(cut);
            back.push(cut);
        }
    }
    let whole = |vertices: Vec<DVec3>| (vertices.len() >= 3).then_some(Winding { vertices });
    (whole(front), whole(back))
}
