//! Where somebody may be, because an entity is there.

use glam::{DVec3, Vec3};

use super::portals::LeafId;
use crate::compile::TOLERANCE;
use crate::compile::cell::Cell;
use crate::compile::draft::{Draft, Grown};
use crate::compile::planes::PlaneTable;
use crate::compile::polygon::Side;
use crate::geometry::Aabb;
use crate::spaces::SizeId;

/// A leaf that an entity is in.
pub(super) struct Seed {
    /// The entity's index.
    pub(super) occupant: usize,
    pub(super) leaf: LeafId,
    /// A place for the box in the leaf.
    pub(super) at: DVec3,
    /// Whether the entity is there for certain: its origin is free, and does not
    /// only touch a surface.
    pub(super) certain: bool,
}

/// Where an origin that is in solid is looked for instead, in units: items
/// sink into floors, lights into walls. Up first, and as far as items are drawn
/// into floors.
const NEAR: [[f64; 3]; 14] = [
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 0.0],
    [-1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, -1.0, 0.0],
    [0.0, 0.0, -1.0],
    [0.0, 0.0, 2.0],
    [0.0, 0.0, 4.0],
    [4.0, 0.0, 0.0],
    [-4.0, 0.0, 0.0],
    [0.0, 4.0, 0.0],
    [0.0, -4.0, 0.0],
    [0.0, 0.0, -4.0],
    [0.0, 0.0, 8.0],
];

/// This near to a surface, in units, an origin touches it: some times what trees
/// are built to.
const TOUCHES: f64 = 2.0 * TOLERANCE;

/// Looks for seeds in the tree of one size.
pub(super) struct Seeds<'a> {
    pub(super) draft: &'a Draft,
    pub(super) planes: &'a PlaneTable,
    pub(super) size: SizeId,
    pub(super) half_extents: Vec3,
}

impl Seeds<'_> {
    /// The leaves in which a box has room while it holds the entity's origin, or
    /// a place next to an origin that is in solid. Such a box is convex and
    /// free, so what it holds and itself are on the same side of every wall: it
    /// need not stand where the entity stands to be where the entity is.
    ///
    /// Where an origin only touches what is free, or is in solid, it may be on
    /// either side of a wall, and nothing is certain.
    pub(super) fn of(&self, occupant: usize, origin: DVec3) -> Vec<Seed> {
        let seeds = |found: Vec<(LeafId, DVec3)>, certain| {
            let seed = move |(leaf, at)| Seed { occupant, leaf, at, certain };
            found.into_iter().map(seed).collect::<Vec<_>>()
        };
        let reach = self.half_extents.as_dvec3();
        let places = |at, reach| Aabb::from_centre(at, reach);
        // Room to hold it not only by touching; the bare point has none to spare.
        let inner = reach - TOUCHES;
        let held = if inner.min_element() > 0.0 {
            self.free(&places(origin, inner))
        } else if self.is_all_free(&places(origin, DVec3::splat(TOUCHES))) {
            self.free(&places(origin, reach + TOUCHES))
        } else {
            Vec::new()
        };
        if !held.is_empty() {
            return seeds(held, true);
        }
        let nudges = NEAR.into_iter().map(DVec3::from).filter(|&by| self.leaves(origin, by));
        let mut tries = std::iter::once(DVec3::ZERO).chain(nudges);
        let found = tries.find_map(|nudge| {
            let free = self.free(&places(origin + nudge, reach + TOUCHES));
            (!free.is_empty()).then_some(free)
        });
        seeds(found.unwrap_or_default(), false)
    }

    /// Whether the way by `nudge` gets out of solid at most, and never into it:
    /// a seed does not cross a wall.
    fn leaves(&self, origin: DVec3, nudge: DVec3) -> bool {
        let steps = (nudge.abs().max_element() * 4.0) as u32;
        let solid = |step: u32| {
            let at = origin + nudge * (f64::from(step) / f64::from(steps));
            self.free(&Aabb::from_centre(at, DVec3::splat(TOUCHES))).is_empty()
        };
        (0..steps).all(|step| solid(step) || !solid(step + 1))
    }

    fn is_all_free(&self, places: &Aabb) -> bool {
        let mut free = true;
        self.visit(places, |solid, _, _| free &= !solid);
        free
    }

    /// The leaves within `places` that are empty for the size, each with a place
    /// in it.
    fn free(&self, places: &Aabb) -> Vec<(LeafId, DVec3)> {
        let mut found = Vec::new();
        self.visit(places, |solid, leaf, cell| {
            if !solid {
                found.push((leaf, cell.centre()));
            }
        });
        found
    }

    /// Visits the leaves within `places`: whether they are solid, and the part of
    /// each.
    fn visit(&self, places: &Aabb, mut visit: impl FnMut(bool, LeafId, &Cell)) {
        let Self { draft, size, .. } = *self;
        let cell = Cell::from_box(places);
        let mut cells: Vec<(Grown, Cell, LeafId)> =
            cell.map(|cell| (draft.root, cell, LeafId::new(0, 0))).into_iter().collect();
        while let Some((child, cell, leaf)) = cells.pop() {
            if draft.uniform(child, size) == Some(true) {
                visit(true, leaf, &cell);
                continue;
            }
            let Grown::Branch(index) = child else {
                visit(false, leaf, &cell);
                continue;
            };
            let branch = &draft.branches[index];
            let cut = self.planes.get(branch.plane);
            let [front, back] = branch.children;
            let (front_id, back_id) = (LeafId::new(index, 0), LeafId::new(index, 1));
            match cell.side(&cut) {
                Side::Front => cells.push((front, cell, front_id)),
                Side::Back => cells.push((back, cell, back_id)),
                Side::On => {
                    cells.push((back, cell.clone(), back_id));
                    cells.push((front, cell, front_id));
                }
                Side::Both => {
                    let (front_cell, back_cell) = cell.split(branch.plane, &cut);
                    cells.push((back, back_cell, back_id));
                    cells.push((front, front_cell, front_id));
                }
            }
        }
    }
}
