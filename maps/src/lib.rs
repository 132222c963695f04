#![doc = include_str!("../LIBRARY.md")]
//!
//! ## Where to start
//!
//! - [`compile`] a [`Source`] for some [`Spaces`], or [`World::load`] a compiled world.
//! - [`World::is_solid`] and [`World::solidity`] classify points. [`World::find_first_transition`]
//!   traces a box, and [`World::cast`] any [`body`]. [`World::clearance`] finds the nearest
//!   surface.
//! - [`World::entities`] are the map's entities, [`World::solids`] its convex solids.
//! - [`GameForm`] names the game whose rules a map is written by. [`Source::summary`] recognises
//!   it.
//! - [`PlayerSize`] is the size of players that a `game.toml` sets.
//! - [`entity_class`] describes the classes of a game's entities as data. [`entity_check`] finds
//!   misspelt classes and targets.
//! - [`model`] has the rigid polyhedra of the moving world. These polyhedra and the static world
//!   share one [`geometry`].

pub mod body;
mod box_tree;
mod compile;
pub mod entity_check;
pub mod entity_class;
mod game_file_error;
pub mod geometry;
pub mod model;
mod player_size;
mod spaces;
pub mod text;
// Public for `mapc verify` and the tests only.
#[cfg(feature = "verify")]
#[doc(hidden)]
pub mod verify;
mod world;

/// The library whose vectors and quaternions the API uses.
pub use glam;

pub use compile::{
    BevelAngle, BrushFault, BrushWarning, BuildError, CURVE_BOUND, CompileError, Compiled, Curves,
    DegenerateBrush, Expansion, GameForm, Leak, MAX_COORDINATE, MIN_THICKNESS, OmittedLayers,
    Options, Progress, RecognisedForm, RedundantFace, Report, Sealing, Source, SourceSummary,
    Stage, SurfaceTextures, UnknownForm, Unsupported, compile,
};
pub use game_file_error::GameFileError;
pub use player_size::PlayerSize;
pub use spaces::{MAX_SIZES, Size, SizeId, Spaces, SpacesError};
pub use world::{
    Clearance, ClippedSegment, FormatError, Hit, InvalidTree, Leaf, LeafId, LoadError, MapEntity,
    Near, SURFACE_DISTANCE, SaveError, Solidity, Trace, UNIVERSE, World, WorldCounts,
    clip_box_to_extent, clip_to_extent,
};
// Public for the benchmarks only: the tree behind `World::cast`.
#[doc(hidden)]
pub use world::shift;
