use super::manifold::Manifold;
use super::mover::Mover;
use super::spring::Spring;
use super::{MAX_SPIN, MAX_TURN, SUB_STEPS, SUB_STEPS_ALONE};

/// Puts movers and manifolds into order by island, those first that hold the
/// lowest mover, and solves one after the other: bodies that touch nothing in
/// common have nothing to tell each other, and a small island stays in cache.
pub(super) fn solve_islands(movers: &mut [Mover], manifolds: &mut Vec<Manifold>, seconds: f64) {
    let mut parents: Vec<usize> = (0..movers.len()).collect();
    for [a, b] in manifolds.iter().map(|manifold| manifold.bodies) {
        if b > 0 {
            let (a, b) = (root(&mut parents, a), root(&mut parents, b));
            parents[a.max(b)] = a.min(b);
        }
    }
    let mut members: Vec<(usize, usize)> =
        (1..movers.len()).map(|mover| (root(&mut parents, mover), mover)).collect();
    members.sort_unstable();
    manifolds.sort_by_key(|manifold| parents_root(&parents, manifold.bodies[0]));
    let mut rest = manifolds.as_mut_slice();
    for island in members.chunk_by(|(a, _), (b, _)| a == b) {
        let root = island[0].0;
        let count = rest.partition_point(|m| parents_root(&parents, m.bodies[0]) <= root);
        let (own, others) = rest.split_at_mut(count);
        rest = others;
        solve_island(movers, island, own, seconds);
    }
}

fn root(parents: &mut [usize], mover: usize) -> usize {
    let root = parents_root(parents, mover);
    parents[mover] = root;
    root
}

fn parents_root(parents: &[usize], mut mover: usize) -> usize {
    while parents[mover] != mover {
        mover = parents[mover];
    }
    mover
}

fn solve_island(
    movers: &mut [Mover],
    island: &[(usize, usize)],
    manifolds: &mut [Manifold],
    seconds: f64,
) {
    let steps = if island.len() == 1 { SUB_STEPS_ALONE } else { SUB_STEPS };
    let sub_step = seconds / f64::from(steps);
    let spring = Spring::new(sub_step);
    let max_spin = MAX_SPIN.min(MAX_TURN / seconds);
    for _ in 0..steps {
        island.iter().for_each(|&(_, mover)| movers[mover].fall(sub_step));
        manifolds.iter().for_each(|manifold| manifold.warm_start(movers));
        manifolds.iter_mut().for_each(|manifold| manifold.solve(movers, sub_step, Some(&spring)));
        island.iter().for_each(|&(_, mover)| movers[mover].go(sub_step, max_spin));
        for manifold in &mut *manifolds {
            manifold.measure(movers);
            manifold.solve(movers, sub_step, None);
        }
    }
    manifolds.iter_mut().for_each(|manifold| manifold.bounce(movers));
}
