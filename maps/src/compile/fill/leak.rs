//! Whether a map is sealed, and the path of a leak.

use glam::DVec3;

use super::portals::{Flood, Portals};
use super::seeds::Seed;
use crate::compile::parsed_map::Occupant;

/// Whether the inside of a map is separated from the void around it, for one size.
#[derive(Clone, Debug, PartialEq)]
pub enum Sealing {
    /// The inside is separated from the void, and the outside is solid.
    Sealed,
    /// A path leads from an entity to the void, and the outside is empty.
    Leaks(Leak),
    /// No entity has room for this size, so inside and outside cannot be told apart. The outside is
    /// empty.
    Unoccupied,
}

/// A path from an entity to the void.
#[derive(Clone, Debug, PartialEq)]
pub struct Leak {
    /// The entity's class.
    pub classname: String,
    /// Line of the entity's opening brace.
    pub line: u64,
    /// The entity's position.
    pub origin: DVec3,
    /// The path, from near the origin to beyond all brushes. A box of the size is free all
    /// along it.
    pub path: Vec<DVec3>,
}

impl Leak {
    /// The shortest leak, counted in portals, of the flood from `seeds`.
    pub(super) fn find(
        reached: &Flood<'_>,
        portals: &Portals,
        seeds: &[Seed],
        occupants: &[Occupant],
    ) -> Option<Self> {
        let mut ways_out = reached.order.iter().map(|&leaf| (leaf, portals.way_out(leaf)));
        let (leaf, out) = ways_out.find_map(|(leaf, out)| Some((leaf, out?)))?;
        let (start, way) = reached.way(leaf);
        let seed = seeds.iter().find(|seed| seed.leaf == start)?;
        let Occupant { classname, line, origin } = &occupants[seed.occupant];
        let path = std::iter::once(seed.at).chain(way).chain([out]).collect();
        Some(Self { classname: classname.clone(), line: *line, origin: *origin, path })
    }

    /// The path as the text of a Quake pointfile, which editors draw as a line. Each line of
    /// text is a point.
    pub fn pointfile(&self) -> String {
        let points = std::iter::once(&self.origin).chain(&self.path);
        points.map(|p| format!("{:.3} {:.3} {:.3}\n", p.x, p.y, p.z)).collect()
    }
}
