//! Entities that are put elsewhere than its motion leads, announced so that an audit can hold it to the
//! states: who fell out and comes back, teleporters, the emergency routine, a game's own acts.

use glam::DVec3;

use super::World;
use crate::bodies::entities::Entity;
use crate::state::EntityId;

/// An entity was put elsewhere, or taken out of the world, or put back. Several of one entity
/// follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relocation {
    /// How many there were before it in the match.
    pub number: u64,
    /// Which one.
    pub entity: EntityId,
    /// Where it was until then: the centre of its box or of its mass, in units; `None` if it
    /// waited outside of the world.
    pub from: Option<DVec3>,
    /// Where it was put; `None` if it waits outside of the world from then on.
    pub to: Option<DVec3>,
}

/// The relocations of a tick, and those after it, which belong to the next one.
#[derive(Clone, Debug, Default)]
pub(super) struct Relocations {
    list: Vec<Relocation>,
    /// How many of them are of ticks that are over.
    over: usize,
    /// How many there have been.
    count: u64,
}

impl Relocations {
    pub(super) fn begin_tick(&mut self) {
        self.list.drain(..self.over);
        self.over = 0;
    }

    /// Completes a tick; what `exists` does not accept is nowhere any more.
    pub(super) fn end_tick(&mut self, exists: impl Fn(EntityId) -> bool) {
        self.list.retain(|relocation| exists(relocation.entity));
        self.over = self.list.len();
    }
}

impl World {
    /// The entities that were put elsewhere in the last tick, between it and the one before, and since, in
    /// order.
    pub fn relocations(&self) -> &[Relocation] {
        &self.relocations.list
    }

    /// Announces that the entity in a slot, which is there now, was at `from` before.
    pub(super) fn announce(&mut self, slot: u16, from: Option<DVec3>) {
        let Some(entity) = self.entities.get(slot) else { return };
        let (id, to) = (entity.id, position(entity));
        let number = self.relocations.count;
        self.relocations.count += 1;
        self.relocations.list.push(Relocation { number, entity: id, from, to });
    }

    /// Where the entity in a slot is.
    pub(super) fn position_of(&self, slot: u16) -> Option<DVec3> {
        self.entities.get(slot).and_then(position)
    }
}

fn position(entity: &Entity) -> Option<DVec3> {
    entity.placement().map(|placement| placement.pose().position)
}
