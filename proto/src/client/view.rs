use sim::EntityState;

use super::history::History;
use crate::quantise::{QuantisedEntity, WorldBounds};
use crate::snapshot::{Digest, DigestSample, Snapshot};
use crate::{MAX_SLOTS, Tick};

/// The world as far as a client has been told of it.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    slots: Vec<History>,
}

impl View {
    /// What a slot was told to hold at exactly this tick.
    pub(super) fn baseline(&self, slot: u16, tick: Tick) -> Option<&QuantisedEntity> {
        self.slots.get(usize::from(slot))?.at(tick)
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

    #[cfg(test)]
    pub(super) fn corrupt(&mut self, slot: u16) {
        let history = &mut self.slots[usize::from(slot)];
        let (tick, mut value) = *history.values().last().unwrap();
        value.as_mut().unwrap().position[0] ^= 1;
        *history = History::default();
        history.insert(tick, value);
    }
}
