//! Contacts: places where bodies touch or are about to touch.
//!
//! [`find`] tests every awake prop through the cascade. For each pair of convex parts that will
//! come within reach in this tick, it keeps a *manifold* of contact points. The solver turns the
//! manifolds into velocities. It aims for [`REST_GAP`](crate::collision::distances::REST_GAP)
//! between surfaces. This gap is well above the guard's margin, so the guard never refuses a body
//! at rest.

mod clip;
mod edges;
mod find;
mod manifold;
mod meet;
mod pair;
mod pair_index;
mod seam;
mod warm_start;

pub(crate) use find::{FREE_AT_REST, find, find_woken, look_around};
#[cfg(test)]
pub(crate) use pair::ContactPoint;
pub(crate) use pair::{MAX_POINTS, Pair, PairKey, Points, tangents};
pub(crate) use pair_index::{KnownPairs, PairIndex};
