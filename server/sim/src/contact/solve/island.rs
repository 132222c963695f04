use crate::contact::Pair;
use crate::guard::Blocker;

/// Bodies and contacts by island: who touches nothing in common has nothing to
/// tell each other.
pub(super) struct Islands {
    /// Movers, each with the lowest one of its island, in that order.
    movers: Vec<(usize, usize)>,
    /// Pairs that touch, likewise.
    pairs: Vec<(usize, usize)>,
}

impl Islands {
    /// Sorts out `count` movers, of which the first is what never moves, by
    /// the pairs that touch. `bodies` names the movers of a pair.
    pub(super) fn new(count: usize, pairs: &[Pair], bodies: impl Fn(&Pair) -> [usize; 2]) -> Self {
        let touching = || pairs.iter().enumerate().filter(|(_, pair)| !pair.points.is_empty());
        let mut parents: Vec<usize> = (0..count).collect();
        let between = |pair: &Pair| matches!(pair.key.other, Blocker::Entity(_));
        for (_, pair) in touching().filter(|(_, pair)| between(pair)) {
            let [a, b] = bodies(pair);
            if b > 0 {
                let (a, b) = (root(&mut parents, a), root(&mut parents, b));
                parents[a.max(b)] = a.min(b);
            }
        }
        let mut movers: Vec<_> =
            (1..count).map(|mover| (root(&mut parents, mover), mover)).collect();
        let island = |(at, pair)| (root(&mut parents, bodies(pair)[0]), at);
        let mut pairs: Vec<_> = touching().map(island).collect();
        movers.sort_unstable();
        pairs.sort_unstable();
        Self { movers, pairs }
    }

    /// Movers and pairs of one island after the other.
    pub(super) fn iter(&self) -> impl Iterator<Item = [&[(usize, usize)]; 2]> {
        let mut rest = self.pairs.as_slice();
        self.movers.chunk_by(|(a, _), (b, _)| a == b).map(move |movers| {
            let (own, others) =
                rest.split_at(rest.partition_point(|(root, _)| *root <= movers[0].0));
            rest = others;
            [movers, own]
        })
    }
}

fn root(parents: &mut [usize], mover: usize) -> usize {
    let mut root = mover;
    while parents[root] != root {
        root = parents[root];
    }
    parents[mover] = root;
    root
}
