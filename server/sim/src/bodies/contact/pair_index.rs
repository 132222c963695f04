//! The pairs of parts that the search for contacts has found, indexed by body, each with the plane
//! that last divided it.

use glam::DVec3;

use super::Pair;
use crate::bodies::blocker::Blocker;
use crate::collision::cascade::{LastPlane, NearParts};

/// The known pairs of parts of two bodies, in ascending order. The list is empty if the last search
/// found the two bodies too far apart.
#[derive(Clone, Copy)]
pub(crate) struct KnownPairs<'a>(&'a [Pair]);

/// Pairs in order of key, indexed by the slot of their body.
#[derive(Debug)]
pub(crate) struct PairIndex<'a> {
    pairs: &'a [Pair],
    /// For each slot: the index at which the pairs of its body start. The last entry is the number
    /// of all pairs.
    starts: Vec<u32>,
}

impl<'a> PairIndex<'a> {
    /// Indexes `pairs`, for bodies in the first `slots` slots.
    pub(crate) fn new(pairs: &'a [Pair], slots: usize) -> Self {
        let mut starts = Vec::with_capacity(slots + 1);
        for (at, pair) in pairs.iter().enumerate() {
            let body = usize::from(pair.key.body);
            if starts.len() <= body {
                starts.resize(body + 1, at as u32);
            }
        }
        starts.resize(starts.len().max(slots + 1), pairs.len() as u32);
        Self { pairs, starts }
    }

    /// Number of all pairs.
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Number of bodies that have pairs.
    pub(super) fn bodies(&self) -> usize {
        self.starts.windows(2).filter(|ends| ends[0] < ends[1]).count()
    }

    fn of(&self, body: u16) -> &'a [Pair] {
        let index = usize::from(body);
        match (self.starts.get(index), self.starts.get(index + 1)) {
            (Some(&start), Some(&end)) => &self.pairs[start as usize..end as usize],
            (Some(&start), None) => &self.pairs[start as usize..],
            (None, _) => &[],
        }
    }

    /// The known pairs between the body in slot `body` and `other`.
    pub(crate) fn known(&self, body: u16, other: Blocker) -> KnownPairs<'a> {
        let own = self.of(body);
        let Some(first) = own.iter().position(|pair| pair.key.other == other) else {
            return KnownPairs(&[]);
        };
        let count = own[first..].iter().take_while(|pair| pair.key.other == other).count();
        KnownPairs(&own[first..first + count])
    }

    /// All pairs of bodies that are near each other, each once and in order, with the known pairs
    /// of their parts.
    pub(crate) fn neighbours(&self) -> impl Iterator<Item = (u16, Blocker, KnownPairs<'a>)> {
        let groups =
            self.pairs.chunk_by(|a, b| (a.key.body, a.key.other) == (b.key.body, b.key.other));
        groups.map(|group| (group[0].key.body, group[0].key.other, KnownPairs(group)))
    }

    /// The known pairs between a body and all solids of the world.
    pub(super) fn solids_of(&self, body: u16) -> &'a [Pair] {
        let own = self.of(body);
        let is_solid = |pair: &&Pair| matches!(pair.key.other, Blocker::Solid(_));
        &own[..own.iter().take_while(is_solid).count()]
    }
}

impl<'a> KnownPairs<'a> {
    pub(crate) fn pairs(self) -> &'a [Pair] {
        self.0
    }

    /// The pair of these parts, if it is known.
    pub(super) fn pair(self, ours: usize, theirs: usize) -> Option<&'a Pair> {
        let parts = (ours as u16, theirs as u16);
        self.0.iter().find(|pair| pair.key.parts == parts)
    }
}

impl LastPlane for KnownPairs<'_> {
    fn whole(self) -> Option<DVec3> {
        self.0.first().map(|pair| pair.axis)
    }

    fn between(self, ours: usize, theirs: usize) -> Option<NearParts> {
        self.pair(ours, theirs).map(Pair::near_parts)
    }

    fn gap(self) -> f64 {
        self.0.iter().map(|pair| pair.gap).fold(f64::INFINITY, f64::min)
    }

    fn near_parts(self, index: usize) -> Option<NearParts> {
        self.0.get(index).map(Pair::near_parts)
    }
}

impl Pair {
    fn near_parts(&self) -> NearParts {
        let (ours, theirs) = self.key.parts;
        let parts = [ours, theirs].map(usize::from);
        NearParts { parts, axis: self.axis, features: self.features, gap: self.gap }
    }
}
