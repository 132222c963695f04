//! Filling the outside: what nobody gets to becomes solid.
//!
//! The leaves of a first tree are rooms, and where faces of two of them
//! overlap is a portal (`portals`). From where the map's entities are
//! (`seeds`) all that can be reached is reached, size by size. If that is
//! never the void around the map, the map is sealed for that size: what can be
//! reached from the void becomes solid instead, and the surfaces that face it
//! go (`trim`). Else the way out is told (`leak`), and the size stays as it
//! is. A pocket that neither entities nor the void reach stays empty, unless a
//! smaller box reaches it from the void: whoever brings the larger one there
//! takes the smaller one along.

mod leak;
mod portals;
mod seeds;
mod trim;

use glam::{DVec3, Vec3};

use super::cell::Cell;
use super::draft::Draft;
use super::planes::PlaneTable;
use crate::spaces::{SizeId, Spaces};
use crate::world::onion::Solidity;
pub use leak::{Leak, Sealing};
pub(super) use portals::LeafId;
use portals::Portals;
use seeds::Seed;
pub(super) use trim::trimmed;

/// A point entity: somebody may be where it is.
pub(super) struct Occupant {
    pub(super) classname: String,
    /// Line of the entity's opening brace.
    pub(super) line: u64,
    pub(super) origin: DVec3,
}

/// The first tree and all that is asked about it.
struct Plan<'a> {
    draft: &'a Draft,
    portals: Portals,
    occupants: &'a [Occupant],
    planes: &'a PlaneTable,
    /// The sizes that each leaf is outside for.
    outside: Vec<Solidity>,
}

/// What is to be filled, and why the rest is not.
pub(super) struct Filling {
    /// Whether the map is sealed, by size.
    pub(super) sealings: Vec<Sealing>,
    outside: Vec<Solidity>,
}

impl Filling {
    /// The sizes that the map is sealed for.
    pub(super) fn sealed(&self) -> Solidity {
        let sizes = self.sealings.iter().enumerate().filter(|(_, s)| **s == Sealing::Sealed);
        sizes.fold(Solidity::EMPTY, |all, (index, _)| all.with(SizeId::from_index(index)))
    }

    /// Makes the outside solid.
    pub(super) fn apply(&self, draft: &mut Draft) {
        for (leaf, &outside) in self.outside.iter().enumerate() {
            draft.fill(LeafId::from_index(leaf), outside);
        }
        draft.settle();
    }
}

/// Finds out for every size whether the map is sealed, and what is outside
/// then. `cell` is that of the root of `draft`.
pub(super) fn fill(
    draft: &Draft,
    cell: &Cell,
    spaces: &Spaces,
    occupants: &[Occupant],
    planes: &PlaneTable,
) -> Filling {
    let mut sealings = vec![Sealing::Unoccupied; spaces.sizes().len()];
    if draft.branches.is_empty() {
        return Filling { sealings, outside: Vec::new() };
    }
    let portals = Portals::new(draft, cell, spaces, planes);
    let outside = vec![Solidity::EMPTY; draft.leaf_ids()];
    let mut plan = Plan { draft, portals, occupants, planes, outside };
    // A size comes after those that fit into it.
    let mut order: Vec<(SizeId, Vec3)> =
        spaces.iter().map(|(id, size)| (id, size.half_extents)).collect();
    order.sort_by(|(_, a), (_, b)| a.element_sum().total_cmp(&b.element_sum()));
    for (at, &(size, half_extents)) in order.iter().enumerate() {
        let fits = |(smaller, half): &&(SizeId, Vec3)| {
            half.cmple(half_extents).all() && sealings[smaller.index()] == Sealing::Sealed
        };
        let sealed = order[..at].iter().filter(fits);
        let smaller = sealed.fold(Solidity::EMPTY, |all, &(smaller, _)| all.with(smaller));
        sealings[size.index()] = plan.seal(size, half_extents, smaller);
    }
    Filling { sealings, outside: plan.outside }
}

impl Plan<'_> {
    /// Whether the map is sealed for `size`; if so, adds its outside, to which
    /// belongs what is outside for a `smaller` size that fits into it.
    fn seal(&mut self, size: SizeId, half_extents: Vec3, smaller: Solidity) -> Sealing {
        let draft = self.draft;
        let open = |leaf: LeafId| draft.leaf(leaf).is_some_and(|s| !s.contains(size));
        let mut seeds: Vec<Seed> = Vec::new();
        for (index, occupant) in self.occupants.iter().enumerate() {
            let places = seeds::places(draft, size, half_extents, occupant.origin, self.planes);
            seeds.extend(places.into_iter().map(|(leaf, at)| Seed { occupant: index, leaf, at }));
        }
        let reached = self.portals.flood(seeds.iter().map(|seed| seed.leaf), open);
        if let Some(leak) = Leak::find(&reached, &self.portals, &seeds, self.occupants) {
            return Sealing::Leaks(leak);
        }
        if seeds.is_empty() && smaller == Solidity::EMPTY {
            return Sealing::Unoccupied;
        }
        let beyond = self.portals.flood(self.portals.void(), open);
        for (index, outside) in self.outside.iter_mut().enumerate() {
            let leaf = LeafId::from_index(index);
            let out = beyond.reaches(leaf) || outside.and(smaller) != Solidity::EMPTY;
            if out && open(leaf) && !reached.reaches(leaf) {
                *outside = outside.with(size);
            }
        }
        Sealing::Sealed
    }
}
