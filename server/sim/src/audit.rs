//! The audit: whether the promise was kept, found out by brute force.
//!
//! [`Audit`] asks of every pair of bodies, and of every body and every solid
//! of the map, whether they share a point; [`Passages`] asks whether a body
//! went from one tick to the next without coming through something. Both
//! look at nothing but a [`State`](crate::State), as any client could, and
//! decide by the exact signs of determinants over all triangles. They share
//! no line with the cascade, the searches for separation or the guard, so
//! none of their mistakes can hide here.

mod bodies;
mod depth;
mod exact;
mod overlap;
mod passage;
mod surface;

pub use overlap::{Audit, Interpenetration, Obstacle};
pub use passage::{Passages, Tunnelled};
