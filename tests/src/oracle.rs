//! The truth, by brute force and exact arithmetic.
//!
//! [`map_text`] reads `.map` files, [`brushes`] decides which points and which
//! parts of a segment are inside expanded brushes, and [`verify`] judges a
//! compiled world by them (all three are the crate `obsp-oracle`, which `mapc
//! verify` uses too); [`bodies`] decides whether two polyhedra interpenetrate. Nothing here shares code with `obsp` or `obsp-sim`: a mistake there must
//! not be able to agree with itself here.

pub mod bodies;

pub use ::oracle::{brushes, map_text, verify};
