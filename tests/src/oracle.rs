//! The truth, by brute force and exact arithmetic.
//!
//! [`map_text`] reads `.map` files, [`brushes`] says which points and which
//! parts of a segment the expanded brushes hold, and [`bodies`] says whether
//! two polyhedra reach into each other. Nothing here shares code with `maps`
//! or `sim`: a mistake there must not be able to agree with itself here.

pub mod bodies;
pub mod brushes;
pub mod map_text;
