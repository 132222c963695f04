//! Options of the compiler.

use std::num::NonZeroUsize;

use super::bevel::BevelAngle;
use super::source::Curves;

/// Options of [`compile`](crate::compile).
///
/// ```
/// use obsp::{BevelAngle, CompileOptions};
///
/// // Bodies get closer to edges than by default, and the tree is larger.
/// let bevel_angle = BevelAngle::new(60.0).expect("from 30 to 180 degrees");
/// let options = CompileOptions { strict: true, bevel_angle, ..CompileOptions::default() };
/// assert!(options.bevel_angle < CompileOptions::default().bevel_angle);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CompileOptions {
    /// Whether a degenerate brush is an error instead of a warning.
    pub strict: bool,
    /// Whether Quake III's curves become solid.
    pub curves: Curves,
    /// Largest angle at the edges of the shift tree's cells that gets no bevel.
    pub bevel_angle: BevelAngle,
    /// Whether the outside stays empty even if the map is sealed, so that the bare brushes can be
    /// inspected.
    pub keep_outside: bool,
    /// The number of threads; by default the machine's. The result does not depend on it.
    pub threads: Option<NonZeroUsize>,
}
