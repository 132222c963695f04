//! The moving world: players, rigid polyhedra and the promise that none of
//! them ever passes into another or into the static world.
//!
//! A [`World`] advances by fixed ticks: it takes one [`Command`] per player
//! and gives events and a new [`State`]. It reads no clock, does no I/O and
//! uses no randomness but its seed, so the same map, seed and commands give
//! the same digests everywhere.

mod command;
mod state;

pub use command::{Buttons, Command};
pub use state::{EntityId, EntityState, Kind, ModelId, Posture, State};
