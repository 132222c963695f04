//! The truth, by brute force and exact arithmetic.
//!
//! [`map_text`] reads `.map` files, [`brushes`] says which points and which
//! parts of a segment the expanded brushes hold, and [`verify`] judges a
//! compiled world by them (all three are the crate `oracle`, which `mapc
//! verify` uses too); [`bodies`] says whether two polyhedra reach into each
//! other. Nothing here shares code with `obsp` or `obsp-sim`: a mistake there must
//! not be able to agree with itself here.

pub mod bodies;

pub use ::oracle::{brushes, map_text, verify};
