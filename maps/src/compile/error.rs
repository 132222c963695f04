//! Errors and warnings of the compiler. Each names the file, the line and the reason.

use std::path::{Path, PathBuf};

use glam::DVec3;
use serde::Serialize;
use thiserror::Error;

use super::brush::{DegenerateBrush, RedundantFace};
use super::parsed_map::StaticBrush;
use crate::geometry::DegenerateSolid;
use crate::map::MAX_FACES;
use crate::map::liquid::MAX_LIQUIDS;
use crate::map::onion::{InvalidTree, MAX_DEPTH};
use crate::map::shift::InvalidShiftTree;
use crate::map::surface::MAX_CORNERS;

/// Maximum number of branches per tree before pruning. The largest source that was measured, 20,000
/// brushes of rooms, needed half as many. This many take two gigabytes while compiling.
pub(super) const MAX_BRANCHES: usize = 1 << 21;

/// A fault of a brush.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum BrushFault {
    /// The brush is left out.
    #[error("brush left out: {0}")]
    LeftOut(DegenerateBrush),
    /// A face that does not change the brush is left out.
    #[error("redundant face left out of the brush: {0}")]
    Redundant(RedundantFace),
    /// The number of curves that [`Curves::LeftOut`](crate::Curves::LeftOut) leaves out. The
    /// warning has the line of the first one.
    #[error("{0} curves (patchDef2) left out: use --curves solid to make them solid")]
    Curves(usize),
    /// The number of curves that could not be made solid. The warning has the line of the
    /// first one.
    #[error(
        "{0} curves (patchDef2) left out: each is not a grid of control points or is too large"
    )]
    UnreadableCurves(usize),
}

/// A warning about a brush that was not compiled exactly as written.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{path}:{line}: {fault}", path = path.display())]
pub struct BrushWarning {
    /// The source.
    pub path: PathBuf,
    /// Line of the brush's opening brace.
    pub line: u64,
    /// The fault of the brush.
    pub fault: BrushFault,
}

impl BrushWarning {
    /// The fault. The text does not say that something was left out.
    pub fn reason(&self) -> String {
        match self.fault {
            BrushFault::LeftOut(reason) => reason.to_string(),
            BrushFault::Redundant(reason) => reason.to_string(),
            BrushFault::Curves(count) => {
                format!("{count} curves (patchDef2), which only --curves solid makes solid")
            }
            BrushFault::UnreadableCurves(count) => {
                format!("{count} curves (patchDef2) that cannot be made solid")
            }
        }
    }
}

/// A name of a texture or a flag of a face that this world does not support in full, and the number
/// of brushes with it.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
#[error("{name}, on {brushes} {}: {reason}", if *.brushes == 1 { "brush" } else { "brushes" })]
pub struct Unsupported {
    /// The name of the texture, or of the flag.
    pub name: String,
    /// The part of the name's meaning that is missing, and the behaviour that replaces it.
    pub reason: &'static str,
    /// Line of the first brush that has the name or flag.
    pub line: u64,
    /// The number of brushes that have the name or flag.
    pub brushes: usize,
}

impl Unsupported {
    /// Adds the entries of one more brush to a list with one entry for each name.
    pub(super) fn count(list: &mut Vec<Self>, more: Vec<Self>) {
        for one in more {
            match list.iter_mut().find(|known| known.name == one.name) {
                Some(known) => known.brushes += 1,
                None => list.push(one),
            }
        }
    }
}

fn first(left_out: &Option<Box<BrushWarning>>) -> String {
    left_out.as_ref().map(|warning| format!("; the first warning: {warning}")).unwrap_or_default()
}

fn drawn(brushes: &usize, entity: &Option<(u64, String)>, omitted: &Option<u64>) -> String {
    match entity {
        _ if *brushes == 0 && omitted.is_none() => "; it has no brushes".to_owned(),
        Some((line, class)) if class.is_empty() => format!(
            "; the entity of line {line} has brushes, but no classname: brushes of the static \
             world belong to worldspawn"
        ),
        Some((line, class)) => format!(
            "; the entity of line {line}, {class}, has brushes: brushes of the static world \
             belong to worldspawn"
        ),
        None => String::new(),
    }
}

fn layers(omitted: &Option<u64>) -> String {
    let told = |line| format!("; the layer of line {line} is omitted from export");
    omitted.map(told).unwrap_or_default()
}

/// Reasons for which a map could not be compiled.
#[derive(Debug, Error)]
pub enum CompileError {
    /// The source could not be read.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: std::io::Error,
    },
    /// The source is not a valid `.map`.
    #[error("{path}:{line}:{column}: {reason}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: u64,
        /// Character in the line, counted from 1.
        column: u64,
        /// The offending text, its possible cause, and what to do.
        reason: String,
    },
    /// A brush is degenerate, and [`CompileOptions::strict`](crate::CompileOptions::strict) is set.
    #[error("{}:{}: degenerate brush: {}", .0.path.display(), .0.line, .0.reason())]
    Brush(BrushWarning),
    /// No brush is solid.
    #[error(
        "{path}: no brush is solid{}{}{}",
        drawn(.brushes, .entity, .omitted), first(.left_out), layers(.omitted)
    )]
    NothingSolid {
        /// The file.
        path: PathBuf,
        /// The number of brushes in the file.
        brushes: usize,
        /// Line and class of the first entity whose brushes are no part of the static world, if any
        /// is.
        entity: Option<(u64, String)>,
        /// The first brush that was left out, if any was.
        left_out: Option<Box<BrushWarning>>,
        /// Line of the first layer that is omitted from export, if any is.
        omitted: Option<u64>,
    },
    /// A brush could not be expanded.
    #[error("{path}:{line}: the brush cannot be expanded for size {size:?}: {reason}")]
    Expansion {
        /// The file.
        path: PathBuf,
        /// Line of the brush's opening brace.
        line: u64,
        /// The size.
        size: String,
        /// The fault of the expansion.
        reason: DegenerateSolid,
    },
    /// The liquids need more volumes than a map may have.
    #[error(
        "{path}:{line}: with the brush of this line the liquids have more than {MAX_LIQUIDS} \
         volumes, or a volume of more than {MAX_FACES} faces; brushes of liquids that overlap are \
         divided: let them touch instead, or use fewer and larger ones"
    )]
    Liquids {
        /// The file.
        path: PathBuf,
        /// Line of the brush's opening brace.
        line: u64,
    },
    /// No tree could be built.
    #[error(
        "{path}: no BSP can be built: {reason}; very many small brushes or many sizes may cause \
         this: use fewer and larger brushes"
    )]
    Tree {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: BuildError,
    },
    /// A tree would be deeper than queries can go.
    #[error(
        "{path}:{line}: no BSP can be built: it would be deeper than {MAX_DEPTH} at [{}], where \
         the brush of this line has {faces} faces; many faces of one or several brushes around \
         one place may cause this: use fewer there",
        at.map(|x| x.round().to_string()).join(" ")
    )]
    TooDeep {
        /// The file.
        path: PathBuf,
        /// Line of the opening brace of the brush that has the most faces of all brushes at that
        /// point.
        line: u64,
        /// Number of faces of that brush.
        faces: usize,
        /// A point in the cell that is too deep.
        at: [f64; 3],
    },
}

impl CompileError {
    /// The error for a map with these brushes, from which no tree can be built.
    pub(super) fn of_tree(path: &Path, statics: &[StaticBrush], reason: BuildError) -> Self {
        let path = path.to_owned();
        let BuildError::TooDeep { at } = reason else { return Self::Tree { path, reason } };
        let distance = |brush: &StaticBrush| {
            let bounds = brush.solid.bounds();
            let point = DVec3::from(at);
            point.clamp(bounds.min, bounds.max).distance(point)
        };
        let faces = |brush: &StaticBrush| brush.solid.faces().len();
        let nearest = statics.iter().map(distance).fold(f64::INFINITY, f64::min);
        // A brush counts if its distance is at most a unit more than the least distance, because
        // the point may lie only in the expansion of a brush.
        let there = statics.iter().filter(|brush| distance(brush) <= nearest + 1.0);
        match there.max_by_key(|brush| faces(brush)) {
            Some(brush) => Self::TooDeep { path, line: brush.line, faces: faces(brush), at },
            None => Self::Tree { path, reason },
        }
    }
}

/// Reasons why no tree could be built.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum BuildError {
    /// The tree has too many branches.
    #[error("the tree would have more than {MAX_BRANCHES} branches")]
    TooManyBranches,
    /// The surface has too many corners.
    #[error("the surface has more than {MAX_CORNERS} corners")]
    TooManyCorners,
    /// The tree is too deep for queries.
    #[error("the tree would be deeper than {MAX_DEPTH} at {at:?}")]
    TooDeep {
        /// A point in the cell that is too deep.
        at: [f64; 3],
    },
    /// The nodes of the tree are not valid.
    #[error(transparent)]
    Tree(#[from] InvalidTree),
    /// The tree of the shifted planes is not valid.
    #[error("the tree of the shifted planes is not valid: {0}")]
    Shift(InvalidShiftTree),
}

impl From<InvalidShiftTree> for BuildError {
    fn from(error: InvalidShiftTree) -> Self {
        Self::Shift(error)
    }
}
