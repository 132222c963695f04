//! The compiler: from the brushes of a `.map` to a [`World`].
//!
//! [`Source`] reads the text; `brush` makes convex solids of the brushes,
//! leaving out what is none; `contents` decides by Quake's rules which are
//! solid to whom, and `drawing` sorts them. For every size `expand` grows each
//! solid by the box, and `hull` takes the surface of their union. `build` then
//! divides space by the planes of all surfaces together until every cell is
//! uniform for every size. In that tree, a [`draft`], `fill` finds the outside
//! and makes it solid; what surfaces are left then make the tree that counts.
//! Everything is computed in `f64` and rounded once, when the tree is laid
//! out. `shift` makes the second tree, of the unexpanded solids, which `bevel`s
//! bound. Work is shared among threads in parts that do not depend on their
//! number, and put together in order (`parallel`), so the result does not
//! either.

mod bevel;
mod brush;
mod build;
mod cell;
mod contents;
mod draft;
mod drawing;
mod expand;
mod expansion;
mod fill;
mod hull;
mod parallel;
mod planes;
mod polygon;
mod shift;
mod source;
mod splitter;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use thiserror::Error;

use crate::geometry::{Aabb, DegenerateSolid};
use crate::spaces::{SizeId, Spaces};
use crate::world::onion::Solidity;
use crate::world::{World, WorldParts};
use build::Builder;
use cell::Cell;
use drawing::Drawing;
use hull::Hull;
use planes::PlaneTable;

pub use bevel::BevelAngle;
pub use brush::{DegenerateBrush, MAX_COORDINATE, RedundantFace};
pub use build::BuildError;
pub use expansion::Expansion;
pub use fill::{Leak, Sealing};
pub use source::{CURVE_BOUND, Curves, Source};

/// Distances below this, in units, are no distance to the compiler: it neither
/// cuts off thinner slices nor tells nearer planes apart on one face. Half the
/// resolution of `f32` at the edge of the world, and a tenth of what answers
/// are judged by.
const TOLERANCE: f64 = 1e-3;

/// Empty space around the outermost solids that the tree's cells reach into.
const MARGIN: f64 = 64.0;

/// How to compile.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// A degenerate brush is an error instead of a warning.
    pub strict: bool,
    /// What becomes of Quake 3's curves.
    pub curves: Curves,
    /// How sharp the cells of the shift tree may stay.
    pub bevel_angle: BevelAngle,
    /// Leave the outside empty even where the map is sealed, to look at the
    /// bare brushes.
    pub keep_outside: bool,
    /// How many threads to use; as many as the machine has if not given. The
    /// result does not depend on it.
    pub threads: Option<NonZeroUsize>,
}

/// A compiled map and what there is to say about it.
#[derive(Debug)]
pub struct Compiled {
    /// The world.
    pub world: World,
    /// What happened on the way.
    pub report: Report,
}

/// What a compilation did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Brushes that were left out, or a face of theirs.
    pub warnings: Vec<BrushWarning>,
    /// Brushes in the source, and solids that stand for curves.
    pub brushes: usize,
    /// Brushes that are part of the static world.
    pub solids: usize,
    /// Polygons of the surfaces of all sizes that the tree is made of.
    pub polygons: usize,
    /// Branches of the shift tree that are bevels.
    pub shift_bevels: usize,
    /// Whether the map is sealed, by size.
    pub sealings: Vec<Sealing>,
}

/// What is wrong with a brush.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BrushFault {
    /// It is left out.
    #[error("brush left out: {0}")]
    LeftOut(DegenerateBrush),
    /// It is the same without one of its faces, which is left out.
    #[error("redundant face left out of the brush: {0}")]
    Redundant(RedundantFace),
    /// So many curves, the first of them here, are left out, as it was asked for.
    #[error("{0} curves (patchDef2) left out: they are solid only if that is asked for")]
    Curves(usize),
    /// So many curves, the first of them here, could not be made solid.
    #[error("{0} curves (patchDef2) left out: they are no grids of control points, or too large")]
    UnreadableCurves(usize),
}

/// A brush that is not quite as written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}:{line}: {fault}", path = path.display())]
pub struct BrushWarning {
    /// The source.
    pub path: PathBuf,
    /// Line of the brush's opening brace.
    pub line: u64,
    /// What is wrong with it.
    pub fault: BrushFault,
}

impl BrushWarning {
    /// What is wrong with the brush, whatever becomes of it.
    pub fn reason(&self) -> String {
        match self.fault {
            BrushFault::LeftOut(reason) => reason.to_string(),
            BrushFault::Redundant(reason) => reason.to_string(),
            BrushFault::Curves(count) => {
                format!("{count} curves (patchDef2), which were not asked to be solid")
            }
            BrushFault::UnreadableCurves(count) => {
                format!("{count} curves (patchDef2) that cannot be made solid")
            }
        }
    }
}

fn first(left_out: &Option<BrushWarning>) -> String {
    left_out.as_ref().map(|warning| format!("; the first: {warning}")).unwrap_or_default()
}

/// Why there is no world.
#[derive(Debug, Error)]
pub enum CompileError {
    /// The source could not be read.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: std::io::Error,
    },
    /// The source is no `.map`.
    #[error("{path}:{line}: {reason}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: u64,
        /// What the reader stumbled over.
        reason: String,
    },
    /// A degenerate brush, where those are errors.
    #[error("{}:{}: degenerate brush: {}", .0.path.display(), .0.line, .0.reason())]
    Brush(BrushWarning),
    /// Not one brush is solid.
    #[error("{path}: no brush is solid; nothing could be stood on{}", first(.left_out))]
    NothingSolid {
        /// The file.
        path: PathBuf,
        /// The first brush that was left out, if any was.
        left_out: Option<BrushWarning>,
    },
    /// A brush could not be expanded.
    #[error("{path}:{line}: brush expanded for {size:?}: {reason}")]
    Expansion {
        /// The file.
        path: PathBuf,
        /// Line of the brush's opening brace.
        line: u64,
        /// The size.
        size: String,
        /// What is wrong with the expansion.
        reason: DegenerateSolid,
    },
    /// There is no tree for it.
    #[error("{path}: BSP: {reason}; draw terrain with fewer, larger brushes")]
    Tree {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        reason: BuildError,
    },
}

/// What the compiler is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Uniting expanded brushes, by batches of them.
    Surfaces,
    /// Dividing space, by polygons.
    Tree,
    /// Dividing the inside, by polygons.
    Filled,
    /// Dividing it again, for the shift tree.
    ShiftTree,
}

/// Hears of progress: the stage, how much of it is done, and of how much.
pub type Tick<'a> = dyn FnMut(Stage, u64, u64) + 'a;

/// Compiles a map for the given sizes. The result depends on the arguments
/// alone.
///
/// # Errors
/// [`CompileError`] names the file, the line and the reason.
pub fn compile(
    source: &Source,
    spaces: &Spaces,
    options: &Options,
    progress: &mut Tick<'_>,
) -> Result<Compiled, CompileError> {
    let drawing = Drawing::read(source, options)?;
    let threads = options.threads.or_else(|| std::thread::available_parallelism().ok());
    let threads = threads.unwrap_or(NonZeroUsize::MIN);
    let mut planes = PlaneTable::default();
    let hulls = Hull::all(spaces, &drawing.statics, &mut planes, threads);
    let hulls = hulls.map_err(|(size, line, reason)| {
        let size = spaces.sizes()[size.index()].name.clone();
        CompileError::Expansion { path: source.path().to_owned(), line, size, reason }
    })?;
    let surfaces = |done, of| progress(Stage::Surfaces, done, of);
    let polygons = Hull::surfaces(&hulls, threads, &mut { surfaces });
    let bounds = hulls.iter().fold(Aabb::EMPTY, |all, hull| all.union(hull.bounds()));
    let cell = Cell::from_box(&bounds.inflated(MARGIN));
    let cell = cell.ok_or_else(|| CompileError::NothingSolid {
        path: source.path().to_owned(),
        left_out: drawing.warnings.first().cloned(),
    })?;

    let sizes: Vec<SizeId> = spaces.iter().map(|(id, _)| id).collect();
    let builder = Builder { planes: &planes, sizes: &sizes, threads };
    let failed = |reason| CompileError::Tree { path: source.path().to_owned(), reason };
    let total = polygons.len() as u64;
    let mut tree = |done| progress(Stage::Tree, done as u64, total);
    let all = polygons.clone();
    let mut draft = builder.build(&hulls, all, cell.clone(), &mut tree).map_err(failed)?;
    let filled = fill::fill(&draft, &cell, spaces, &drawing.occupants, &planes);
    let sealed = filled.sealed();
    let mut left = polygons.len();
    if sealed != Solidity::EMPTY && !options.keep_outside {
        filled.apply(&mut draft);
        let polygons = fill::trimmed(polygons, &draft, &planes);
        left = polygons.len();
        let mut tree = |done| progress(Stage::Filled, done as u64, left as u64);
        draft = builder.build(&draft, polygons, cell.clone(), &mut tree).map_err(failed)?;
    }
    let onion = draft.laid_out(&planes).map_err(failed)?;
    let mut shift = |done, of| progress(Stage::ShiftTree, done, of);
    let shifted = shift::build(&drawing.statics, cell, options.bevel_angle, threads, &mut shift)
        .map_err(failed)?;
    let report = Report {
        warnings: drawing.warnings,
        brushes: drawing.brushes,
        solids: drawing.statics.len(),
        polygons: left,
        shift_bevels: shifted.bevels,
        sealings: filled.sealings,
    };
    let solids = drawing.statics.into_iter().map(|brush| brush.solid).collect();
    let name = source.name().to_owned();
    let world = World::new(WorldParts {
        name,
        spaces: spaces.clone(),
        onion,
        sealed,
        shift: shifted.tree,
        surface: shifted.surface,
        solids,
        entities: drawing.entities,
    });
    Ok(Compiled { world, report })
}
