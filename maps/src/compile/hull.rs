//! The expanded brushes of one size, and the surface of their union.
//!
//! The surface is the set of polygons that the tree is built from. The solids decide which of its
//! cells are solid (`classify`).

use std::num::NonZeroUsize;

use super::expand::expanded;
use super::parallel::in_order;
use super::parsed_map::StaticBrush;
use super::planes::{PlaneId, PlaneTable, TOLERANCE};
use super::polygon::{Polygon, Side, side, split};
use crate::box_tree::BoxTree;
use crate::geometry::{Aabb, ConvexSolid, DegenerateSolid, Face, Plane, Winding};
use crate::spaces::{Size, SizeId, Spaces};

/// Number of solids that one thread takes at a time.
const BATCH: usize = 32;

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
    /// The hulls of all sizes, expanded by several threads. Fails with the size
    /// and the line of the first brush that cannot be expanded.
    pub(super) fn all(
        spaces: &Spaces,
        brushes: &[StaticBrush],
        planes: &mut PlaneTable,
        threads: NonZeroUsize,
    ) -> Result<Vec<Self>, (SizeId, u64, DegenerateSolid)> {
        let solid_to = |size: &Size, brush: &StaticBrush| !(brush.clip && size.is_point());
        let work: Vec<(SizeId, &Size, &[StaticBrush])> = spaces
            .iter()
            .flat_map(|(id, size)| brushes.chunks(BATCH).map(move |batch| (id, size, batch)))
            .collect();
        let expand = |(id, size, batch): (SizeId, &Size, &[StaticBrush])| {
            let half_extents = size.half_extents.as_dvec3();
            let statics = batch.iter().filter(|brush| solid_to(size, brush));
            let sums = statics.map(|brush| {
                expanded(&brush.solid, half_extents).map_err(|reason| (id, brush.line, reason))
            });
            sums.collect::<Result<Vec<_>, _>>()
        };
        let batches = work.iter().map(|&(id, ..)| id).collect::<Vec<_>>();
        let sums = in_order(threads, work, expand, |_| ());
        let mut solids: Vec<Vec<HullSolid>> = spaces.iter().map(|_| Vec::new()).collect();
        // Planes are numbered in the order of sizes and brushes, by one thread.
        for (size, sums) in batches.into_iter().zip(sums) {
            let batch = sums?.into_iter().map(|sum| HullSolid::new(&sum, planes));
            solids[size.index()].extend(batch);
        }
        let hulls = spaces.iter().zip(solids);
        Ok(hulls.map(|((size, _), solids)| Self::of(size, solids)).collect())
    }

    /// The hull of the unexpanded brushes.
    pub(super) fn unexpanded<'a>(
        size: SizeId,
        brushes: impl IntoIterator<Item = &'a StaticBrush>,
        planes: &mut PlaneTable,
    ) -> Self {
        let brushes = brushes.into_iter();
        let solids = brushes.map(|brush| HullSolid::new(&brush.solid, planes)).collect();
        Self::of(size, solids)
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

    /// The number of solids.
    pub(super) fn solids(&self) -> usize {
        self.solids.len()
    }

    pub(super) fn solid(&self, index: usize) -> &HullSolid {
        &self.solids[index]
    }

    /// The surface of the union of each hull's solids, computed by several threads: the parts of
    /// their faces that no other solid covers.
    pub(super) fn surfaces(
        hulls: &[Self],
        threads: NonZeroUsize,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Vec<Polygon> {
        let batches = |hull: &Self| (0..hull.solids.len()).step_by(BATCH);
        let work: Vec<(&Self, usize)> =
            hulls.iter().flat_map(|hull| batches(hull).map(move |first| (hull, first))).collect();
        let (mut done, total) = (0, work.len() as u64);
        let surface = |(hull, first): (&Self, usize)| {
            let batch = first..hull.solids.len().min(first + BATCH);
            let faces =
                |solid: usize| (0..hull.solids[solid].faces.len()).map(move |face| (solid, face));
            let faces = batch.flat_map(faces);
            faces.flat_map(|(solid, face)| hull.uncovered(solid, face)).collect::<Vec<_>>()
        };
        let surfaces = in_order(threads, work, surface, |_| {
            done += 1;
            progress(done, total);
        });
        surfaces.into_iter().flatten().collect()
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

/// The parts of `piece`, on the plane `id`, that `solid` does not cover. Of two faces in one plane
/// that face the same way, only the face of the first solid is kept. `first` says that the piece
/// belongs to the first solid. Of two faces that face each other, both are dropped, because they
/// lie inside the union.
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
