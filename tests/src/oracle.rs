//! Correct answers by brute force and exact arithmetic, to judge the other crates.
//!
//! [`map_text`] reads `.map` files, [`brushes`] decides which points and which parts of a segment
//! are inside expanded brushes, and [`verify`] judges a compiled map by them. These three come
//! from the crate `obsp-oracle`, which `mapc verify` also uses. [`bodies`] decides whether two
//! polyhedra interpenetrate. Nothing here shares code with `obsp` or `obsp-sim`, so that a mistake
//! there is not repeated here.

pub mod bodies;

pub use ::oracle::{brushes, map_text, verify};
