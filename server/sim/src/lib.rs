//! The moving world: players, rigid polyhedra and the promise that none of
//! them ever passes into another or into the static world.
//!
//! A [`World`] advances by fixed ticks: it takes one [`Command`] per player
//! and gives a new [`State`]. It reads no clock, does no I/O and uses no
//! randomness but its seed, so the same map, seed and commands give the same
//! digests everywhere.
//!
//! Inside, one idea rules: a pose is only a proposal until the *guard* has
//! shown that it, and the way to it, is free. Players propose by walking,
//! props by the contact solver; both go through Blow's filter cascade and a
//! bisection over time, and only what comes out as a placement can be
//! committed.

mod agent;
mod arena;
pub mod audit;
mod cascade;
mod combat;
mod command;
mod contact;
mod counters;
mod digest;
#[cfg(test)]
mod drawing;
mod dynamics;
mod entities;
mod event;
mod grid;
mod guard;
mod hovertank;
mod impact;
mod impulse;
mod movement;
mod near_solids;
mod pose;
mod predict;
pub mod query;
mod random;
mod ray;
mod rest;
mod separation;
mod setup;
mod shape;
mod spawn;
mod state;
mod trigger;
mod world;

pub use command::{Buttons, Command};
pub use counters::{Clock, Counters, Stage, StageCounter, Stages};
pub use entities::MAX_ENTITIES;
pub use event::Event;
pub use impact::Resolution;
pub use movement::{PlayerMotion, Walker};
pub use predict::{Moving, Pile, Predicted, Predictor};
pub use random::Random;
pub use setup::{Config, SetupError, SetupWarning};
pub use state::{EntityId, EntityState, Kind, MAX_MODELS, ModelId, PlayerKind, Posture, State};
pub use world::{Contact, JoinError, Vitals, World};
