//! The oracle for the static world: correct answers by exact arithmetic and brute force.
//!
//! [`map_text`] reads `.map` files and guesses their [`game`]. [`brushes`] decides which points
//! and which parts of a segment are inside expanded brushes. [`flood`] decides which space the
//! map's entities can reach. [`sweep`] computes when bodies of other shapes than boxes touch a
//! brush. [`verify`] queries a subject, such as a compiled map, and judges its answers.
//!
//! This crate does not depend on the crates that it judges and shares no code with them, so a
//! mistake there is not repeated here.

mod boxes;
pub mod brushes;
pub mod flood;
pub mod game;
pub mod generate;
pub mod map_text;
mod random;
pub mod sweep;
#[cfg(test)]
mod testing;
pub mod verify;

pub use random::Random;
