//! The convex region of a node of the tree, and the interface by which it is classified.

use glam::DVec3;

use super::planes::{PlaneId, PlaneTable, TOLERANCE};
use super::polygon::{Side, side, split};
use crate::geometry::{Aabb, ConvexSolid, Face, Plane, Winding};
use crate::spaces::SizeId;

/// Maximum extent of a splinter from a plane, in units: less than half of the 0.01 units that
/// `mapc verify` allows.
const SPLINTER: f64 = 4.0 * TOLERANCE;

/// A bounded convex polyhedron that is split repeatedly.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    faces: Vec<CellFace>,
}

/// A face of a [`Cell`].
#[derive(Clone, Debug)]
struct CellFace {
    /// The face's plane, facing out; `None` for a face of the outermost cell.
    id: Option<PlaneId>,
    plane: Plane,
    winding: Winding,
}

/// The solidity of a cell for one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellState {
    Empty,
    Solid,
    /// The cell is partly solid, and this plane of a solid cuts it in two.
    Mixed(PlaneId),
}

/// The solid space that the leaves of a tree have to agree with.
pub(super) trait SolidSpace: Sync {
    /// The state of `cell` for `size`, apart from parts thinner than the tolerance.
    fn state(&self, cell: &Cell, size: SizeId, planes: &PlaneTable) -> CellState;
}

impl Cell {
    /// The cell in the shape of the box `bounds`; `None` if that is not a solid.
    pub(super) fn from_box(bounds: &Aabb) -> Option<Self> {
        let solid = ConvexSolid::from_box(bounds).ok()?;
        let face = |f: &Face| CellFace { id: None, plane: f.plane, winding: solid.winding(f) };
        Some(Self { faces: solid.faces().iter().map(face).collect() })
    }

    /// The faces, with their planes facing out; `None` for faces of the outermost cell.
    pub(super) fn into_faces(self) -> impl Iterator<Item = (Option<PlaneId>, Winding)> {
        self.faces.into_iter().map(|face| (face.id, face.winding))
    }

    /// The outward planes of the faces.
    pub(super) fn planes(&self) -> impl Iterator<Item = Plane> {
        self.faces.iter().map(|face| face.plane)
    }

    /// Corners, each once for every face that it belongs to.
    pub(super) fn vertices(&self) -> impl Iterator<Item = DVec3> {
        self.faces.iter().flat_map(|face| face.winding.vertices.iter().copied())
    }

    /// A point inside, unless the cell is flat.
    pub(super) fn centre(&self) -> DVec3 {
        let centres = self.faces.iter().map(|face| face.winding.centre());
        centres.sum::<DVec3>() / self.faces.len() as f64
    }

    /// Whether the cell is thinner than the tolerance, and extends no farther than
    /// [`SPLINTER`] from `plane`.
    pub(super) fn is_splinter(&self, plane: &Plane) -> bool {
        let near = |vertex: DVec3| plane.signed_distance(vertex).abs() < SPLINTER;
        self.vertices().all(near) && self.is_thinner_than(TOLERANCE)
    }

    /// Whether the whole cell is within `thickness` units of the plane of a face.
    pub(super) fn is_thinner_than(&self, thickness: f64) -> bool {
        let thin = |face: &CellFace| {
            self.vertices().all(|vertex| face.plane.signed_distance(vertex) > -thickness)
        };
        self.faces.iter().any(thin)
    }

    /// Whether a corner of one face is within `thickness` units of the plane of another face, and
    /// the dot product of their normals is below `opposite`.
    pub(super) fn narrows_to(&self, thickness: f64, opposite: f64) -> bool {
        self.faces.iter().any(|face| {
            let near = |v: &DVec3| face.plane.signed_distance(*v) > -thickness;
            let others = self.faces.iter();
            let mut others = others.filter(|o| o.plane.normal.dot(face.plane.normal) < opposite);
            others.any(|other| other.winding.vertices.iter().any(near))
        })
    }

    /// Whether the cell extends farther in front of `plane` than behind it.
    pub(super) fn is_mostly_in_front(&self, plane: &Plane) -> bool {
        let heights = self.vertices().map(|vertex| plane.signed_distance(vertex));
        let (least, most) = heights.fold((0.0_f64, 0.0_f64), |(l, m), h| (l.min(h), m.max(h)));
        most > -least
    }

    pub(super) fn bounds(&self) -> Aabb {
        Aabb::around(self.vertices())
    }

    /// The side of `plane` that the cell is on, apart from parts that extend beyond it
    /// by less than the tolerance.
    pub(super) fn side(&self, plane: &Plane) -> Side {
        let (mut front, mut back) = (false, false);
        for face in &self.faces {
            match side(&face.winding.vertices, plane) {
                Side::Front => front = true,
                Side::Back => back = true,
                Side::Both => return Side::Both,
                Side::On => (),
            }
        }
        match (front, back) {
            (true, true) => Side::Both,
            (true, false) => Side::Front,
            (false, true) => Side::Back,
            (false, false) => Side::On,
        }
    }

    /// The parts in front of and behind a plane that divides the cell.
    pub(super) fn split(&self, id: PlaneId, plane: &Plane) -> (Self, Self) {
        let (mut front, mut back) = (Vec::new(), Vec::new());
        for face in &self.faces {
            let (f, b) = split(&face.winding, plane);
            front.extend(f.map(|winding| CellFace { winding, ..*face }));
            back.extend(b.map(|winding| CellFace { winding, ..*face }));
        }
        if let Some(cut) = self.section(plane) {
            let mut reversed = cut.clone();
            reversed.vertices.reverse();
            let flipped = Some(id.flipped());
            front.push(CellFace { id: flipped, plane: plane.flipped(), winding: reversed });
            back.push(CellFace { id: Some(id), plane: *plane, winding: cut });
        }
        (Self { faces: front }, Self { faces: back })
    }

    /// The polygon of `plane` within the cell, counter-clockwise from its
    /// front.
    fn section(&self, plane: &Plane) -> Option<Winding> {
        let bounds = self.bounds();
        let centre = bounds.centre();
        let near = centre - plane.normal * plane.signed_distance(centre);
        let reach = (bounds.max - bounds.min).length() * 2.0;
        let mut winding = Winding::on_plane(plane, 1.0);
        let corner = plane.normal * plane.distance;
        for vertex in &mut winding.vertices {
            *vertex = near + (*vertex - corner) * reach;
        }
        for face in &self.faces {
            winding = split(&winding, &face.plane).1?;
        }
        Some(winding)
    }
}
