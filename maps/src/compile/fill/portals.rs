//! Portals between the leaves of a draft, and flood fills through them.

use glam::DVec3;

use crate::box_tree::BoxTree;
use crate::compile::cell::Cell;
use crate::compile::draft::{Draft, DraftChild, LeafId};
use crate::compile::planes::{PlaneId, PlaneTable, TOLERANCE};
use crate::compile::polygon::split;
use crate::geometry::{Aabb, Plane, Winding};
use crate::spaces::Spaces;

/// A portal is open if it is wider than this. Where walls meet but for the rounding of
/// the digits they are written with, there are cracks a few tolerances wide; the value
/// is above these, and below what answers are judged by.
const OPEN: f64 = 8.0 * TOLERANCE;

/// The part of a face that two leaves share.
#[derive(Clone, Copy)]
pub(super) struct Portal {
    pub(super) from: LeafId,
    pub(super) to: LeafId,
    /// Inside the portal.
    pub(super) at: DVec3,
}

/// All portals of a tree, except those of leaves that are solid for all sizes.
pub(super) struct Portals {
    /// Sorted by the leaf that they lead from.
    portals: Vec<Portal>,
    /// The index of the first portal of each leaf, and the end of the last ones.
    first: Vec<u32>,
    /// Leaves with a face on the outermost cell, and a point of that face.
    void: Vec<(LeafId, DVec3)>,
}

/// A leaf's part of a plane.
struct LeafFace {
    leaf: LeafId,
    winding: Winding,
    bounds: Aabb,
}

impl Portals {
    /// The portals of `draft`, whose root is `cell`.
    pub(super) fn new(draft: &Draft, cell: &Cell, spaces: &Spaces, planes: &PlaneTable) -> Self {
        let mut faces: Vec<(PlaneId, LeafFace)> = Vec::new();
        let mut void = Vec::new();
        let mut cells = vec![(draft.root, cell.clone(), LeafId::new(0, 0))];
        while let Some((child, cell, leaf)) = cells.pop() {
            if spaces.iter().all(|(size, _)| draft.uniform(child, size) == Some(true)) {
                continue;
            }
            if let DraftChild::Branch(index) = child {
                let branch = &draft.branches[index];
                let [front, back] = branch.children;
                let (front_cell, back_cell) = cell.split(branch.plane, &planes.get(branch.plane));
                cells.push((back, back_cell, LeafId::new(index, 1)));
                cells.push((front, front_cell, LeafId::new(index, 0)));
                continue;
            }
            for (plane, winding) in cell.into_faces() {
                match plane {
                    Some(plane) if is_wide(&planes.get(plane), &winding) => {
                        let bounds = Aabb::around(winding.vertices.iter().copied());
                        let bounds = bounds.inflated(TOLERANCE);
                        faces.push((plane, LeafFace { leaf, winding, bounds }));
                    }
                    Some(_) => (),
                    None => void.push((leaf, winding.centre())),
                }
            }
        }
        void.sort_by_key(|&(leaf, _)| leaf);
        faces.sort_by_key(|(plane, face)| (*plane, face.leaf));
        let mut portals = Vec::new();
        for on_plane in faces.chunk_by(|(a, _), (b, _)| a.index() == b.index()) {
            let flipped = on_plane.partition_point(|(plane, _)| !plane.is_flipped());
            let (behind, in_front) = on_plane.split_at(flipped);
            let Some((plane, _)) = behind.first() else { continue };
            pair(&planes.get(*plane), behind, in_front, &mut portals);
        }
        portals.sort_by_key(|portal| (portal.from, portal.to));
        let mut first = vec![0; draft.leaf_ids() + 1];
        for portal in &portals {
            first[portal.from.index() + 1] += 1;
        }
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        Self { portals, first, void }
    }

    /// The leaves at the void around the map, ascending.
    pub(super) fn void(&self) -> impl Iterator<Item = LeafId> {
        self.void.iter().map(|&(leaf, _)| leaf)
    }

    /// A point at which a leaf borders on the void, if it does.
    pub(super) fn way_out(&self, leaf: LeafId) -> Option<DVec3> {
        let at = self.void.binary_search_by_key(&leaf, |&(leaf, _)| leaf).ok()?;
        Some(self.void[at].1)
    }

    fn from(&self, leaf: LeafId) -> std::ops::Range<usize> {
        self.first[leaf.index()] as usize..self.first[leaf.index() + 1] as usize
    }

    /// Breadth-first flood from `starts` through all `open` leaves.
    pub(super) fn flood(
        &self,
        starts: impl Iterator<Item = LeafId>,
        open: impl Fn(LeafId) -> bool,
    ) -> Flood<'_> {
        let mut flood = Flood {
            portals: self,
            arrivals: vec![Arrival::Never; self.first.len() - 1],
            order: vec![],
        };
        for leaf in starts.filter(|&leaf| open(leaf)) {
            if flood.arrivals[leaf.index()] == Arrival::Never {
                flood.arrivals[leaf.index()] = Arrival::Start;
                flood.order.push(leaf);
            }
        }
        let mut next = 0;
        while let Some(&leaf) = flood.order.get(next) {
            next += 1;
            for index in self.from(leaf) {
                let to = self.portals[index].to;
                if flood.arrivals[to.index()] == Arrival::Never && open(to) {
                    flood.arrivals[to.index()] = Arrival::Through(index as u32);
                    flood.order.push(to);
                }
            }
        }
        flood
    }
}

/// Adds portals, in both directions, where faces on the two sides of a plane overlap.
fn pair(
    plane: &Plane,
    behind: &[(PlaneId, LeafFace)],
    in_front: &[(PlaneId, LeafFace)],
    portals: &mut Vec<Portal>,
) {
    let boxes: Vec<Aabb> = in_front.iter().map(|(_, face)| face.bounds).collect();
    let tree = BoxTree::new(&boxes);
    for (_, back) in behind {
        tree.overlapping(&back.bounds, |index| {
            let (_, front) = &in_front[index as usize];
            if let Some(at) = overlap(plane, &back.winding, &front.winding) {
                portals.push(Portal { from: back.leaf, to: front.leaf, at });
                portals.push(Portal { from: front.leaf, to: back.leaf, at });
            }
        });
    }
}

/// A point inside the overlap of two windings on `plane`, if that is wide.
fn overlap(plane: &Plane, one: &Winding, other: &Winding) -> Option<DVec3> {
    let centre = other.centre();
    let mut shared = one.clone();
    for (a, b) in edges(other) {
        let normal = (b - a).cross(plane.normal).normalize_or_zero();
        let edge = Plane::through(normal, a);
        let edge = if edge.signed_distance(centre) > 0.0 { edge.flipped() } else { edge };
        shared = split(&shared, &edge).1?;
    }
    is_wide(plane, &shared).then(|| shared.centre())
}

/// Whether a winding on `plane` is wider than [`OPEN`]: the width of a convex polygon is
/// its least height above one of its sides. A single point has no sides.
fn is_wide(plane: &Plane, winding: &Winding) -> bool {
    let mut sides = edges(winding).filter(|(a, b)| a != b).peekable();
    sides.peek().is_some()
        && sides.all(|(a, b)| {
            let across = (b - a).cross(plane.normal).normalize_or_zero();
            winding.vertices.iter().any(|&vertex| across.dot(vertex - a).abs() > OPEN)
        })
}

fn edges(winding: &Winding) -> impl Iterator<Item = (DVec3, DVec3)> {
    let next = winding.vertices.iter().cycle().skip(1);
    winding.vertices.iter().zip(next).map(|(&a, &b)| (a, b))
}

/// How a flood reached a leaf.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    Never,
    Start,
    /// Through the portal with this index.
    Through(u32),
}

/// The leaves that a flood reached.
pub(super) struct Flood<'a> {
    portals: &'a Portals,
    arrivals: Vec<Arrival>,
    /// The leaves reached, in order of their distance in portals.
    pub(super) order: Vec<LeafId>,
}

impl Flood<'_> {
    pub(super) fn reaches(&self, leaf: LeafId) -> bool {
        self.arrivals[leaf.index()] != Arrival::Never
    }

    /// The leaf from which the flood reached `leaf`, and the portals on the path.
    pub(super) fn way(&self, mut leaf: LeafId) -> (LeafId, Vec<DVec3>) {
        let mut way = Vec::new();
        while let Arrival::Through(index) = self.arrivals[leaf.index()] {
            let portal = &self.portals.portals[index as usize];
            way.push(portal.at);
            leaf = portal.from;
        }
        way.reverse();
        (leaf, way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point where two brushes touch in an edge was a portal, and rotated maps
    /// leaked there.
    #[test]
    fn a_portal_without_sides_is_not_wide() {
        let plane = Plane { normal: DVec3::Z, distance: 4.0 };
        let winding = |width: f64| {
            let corner = DVec3::new(3.0, 5.0, 4.0);
            let vertices = vec![corner, corner + DVec3::X * width, corner + DVec3::Y * width];
            Winding { vertices }
        };
        assert!(is_wide(&plane, &winding(1.0)));
        assert!(!is_wide(&plane, &winding(0.005)));
        assert!(!is_wide(&plane, &winding(0.0)));
    }
}
