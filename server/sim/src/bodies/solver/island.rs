//! Islands of the solver: bodies that influence each other within a tick.

use crate::bodies::contact::Pair;
use crate::bodies::islands::DisjointSets;

/// Bodies and contacts by island. Bodies of different islands do not influence each other.
pub(super) struct Islands {
    /// Pairs of the lowest body of an island and a body of that island, in order.
    bodies: Vec<(usize, usize)>,
    /// Pairs of the lowest body of an island and the index of a touching pair of that island, in
    /// order.
    pairs: Vec<(usize, usize)>,
}

impl Islands {
    /// Groups `count` bodies, of which the first is the fixed one, by the pairs that touch.
    /// `indices` gives the bodies of a pair. Bodies from `count` on are kinematic, and do not join
    /// islands.
    pub(super) fn new(count: usize, pairs: &[Pair], indices: impl Fn(&Pair) -> [usize; 2]) -> Self {
        // Bodies that skip the tick have index 0. Their pairs are only kept for the next tick.
        let is_movable = |body: usize| (1..count).contains(&body);
        let touches = |pair: &Pair| {
            let [own, other] = indices(pair);
            !pair.points.is_empty() && own > 0 && (is_movable(own) || is_movable(other))
        };
        let all = pairs.iter().enumerate();
        let touching: Vec<(usize, [usize; 2])> =
            all.filter(|(_, pair)| touches(pair)).map(|(at, pair)| (at, indices(pair))).collect();
        let mut sets = DisjointSets::new(count);
        for &(_, [a, b]) in &touching {
            if is_movable(a) && is_movable(b) {
                sets.join(a as u16, b as u16);
            }
        }
        let roots = sets.into_roots();
        let bodies: Vec<_> = (1..count).map(|body| (usize::from(roots[body]), body)).collect();
        let island = |(at, [own, other]): (usize, [usize; 2])| {
            (usize::from(roots[if is_movable(own) { own } else { other }]), at)
        };
        let pairs: Vec<_> = touching.into_iter().map(island).collect();
        Self { bodies: by_island(&bodies, count), pairs: by_island(&pairs, count) }
    }

    /// The bodies and the pairs of each island, one island after the other.
    pub(super) fn iter(&self) -> impl Iterator<Item = [&[(usize, usize)]; 2]> {
        let mut rest = self.pairs.as_slice();
        self.bodies.chunk_by(|(a, _), (b, _)| a == b).map(move |bodies| {
            let (own, others) =
                rest.split_at(rest.partition_point(|(root, _)| *root <= bodies[0].0));
            rest = others;
            [bodies, own]
        })
    }
}

/// Sorts items by their first number, which is below `count`. Items with the same first number keep
/// their order.
fn by_island(items: &[(usize, usize)], count: usize) -> Vec<(usize, usize)> {
    let mut ends = vec![0; count];
    items.iter().for_each(|&(island, _)| ends[island] += 1);
    let mut total = 0;
    for end in &mut ends {
        total += *end;
        *end = total;
    }
    let mut sorted = vec![(0, 0); items.len()];
    for &item in items.iter().rev() {
        ends[item.0] -= 1;
        sorted[ends[item.0]] = item;
    }
    sorted
}
