//! The compiler: from the brushes of a `.map` to a [`Map`].
//!
//! [`Source`] reads the text. `brush` makes convex solids of the brushes, and leaves out brushes
//! without volume. `contents` decides by the rules of the map's `game_form` which brushes are solid
//! for which sizes, and `parsed_map` sorts them. `liquids` divides the liquid brushes into volumes
//! that do not overlap. For every size `expand` grows each solid by the box, and `hull` computes
//! the surface of their union.
//!
//! `build` then divides space by the planes of all surfaces together, and by those of `dividers`,
//! until every cell is uniform for every size. `classify` decides whether a cell is uniform. The
//! tree is a `draft`, in which `fill` finds the outside and makes it solid. The final tree is built
//! from the surfaces that are left. Everything is computed in `f64` and rounded once, when the
//! final draft becomes an onion BSP. `shift` builds the second tree, of the unexpanded solids, with
//! planes from `bevel`.
//!
//! Threads share the work (`parallel`). The parts of the work do not depend on the number of
//! threads, and their results are joined in order. So the map does not depend on that number
//! either.

mod bevel;
mod brush;
mod build;
mod cell;
mod classify;
mod contents;
mod dividers;
mod draft;
mod error;
mod expand;
mod expansion;
mod fill;
mod game_form;
mod hull;
mod liquids;
mod options;
mod parallel;
mod parsed_map;
mod planes;
mod polygon;
mod report;
mod shift;
mod source;
mod splitter;
#[cfg(test)]
mod tests;
mod textures;
mod written_plane;

use std::num::NonZeroUsize;

use crate::geometry::Aabb;
use crate::map::liquid::MAX_LIQUIDS;
use crate::map::onion::Solidity;
use crate::map::{Map, MapParts};
use crate::spaces::{SizeId, Spaces};
use build::{Builder, Limits};
use cell::Cell;
use dividers::dividers;
use hull::Hull;
use liquids::TooMany;
use parsed_map::ParsedMap;
use planes::PlaneTable;

pub use bevel::BevelAngle;
pub(crate) use brush::too_thin;
pub use brush::{DegenerateBrush, MAX_COORDINATE, MIN_THICKNESS, RedundantFace};
pub use error::{BrushFault, BrushWarning, BuildError, CompileError, Unsupported};
pub use expansion::Expansion;
pub use fill::{Leak, Sealing};
pub use game_form::{GameForm, RecognisedForm, UnknownForm};
pub use options::CompileOptions;
pub use report::{CompileReport, CompileStage, Compiled, Progress};
pub use source::{CURVE_BOUND, Curves, OmittedLayers, Source, SourceSummary};
pub use textures::SurfaceTextures;

/// The cell of the tree's root extends this far beyond the outermost solids, in units.
const MARGIN: f64 = 64.0;

/// Compiles a map for the given sizes. The result depends only on the arguments.
///
/// ```
/// use std::path::Path;
///
/// use obsp::{CompileOptions, Sealing, Source, Spaces, compile};
///
/// let source = Source::read(Path::new("trenchbroom/initial.map"))?;
/// let options = CompileOptions { strict: true, ..CompileOptions::default() };
/// let compiled = compile(&source, &Spaces::default(), &options, &mut |stage, done, of| {
///     println!("{stage:?}: {done} of {of}");
/// })?;
/// assert_eq!(compiled.report.sealings[0], Sealing::Sealed);
/// # Ok::<(), obsp::CompileError>(())
/// ```
///
/// # Errors
/// [`CompileError`] names the file, the line and the reason.
pub fn compile(
    source: &Source,
    spaces: &Spaces,
    options: &CompileOptions,
    progress: &mut Progress<'_>,
) -> Result<Compiled, CompileError> {
    let mut parsed = ParsedMap::read(source, options)?;
    let liquids = liquids::volumes(std::mem::take(&mut parsed.liquids), MAX_LIQUIDS)
        .map_err(|TooMany(line)| CompileError::Liquids { path: source.path().to_owned(), line })?;
    let threads = options.threads.or_else(|| std::thread::available_parallelism().ok());
    let threads = threads.unwrap_or(NonZeroUsize::MIN);
    let mut planes = PlaneTable::default();
    let hulls = Hull::all(spaces, &parsed.statics, &mut planes, threads);
    let hulls = hulls.map_err(|(size, line, reason)| {
        let size = spaces.sizes()[size.index()].name.clone();
        CompileError::Expansion { path: source.path().to_owned(), line, size, reason }
    })?;
    let surfaces = |done, of| progress(CompileStage::Surfaces, done, of);
    let polygons = Hull::surfaces(&hulls, threads, &mut { surfaces });
    let bounds = hulls.iter().fold(Aabb::EMPTY, |all, hull| all.union(hull.bounds()));
    let cell = Cell::from_box(&bounds.inflated(MARGIN));
    let cell = cell.ok_or_else(|| parsed.nothing_solid(source))?;

    let sizes: Vec<SizeId> = spaces.iter().map(|(id, _)| id).collect();
    let dividers = dividers(&parsed.statics, &mut planes);
    let limits = Limits::default();
    let builder = Builder { planes: &planes, sizes: &sizes, threads, dividers: &dividers, limits };
    let failed = |reason| CompileError::of_tree(source.path(), &parsed.statics, reason);
    let total = polygons.len() as u64;
    let mut tree = |done| progress(CompileStage::Tree, done as u64, total);
    let all = polygons.clone();
    let mut draft = builder.build(&hulls, all, cell.clone(), &mut tree).map_err(failed)?;
    let filled = fill::fill(&draft, &cell, spaces, &parsed.occupants, &planes);
    let sealed = filled.sealed();
    let mut left = polygons.len();
    if sealed != Solidity::EMPTY && !options.keep_outside {
        filled.apply(&mut draft);
        let polygons = fill::trimmed(polygons, &draft, &planes);
        left = polygons.len();
        let mut tree = |done| progress(CompileStage::Filled, done as u64, left as u64);
        draft = builder.build(&draft, polygons, cell.clone(), &mut tree).map_err(failed)?;
    }
    let onion = draft.to_onion(&planes).map_err(failed)?;
    let mut shift = |done, of| progress(CompileStage::ShiftTree, done, of);
    let shifted = shift::build(&parsed.statics, cell, options.bevel_angle, threads, &mut shift)
        .map_err(failed)?;
    let report = CompileReport {
        warnings: parsed.warnings,
        form: parsed.form,
        omitted: parsed.omitted,
        unsupported: parsed.unsupported,
        entity_lines: parsed.entity_lines,
        brushes: parsed.brushes,
        solids: parsed.statics.len(),
        polygons: left,
        shift_bevels: shifted.bevels,
        sealings: filled.sealings,
    };
    let solids = parsed.statics.into_iter().map(|brush| brush.solid).collect();
    let name = source.name().to_owned();
    let parts = MapParts {
        name,
        spaces: spaces.clone(),
        onion,
        sealed,
        shift: shifted.tree,
        surface: shifted.surface,
        solids,
        entities: parsed.entities,
    };
    Ok(Compiled { map: Map::new(parts, liquids), report })
}
