//! Results of a compilation, and its progress.

use super::error::{BrushWarning, Unsupported};
use super::fill::Sealing;
use super::game_form::RecognisedForm;
use super::source::OmittedLayers;
use crate::map::Map;

/// A compiled map and its report.
#[derive(Debug)]
pub struct Compiled {
    /// The map.
    pub map: Map,
    /// Warnings and counts of the compilation.
    pub report: CompileReport,
}

/// Warnings and counts of a compilation.
#[derive(Clone, Debug, Default)]
pub struct CompileReport {
    /// Warnings about brushes and faces that were left out.
    pub warnings: Vec<BrushWarning>,
    /// The form of the map, whose rules decide the contents of brushes.
    pub form: RecognisedForm,
    /// The parts that are left out, because their layers are omitted from export.
    pub omitted: Option<OmittedLayers>,
    /// Names and flags of the map that this world does not support in full, each once, in the order
    /// of the map.
    pub unsupported: Vec<Unsupported>,
    /// The lines at which the entities of the map begin, in the order of [`Map::entities`].
    pub entity_lines: Vec<u64>,
    /// The number of brushes in the source, plus the solids that stand for curves.
    pub brushes: usize,
    /// The number of brushes that are part of the static world.
    pub solids: usize,
    /// The number of polygons from which the tree is built: the polygons of the surfaces of all
    /// sizes.
    pub polygons: usize,
    /// The number of branches of the shift tree that are bevels.
    pub shift_bevels: usize,
    /// Whether the map is sealed, by size.
    pub sealings: Vec<Sealing>,
}

/// A stage of the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileStage {
    /// Uniting expanded brushes, counted in batches.
    Surfaces,
    /// Dividing space, counted in polygons.
    Tree,
    /// Dividing the inside again, after the outside was filled, counted in polygons.
    Filled,
    /// Dividing space for the shift tree, counted in polygons.
    ShiftTree,
}

/// A function that is called with the stage, the amount of work done, and the whole amount.
pub type Progress<'a> = dyn FnMut(CompileStage, u64, u64) + 'a;
