use glam::DVec3;

use super::Pair;
use crate::cascade::Planes;
use crate::guard::Blocker;

/// What is known of a body and something it is near to: their pairs of parts,
/// in ascending order.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a>(&'a [Pair]);

/// Looks up in `pairs`, which are in order of key, what is known of the body
/// in slot `body` and `other`.
pub(crate) fn known(pairs: &[Pair], body: u16, other: Blocker) -> Known<'_> {
    let first = pairs.partition_point(|p| (p.key.body, p.key.other) < (body, other));
    let count = pairs[first..].iter().take_while(|p| (p.key.body, p.key.other) == (body, other));
    Known(&pairs[first..first + count.count()])
}

/// What is known of a body and all solids of the world.
pub(super) fn solids_of(pairs: &[Pair], body: u16) -> &[Pair] {
    let first = pairs.partition_point(|p| p.key.body < body);
    let is_own = |p: &&Pair| p.key.body == body && matches!(p.key.other, Blocker::Solid(_));
    &pairs[first..first + pairs[first..].iter().take_while(is_own).count()]
}

impl<'a> Known<'a> {
    pub(super) fn pairs(self) -> &'a [Pair] {
        self.0
    }

    /// The pair of these parts.
    pub(super) fn pair(self, ours: usize, theirs: usize) -> Option<&'a Pair> {
        let parts = (ours as u16, theirs as u16);
        self.0.iter().find(|pair| pair.key.parts == parts)
    }
}

impl Planes for Known<'_> {
    fn whole(self) -> Option<DVec3> {
        self.0.first().map(|pair| pair.axis)
    }

    fn between(self, ours: usize, theirs: usize) -> Option<DVec3> {
        self.pair(ours, theirs).map(|pair| pair.axis)
    }
}
