//! Portals between the leaves of a draft, and flood fills through them.
//!
//! Leaves between planes that nearly coincide are wide, but thin as a whole or at one end. A flood
//! crosses a thin part from one side to the other, because such parts also occur in open space. A
//! flood does not spread along a thin part, which may be a crack below a wall. So a flood passes a
//! portal over a thin part of a leaf only together with the opposite portal.

use glam::DVec3;

use crate::box_tree::BoxTree;
use crate::compile::cell::Cell;
use crate::compile::draft::{Draft, DraftChild, LeafId};
use crate::compile::planes::{PlaneId, PlaneTable, TOLERANCE};
use crate::compile::polygon::split;
use crate::geometry::{Aabb, Plane, Winding};
use crate::spaces::Spaces;

/// A portal is open if it is wider than this. Walls that should meet may leave a crack a few
/// tolerances wide, because the digits of their points are rounded. The value is above the width of
/// such cracks, and below the 0.01 units that `mapc verify` allows.
const OPEN: f64 = 8.0 * TOLERANCE;

/// Two walls are opposite if the dot product of their normals is below this. A portal on one of
/// them that is wider than [`OPEN`] can then be within [`OPEN`] of the other.
const OPPOSITE: f64 = -0.5;

/// The part of a face that two leaves share.
#[derive(Clone, Copy)]
pub(super) struct Portal {
    pub(super) from: LeafId,
    pub(super) to: LeafId,
    /// A point inside the portal.
    pub(super) at: DVec3,
    /// Index of the portal's polygon, if one of the two leaves is thin anywhere.
    polygon: Option<u32>,
    /// Whether the leaf before the portal is thin at the portal, and whether the leaf behind it is.
    shallow: [bool; 2],
}

/// All portals of a tree, except those of leaves that are solid for all sizes.
pub(super) struct Portals {
    /// The portals, sorted by the leaf that they lead from.
    portals: Vec<Portal>,
    /// The index of the first portal of each leaf, and at the end the number of all portals.
    first: Vec<u32>,
    /// Leaves with a wide face on the boundary of the outermost cell, each with a point of that
    /// face.
    void: Vec<(LeafId, DVec3)>,
    /// Whether each leaf is thinner than [`OPEN`].
    thin: Vec<bool>,
    /// Whether each leaf is thin at some portal.
    has_shallow: Vec<bool>,
    /// The polygons of the portals between two leaves of which at least one is thin anywhere. The
    /// two directions of a portal share one polygon.
    polygons: Vec<Winding>,
}

/// The part of a plane that bounds a leaf.
struct LeafFace {
    leaf: LeafId,
    winding: Winding,
    bounds: Aabb,
}

impl Portals {
    /// The portals of `draft`. `cell` is the cell of its root.
    pub(super) fn new(draft: &Draft, cell: &Cell, spaces: &Spaces, planes: &PlaneTable) -> Self {
        let mut faces: Vec<(PlaneId, LeafFace)> = Vec::new();
        let mut void = Vec::new();
        let mut thin = vec![false; draft.leaf_ids()];
        // The planes of each leaf that is thin anywhere.
        let mut walls: Vec<Vec<Plane>> = vec![Vec::new(); draft.leaf_ids()];
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
            // A tree without branches has one leaf, and that leaf has no id.
            if let Some(thin) = thin.get_mut(leaf.index()) {
                *thin = cell.is_thinner_than(OPEN);
                if cell.narrows_to(OPEN, OPPOSITE) {
                    walls[leaf.index()] = cell.planes().collect();
                }
            }
            for (plane, winding) in cell.into_faces() {
                match plane {
                    Some(plane) if is_wide(&planes.get(plane), &winding) => {
                        let bounds = Aabb::around(winding.vertices.iter().copied());
                        let bounds = bounds.inflated(TOLERANCE);
                        faces.push((plane, LeafFace { leaf, winding, bounds }));
                    }
                    None if is_wide(&plane_of(&winding), &winding) => {
                        void.push((leaf, winding.centre()));
                    }
                    _ => (),
                }
            }
        }
        void.sort_by_key(|&(leaf, _)| leaf);
        faces.sort_by_key(|(plane, face)| (*plane, face.leaf));
        let mut portals = Vec::new();
        let mut polygons = Vec::new();
        for on_plane in faces.chunk_by(|(a, _), (b, _)| a.index() == b.index()) {
            let flipped = on_plane.partition_point(|(plane, _)| !plane.is_flipped());
            let (behind, in_front) = on_plane.split_at(flipped);
            let Some(&(plane, _)) = behind.first() else { continue };
            let plane = planes.get(plane);
            pair(&plane, behind, in_front, |from, to, shared| {
                let shallow = [(from, plane.normal), (to, -plane.normal)]
                    .map(|(leaf, outward)| is_shallow(&shared, outward, &walls[leaf.index()]));
                let thin = [from, to].iter().any(|leaf| !walls[leaf.index()].is_empty());
                let (at, polygon) = (shared.centre(), thin.then_some(polygons.len() as u32));
                portals.push(Portal { from, to, at, polygon, shallow });
                let shallow = [shallow[1], shallow[0]];
                portals.push(Portal { from: to, to: from, at, polygon, shallow });
                if thin {
                    polygons.push(shared);
                }
            });
        }
        portals.sort_by_key(|portal| (portal.from, portal.to));
        let mut first = vec![0; draft.leaf_ids() + 1];
        for portal in &portals {
            first[portal.from.index() + 1] += 1;
        }
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        let mut has_shallow = vec![false; draft.leaf_ids()];
        for portal in &portals {
            has_shallow[portal.from.index()] |= portal.shallow[0];
        }
        Self { portals, first, void, thin, has_shallow, polygons }
    }

    /// Whether a leaf is thinner than [`OPEN`].
    pub(super) fn is_thin(&self, leaf: LeafId) -> bool {
        self.thin[leaf.index()]
    }

    /// Whether a flood leaves a leaf through the portal `exit`. It entered the leaf through the
    /// portal `entry`, or started in it. If the leaf is thin at one of the two portals, the flood
    /// only goes straight across.
    fn passes(&self, entry: Option<u32>, exit: usize) -> bool {
        let exit = &self.portals[exit];
        let entry = entry.map(|entry| &self.portals[entry as usize]);
        let shallow = entry.is_some_and(|entry| entry.shallow[1]) || exit.shallow[0];
        let polygon = |portal: &Portal| Some(&self.polygons[portal.polygon? as usize]);
        let shared = || {
            let (entry, exit) = (polygon(entry?)?, polygon(exit)?);
            overlap(&plane_of(entry), entry, exit)
        };
        !shallow || shared().is_some()
    }

    /// The leaves that border on the void around the map, in ascending order.
    pub(super) fn void(&self) -> impl Iterator<Item = LeafId> {
        self.void.iter().map(|&(leaf, _)| leaf)
    }

    /// A point at which a leaf borders on the void, if there is one.
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
            entries: vec![Entry::Unused; self.portals.len()],
            order: vec![],
        };
        let mut queue: Vec<(LeafId, Option<u32>)> = Vec::new();
        for leaf in starts.filter(|&leaf| open(leaf)) {
            if flood.arrivals[leaf.index()] == Arrival::Never {
                flood.arrivals[leaf.index()] = Arrival::Start;
                flood.order.push(leaf);
                queue.push((leaf, None));
            }
        }
        let mut next = 0;
        while let Some(&(leaf, entry)) = queue.get(next) {
            next += 1;
            for exit in self.from(leaf) {
                let to = self.portals[exit].to;
                if flood.is_new(to, exit) && open(to) && self.passes(entry, exit) {
                    flood.enter(to, exit, entry);
                    queue.push((to, Some(exit as u32)));
                }
            }
        }
        flood
    }
}

/// Calls `add` for every two faces on the two sides of a plane that overlap, with their leaves
/// and the overlap.
fn pair(
    plane: &Plane,
    behind: &[(PlaneId, LeafFace)],
    in_front: &[(PlaneId, LeafFace)],
    mut add: impl FnMut(LeafId, LeafId, Winding),
) {
    let boxes: Vec<Aabb> = in_front.iter().map(|(_, face)| face.bounds).collect();
    let tree = BoxTree::new(&boxes);
    for (_, back) in behind {
        tree.overlapping(&back.bounds, |index| {
            let (_, front) = &in_front[index as usize];
            if let Some(shared) = overlap(plane, &back.winding, &front.winding) {
                add(back.leaf, front.leaf, shared);
            }
        });
    }
}

/// Whether a leaf with these walls is thin at a portal whose normal points `outward`: the whole
/// portal is near an opposite wall.
fn is_shallow(portal: &Winding, outward: DVec3, walls: &[Plane]) -> bool {
    let near = |wall: &Plane| portal.vertices.iter().all(|&v| wall.signed_distance(v) > -OPEN);
    walls.iter().any(|wall| wall.normal.dot(outward) < OPPOSITE && near(wall))
}

/// The plane of a winding.
fn plane_of(winding: &Winding) -> Plane {
    Plane::through(winding.area_vector().normalize_or_zero(), winding.centre())
}

/// The overlap of two windings on `plane`, if it is wider than [`OPEN`].
fn overlap(plane: &Plane, one: &Winding, other: &Winding) -> Option<Winding> {
    let centre = other.centre();
    let mut shared = one.clone();
    for (a, b) in edges(other) {
        let normal = (b - a).cross(plane.normal).normalize_or_zero();
        let edge = Plane::through(normal, a);
        let edge = if edge.signed_distance(centre) > 0.0 { edge.flipped() } else { edge };
        shared = split(&shared, &edge).1?;
    }
    is_wide(plane, &shared).then_some(shared)
}

/// Whether a winding on `plane` is wider than [`OPEN`]. The width of a convex polygon is its
/// smallest height above one of its sides. A single point has no sides.
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

/// The arrival of a flood at a leaf.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    Never,
    Start,
    /// Through the portal with this index.
    Through(u32),
}

/// The path of a flood to a portal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    Unused,
    /// From a start in the leaf before the portal.
    Start,
    /// Through the portal with this index.
    Through(u32),
}

/// The leaves that a flood reached.
pub(super) struct Flood<'a> {
    portals: &'a Portals,
    /// The first arrival at each leaf.
    arrivals: Vec<Arrival>,
    /// For each portal, the path by which the flood came to it.
    entries: Vec<Entry>,
    /// The leaves reached, in order of their distance in portals.
    pub(super) order: Vec<LeafId>,
}

impl Flood<'_> {
    pub(super) fn reaches(&self, leaf: LeafId) -> bool {
        self.arrivals[leaf.index()] != Arrival::Never
    }

    /// Whether a leaf is still to be entered through a portal. Leaves that are thin somewhere
    /// are entered through each of their portals, other leaves once.
    fn is_new(&self, leaf: LeafId, portal: usize) -> bool {
        match self.arrivals[leaf.index()] {
            Arrival::Never => true,
            Arrival::Start => false,
            Arrival::Through(_) => {
                self.portals.has_shallow[leaf.index()] && self.entries[portal] == Entry::Unused
            }
        }
    }

    fn enter(&mut self, leaf: LeafId, portal: usize, before: Option<u32>) {
        self.entries[portal] = before.map_or(Entry::Start, Entry::Through);
        if !self.reaches(leaf) {
            self.arrivals[leaf.index()] = Arrival::Through(portal as u32);
            self.order.push(leaf);
        }
    }

    /// The leaf in which the flood that reached `leaf` started, and the points of the portals
    /// on the path.
    pub(super) fn way(&self, leaf: LeafId) -> (LeafId, Vec<DVec3>) {
        let Arrival::Through(mut index) = self.arrivals[leaf.index()] else {
            return (leaf, Vec::new());
        };
        let mut way = Vec::new();
        loop {
            let portal = &self.portals.portals[index as usize];
            way.push(portal.at);
            match self.entries[index as usize] {
                Entry::Through(before) => index = before,
                _ => {
                    way.reverse();
                    return (portal.from, way);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In an earlier version a single point at which two brushes touch counted as a portal, and
    /// rotated maps leaked there.
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
