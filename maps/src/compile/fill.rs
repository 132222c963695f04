//! Filling the outside: space that no entity can reach becomes solid.
//!
//! `maps/COMPILER.md` defines the outside, and this module finds it. The leaves of a first tree are
//! connected by portals, where their faces overlap (`portals`). A flood fill starts at the map's
//! entities (`seeds`), size by size. If the flood does not reach the void around the map, the map
//! is sealed for that size. Then all leaves within reach of a flood from the void become solid, and
//! the surfaces that face them are removed (`trim`). Otherwise the path to the void is reported
//! (`leak`), and nothing is filled for the size. An entity that touches a surface, or is in solid,
//! may be on either side. Its surroundings are kept unless the void reaches them, and a leak never
//! starts at such an entity.
//!
//! A box can be only where smaller boxes about the same centre can be. So the flood of a size is
//! confined to the leaves that the smaller sizes reach, and a map that is sealed for a smaller size
//! is also sealed for this one. A pocket that neither entities nor the void reach stays empty,
//! unless a smaller size reaches it from the void.

mod leak;
mod portals;
mod seeds;
mod trim;

use glam::Vec3;

use super::cell::Cell;
use super::draft::{Draft, LeafId};
use super::parsed_map::Occupant;
use super::planes::PlaneTable;
use crate::geometry::Aabb;
use crate::map::onion::Solidity;
use crate::spaces::{SizeId, Spaces};
pub use leak::{Leak, Sealing};
use portals::Portals;
use seeds::{Seed, Seeds};
pub(super) use trim::trimmed;

/// The floods through the first tree.
struct Floods<'a> {
    draft: &'a Draft,
    portals: Portals,
    occupants: &'a [Occupant],
    planes: &'a PlaneTable,
    /// The box of the root's cell.
    bounds: Aabb,
    /// The sizes for which each leaf is outside.
    outside: Vec<Solidity>,
    /// The sizes that reach each leaf from an entity.
    inside: Vec<Solidity>,
}

/// The sizes whose boxes fit into a box of another size about the same centre.
#[derive(Clone, Copy)]
struct Smaller {
    all: Solidity,
    /// The smaller sizes for which the map is sealed.
    sealed: Solidity,
}

/// The leaves to be filled, and whether the map is sealed.
pub(super) struct Filling {
    /// Whether the map is sealed, by size.
    pub(super) sealings: Vec<Sealing>,
    outside: Vec<Solidity>,
}

impl Filling {
    /// The sizes for which the map is sealed.
    pub(super) fn sealed(&self) -> Solidity {
        let sizes = self.sealings.iter().enumerate().filter(|(_, s)| **s == Sealing::Sealed);
        sizes.fold(Solidity::EMPTY, |all, (index, _)| all.with(SizeId::from_index(index)))
    }

    /// Makes the outside solid.
    pub(super) fn apply(&self, draft: &mut Draft) {
        for (leaf, &outside) in self.outside.iter().enumerate() {
            draft.fill(LeafId::from_index(leaf), outside);
        }
        draft.simplify();
    }
}

/// Determines for every size whether the map is sealed. If it is, also determines the leaves that
/// are outside. `cell` is the cell of the root of `draft`.
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
    let none = vec![Solidity::EMPTY; draft.leaf_ids()];
    let (outside, inside) = (none.clone(), none);
    let bounds = Aabb::around(cell.vertices());
    let mut floods = Floods { draft, portals, occupants, planes, bounds, outside, inside };
    // The sizes are ordered so that each comes after the sizes that fit into it.
    let mut order: Vec<(SizeId, Vec3)> =
        spaces.iter().map(|(id, size)| (id, size.half_extents)).collect();
    order.sort_by(|(_, a), (_, b)| a.element_sum().total_cmp(&b.element_sum()));
    for (at, &(size, half_extents)) in order.iter().enumerate() {
        let fit = order[..at].iter().filter(|(_, half)| half.cmple(half_extents).all());
        let mut smaller = Smaller { all: Solidity::EMPTY, sealed: Solidity::EMPTY };
        for &(fits, _) in fit {
            smaller.all = smaller.all.with(fits);
            if sealings[fits.index()] == Sealing::Sealed {
                smaller.sealed = smaller.sealed.with(fits);
            }
        }
        let sealing = floods.seal(size, half_extents, smaller);
        let contradiction =
            matches!(sealing, Sealing::Leaks(_)) && smaller.sealed != Solidity::EMPTY;
        assert!(!contradiction, "a map that is sealed for a size is sealed for larger ones");
        sealings[size.index()] = sealing;
    }
    Filling { sealings, outside: floods.outside }
}

impl Floods<'_> {
    /// Whether the map is sealed for `size`. If so, adds its outside. If the map is sealed for a
    /// `smaller` size, its outside is included.
    fn seal(&mut self, size: SizeId, half_extents: Vec3, smaller: Smaller) -> Sealing {
        let draft = self.draft;
        let empty = |leaf: LeafId| draft.leaf(leaf).is_some_and(|s| !s.contains(size));
        let inside = &self.inside;
        let open =
            |leaf: LeafId| empty(leaf) && inside[leaf.index()].and(smaller.all) == smaller.all;
        let beyond = self.portals.flood(self.portals.void(), empty);
        let bounds = self.bounds;
        let places = Seeds { draft, planes: self.planes, size, half_extents, bounds };
        let occupants = self.occupants.iter().enumerate();
        let seeds: Vec<Seed> = occupants
            .flat_map(|(index, occupant)| places.of(index, occupant.origin))
            .filter(|seed| open(seed.leaf) && !self.portals.is_thin(seed.leaf))
            .filter(|seed| seed.certain || !beyond.reaches(seed.leaf))
            .collect();
        let reached = self.portals.flood(seeds.iter().map(|seed| seed.leaf), open);
        let leak = Leak::find(&reached, &self.portals, &seeds, self.occupants);
        for (index, sizes) in self.inside.iter_mut().enumerate() {
            if reached.reaches(LeafId::from_index(index)) {
                *sizes = sizes.with(size);
            }
        }
        if let Some(leak) = leak {
            return Sealing::Leaks(leak);
        }
        if seeds.is_empty() && smaller.sealed == Solidity::EMPTY {
            return Sealing::Unoccupied;
        }
        for (index, outside) in self.outside.iter_mut().enumerate() {
            let leaf = LeafId::from_index(index);
            let out = beyond.reaches(leaf) || outside.and(smaller.sealed) != Solidity::EMPTY;
            if out && empty(leaf) && !reached.reaches(leaf) {
                *outside = outside.with(size);
            }
        }
        Sealing::Sealed
    }
}
