//! A simulation state rounded to integers, once a tick for all clients.
//!
//! Positions become points of a lattice of [`STEPS_PER_UNIT`] within the
//! map's [`WorldBounds`], attitudes the smallest three components of their
//! quaternion, headings 4096 steps a turn, velocities multiples of
//! [`VELOCITY_STEP`]. What a client decodes equals what was rounded here, bit
//! for bit. A rounded position is something to look at: it may lie up to half
//! a step inside a wall, so nothing is ever simulated from it.

mod entity;
mod orientation;
mod state;
mod world_bounds;

pub use entity::{
    QuantisedBody, QuantisedEntity, VELOCITY_LIMIT, VELOCITY_STEP, YAW_BITS, heading,
};
pub use orientation::{COMPONENT_BITS, COMPONENT_LIMIT, QuantisedOrientation};
pub use state::{QuantiseError, Quantised, Quantiser};
pub use world_bounds::{BoundsError, MAX_POSITION_BITS, STEPS_PER_UNIT, WorldBounds};
