//! Volumes of a game: when entities enter or leave one, the game is notified.

use std::collections::BTreeSet;

use obsp::geometry::{Aabb, ConvexSolid};
use obsp::{MapEntity, clip_box_to_extent};
use obsp_sim::{EntityId, World};
use serde::{Deserialize, Serialize};

/// The number of a volume of a match: volumes are counted from 0 in the order in which the game
/// adds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VolumeId(pub u16);

/// The volumes of a match, and the entities inside them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Volumes(Vec<Volume>);

#[derive(Clone, Debug)]
struct Volume {
    source: Source,
    /// The solids whose union is the volume.
    solids: Vec<ConvexSolid>,
    inside: Vec<EntityId>,
}

/// The origin of a volume's solids.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Source {
    Box(Aabb),
    /// The brushes of the map's entity with this index.
    Brushes(u32),
}

impl Source {
    /// The solids of the volume; `None` if it has none.
    fn solids(&self, map: &obsp::World) -> Option<Vec<ConvexSolid>> {
        match self {
            Self::Box(bounds) => {
                let bounds = clip_box_to_extent(bounds)?;
                Some(vec![ConvexSolid::from_box(&bounds).ok()?])
            }
            Self::Brushes(index) => {
                let solids = map.entities().get(*index as usize)?.solids().to_vec();
                (!solids.is_empty()).then_some(solids)
            }
        }
    }
}

/// A volume as it is saved.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedVolume {
    source: Source,
    inside: Vec<EntityId>,
}

/// An entity that has crossed the surface of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crossing {
    pub(crate) volume: VolumeId,
    pub(crate) entity: EntityId,
    /// Whether the entity is inside now.
    pub(crate) inside: bool,
}

impl Volumes {
    /// Adds a box as a volume; `None` if the box is empty.
    pub(crate) fn add_box(&mut self, map: &obsp::World, bounds: &Aabb) -> Option<VolumeId> {
        self.add(map, Source::Box(*bounds), Vec::new())
    }

    /// Adds the brushes of an entity of `map` as a volume; `None` if the entity has no brushes, or
    /// is not of this map.
    pub(crate) fn add_brushes(
        &mut self,
        map: &obsp::World,
        entity: &MapEntity,
    ) -> Option<VolumeId> {
        let index = map.entities().iter().position(|known| {
            std::ptr::eq(known, entity)
                || known.pairs() == entity.pairs() && known.solids() == entity.solids()
        })?;
        self.add(map, Source::Brushes(index as u32), Vec::new())
    }

    fn add(
        &mut self,
        map: &obsp::World,
        source: Source,
        inside: Vec<EntityId>,
    ) -> Option<VolumeId> {
        let id = u16::try_from(self.0.len()).ok().map(VolumeId)?;
        self.0.push(Volume { solids: source.solids(map)?, source, inside });
        Some(id)
    }

    /// The volumes in the form in which they are saved.
    pub(crate) fn saved(&self) -> Vec<SavedVolume> {
        let saved = |Volume { source, inside, .. }: &Volume| SavedVolume {
            source: *source,
            inside: inside.clone(),
        };
        self.0.iter().map(saved).collect()
    }

    /// The volumes that were saved; `None` if one of them has no solids on `map`.
    pub(crate) fn restored(saved: Vec<SavedVolume>, map: &obsp::World) -> Option<Self> {
        let mut volumes = Self::default();
        for SavedVolume { source, inside } in saved {
            volumes.add(map, source, inside)?;
        }
        Some(volumes)
    }

    /// The entities that are inside a volume, in ascending order of slot.
    pub(crate) fn inside(&self, id: VolumeId) -> &[EntityId] {
        self.0.get(usize::from(id.0)).map_or(&[], |volume| &volume.inside)
    }

    /// Finds the entities inside each volume. Returns what has changed since the last call: for
    /// each volume first the entities that have left it, then those that have entered it.
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
