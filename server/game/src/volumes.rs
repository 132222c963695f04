//! Volumes that a game is told about: what enters and what leaves them.

use std::collections::BTreeSet;

use obsp::MapEntity;
use obsp::geometry::{Aabb, ConvexSolid};
use obsp_sim::{EntityId, World};
use serde::{Deserialize, Serialize};

/// A volume of a match, by the order in which the game has added them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VolumeId(pub u16);

/// The volumes of a match, and what is inside of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Volumes(Vec<Volume>);

#[derive(Clone, Debug)]
struct Volume {
    /// Their union is the volume.
    solids: Vec<ConvexSolid>,
    inside: Vec<EntityId>,
}

/// An entity that has crossed the surface of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crossing {
    pub(crate) volume: VolumeId,
    pub(crate) entity: EntityId,
    /// Whether it is inside now.
    pub(crate) inside: bool,
}

impl Volumes {
    /// Adds a box; `None` if it has no volume.
    pub(crate) fn add_box(&mut self, bounds: &Aabb) -> Option<VolumeId> {
        let finite = bounds.min.is_finite() && bounds.max.is_finite();
        let solid = finite.then(|| ConvexSolid::from_box(bounds).ok()).flatten()?;
        self.add(vec![solid])
    }

    /// Adds the brushes of a map's entity; `None` if it has none.
    pub(crate) fn add_brushes(&mut self, entity: &MapEntity) -> Option<VolumeId> {
        let solids = entity.solids().to_vec();
        if solids.is_empty() { None } else { self.add(solids) }
    }

    fn add(&mut self, solids: Vec<ConvexSolid>) -> Option<VolumeId> {
        let id = u16::try_from(self.0.len()).ok().map(VolumeId)?;
        self.0.push(Volume { solids, inside: Vec::new() });
        Some(id)
    }

    /// The entities that are inside a volume, in ascending order of slot.
    pub(crate) fn inside(&self, id: VolumeId) -> &[EntityId] {
        self.0.get(usize::from(id.0)).map_or(&[], |volume| &volume.inside)
    }

    /// Looks what is inside of each volume now. Returns what has left and what has entered,
    /// for each volume in this order.
    pub(crate) fn update(&mut self, world: &World) -> Vec<Crossing> {
        let mut crossings = Vec::new();
        for (index, volume) in self.0.iter_mut().enumerate() {
            let found = volume.solids.iter().flat_map(|solid| world.overlapping(solid));
            let now: BTreeSet<EntityId> = found.collect();
            let id = VolumeId(index as u16);
            let left = volume.inside.iter().filter(|entity| !now.contains(entity));
            let entered = now.iter().filter(|entity| !volume.inside.contains(entity));
            let crossing = |inside| move |&entity| Crossing { volume: id, entity, inside };
            crossings.extend(left.map(crossing(false)));
            crossings.extend(entered.map(crossing(true)));
            volume.inside = now.into_iter().collect();
        }
        crossings
    }

    /// The entities inside each volume, for the digest.
    pub(crate) fn occupants(&self) -> impl Iterator<Item = &[EntityId]> {
        self.0.iter().map(|volume| volume.inside.as_slice())
    }
}
