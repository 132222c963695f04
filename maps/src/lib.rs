#![doc = include_str!("../LIBRARY.md")]
//!
//! ## Where to start
//!
//! - [`compile`] a [`Source`] for some [`Spaces`], or [`Map::load`] a compiled map.
//! - [`Map::is_solid`] and [`Map::solidity`] classify points. [`Map::find_first_transition`]
//!   traces a box, and [`Map::cast`] any [`body`]. [`Map::clearance`] finds the nearest
//!   surface. Many queries near one place cost less in a [`Map::region`].
//! - [`Map::entities`] are the map's entities, [`Map::solids`] its convex solids.
//! - [`Map::liquids`] are the map's liquids, and [`Map::liquid_at`] finds the one at a point.
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
// Public for the programs of this repository only, all of which depend on this crate.
#[doc(hidden)]
pub mod descriptors;
pub mod entity_check;
pub mod entity_class;
mod game_file_error;
pub mod geometry;
pub mod model;
mod player_size;
mod spaces;
pub mod text;
// Public for `mapc verify` and the tests only.
mod map;
#[cfg(feature = "verify")]
#[doc(hidden)]
pub mod verify;

/// The library whose vectors and quaternions the API uses.
pub use glam;

pub use compile::{
    BevelAngle, BrushFault, BrushWarning, BuildError, CURVE_BOUND, CompileError, CompileOptions,
    CompileReport, CompileStage, Compiled, Curves, DegenerateBrush, Expansion, GameForm, Leak,
    MAX_COORDINATE, MIN_THICKNESS, OmittedLayers, Progress, RecognisedForm, RedundantFace, Sealing,
    Source, SourceSummary, SurfaceTextures, UnknownForm, Unsupported, compile,
};
pub use game_file_error::GameFileError;
pub use map::{
    Clearance, ClippedSegment, FormatError, Hit, InvalidTree, Leaf, LeafId, Liquid, LiquidKind,
    LoadMapError, Map, MapCounts, MapEntity, Near, Region, SURFACE_DISTANCE, SaveMapError,
    Solidity, Trace, UNIVERSE, clip_box_to_extent, clip_to_extent,
};
pub use player_size::PlayerSize;
pub use spaces::{MAX_SIZES, Size, SizeId, Spaces, SpacesError};
// Public for the benchmarks only: the tree behind `Map::cast`.
#[doc(hidden)]
pub use map::shift;
