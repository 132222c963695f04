/// A set of parts of a body. Parts after the 64th are always in the set. No model has so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartSet(u64);

impl PartSet {
    pub(super) const ALL: Self = Self(u64::MAX);
    pub(super) const NONE: Self = Self(0);

    pub(super) fn add(&mut self, part: u32) {
        self.0 |= 1_u64.checked_shl(part).unwrap_or(0);
    }

    fn holds(self, part: usize) -> bool {
        part >= 64 || self.0 >> part & 1 != 0
    }
}

/// The parts of either body that may come near the other; all other pairs of parts
/// are proven apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidates {
    pub(super) ours: PartSet,
    pub(super) theirs: PartSet,
}

impl Candidates {
    pub(crate) const ALL: Self = Self { ours: PartSet::ALL, theirs: PartSet::ALL };

    /// Whether part `ours` of the first body and part `theirs` of the second still
    /// have to be tested.
    #[inline]
    pub(crate) fn hold(&self, ours: usize, theirs: usize) -> bool {
        self.ours.holds(ours) && self.theirs.holds(theirs)
    }

    /// The pairs that are open in both.
    #[must_use]
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            ours: PartSet(self.ours.0 & other.ours.0),
            theirs: PartSet(self.theirs.0 & other.theirs.0),
        }
    }
}
