//! The second tree: the unexpanded solids, divided and bevelled. It is for bodies that have none of
//! the sizes of the onion BSP (Melax 2000).

use std::num::NonZeroUsize;

use super::bevel::{BevelAngle, bevels};
use super::build::{Builder, Limits};
use super::cell::Cell;
use super::dividers::dividers;
use super::draft::{Draft, DraftChild};
use super::error::BuildError;
use super::hull::Hull;
use super::parsed_map::StaticBrush;
use super::planes::PlaneTable;
use super::polygon::Polygon as Piece;
use crate::geometry::{Plane, Polygon};
use crate::map::shift::{Kind, ShiftTree, Unlinked};
use crate::map::surface::{FaceIndex, Surface};
use crate::spaces::SizeId;

/// The shift tree, and the surface of the unexpanded solids.
pub(super) struct Shifted {
    pub(super) tree: ShiftTree,
    /// The number of branches that are bevels.
    pub(super) bevels: usize,
    /// The surface of the union of the unexpanded solids that rays hit. Clip brushes are invisible,
    /// so they neither have a surface nor cover one.
    pub(super) surface: Surface,
}

/// Divides `cell`, which contains all solids, by the surface of the unexpanded solids. Clip brushes
/// are included, because bodies that move through this tree have an extent.
pub(super) fn build(
    statics: &[StaticBrush],
    cell: Cell,
    limit: BevelAngle,
    threads: NonZeroUsize,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Shifted, BuildError> {
    let mut planes = PlaneTable::default();
    let size = SizeId::from_index(0);
    let hulls = vec![Hull::unexpanded(size, statics, &mut planes)];
    let pieces = uncovered(&hulls[0]);
    let polygons: Vec<Piece> = pieces.iter().map(|(_, piece)| piece.clone()).collect();
    let surface = drawn(statics, size, pieces)?;
    let dividers = dividers(statics, &mut planes);
    let limits = Limits::default();
    let builder = Builder { planes: &planes, sizes: &[size], threads, dividers: &dividers, limits };
    let total = polygons.len() as u64;
    let mut tick = |done| progress(done as u64, total);
    let draft = builder.build(&hulls, polygons, cell.clone(), &mut tick)?;
    let (tree, bevels) = lay_out(&draft, size, cell, &planes, limit)?;
    Ok(Shifted { tree, bevels, surface })
}

/// The parts of the faces of a hull's solids that no other solid covers.
fn uncovered(hull: &Hull) -> Vec<(FaceIndex, Piece)> {
    let mut pieces = Vec::new();
    for solid in 0..hull.solids() {
        for face in 0..hull.solid(solid).faces.len() {
            let index = FaceIndex { solid: solid as u32, face: face as u32 };
            let parts = hull.uncovered(solid, face).into_iter();
            pieces.extend(parts.map(|piece| (index, piece)));
        }
    }
    pieces
}

/// The surface that is drawn. Without clip brushes it consists of `all` pieces. Otherwise the
/// pieces are found again, for the other brushes alone.
fn drawn(
    statics: &[StaticBrush],
    size: SizeId,
    all: Vec<(FaceIndex, Piece)>,
) -> Result<Surface, BuildError> {
    let seen: Vec<u32> = (0_u32..).zip(statics).filter(|(_, s)| !s.clip).map(|(i, _)| i).collect();
    let pieces = if seen.len() == statics.len() {
        all
    } else {
        let brushes = statics.iter().filter(|brush| !brush.clip);
        uncovered(&Hull::unexpanded(size, brushes, &mut PlaneTable::default()))
    };
    let mut surface = Surface::default();
    for (FaceIndex { solid, face }, piece) in pieces {
        let solid = seen[solid as usize];
        let plane = statics[solid as usize].solid.faces()[face as usize].plane;
        let polygon = Polygon::new(piece.winding().clone(), plane);
        if !surface.add(FaceIndex { solid, face }, polygon) {
            return Err(BuildError::TooManyCorners);
        }
    }
    Ok(surface)
}

/// Lays out the tree of a draft for one size, in pre-order, and inserts the
/// bevels of each solid leaf above it. `cell` is the region of the root.
///
/// Returns the tree and the number of bevels.
fn lay_out(
    draft: &Draft,
    size: SizeId,
    cell: Cell,
    planes: &PlaneTable,
    limit: BevelAngle,
) -> Result<(ShiftTree, usize), BuildError> {
    let mut branches: Vec<Unlinked> = Vec::new();
    let mut root = Kind::Empty;
    let mut bevelled = 0;
    let mut pending = vec![(draft.root, cell, None)];
    while let Some((grown, cell, parent)) = pending.pop() {
        let at = branches.len();
        let kind = match grown {
            DraftChild::Leaf(solidity) if !solidity.contains(size) => Kind::Empty,
            DraftChild::Leaf(_) => {
                let bevels = bevels(&cell, limit);
                bevelled += bevels.len();
                for (i, bevel) in bevels.iter().enumerate() {
                    let back = if i + 1 < bevels.len() { Kind::Branch } else { Kind::Solid };
                    branches.push(outward(bevel, &cell, [Kind::Empty, back]));
                }
                if bevels.is_empty() { Kind::Solid } else { Kind::Branch }
            }
            DraftChild::Branch(index) => {
                let branch = &draft.branches[index];
                let plane = planes.get(branch.plane);
                let (front, back) = cell.split(branch.plane, &plane);
                branches.push(rounded(&plane, [Kind::Empty; 2]));
                pending.push((branch.children[1], back, Some((at, 1))));
                pending.push((branch.children[0], front, Some((at, 0))));
                Kind::Branch
            }
        };
        match parent {
            Some((parent, side)) => branches[parent].children[side] = kind,
            None => root = kind,
        }
    }
    Ok((ShiftTree::new(root, branches)?, bevelled))
}

fn rounded(plane: &Plane, children: [Kind; 2]) -> Unlinked {
    let (normal, distance) = (plane.normal.as_vec3(), plane.distance as f32);
    Unlinked { normal, distance, children }
}

/// A bevel in `f32` that still has the whole cell behind it.
fn outward(bevel: &Plane, cell: &Cell, children: [Kind; 2]) -> Unlinked {
    let branch = rounded(bevel, children);
    let normal = branch.normal.as_dvec3();
    let reach = cell.vertices().map(|v| v.dot(normal)).fold(f64::NEG_INFINITY, f64::max);
    let distance = reach as f32;
    let distance = if f64::from(distance) < reach { distance.next_up() } else { distance };
    Unlinked { distance, ..branch }
}
