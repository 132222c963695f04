#![doc = include_str!("../README.md")]
//!
//! ## How it works
//!
//! A [`World`] advances by fixed ticks: it takes one [`Command`] per player and makes a new
//! [`State`]. It reads no clock, does no I/O, and takes all randomness from its seed. So the same
//! map, seed and commands give the same digests everywhere.
//!
//! One rule holds inside: a pose is only a proposal until the *guard* has shown that the pose, and
//! the way to it, are free. Walking proposes the poses of players, and the contact solver proposes
//! the poses of props. Both go through Blow's filter cascade and a bisection over time. Only the
//! resulting placement can be committed.
//!
//! The modules, each of which depends only on modules above it in this list:
//! - `conventions`, `memory`, `random`, `state`, `threads`, `traits`: the base of all modules
//!   below;
//! - `command`, `counters`, `event`, `place_error`, `setup`: inputs and outputs;
//! - `collision`, `context`: poses, shapes, distances, the grid, the filter cascade and
//!   the time of impact, all without entities;
//! - `bodies`: the entities, the guard, contacts, the solver, sleep;
//! - `arena`: the parts of a match that never change: map, shapes, spawn points,
//!   triggers, ladders, currents;
//! - `missiles`: bodies that fly by rules of their own;
//! - `players`: walking, swimming, climbing, hovertanks, and their prediction on a client;
//! - `world`: the match itself, tick by tick;
//! - [`query`] and [`audit`]: questions about states, for tools and tests.

mod arena;
pub mod audit;
mod bodies;
mod collision;
mod command;
mod context;
mod conventions;
mod counters;
mod event;
mod memory;
mod missiles;
mod place_error;
mod players;
pub mod query;
mod random;
mod setup;
mod state;
#[cfg(test)]
mod test_maps;
mod threads;
mod traits;
mod world;

pub use arena::DrawnModel;
pub use arena::direction::direction_of;
pub use arena::movement_sets::{MovementSetError, MovementSets};
pub use arena::parameters::{MovementError, MovementParameters};
pub use arena::triggers::{destinations, is_game_trigger, keeps_speed};
pub use bodies::armed_move::ArmedMove;
pub use bodies::dynamics::{BodyError, BodyMass, BodyParameters, ForceSpan, LockedAxes};
pub use bodies::linear_move::LinearMove;
pub use bodies::roles::{MissileMotion, Walker};
pub use bodies::slots::MAX_ENTITIES;
pub use bodies::swing::Swing;
pub use collision::time_of_impact::Resolution;
pub use command::{Buttons, Command};
pub use conventions::{BODY_GRAVITIES, BODY_GRAVITY};
pub use counters::{AwakeReason, Clock, Counters, Stage, StageCounter, Stages};
pub use event::WorldEvent;
pub use place_error::PlaceError;
pub use players::movement::PlayerMotion;
pub use players::prediction::{DrivenTank, Moving, Predicted, PredictedBodies, Predictor};
pub use players::submersion::{Depth, Submersion};
pub use random::Random;
pub use setup::{Config, SetupError, SetupWarning};
pub use state::{
    EntityId, EntityState, Kind, MAX_MODELS, MAX_MOVEMENT_SETS, ModelId, MovementId, PlayerKind,
    Posture, State,
};
pub use traits::{Attachment, CollisionLayers, Substance, Traits};
pub use world::{
    AddPlayerError, BodyContact, Contact, FallsAsleep, LoadWorldError, MAX_SENSORS, Nearest,
    RayHit, Relocation, SensorError, SensorEvent, SensorId, SensorShape, Step, StoppedBy, SweepHit,
    SweptShape, Touching, VolumeSearch, Why, World,
};
