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
}

/// Where an origin that is in solid is looked for instead, in units: items
/// sink into floors, lights into walls. Up first, never farther than the
/// thinnest walls are thick.
const NEAR: [[f64; 3]; 16] = [
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
    [0.0, 0.0, 12.0],
    [0.0, 0.0, 16.0],
];

/// The leaves in which a box of `size` has room while it holds `origin`, each
/// with a place in it. Such a box is convex and free, so what it holds and
/// itself are on the same side of every wall: it need not stand where the
/// entity stands to be where the entity is.
pub(super) fn places(
    draft: &Draft,
    size: SizeId,
    half_extents: Vec3,
    origin: DVec3,
    planes: &PlaneTable,
) -> Vec<(LeafId, DVec3)> {
    let nudges = NEAR.into_iter().map(DVec3::from);
    let mut tries = std::iter::once(DVec3::ZERO).chain(nudges);
    let found = tries.find_map(|nudge| {
        // Touching is holding, and not being in solid.
        let reach = half_extents.as_dvec3() + 2.0 * TOLERANCE;
        let places = Aabb::from_centre(origin + nudge, reach);
        let free = free(draft, size, &places, planes);
        (!free.is_empty()).then_some(free)
    });
    found.unwrap_or_default()
}

/// The leaves within `places` that are empty for `size`.
fn free(draft: &Draft, size: SizeId, places: &Aabb, planes: &PlaneTable) -> Vec<(LeafId, DVec3)> {
    let mut found = Vec::new();
    let cell = Cell::from_box(places);
    let mut cells: Vec<(Grown, Cell, LeafId)> =
        cell.map(|cell| (draft.root, cell, LeafId::new(0, 0))).into_iter().collect();
    while let Some((child, cell, leaf)) = cells.pop() {
        if draft.uniform(child, size) == Some(true) {
            continue;
        }
        let Grown::Branch(index) = child else {
            found.push((leaf, cell.centre()));
            continue;
        };
        let branch = &draft.branches[index];
        let cut = planes.get(branch.plane);
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
    found
}
