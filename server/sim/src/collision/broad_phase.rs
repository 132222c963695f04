//! Finds the overlaps among many boxes. It is sweep and prune along the axis with the widest
//! spread, in strips across the axis with the second widest.

use glam::DVec3;
use obsp::geometry::Aabb;

use super::rounded_box::{Frame, RoundedBox};
use crate::threads::Threads;

/// For each box: the later boxes that it overlaps.
#[derive(Debug, Default)]
pub(crate) struct Overlaps {
    /// Start of each box's list, and the end of the last list.
    starts: Vec<u32>,
    others: Vec<u32>,
}

impl Overlaps {
    /// Finds all overlapping pairs of `boxes`. Without `prune` every pair is tested.
    pub(crate) fn new(boxes: &[Aabb], prune: bool, threads: &Threads) -> Self {
        if prune {
            return Self::listed(boxes.len(), &sweep(boxes, threads));
        }
        let mut pairs = Vec::new();
        for (a, own) in boxes.iter().enumerate() {
            let others = boxes.iter().enumerate().skip(a + 1);
            let overlapping = others.filter(|(_, other)| own.overlaps(other));
            pairs.extend(overlapping.map(|(b, _)| [a as u32, b as u32]));
        }
        Self::listed(boxes.len(), &[pairs])
    }

    /// The pairs by their first box, in ascending order.
    fn listed(count: usize, shares: &[Vec<[u32; 2]>]) -> Self {
        let pairs = || shares.iter().flatten();
        let mut starts = vec![0; count + 1];
        for [first, _] in pairs() {
            starts[*first as usize + 1] += 1;
        }
        for index in 0..count {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut others = vec![0; starts[count] as usize];
        for [first, second] in pairs() {
            let at = &mut next[*first as usize];
            others[*at as usize] = *second;
            *at += 1;
        }
        for index in 0..count {
            others[starts[index] as usize..starts[index + 1] as usize].sort_unstable();
        }
        Self { starts, others }
    }

    /// The boxes after the `index`th one that overlap it, ascending.
    pub(crate) fn after(&self, index: usize) -> &[u32] {
        &self.others[self.starts[index] as usize..self.starts[index + 1] as usize]
    }
}

/// Minimum number of boxes per thread's share.
const MIN_SHARE: usize = 256;

/// A box in one of the strips that it covers. The number sorts by strip, then by the start of the
/// box along the sweep, then by index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u64);

impl Entry {
    /// Number of bits of an index: enough for far more boxes than a match has bodies.
    const INDEX_BITS: u32 = 24;

    /// Number of steps along the sweep.
    const STEPS: f64 = ((1_u64 << 32) - 1) as f64;

    fn new(strip: u32, begin: u32, index: usize) -> Self {
        let strip = u64::from(strip) << 32 | u64::from(begin);
        Self(strip << Self::INDEX_BITS | index as u64)
    }

    fn strip(self) -> u32 {
        (self.0 >> (32 + Self::INDEX_BITS)) as u32
    }

    fn index(self) -> usize {
        (self.0 & ((1 << Self::INDEX_BITS) - 1)) as usize
    }
}

/// Sweeps along the axis with the widest spread, in strips across the axis with the
/// second widest. Returns each overlapping pair once, the lower index first.
fn sweep(boxes: &[Aabb], threads: &Threads) -> Vec<Vec<[u32; 2]>> {
    let [along, across] = widest_axes(boxes);
    let strips = Strips::across(boxes, across);
    let all = boxes.iter().fold(Aabb::EMPTY, |all, bounds| all.union(*bounds));
    let (least, frame) = (all.min[along], Frame::around(&all));
    let scale = Entry::STEPS / (all.max[along] - least).max(f64::MIN_POSITIVE);
    // Rounds down, so that overlapping boxes still overlap after rounding. A float cast saturates.
    let step = |place: f64| ((place - least) * scale) as u32;
    let mut entries = Vec::with_capacity(2 * boxes.len());
    let mut ranges = Vec::with_capacity(boxes.len());
    for (index, bounds) in boxes.iter().enumerate() {
        let [first, last] = [bounds.min, bounds.max].map(|corner| strips.of(corner[across]));
        let (begin, end) = (step(bounds.min[along]), step(bounds.max[along]));
        entries.extend((first..=last).map(|strip| Entry::new(strip, begin, index)));
        ranges.push((first, end));
    }
    entries.sort_unstable();
    // The rounded boxes, in the order in which the sweep reads them. Each box's tag is the first
    // strip that it covers.
    let rounded = |entry: &Entry| {
        let index = entry.index();
        RoundedBox::of(&boxes[index], &frame, ranges[index].0 as u16)
    };
    let rounded: Vec<RoundedBox> = entries.iter().map(rounded).collect();
    threads.in_shares(entries.len(), MIN_SHARE, |range| {
        let mut pairs = Vec::with_capacity(4 * range.len());
        for at in range {
            let own = entries[at];
            let (strip, index) = (own.strip(), own.index());
            let (bounds, own_rounded) = (&boxes[index], rounded[at].overlap_limits());
            let (first, end) = ranges[index];
            let beyond = Entry::new(strip, end, (1 << Entry::INDEX_BITS) - 1);
            let later = entries[at + 1..].iter().zip(&rounded[at + 1..]);
            for (other, other_rounded) in later.take_while(|(other, _)| **other <= beyond) {
                // Two boxes that share several strips are reported in the first of them.
                if other_rounded.overlaps(&own_rounded)
                    && first.max(u32::from(other_rounded.tag())) == strip
                {
                    let other = other.index();
                    if bounds.overlaps(&boxes[other]) {
                        pairs.push([index.min(other) as u32, index.max(other) as u32]);
                    }
                }
            }
        }
        pairs
    })
}

/// Strips of equal width.
struct Strips {
    origin: f64,
    width: f64,
}

/// Maximum index of a strip, so that a box lies in 65 strips at most.
const MAX_STRIPS: f64 = 64.0;

/// Width of a strip, as a multiple of the mean width of the boxes. Wider strips compare more boxes.
/// With narrower strips each box lies in more of them.
const STRIP_OVER_BOX: f64 = 1.5;

impl Strips {
    fn across(boxes: &[Aabb], axis: usize) -> Self {
        let (mut least, mut greatest, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        for bounds in boxes {
            (least, greatest) = (least.min(bounds.min[axis]), greatest.max(bounds.max[axis]));
            sum += bounds.max[axis] - bounds.min[axis];
        }
        let mean = sum / boxes.len().max(1) as f64;
        let width = (STRIP_OVER_BOX * mean).max((greatest - least) / MAX_STRIPS);
        Self { origin: least, width: width.max(f64::MIN_POSITIVE) }
    }

    fn of(&self, place: f64) -> u32 {
        // A float cast saturates.
        (((place - self.origin) / self.width) as u32).min(MAX_STRIPS as u32)
    }
}

/// The axes with the widest and the second widest spread.
fn widest_axes(boxes: &[Aabb]) -> [usize; 2] {
    let count = boxes.len().max(1) as f64;
    let mean = boxes.iter().map(Aabb::centre).sum::<DVec3>() / count;
    let spread: DVec3 = boxes.iter().map(|b| (b.centre() - mean) * (b.centre() - mean)).sum();
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| spread[b].total_cmp(&spread[a]));
    [axes[0], axes[1]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// With and without pruning, the pairs found are those that overlap.
    #[test]
    fn pruning_spares_only_boxes_that_do_not_overlap() {
        let mut random = Random::new(7);
        for spread in [10.0, 60.0, 200.0] {
            let mut number = |reach: f64| random.between(-reach, reach);
            let boxes: Vec<Aabb> = (0..100)
                .map(|_| {
                    let centre = DVec3::new(number(spread), number(spread), number(30.0));
                    Aabb::from_centre(centre, DVec3::splat(5.0 + number(4.0)))
                })
                .collect();
            let threads = Threads::default();
            let [pruned, all] = [true, false].map(|prune| Overlaps::new(&boxes, prune, &threads));
            let mut found = 0;
            for (index, own) in boxes.iter().enumerate() {
                let overlapping: Vec<u32> = (index + 1..boxes.len())
                    .filter(|&other| own.overlaps(&boxes[other]))
                    .map(|other| other as u32)
                    .collect();
                assert_eq!(pruned.after(index), overlapping);
                assert_eq!(all.after(index), overlapping);
                found += overlapping.len();
            }
            assert!(found > 0, "no boxes overlap at a spread of {spread}");
        }
    }
}
