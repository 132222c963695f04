//! What is true of the static world, by exact arithmetic and brute force.
//!
//! [`map_text`] reads `.map` files and [`brushes`] says which points and which
//! parts of a segment the expanded brushes hold; [`sweep`] says when bodies that
//! are no boxes meet a brush. This crate depends on nothing that it judges, and
//! shares no line with it: a mistake there must not be able to agree with
//! itself here.

pub mod brushes;
pub mod map_text;
mod random;
pub mod sweep;

pub use random::Random;
