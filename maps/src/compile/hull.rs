//! One size's expanded world: solids for the truth, polygons for the tree.

use super::TOLERANCE;
use super::drawing::StaticBrush;
use super::expand::expanded;
use super::planes::{PlaneId, PlaneTable};
use super::polygon::{Polygon, Side, side, split};
use crate::box_tree::BoxTree;
use crate::geometry::{Aabb, ConvexSolid, DegenerateSolid, Face, Plane, Winding};
use crate::spaces::{Size, SizeId};

/// The expanded solids of one size.
pub(super) struct Hull {
    pub(super) size: SizeId,
    solids: Vec<HullSolid>,
    tree: BoxTree,
}

/// An expanded solid with canonical planes.
pub(super) struct HullSolid {
    pub(super) faces: Vec<HullFace>,
    pub(super) bounds: Aabb,
}

/// A face of an expanded solid.
pub(super) struct HullFace {
    pub(super) id: PlaneId,
    pub(super) plane: Plane,
    winding: Winding,
}

impl Hull {
    /// Expands the brushes; fails with the line of the one that it cannot.
    pub(super) fn new<'a>(
        id: SizeId,
        size: &Size,
        brushes: impl Iterator<Item = &'a StaticBrush>,
        planes: &mut PlaneTable,
    ) -> Result<Self, (u64, DegenerateSolid)> {
        let half_extents = size.half_extents.as_dvec3();
        let solids: Vec<HullSolid> = brushes
            .map(|brush| {
                let sum = expanded(&brush.solid, half_extents);
                sum.map(|sum| HullSolid::new(&sum, planes)).map_err(|reason| (brush.line, reason))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self::of(id, solids))
    }

    /// Takes the brushes as they are drawn.
    pub(super) fn as_drawn<'a>(
        id: SizeId,
        brushes: impl Iterator<Item = &'a StaticBrush>,
        planes: &mut PlaneTable,
    ) -> Self {
        Self::of(id, brushes.map(|brush| HullSolid::new(&brush.solid, planes)).collect())
    }

    fn of(size: SizeId, solids: Vec<HullSolid>) -> Self {
        let boxes: Vec<Aabb> = solids.iter().map(|s| s.bounds).collect();
        Self { size, tree: BoxTree::new(&boxes), solids }
    }

    pub(super) fn bounds(&self) -> Aabb {
        self.tree.bounds()
    }

    /// Indices of the solids whose boxes overlap `bounds`, ascending.
    pub(super) fn overlapping(&self, bounds: &Aabb) -> Vec<usize> {
        let mut found = Vec::new();
        self.tree.overlapping(bounds, |i| found.push(i as usize));
        found.sort_unstable();
        found
    }

    pub(super) fn solid(&self, index: usize) -> &HullSolid {
        &self.solids[index]
    }

    /// The surface of the union of all solids: the parts of their faces that
    /// no other solid covers.
    pub(super) fn surface(&self) -> Vec<Polygon> {
        let faces = |(i, solid): (usize, &HullSolid)| (0..solid.faces.len()).map(move |f| (i, f));
        let faces = self.solids.iter().enumerate().flat_map(faces);
        faces.flat_map(|(solid, face)| self.uncovered(solid, face)).collect()
    }

    /// The parts of one face of one solid that no other solid covers.
    pub(super) fn uncovered(&self, solid: usize, face: usize) -> Vec<Polygon> {
        let face = &self.solids[solid].faces[face];
        let mut pieces = vec![face.winding.clone()];
        let bounds = Aabb::around(face.winding.vertices.iter().copied());
        for other in self.overlapping(&bounds.inflated(TOLERANCE)) {
            if other != solid {
                let covers = &self.solids[other];
                pieces = pieces
                    .into_iter()
                    .flat_map(|piece| uncovered(piece, face.id, covers, solid < other))
                    .collect();
            }
        }
        pieces.into_iter().map(|piece| Polygon::new(face.id, self.size, piece)).collect()
    }
}

impl HullSolid {
    fn new(sum: &ConvexSolid, planes: &mut PlaneTable) -> Self {
        let face = |face: &Face| {
            let winding = sum.winding(face);
            let id = planes.intern(&face.plane, &winding.vertices);
            HullFace { id, plane: planes.get(id), winding }
        };
        let faces = sum.faces().iter().map(face).collect();
        Self { faces, bounds: *sum.bounds() }
    }
}

/// The pieces of `piece`, on the plane `id`, that `solid` does not cover. Of
/// two faces in one plane that face the same way one stays, the `first`; of
/// two that face each other neither does, for they lie inside the union.
fn uncovered(piece: Winding, id: PlaneId, solid: &HullSolid, first: bool) -> Vec<Winding> {
    let bounds = Aabb::around(piece.vertices.iter().copied());
    if !bounds.overlaps(&solid.bounds) {
        return vec![piece];
    }
    let mut rest = piece.clone();
    let mut outside = Vec::new();
    for face in &solid.faces {
        let side = if face.id.index() == id.index() {
            Side::On
        } else {
            side(&rest.vertices, &face.plane)
        };
        match side {
            Side::Back => (),
            Side::Front => return vec![piece],
            Side::On => {
                let same_way = rest.area_vector().dot(face.plane.normal) > 0.0;
                if same_way && first {
                    return vec![piece];
                }
            }
            Side::Both => {
                let (front, back) = split(&rest, &face.plane);
                outside.extend(front);
                match back {
                    Some(back) => rest = back,
                    None => return vec![piece],
                }
            }
        }
    }
    outside
}
