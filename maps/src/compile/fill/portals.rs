//! Which leaves one can go to from a leaf.

use glam::DVec3;

use crate::box_tree::BoxTree;
use crate::compile::TOLERANCE;
use crate::compile::cell::Cell;
use crate::compile::draft::{Draft, Grown};
use crate::compile::planes::{PlaneId, PlaneTable};
use crate::compile::polygon::split;
use crate::geometry::{Aabb, Plane, Winding};
use crate::spaces::Spaces;

/// A portal is open if it is wider than this: some times the tolerance that
/// cells are cut by, which opens cracks as wide where walls meet but for the
/// digits they are written with, and less than what answers are judged by.
const OPEN: f64 = 8.0 * TOLERANCE;

/// A leaf of a [`Draft`], by its place: the branch above it, and the side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::compile) struct LeafId(u32);

impl LeafId {
    pub(in crate::compile) fn new(branch: usize, side: usize) -> Self {
        Self((branch * 2 + side) as u32)
    }

    pub(in crate::compile) fn from_index(index: usize) -> Self {
        Self(index as u32)
    }

    pub(in crate::compile) fn index(self) -> usize {
        self.0 as usize
    }

    pub(in crate::compile) fn branch(self) -> usize {
        self.index() / 2
    }

    pub(in crate::compile) fn side(self) -> usize {
        self.index() % 2
    }
}

/// A part of a face that two leaves share.
#[derive(Clone, Copy)]
pub(super) struct Portal {
    pub(super) from: LeafId,
    pub(super) to: LeafId,
    /// Inside the portal.
    pub(super) at: DVec3,
}

/// All portals of a tree, but for those of leaves that are solid for all.
pub(super) struct Portals {
    /// By the leaf that they lead from.
    portals: Vec<Portal>,
    /// Where the portals of each leaf begin, and where the last ones end.
    first: Vec<u32>,
    /// Leaves with a face on the outermost cell, and where that is.
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
            if let Grown::Branch(index) = child {
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

    /// The leaves that reach the void around the map, ascending.
    pub(super) fn void(&self) -> impl Iterator<Item = LeafId> {
        self.void.iter().map(|&(leaf, _)| leaf)
    }

    /// Where a leaf reaches the void, if it does.
    pub(super) fn way_out(&self, leaf: LeafId) -> Option<DVec3> {
        let at = self.void.binary_search_by_key(&leaf, |&(leaf, _)| leaf).ok()?;
        Some(self.void[at].1)
    }

    fn from(&self, leaf: LeafId) -> std::ops::Range<usize> {
        self.first[leaf.index()] as usize..self.first[leaf.index() + 1] as usize
    }

    /// Goes from `starts` wherever leaves are `open`, the nearest leaves
    /// first.
    pub(super) fn flood(
        &self,
        starts: impl Iterator<Item = LeafId>,
        open: impl Fn(LeafId) -> bool,
    ) -> Flood<'_> {
        let mut flood =
            Flood { portals: self, came: vec![Came::Never; self.first.len() - 1], order: vec![] };
        for leaf in starts.filter(|&leaf| open(leaf)) {
            if flood.came[leaf.index()] == Came::Never {
                flood.came[leaf.index()] = Came::Started;
                flood.order.push(leaf);
            }
        }
        let mut next = 0;
        while let Some(&leaf) = flood.order.get(next) {
            next += 1;
            for index in self.from(leaf) {
                let to = self.portals[index].to;
                if flood.came[to.index()] == Came::Never && open(to) {
                    flood.came[to.index()] = Came::Through(index as u32);
                    flood.order.push(to);
                }
            }
        }
        flood
    }
}

/// Adds both ways through what faces on the two sides of a plane share.
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

/// A point inside what two wide windings on `plane` share, if that is wide.
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

/// Whether a winding on `plane` is wider than [`OPEN`]: a convex polygon is
/// as wide as it is high above one of its sides. One that is only a point has no
/// sides.
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

/// How a leaf was reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Came {
    Never,
    Started,
    /// By this portal.
    Through(u32),
}

/// What was reached, and how.
pub(super) struct Flood<'a> {
    portals: &'a Portals,
    came: Vec<Came>,
    /// The leaves reached, those first that fewer portals lead to.
    pub(super) order: Vec<LeafId>,
}

impl Flood<'_> {
    pub(super) fn reaches(&self, leaf: LeafId) -> bool {
        self.came[leaf.index()] != Came::Never
    }

    /// The leaf from which `leaf` was reached, and the portals on the way.
    pub(super) fn way(&self, mut leaf: LeafId) -> (LeafId, Vec<DVec3>) {
        let mut way = Vec::new();
        while let Came::Through(index) = self.came[leaf.index()] {
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

    /// A point where two brushes touch in an edge was a portal, and turned maps
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
