/// Measures the cost of a query without a clock, by counting the branches that the query visits.
/// `()` ignores the calls and costs nothing.
pub trait Visits {
    /// The query visits one more branch.
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
