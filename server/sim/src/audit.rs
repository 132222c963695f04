//! The audit: whether the promise was kept, tested by brute force.
//!
//! [`Audit`] tests every pair of bodies, and every body with every solid of the
//! map, for a common point; [`Passages`] tests whether a body came through
//! something from one tick to the next, or is where nothing announced that it was put. They use
//! nothing but a [`State`](crate::State) and the [`Relocation`](crate::Relocation)s that led to
//! it, and decide by the exact signs of determinants over all triangles. A body with a number
//! that is not finite, or with an orientation that is not of length one, is a [`Fault`] of its
//! own. They share no code with the cascade, the
//! searches for separation or the guard, so mistakes there cannot hide here.

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
