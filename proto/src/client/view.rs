use glam::DVec3;
use sim::EntityState;

use super::history::History;
use super::session::Told;
use crate::quantise::{QuantisedEntity, WorldBounds};
use crate::snapshot::{Digest, DigestSample, Snapshot, Sought};
use crate::{MAX_SLOTS, Tick};

/// The world as far as a client has been told of it.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    slots: Vec<History>,
}

impl View {
    /// What a slot was told to hold, to read its next value against.
    pub(super) fn baseline(&self, slot: u16, sought: Sought) -> Option<(Tick, &QuantisedEntity)> {
        let history = self.slots.get(usize::from(slot))?;
        match sought {
            Sought::At(tick) => Some((tick, history.at(tick)?)),
            Sought::Until(tick) => history.until(tick),
        }
    }

    /// Takes in all records of a snapshot.
    pub(super) fn apply(&mut self, snapshot: &Snapshot) {
        for record in &snapshot.records {
            let index = usize::from(record.slot);
            if index >= self.slots.len() {
                // The decoder has checked that a slot is below MAX_SLOTS.
                self.slots.resize_with(index + 1, History::default);
            }
            self.slots[index].insert(snapshot.tick, record.entity);
        }
    }

    /// Whether the server's digest of a snapshot later than all before agrees
    /// with what was decoded of it and with what is held besides.
    pub(super) fn agrees(&self, snapshot: &Snapshot, sample: &DigestSample) -> bool {
        let mut digest = Digest::new(snapshot.tick);
        for record in &snapshot.records {
            digest.add(record.slot, record.entity.as_ref());
        }
        for slot in sample.sampled() {
            digest.add(slot, self.latest(slot));
        }
        digest.finish() == sample.digest
    }

    /// What a slot holds.
    pub(super) fn latest(&self, slot: u16) -> Option<&QuantisedEntity> {
        debug_assert!(self.slots.len() <= MAX_SLOTS);
        self.slots.get(usize::from(slot))?.latest()
    }

    /// All there is, in ascending order of slot.
    pub(super) fn entities(&self, bounds: &WorldBounds) -> impl Iterator<Item = EntityState> {
        let latest = (0_u16..).zip(&self.slots);
        latest.filter_map(|(slot, history)| Some(history.latest()?.dequantise(slot, bounds)))
    }

    /// The same, each with the tick at which it was told of.
    pub(super) fn told(&self, bounds: &WorldBounds) -> impl Iterator<Item = Told> {
        let slots = (0_u16..).zip(&self.slots);
        slots.filter_map(|(slot, history)| {
            let (tick, value) = history.values().last()?;
            Some((*tick, value.as_ref()?.dequantise(slot, bounds)))
        })
    }

    /// All there is within `reach` units of `position` on each axis, each with
    /// the tick at which it was told of.
    pub(super) fn near(
        &self,
        position: DVec3,
        reach: f64,
        bounds: &WorldBounds,
    ) -> impl Iterator<Item = Told> {
        let (least, most) = (bounds.quantise(position - reach), bounds.quantise(position + reach));
        let latest = (0_u16..).zip(&self.slots);
        latest.filter_map(move |(slot, history)| {
            let (tick, value) = history.values().last()?;
            let entity = value.as_ref()?;
            let inside = |axis: usize| (least[axis]..=most[axis]).contains(&entity.position[axis]);
            (0..3).all(inside).then(|| (*tick, entity.dequantise(slot, bounds)))
        })
    }

    /// What was told of a slot while it held this generation, the oldest first.
    pub(super) fn history(
        &self,
        id: sim::EntityId,
        bounds: &WorldBounds,
    ) -> impl Iterator<Item = (Tick, EntityState)> {
        let values = self.slots.get(usize::from(id.slot)).map_or(&[][..], History::values);
        values.iter().filter_map(move |(tick, value)| {
            let entity = value.as_ref().filter(|entity| entity.generation == id.generation)?;
            Some((*tick, entity.dequantise(id.slot, bounds)))
        })
    }

    /// What was last told of an entity until `tick`, and first after it.
    pub(super) fn around(
        &self,
        id: sim::EntityId,
        tick: Tick,
        bounds: &WorldBounds,
    ) -> Option<(Told, Option<Told>)> {
        let history = self.slots.get(usize::from(id.slot))?;
        let values = history.values();
        let told = |&(tick, ref value): &(Tick, Option<QuantisedEntity>)| {
            let entity = value.as_ref().filter(|entity| entity.generation == id.generation)?;
            Some((tick, entity.dequantise(id.slot, bounds)))
        };
        let later = history.until_index(tick);
        let before = later.checked_sub(1).and_then(|index| values.get(index));
        match before {
            Some((_, Some(entity))) if entity.generation == id.generation => {
                Some((told(before?)?, values.get(later).and_then(told)))
            }
            // Gone by then, or not told of so long ago.
            Some((_, None)) => None,
            _ => Some((values[later..].iter().find_map(told)?, None)),
        }
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
