//! Volumes of a game. The game is notified when entities enter or leave a volume, even if they pass
//! it within one tick.

use std::collections::BTreeSet;

use glam::DVec3;
use obsp::geometry::{Aabb, ConvexSolid};
use obsp::{MapEntity, clip_box_to_extent};
use obsp_sim::{EntityId, VolumeSearch, World};
use serde::{Deserialize, Serialize};

/// The number of a volume of a match. Volumes are counted from 0 in the order in which the game
/// adds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VolumeId(pub u16);

/// The volumes of a match, and the entities inside them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Volumes {
    list: Vec<Volume>,
    /// The entities that have reached into each volume on their way since the last update. Empty
    /// between ticks.
    met: BTreeSet<(VolumeId, EntityId)>,
}

#[derive(Clone, Debug)]
struct Volume {
    source: Source,
    /// Searches of the solids whose union is the volume.
    solids: Vec<VolumeSearch>,
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
    fn solids(&self, map: &obsp::Map) -> Option<Vec<VolumeSearch>> {
        let solids = match self {
            Self::Box(bounds) => {
                let bounds = clip_box_to_extent(bounds)?;
                vec![ConvexSolid::from_box(&bounds).ok()?]
            }
            Self::Brushes(index) => map.entities().get(*index as usize)?.solids().to_vec(),
        };
        let solids: Vec<VolumeSearch> = solids.into_iter().map(VolumeSearch::new).collect();
        (!solids.is_empty()).then_some(solids)
    }
}

/// A volume as it is saved.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedVolume {
    source: Source,
    inside: Vec<EntityId>,
}

/// The place of an entity before it moves in a part of a tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) id: EntityId,
    pub(crate) position: DVec3,
    /// The number of relocations before that part of the tick.
    pub(crate) relocations: usize,
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
    pub(crate) fn add_box(&mut self, map: &obsp::Map, bounds: &Aabb) -> Option<VolumeId> {
        self.add(map, Source::Box(*bounds), Vec::new())
    }

    /// Adds the brushes of an entity of `map` as a volume; `None` if the entity has no brushes, or
    /// is not of this map.
    pub(crate) fn add_brushes(&mut self, map: &obsp::Map, entity: &MapEntity) -> Option<VolumeId> {
        let index = map.index_of(entity)?;
        self.add(map, Source::Brushes(index as u32), Vec::new())
    }

    fn add(&mut self, map: &obsp::Map, source: Source, inside: Vec<EntityId>) -> Option<VolumeId> {
        let id = u16::try_from(self.list.len()).ok().map(VolumeId)?;
        self.list.push(Volume { solids: source.solids(map)?, source, inside });
        Some(id)
    }

    /// The volumes in the form in which they are saved.
    pub(crate) fn saved(&self) -> Vec<SavedVolume> {
        let saved = |Volume { source, inside, .. }: &Volume| SavedVolume {
            source: *source,
            inside: inside.clone(),
        };
        self.list.iter().map(saved).collect()
    }

    /// The volumes that were saved; `None` if one of them has no solids on `map`.
    pub(crate) fn restored(saved: Vec<SavedVolume>, map: &obsp::Map) -> Option<Self> {
        let mut volumes = Self::default();
        for SavedVolume { source, inside } in saved {
            volumes.add(map, source, inside)?;
        }
        Some(volumes)
    }

    /// The entities that are inside a volume, in ascending order of slot.
    pub(crate) fn inside(&self, id: VolumeId) -> &[EntityId] {
        self.list.get(usize::from(id.0)).map_or(&[], |volume| &volume.inside)
    }

    /// The place of an entity before it moves, for [`Volumes::follow`]. Without volumes nothing is
    /// noted.
    pub(crate) fn place(&self, world: &World, id: EntityId) -> Option<Place> {
        let position = if self.list.is_empty() { None } else { world.position_of(id) };
        Some(Place { id, position: position?, relocations: world.relocations().len() })
    }

    /// Notes the volumes that entities have met on their ways since they were at `before`. An
    /// entity that was put elsewhere has two ways: to the place where it was taken away, and from
    /// the place where it was put.
    pub(crate) fn follow(&mut self, world: &World, before: impl IntoIterator<Item = Place>) {
        if self.list.is_empty() {
            return;
        }
        for Place { id, position, relocations } in before {
            let put = world.relocations().get(relocations..).unwrap_or_default();
            let mut from = Some(position);
            for relocation in put.iter().filter(|relocation| relocation.entity == id) {
                self.note_way(world, id, [from, relocation.from]);
                from = relocation.to;
            }
            self.note_way(world, id, [from, world.position_of(id)]);
        }
    }

    fn note_way(&mut self, world: &World, id: EntityId, way: [Option<DVec3>; 2]) {
        let [Some(from), Some(to)] = way else { return };
        if from == to {
            return;
        }
        let Some(around) = world.bounds_of_way(id, [from, to]) else { return };
        for (index, volume) in self.list.iter().enumerate() {
            let mut near = volume.solids.iter().map(VolumeSearch::volume);
            let meets = |solid: &ConvexSolid| {
                around.overlaps(solid.bounds()) && world.passes_through(id, [from, to], solid)
            };
            if near.any(meets) {
                self.met.insert((VolumeId(index as u16), id));
            }
        }
    }

    /// Finds the entities inside each volume. Returns the changes since the last call: for each
    /// volume first the entities that have left it, then those that have entered it, then those
    /// that have entered it and left it again.
    pub(crate) fn update(&mut self, world: &World) -> Vec<Crossing> {
        let mut crossings = Vec::new();
        let met = std::mem::take(&mut self.met);
        for (index, volume) in self.list.iter_mut().enumerate() {
            let found = volume.solids.iter_mut().flat_map(|solid| world.find_in(solid));
            let mut now: Vec<EntityId> = found.collect();
            if volume.solids.len() > 1 {
                now.sort_unstable();
                now.dedup();
            }
            if now == volume.inside && met.is_empty() {
                continue;
            }
            let id = VolumeId(index as u16);
            let left = volume.inside.iter().filter(|entity| !now.contains(entity));
            let entered = now.iter().filter(|entity| !volume.inside.contains(entity));
            let crossing = |inside| move |&entity| Crossing { volume: id, entity, inside };
            crossings.extend(left.map(crossing(false)));
            crossings.extend(entered.map(crossing(true)));
            let met = met.iter().filter(|(volume, _)| *volume == id).map(|(_, entity)| entity);
            for entity in met.filter(|&entity| !now.contains(entity)) {
                if !volume.inside.contains(entity) {
                    crossings.extend([true, false].map(|inside| crossing(inside)(entity)));
                }
            }
            volume.inside = now;
        }
        crossings
    }

    /// The entities inside each volume, for the digest.
    pub(crate) fn occupants(&self) -> impl Iterator<Item = &[EntityId]> {
        self.list.iter().map(|volume| volume.inside.as_slice())
    }
}
