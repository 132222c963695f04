//! The compiler: from the brushes of a `.map` to a [`World`].
//!
//! [`Source`] reads the text; `contents` decides by Quake's rules which
//! brushes are solid to whom; `brush` makes convex solids of them, leaving out
//! what is none. For every size `expand` grows each solid by the box, and
//! `hull` takes the surface of their union. `build` then divides space by the
//! planes of all surfaces together until every cell is uniform for every size.
//! Everything is computed in `f64` and rounded once, when the tree is laid
//! out.

mod brush;
mod build;
mod cell;
mod contents;
mod expand;
mod hull;
mod planes;
mod polygon;
mod source;
mod splitter;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use thiserror::Error;

use crate::geometry::{Aabb, ConvexSolid, DegenerateSolid};
use crate::spaces::Spaces;
use crate::world::{InvalidTree, MapEntity, World};
use cell::Cell;
use contents::Contents;
use hull::Hull;
use planes::PlaneTable;

pub use brush::{DegenerateBrush, MAX_COORDINATE};
pub use source::Source;

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
    /// Brushes that were left out.
    pub warnings: Vec<BrushWarning>,
    /// Brushes in the source.
    pub brushes: usize,
    /// Brushes that are part of the static world.
    pub solids: usize,
    /// Polygons of the united surfaces of all sizes.
    pub polygons: usize,
}

/// A brush that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}:{line}: brush left out: {reason}", path = path.display())]
pub struct BrushWarning {
    /// The source.
    pub path: PathBuf,
    /// Line of the brush's opening brace.
    pub line: u64,
    /// What is wrong with it.
    pub reason: DegenerateBrush,
}

/// Why there is no world.
#[derive(Debug, Error)]
pub enum CompileError {
    /// The source could not be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
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
    #[error(transparent)]
    Brush(#[from] BrushWarning),
    /// Not one brush is solid.
    #[error("{path}: no brush is solid; nothing could be stood on")]
    NothingSolid {
        /// The file.
        path: PathBuf,
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
    /// The tree grew beyond all measure.
    #[error("more than {branches} branches; draw terrain with fewer, larger brushes")]
    TooComplex {
        /// How many there may be.
        branches: usize,
    },
    /// The tree is too deep for queries.
    #[error("onion BSP: {0}; draw terrain with fewer, larger brushes")]
    Tree(#[from] InvalidTree),
}

/// What the compiler is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Expanding brushes and uniting them, by size.
    Surfaces,
    /// Dividing space, by polygons.
    Tree,
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
    let mut planes = PlaneTable::default();
    let mut hulls = Vec::new();
    let mut polygons = Vec::new();
    let mut bounds = Aabb::EMPTY;
    for (id, size) in spaces.iter() {
        progress(Stage::Surfaces, id.index() as u64, spaces.sizes().len() as u64);
        let solid_to = |clip: bool| !(clip && size.is_point());
        let solids = drawing.clip.iter().zip(&drawing.solids);
        let solids = solids.filter(|(clip, _)| solid_to(**clip)).map(|(_, solid)| solid);
        let hull =
            Hull::new(id, size, solids, &mut planes).map_err(|reason| CompileError::Expansion {
                path: source.path().to_owned(),
                line: 0,
                size: size.name.clone(),
                reason,
            })?;
        polygons.extend(hull.surface());
        bounds = bounds.union(hull.bounds());
        hulls.push(hull);
    }
    let report = Report {
        warnings: drawing.warnings,
        brushes: drawing.brushes,
        solids: drawing.solids.len(),
        polygons: polygons.len(),
    };
    let cell = Cell::from_box(&bounds.inflated(MARGIN));
    let cell = cell.ok_or_else(|| CompileError::NothingSolid { path: source.path().to_owned() })?;
    let onion = build::build(&hulls, polygons, cell, &planes, progress)?;
    let world = World::new(
        source.name().to_owned(),
        spaces.clone(),
        onion,
        drawing.solids,
        drawing.entities,
    );
    Ok(Compiled { world, report })
}

/// The source, sorted into solids and entities.
#[derive(Default)]
struct Drawing {
    solids: Vec<ConvexSolid>,
    /// For each solid, whether it is a clip brush.
    clip: Vec<bool>,
    entities: Vec<MapEntity>,
    warnings: Vec<BrushWarning>,
    brushes: usize,
}

impl Drawing {
    fn read(source: &Source, options: &Options) -> Result<Self, CompileError> {
        let mut drawing = Self::default();
        for entity in source.parse()? {
            let mut own = Vec::new();
            for brush in &entity.brushes {
                drawing.brushes += 1;
                let contents = contents::contents(&entity, brush);
                let solid = match brush::solid(brush) {
                    Ok(solid) => solid,
                    Err(reason) => {
                        let path = source.path().to_owned();
                        let warning = BrushWarning { path, line: brush.line, reason };
                        if options.strict {
                            return Err(warning.into());
                        }
                        drawing.warnings.push(warning);
                        continue;
                    }
                };
                match contents {
                    Contents::Solid | Contents::Clip => {
                        drawing.solids.push(solid);
                        drawing.clip.push(contents == Contents::Clip);
                    }
                    Contents::Passable => (),
                    Contents::Entity => own.push(solid),
                }
            }
            drawing.entities.push(MapEntity { pairs: entity.pairs, solids: own });
        }
        if drawing.solids.is_empty() {
            return Err(CompileError::NothingSolid { path: source.path().to_owned() });
        }
        Ok(drawing)
    }
}
