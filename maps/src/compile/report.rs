//! Results of a compilation, and its progress.

use super::error::{BrushWarning, Unsupported};
use super::fill::Sealing;
use super::game_form::RecognisedForm;
use crate::world::World;

/// A compiled map and its report.
#[derive(Debug)]
pub struct Compiled {
    /// The world.
    pub world: World,
    /// Warnings and counts.
    pub report: Report,
}

/// Warnings and counts of a compilation.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Brushes that were left out, and faces.
    pub warnings: Vec<BrushWarning>,
    /// The form of the map, by whose rules brushes have their contents.
    pub form: RecognisedForm,
    /// Meanings that the form knows and this world does not have, each once, in the order of the map.
    pub unsupported: Vec<Unsupported>,
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

/// A stage of the compiler.
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

/// Is called with the stage, how much of it is done, and how much there is.
pub type Progress<'a> = dyn FnMut(Stage, u64, u64) + 'a;
