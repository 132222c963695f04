/// Hears of every branch that a query looks at: for measuring what a query
/// costs apart from the clock. `()` hears nothing and costs nothing.
pub trait Visits {
    /// One more branch.
    fn branch(&mut self);
}

impl Visits for () {
    #[inline]
    fn branch(&mut self) {}
}

/// Counts branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCount(pub u64);

impl Visits for NodeCount {
    #[inline]
    fn branch(&mut self) {
        self.0 += 1;
    }
}
