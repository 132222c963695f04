//! The leaves at which a flood from the entities starts.

use glam::{DVec3, Vec3};

use crate::compile::cell::Cell;
use crate::compile::draft::{Draft, DraftChild, LeafId};
use crate::compile::planes::{PlaneTable, TOLERANCE};
use crate::compile::polygon::Side;
use crate::geometry::Aabb;
use crate::spaces::SizeId;

/// A leaf that contains an entity.
pub(super) struct Seed {
    /// The entity's index.
    pub(super) occupant: usize,
    pub(super) leaf: LeafId,
    /// A position in the leaf at which the box has room.
    pub(super) at: DVec3,
    /// Whether the entity is certainly on the leaf's side of every wall. Then its origin is free
    /// and does not touch a surface.
    pub(super) certain: bool,
}

/// Offsets, in units, that are tried for an origin in solid. Items are often placed slightly in
/// floors, and lights in walls. Upward offsets come first, and reach as far as items are usually
/// sunk into floors.
const NUDGES: [[f64; 3]; 14] = [
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

/// An origin closer than this to a surface, in units, touches the surface. The distance is twice
/// the compiler's tolerance.
const TOUCHES: f64 = 2.0 * TOLERANCE;

/// Finds seeds in the tree for one size.
pub(super) struct Seeds<'a> {
    pub(super) draft: &'a Draft,
    pub(super) planes: &'a PlaneTable,
    pub(super) size: SizeId,
    pub(super) half_extents: Vec3,
    /// The box of the root's cell. Only the void is outside it.
    pub(super) bounds: Aabb,
}

impl Seeds<'_> {
    /// The leaves in which a box has room that contains the entity's origin. If the origin is in
    /// solid, the box contains a position next to the origin instead. The box is convex and free,
    /// so the origin and the box's centre are on the same side of every wall.
    ///
    /// An origin that touches a surface, or is in solid, may be on either side of a wall,
    /// so its seeds are not certain.
    pub(super) fn of(&self, occupant: usize, origin: DVec3) -> Vec<Seed> {
        let seeds = |found: Vec<(LeafId, DVec3)>, certain| {
            let seed = move |(leaf, at)| Seed { occupant, leaf, at, certain };
            found.into_iter().map(seed).collect::<Vec<_>>()
        };
        let reach = self.half_extents.as_dvec3();
        // An origin far out in the void is moved near to the cell, where no number is too large.
        // All places in the void are alike.
        let beyond = self.bounds.inflated(1.0 + 2.0 * reach.max_element());
        let origin = origin.clamp(beyond.min, beyond.max);
        let places = |at, reach| Aabb::from_centre(at, reach);
        // The box has to contain the origin and the `TOUCHES` units around it. The bare point is
        // smaller than that, so free space around it is tested instead.
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
        let nudges = NUDGES.into_iter().map(DVec3::from).filter(|&by| self.leaves(origin, by));
        let mut tries = std::iter::once(DVec3::ZERO).chain(nudges);
        let found = tries.find_map(|nudge| {
            let free = self.free(&places(origin + nudge, reach + TOUCHES));
            (!free.is_empty()).then_some(free)
        });
        seeds(found.unwrap_or_default(), false)
    }

    /// Whether the line along `nudge` leaves solid at most once and never enters it, so
    /// that a seed does not cross a wall.
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

    /// The leaves within `places` that are empty for the size, each with a point in it.
    fn free(&self, places: &Aabb) -> Vec<(LeafId, DVec3)> {
        let mut found = Vec::new();
        self.visit(places, |solid, leaf, cell| {
            if !solid {
                found.push((leaf, cell.centre()));
            }
        });
        found
    }

    /// Visits the leaves that overlap `places`. `visit` receives three values: whether the leaf is
    /// solid, its id, and its part within `places`.
    fn visit(&self, places: &Aabb, mut visit: impl FnMut(bool, LeafId, &Cell)) {
        let Self { draft, size, .. } = *self;
        let cell = Cell::from_box(places);
        let mut cells: Vec<(DraftChild, Cell, LeafId)> =
            cell.map(|cell| (draft.root, cell, LeafId::new(0, 0))).into_iter().collect();
        while let Some((child, cell, leaf)) = cells.pop() {
            if draft.uniform(child, size) == Some(true) {
                visit(true, leaf, &cell);
                continue;
            }
            let DraftChild::Branch(index) = child else {
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
