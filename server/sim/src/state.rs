//! The visible state of a match: entities and their states.

use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

use crate::traits::Traits;

/// A stable name for an entity. A slot that is used again gets another generation, so an id repeats
/// only after the slot has been given out 65,536 times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntityId {
    /// Index in the dense storage.
    pub slot: u16,
    /// Number of times that the slot was given out before, modulo 2^16.
    pub generation: u16,
}

/// Maximum number of models of a match. Encodings of a model's index must provide for this many.
pub const MAX_MODELS: usize = 128;

/// The model of a body: an index into the match's list of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModelId(pub u8);

/// The posture of a player, which selects a size of `spaces.toml`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Posture {
    /// Upright: the size `standing`.
    #[default]
    Standing,
    /// Crouching: the size `crouching`.
    Crouching,
}

/// The kind of body with which a player joins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PlayerKind {
    /// On foot, as a box.
    #[default]
    Box,
    /// In a hovertank, a polyhedron.
    Hovertank,
}

/// The kind of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A player on foot: a box steered by commands.
    Player {
        /// The player's current box.
        posture: Posture,
    },
    /// A vehicle: a rigid polyhedron steered by commands.
    Vehicle {
        /// Model of the vehicle.
        model: ModelId,
    },
    /// Any other rigid polyhedron.
    Prop {
        /// Model of the prop.
        model: ModelId,
    },
}

impl Kind {
    /// Whether commands steer entities of this kind.
    pub fn is_player(self) -> bool {
        matches!(self, Self::Player { .. } | Self::Vehicle { .. })
    }
}

/// The visible state of one entity after a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntityState {
    /// The entity's stable name.
    pub id: EntityId,
    /// The entity's kind.
    pub kind: Kind,
    /// Centre of a player's box, or centre of mass of a polyhedron, in units.
    pub position: DVec3,
    /// Orientation of a polyhedron; for a player on foot the heading about +Z.
    pub orientation: DQuat,
    /// Velocity, in units per second. A conveyor has the velocity of its surface.
    pub velocity: DVec3,
    /// Whether the entity sleeps. A sleeping entity stands still, and is left out of the simulation
    /// until something wakes it. A conveyor counts as asleep.
    pub asleep: bool,
    /// Which other entities the entity may meet, and whether it is visible and solid.
    pub traits: Traits,
}

/// The visible state of a match after a tick. It never changes, so several threads can encode it at
/// once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// How many ticks have been simulated.
    pub tick: u64,
    /// All entities that are in the world, in ascending order of slot.
    pub entities: Vec<EntityState>,
}

/// Maximum number of sets of a match, the usual one included. The wire has four bits for the number
/// of a player's set.
pub const MAX_MOVEMENT_SETS: usize = 16;

/// The number of a set in the [`MovementSets`](crate::MovementSets) of a match. The default stands
/// for the usual set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovementId(u8);

impl MovementId {
    /// The usual set.
    pub const USUAL: Self = Self(0);

    /// The set with this number; `None` if no match has as many sets.
    pub fn from_index(index: usize) -> Option<Self> {
        (index < MAX_MOVEMENT_SETS).then_some(Self(index as u8))
    }

    /// The number of the set: 0 is the usual one.
    pub fn index(self) -> usize {
        self.0.into()
    }
}
