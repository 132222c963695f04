//! Rounds a simulation state to integers, once a tick for all clients.
//!
//! A [`Quantiser`] rounds the states of a match in order. [`Quantised`] is the result of one tick.
//! Positions become points of a lattice of [`STEPS_PER_UNIT`] within the map's [`WorldBounds`]. An
//! orientation becomes the smallest three components of its quaternion, a heading one of 4096
//! steps, and a velocity a multiple of [`VELOCITY_STEP`]. A client decodes exactly the integers
//! that were rounded here. A rounded position may lie up to half a step inside a wall. It is only
//! for display, and nothing is ever simulated from it.

mod entity;
mod orientation;
mod state;
mod traits;
mod world_bounds;

pub use entity::{
    QuantisedBody, QuantisedEntity, VELOCITY_LIMIT, VELOCITY_STEP, YAW_BITS, heading,
};
pub use orientation::{COMPONENT_BITS, COMPONENT_LIMIT, QuantisedOrientation};
pub use state::{QuantiseError, Quantised, Quantiser};
pub use traits::{OFFSET_BITS, QuantisedSubstance, QuantisedTraits};
pub use world_bounds::{BoundsError, MAX_POSITION_BITS, STEPS_PER_UNIT, WorldBounds};
