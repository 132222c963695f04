//! Which of many boxes overlap: sweep and prune along the axis with the widest
//! spread.

use glam::DVec3;
use obsp::geometry::Aabb;

/// For each box, the later boxes that it overlaps.
#[derive(Debug, Default)]
pub(crate) struct Overlaps {
    /// Start of each box's list, and the end of the last list.
    starts: Vec<u32>,
    others: Vec<u32>,
}

impl Overlaps {
    /// Finds all overlapping pairs of `boxes`. Without `prune` every pair is tested.
    pub(crate) fn new(boxes: &[Aabb], prune: bool) -> Self {
        let axis = widest_axis(boxes);
        let mut order: Vec<u32> = (0..boxes.len() as u32).collect();
        if prune {
            order.sort_unstable_by(|&a, &b| {
                let [first, second] = [a, b].map(|index| boxes[index as usize].min[axis]);
                first.total_cmp(&second).then(a.cmp(&b))
            });
        }
        let mut pairs: Vec<[u32; 2]> = Vec::with_capacity(boxes.len() * 4);
        let sorted: Vec<Aabb> = order.iter().map(|&index| boxes[index as usize]).collect();
        for (at, (own, &a)) in sorted.iter().zip(&order).enumerate() {
            let end = own.max[axis];
            for (other, &b) in sorted[at + 1..].iter().zip(&order[at + 1..]) {
                if prune && other.min[axis] > end {
                    break;
                }
                if own.overlaps(other) {
                    pairs.push([a.min(b), a.max(b)]);
                }
            }
        }
        Self::listed(boxes.len(), &pairs)
    }

    /// The pairs by their first box, in ascending order.
    fn listed(count: usize, pairs: &[[u32; 2]]) -> Self {
        let mut starts = vec![0; count + 1];
        for [first, _] in pairs {
            starts[*first as usize + 1] += 1;
        }
        for index in 0..count {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut others = vec![0; pairs.len()];
        for [first, second] in pairs {
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

fn widest_axis(boxes: &[Aabb]) -> usize {
    let count = boxes.len().max(1) as f64;
    let mean = boxes.iter().map(Aabb::centre).sum::<DVec3>() / count;
    let spread: DVec3 = boxes.iter().map(|b| (b.centre() - mean) * (b.centre() - mean)).sum();
    (1..3).fold(0, |widest, axis| if spread[axis] > spread[widest] { axis } else { widest })
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
            let (pruned, all) = (Overlaps::new(&boxes, true), Overlaps::new(&boxes, false));
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
