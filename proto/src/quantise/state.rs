//! Rounds the states of a match, and records which entities changed.

use obsp_sim::{EntityId, State};

use super::{QuantisedEntity, WorldBounds};
use crate::schema::{FieldValues, MatchValues};
use crate::{MAX_ENTITIES, Tick};

/// A whole state in integers, shared by the snapshots of its tick to all clients.
#[derive(Clone, Debug)]
pub struct Quantised {
    tick: Tick,
    revision: u32,
    entities: Vec<Option<QuantisedEntity>>,
    changed: Vec<u32>,
    speeds: Vec<f32>,
    of_match: FieldValues,
    of_own_players: Vec<(EntityId, FieldValues)>,
}

/// Why a state cannot be quantised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantiseError {
    /// An entity's slot is beyond [`MAX_ENTITIES`].
    #[error(
        "an entity has slot {slot}, but there are only {MAX_ENTITIES} slots: run fewer entities"
    )]
    SlotOutOfRange {
        /// The slot.
        slot: u16,
    },
    /// The tick is beyond 32 bits.
    #[error("tick {tick} is beyond 32 bits: restart the match")]
    TickOutOfRange {
        /// The tick.
        tick: u64,
    },
}

/// Rounds the states of one match, in order, and records which entities changed.
#[derive(Clone, Debug)]
pub struct Quantiser {
    bounds: WorldBounds,
    revision: u32,
    entities: Vec<Option<QuantisedEntity>>,
    changed: Vec<u32>,
    speeds: Vec<f32>,
}

impl Quantiser {
    /// A quantiser for a match within these bounds.
    pub fn new(bounds: WorldBounds) -> Self {
        Self { bounds, revision: 0, entities: Vec::new(), changed: Vec::new(), speeds: Vec::new() }
    }

    /// The lattice to which the quantiser rounds.
    pub fn bounds(&self) -> &WorldBounds {
        &self.bounds
    }

    /// Rounds the next state of a game that has no values of its own. Ticks may be skipped.
    ///
    /// # Errors
    /// A slot or the tick cannot be encoded. The quantiser is not changed then.
    pub fn quantise(&mut self, state: &State) -> Result<Quantised, QuantiseError> {
        self.quantise_with(state, &MatchValues::default())
    }

    /// Rounds the next state, with the values that the game gives to it.
    ///
    /// # Errors
    /// The errors are those of [`Quantiser::quantise`].
    pub fn quantise_with(
        &mut self,
        state: &State,
        values: &MatchValues,
    ) -> Result<Quantised, QuantiseError> {
        let tick = Tick::from_simulation(state.tick)
            .ok_or(QuantiseError::TickOutOfRange { tick: state.tick })?;
        let beyond = state
            .entities
            .iter()
            .map(|entity| entity.id.slot)
            .find(|&slot| usize::from(slot) >= MAX_ENTITIES);
        if let Some(slot) = beyond {
            return Err(QuantiseError::SlotOutOfRange { slot });
        }
        let highest = state.entities.iter().map(|entity| usize::from(entity.id.slot) + 1).max();
        // Slots that were used stay in the list when they become empty, because clients must learn
        // that they are empty.
        let count = highest.unwrap_or(0).max(self.entities.len());
        self.revision += 1;
        self.changed.resize(count, 0);
        self.speeds.resize(count, 0.0);
        let previous = std::mem::replace(&mut self.entities, vec![None; count]);
        for entity in &state.entities {
            self.entities[usize::from(entity.id.slot)] =
                Some(QuantisedEntity::quantise(entity, &self.bounds));
        }
        for (id, values) in &values.of_entities {
            let entity = self.entities.get_mut(usize::from(id.slot)).and_then(Option::as_mut);
            if let Some(entity) = entity.filter(|entity| entity.generation == id.generation) {
                entity.values = *values;
            }
        }
        let before = previous.iter().copied().chain(std::iter::repeat(None));
        let noted = self.changed.iter_mut().zip(&mut self.speeds);
        for ((now, before), (changed, speed)) in self.entities.iter().zip(before).zip(noted) {
            if *now != before {
                *changed = self.revision;
                *speed = now.map_or(0.0, |now| now.speed());
            }
        }
        Ok(Quantised {
            tick,
            revision: self.revision,
            entities: self.entities.clone(),
            changed: self.changed.clone(),
            speeds: self.speeds.clone(),
            of_match: values.of_match,
            of_own_players: values.of_own_players.clone(),
        })
    }
}

impl Quantised {
    /// The tick of the state.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// The number of states that the quantiser has rounded, including this one. It counts states,
    /// not ticks, because ticks may be skipped. It is never 0.
    pub(crate) fn revision(&self) -> u32 {
        self.revision
    }

    /// Number of slots that were ever in use.
    pub fn slots(&self) -> usize {
        self.entities.len()
    }

    /// The content of a slot.
    pub fn entity(&self, slot: usize) -> Option<&QuantisedEntity> {
        self.entities.get(slot)?.as_ref()
    }

    /// The revision at which a slot's content last changed; 0 if the slot never had any content.
    pub(crate) fn changed(&self, slot: usize) -> u32 {
        self.changed.get(slot).copied().unwrap_or(0)
    }

    /// The speed of the entity in a slot, in units per second. It is computed once for all
    /// clients.
    pub(crate) fn speed(&self, slot: usize) -> f32 {
        self.speeds.get(slot).copied().unwrap_or(0.0)
    }

    /// The values of the whole match.
    pub(crate) fn of_match(&self) -> FieldValues {
        self.of_match
    }

    /// The values that the server sends only to this player's client.
    pub(crate) fn of_own_player(&self, player: EntityId) -> FieldValues {
        let found = self.of_own_players.iter().find(|(id, _)| *id == player);
        found.map(|(_, values)| *values).unwrap_or_default()
    }

    /// The content of each slot.
    pub fn entities(&self) -> impl Iterator<Item = Option<&QuantisedEntity>> {
        self.entities.iter().map(Option::as_ref)
    }
}
