//! The static world.
//!
//! A level designer draws convex brushes in a Quake `.map`; this crate reads
//! them, expands them for every agent size, compiles one *onion BSP* over all
//! sizes (Golodetz 2013) and answers point and trace queries against it. The
//! rigid polyhedra of the moving world are loaded here too, because world and
//! models share one geometry.

pub mod geometry;
pub mod model;
