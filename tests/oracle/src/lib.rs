//! What is true of the static world, by exact arithmetic and brute force.
//!
//! [`map_text`] reads `.map` files, [`brushes`] says which points and which
//! parts of a segment the expanded brushes hold, and [`flood`] where the map's
//! entities can get to. [`verify`] puts questions to whoever claims to know
//! all that, and judges the answers; [`sweep`] says when bodies that are no
//! boxes meet a brush. This crate depends on nothing that it judges, and
//! shares no line with it: a mistake there must not be able to agree with
//! itself here.

mod boxes;
pub mod brushes;
pub mod flood;
pub mod generate;
pub mod map_text;
mod random;
pub mod sweep;
#[cfg(test)]
mod testing;
pub mod verify;

pub use random::Random;
