//! Relocations: a match announces each time that it puts an entity at a place to which the entity's
//! own motion does not lead. An audit compares the states with the announcements. The causes are
//! falls out of the map, teleporters, the emergency routine, and a game's own operations.

use glam::DVec3;

use super::World;
use crate::bodies::entities::Entity;
use crate::state::EntityId;

/// An entity was put elsewhere, or taken out of the world, or put back. Each relocation of an
/// entity begins where the entity's previous one ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relocation {
    /// Number of relocations before this one in the match.
    pub number: u64,
    /// The entity.
    pub entity: EntityId,
    /// The former place of the entity: the centre of its box or of its mass, in units. `None` if
    /// the entity waited outside the world.
    pub from: Option<DVec3>,
    /// The new place of the entity; `None` if the entity waits outside the world from then on.
    pub to: Option<DVec3>,
}

/// The relocations of a tick, and the later ones that belong to the next tick.
#[derive(Clone, Debug, Default)]
pub(super) struct Relocations {
    list: Vec<Relocation>,
    /// Number of entries of `list` that belong to ticks that are over.
    over: usize,
    /// Number of relocations in the match so far.
    count: u64,
}

impl Relocations {
    pub(super) fn begin_tick(&mut self) {
        self.list.drain(..self.over);
        self.over = 0;
    }

    /// Completes a tick. Relocations of entities that `exists` does not accept are dropped, because
    /// these entities have left the match.
    pub(super) fn end_tick(&mut self, exists: impl Fn(EntityId) -> bool) {
        self.list.retain(|relocation| exists(relocation.entity));
        self.over = self.list.len();
    }
}

impl World {
    /// The relocations of the last tick, of the time between the tick before and the last tick, and
    /// of the time since, in order.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::{DQuat, DVec3};
    /// # use obsp_sim::{Config, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let player = world.join()?;
    /// let there = DVec3::new(-400.0, -320.0, 28.5);
    /// world.teleport(player, there, DQuat::IDENTITY)?;
    /// assert_eq!(world.entity(player).expect("the entity is in the world").position, there);
    /// let last = world.relocations().last().expect("the teleport was announced");
    /// assert_eq!((last.entity, last.to), (player, Some(there)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn relocations(&self) -> &[Relocation] {
        &self.relocations.list
    }

    /// Announces that the entity in a slot was relocated from `from` to its present place.
    pub(super) fn announce(&mut self, slot: u16, from: Option<DVec3>) {
        let Some(entity) = self.entities.get(slot) else { return };
        let (id, to) = (entity.id, position(entity));
        let number = self.relocations.count;
        self.relocations.count += 1;
        self.relocations.list.push(Relocation { number, entity: id, from, to });
    }

    /// The position of the entity in a slot; `None` if it is not in the world.
    pub(super) fn position_in(&self, slot: u16) -> Option<DVec3> {
        self.entities.get(slot).and_then(position)
    }
}

fn position(entity: &Entity) -> Option<DVec3> {
    entity.placement().map(|placement| placement.pose().position)
}
