//! The static world.
//!
//! A level designer draws convex brushes in a Quake `.map`; this crate reads
//! them, expands them for every agent size, compiles one *onion BSP* over all
//! sizes (Golodetz 2013) and answers point and trace queries against it. The
//! rigid polyhedra of the moving world are loaded here too, because world and
//! models share one geometry.

pub mod body;
mod box_tree;
mod compile;
pub mod geometry;
pub mod model;
mod spaces;
// Public for `mapc verify` and the tests only.
#[cfg(feature = "verify")]
#[doc(hidden)]
pub mod verify;
mod world;

pub use compile::{
    BevelAngle, BrushFault, BrushWarning, BuildError, CURVE_BOUND, CompileError, Compiled, Curves,
    DegenerateBrush, Expansion, Leak, MAX_COORDINATE, Options, Progress, RedundantFace, Report,
    Sealing, Source, Stage, compile,
};
pub use spaces::{MAX_SIZES, Size, SizeId, Spaces, SpacesError};
pub use world::{
    Clearance, FormatError, Hit, InvalidTree, Leaf, LeafId, LoadError, MapEntity, Near,
    SURFACE_DISTANCE, SaveError, Solidity, Trace, UNIVERSE, World, WorldCounts, shift,
};
