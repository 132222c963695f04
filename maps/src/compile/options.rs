//! Options of the compiler.

use std::num::NonZeroUsize;

use super::bevel::BevelAngle;
use super::source::Curves;

/// Options of [`compile`](crate::compile).
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// A degenerate brush is an error instead of a warning.
    pub strict: bool,
    /// Whether Quake 3's curves become solid.
    pub curves: Curves,
    /// Greatest angle at the edges of the shift tree's cells that gets no bevel.
    pub bevel_angle: BevelAngle,
    /// Leave the outside empty even if the map is sealed, to inspect the bare brushes.
    pub keep_outside: bool,
    /// The number of threads; by default that of the machine. The result does not depend
    /// on it.
    pub threads: Option<NonZeroUsize>,
}
