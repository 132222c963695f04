//! The audit tests by brute force that nothing has passed into anything else, as the simulation
//! promises.
//!
//! [`Audit`] tests every pair of bodies, and every body with every solid of the map, for a common
//! point. [`Passages`] tests whether a body came through something from one tick to the next, or
//! jumped to a place that no [`Relocation`](crate::Relocation) announced. Both read nothing except
//! a [`State`](crate::State) and the relocations that led to it. They take exact signs of
//! determinants over all triangles. A number that is not finite, or an orientation that is not of
//! length one, is a separate [`Fault`].
//!
//! The audit shares no code with the cascade, the searches for separation or the guard, so a
//! mistake in one of these cannot hide in the audit.

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
