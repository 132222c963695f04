//! The audit tests by brute force whether the simulation has kept its promise that nothing ever
//! passes into anything else.
//!
//! [`Audit`] tests every pair of bodies, and every body with every solid of the map, for a
//! common point. [`Passages`] tests whether a body came through something from one tick to the
//! next, or jumped to a place that no [`Relocation`](crate::Relocation) announced. Both use
//! nothing but a [`State`](crate::State) and the relocations that led to it. They decide by the
//! exact signs of determinants over all triangles. A body with a number that is not finite, or
//! with an orientation that is not of length one, is a [`Fault`] of its own.
//!
//! The audit shares no code with the cascade, the searches for separation or the guard, so
//! mistakes there cannot hide here.

mod bodies;
mod depth;
mod exact;
mod fault;
mod overlap;
mod passage;
mod surface;

pub use fault::{Fault, Unsound, UnsoundNumber};
pub use overlap::{Audit, Interpenetration, Obstacle};
pub use passage::{Misplaced, Passages, Tunnelled, Ways};
