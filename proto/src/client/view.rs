//! The world as a client knows it, slot by slot.

use glam::DVec3;
use obsp_sim::EntityState;

use super::history::History;
use super::session::Observed;
use crate::quantise::{QuantisedEntity, WorldBounds};
use crate::schema::{FieldValues, Schema};
use crate::snapshot::{BaselineQuery, Baselines, Digest, DigestSample, Snapshot};
use crate::{MAX_ENTITIES, Tick};

/// The part of the world that a client has received.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    slots: Vec<History>,
    /// Values of the match.
    pub(super) of_match: History<FieldValues>,
    /// Values of the client's own player, which the server sends to no other client.
    pub(super) of_own_player: History<FieldValues>,
}

impl<'a> Baselines<'a> for &'a View {
    fn entity(&self, slot: u16, query: BaselineQuery) -> Option<(Tick, &'a QuantisedEntity)> {
        let view: &'a View = self;
        let history = view.slots.get(usize::from(slot))?;
        match query {
            BaselineQuery::At(tick) => Some((tick, history.at(tick)?)),
            BaselineQuery::Until(tick) => history.until(tick),
        }
    }

    fn match_values(&self, tick: Tick) -> Option<FieldValues> {
        self.of_match.at(tick).copied()
    }

    fn own_values(&self, tick: Tick) -> Option<FieldValues> {
        self.of_own_player.at(tick).copied()
    }
}

impl View {
    /// Applies all records of a snapshot.
    pub(super) fn apply(&mut self, snapshot: &Snapshot) {
        for record in &snapshot.records {
            let index = usize::from(record.slot);
            if index >= self.slots.len() {
                // The decoder has checked that a slot is below MAX_ENTITIES.
                self.slots.resize_with(index + 1, History::default);
            }
            self.slots[index].insert(snapshot.tick, record.entity);
        }
        if let Some(values) = snapshot.match_values {
            self.of_match.insert(snapshot.tick, Some(values));
        }
        if let Some(values) = snapshot.own_values {
            self.of_own_player.insert(snapshot.tick, Some(values));
        }
    }

    /// Whether the server's digest in a snapshot matches the decoded records and the sampled slots.
    /// The snapshot must be later than all that were applied.
    pub(super) fn agrees(
        &self,
        snapshot: &Snapshot,
        sample: &DigestSample,
        schema: &Schema,
    ) -> bool {
        let mut digest = Digest::new(snapshot.tick);
        for record in &snapshot.records {
            digest.add(record.slot, record.entity.as_ref(), schema);
        }
        for slot in sample.sampled() {
            digest.add(slot, self.latest(slot), schema);
        }
        digest.finish() == sample.digest
    }

    /// The latest content of a slot.
    pub(super) fn latest(&self, slot: u16) -> Option<&QuantisedEntity> {
        debug_assert!(self.slots.len() <= MAX_ENTITIES);
        self.slots.get(usize::from(slot))?.latest()
    }

    /// The tick of the latest record of an entity's slot, if that record lacks the entity.
    pub(super) fn gone_since(&self, id: obsp_sim::EntityId) -> Option<Tick> {
        let (tick, value) = self.slots.get(usize::from(id.slot))?.values().last()?;
        let is_there = value.as_ref().is_some_and(|entity| entity.generation == id.generation);
        (!is_there).then_some(*tick)
    }

    /// The latest states of all entities, in ascending order of slot.
    pub(super) fn entities(&self, bounds: &WorldBounds) -> impl Iterator<Item = EntityState> {
        let latest = (0_u16..).zip(&self.slots);
        latest.filter_map(|(slot, history)| Some(history.latest()?.dequantise(slot, bounds)))
    }

    /// The latest states with their ticks.
    pub(super) fn observed(&self, bounds: &WorldBounds) -> impl Iterator<Item = Observed> {
        let slots = (0_u16..).zip(&self.slots);
        slots.filter_map(|(slot, history)| {
            let (tick, value) = history.values().last()?;
            Some((*tick, value.as_ref()?.dequantise(slot, bounds)))
        })
    }

    /// The latest states, with their ticks, of all entities within `reach` units of
    /// `position` on each axis.
    pub(super) fn near(
        &self,
        position: DVec3,
        reach: f64,
        bounds: &WorldBounds,
    ) -> impl Iterator<Item = Observed> {
        let (least, most) = (bounds.quantise(position - reach), bounds.quantise(position + reach));
        let latest = (0_u16..).zip(&self.slots);
        latest.filter_map(move |(slot, history)| {
            let (tick, value) = history.values().last()?;
            let entity = value.as_ref()?;
            let inside = |axis: usize| (least[axis]..=most[axis]).contains(&entity.position[axis]);
            (0..3).all(inside).then(|| (*tick, entity.dequantise(slot, bounds)))
        })
    }

    /// The values of a slot while it had this generation, the oldest first.
    pub(super) fn history(
        &self,
        id: obsp_sim::EntityId,
        bounds: &WorldBounds,
    ) -> impl Iterator<Item = (Tick, EntityState)> {
        let values = self.slots.get(usize::from(id.slot)).map_or(&[][..], History::values);
        values.iter().filter_map(move |(tick, value)| {
            let entity = value.as_ref().filter(|entity| entity.generation == id.generation)?;
            Some((*tick, entity.dequantise(id.slot, bounds)))
        })
    }

    /// The state of an entity at `tick` or before, and the first one after it.
    pub(super) fn states_around(
        &self,
        id: obsp_sim::EntityId,
        tick: Tick,
        bounds: &WorldBounds,
    ) -> Option<(Observed, Option<Observed>)> {
        let history = self.slots.get(usize::from(id.slot))?;
        let values = history.values();
        let observed = |&(tick, ref value): &(Tick, Option<QuantisedEntity>)| {
            let entity = value.as_ref().filter(|entity| entity.generation == id.generation)?;
            Some((tick, entity.dequantise(id.slot, bounds)))
        };
        let later = history.until_index(tick);
        let before = later.checked_sub(1).and_then(|index| values.get(index));
        match before {
            Some((_, Some(entity))) if entity.generation == id.generation => {
                Some((observed(before?)?, values.get(later).and_then(observed)))
            }
            // The entity no longer exists at that tick.
            Some((_, None)) => None,
            // No state of the entity at `tick` or before is kept.
            _ => Some((values[later..].iter().find_map(observed)?, None)),
        }
    }

    /// The entity in a slot at `tick`, in the integers that were sent: its latest state at that
    /// tick or before, or the oldest state that is kept.
    pub(super) fn quantised_at(
        &self,
        id: obsp_sim::EntityId,
        tick: Tick,
    ) -> Option<&QuantisedEntity> {
        let history = self.slots.get(usize::from(id.slot))?;
        let index = history.until_index(tick).saturating_sub(1);
        let (_, value) = history.values().get(index)?;
        value.as_ref().filter(|entity| entity.generation == id.generation)
    }

    #[cfg(test)]
    pub(super) fn corrupt(&mut self, slot: u16) {
        let history = &mut self.slots[usize::from(slot)];
        let (tick, mut value) = *history.values().last().unwrap();
        value.as_mut().unwrap().position[0] ^= 1;
        *history = History::default();
        history.insert(tick, value);
    }
}
