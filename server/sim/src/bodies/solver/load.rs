//! The loads of the bodies of an island, and the number of sub-steps that they need.
//!
//! A pass gives a body the impulse that stops it, and no more. A light body under a heavy one hands
//! on a small share of the load in each pass. The soft constraint that pushes bodies apart yields
//! in proportion to the load as well. It yields a quarter as much if the sub-steps are half as
//! long, so the number of sub-steps grows as the root of the load.

use glam::DVec3;

use crate::bodies::contact::Pair;

/// Loads raise the number of sub-steps of an island to this at most, in a tick of 1/60 s. A body
/// that carries [`MOST_FOR_LOADS`]²/[`PER_ROOT`]² times its own mass needs this many.
pub(crate) const MOST_FOR_LOADS: u32 = 40;

/// Number of sub-steps for each root of the load, where the load is the carried mass divided by the
/// mass of the body. A stack of three equal bodies gets one sub-step more than without loads.
const PER_ROOT: f64 = 4.0;

/// Maximum number of bodies of an island whose loads count. A larger island is a heap, whose bodies
/// lean on many others. More sub-steps make a heap cost half as much again, and do not help it.
const MAX_STACK: usize = 16;

/// In a contact whose normal has at least this height, the upper body lies on the lower one.
const CARRYING_SLOPE: f64 = 0.3;

/// Two bodies that move faster than this relative to each other, in units per second, hit each
/// other: neither lies on the other.
const LYING_SPEED: f64 = 60.0;

/// A body that others may lie on.
pub(super) struct Carrier {
    /// Height of its centre of mass, in units.
    pub(super) height: f64,
    /// In units per second.
    pub(super) velocity: DVec3,
    /// Mass in kg. Infinite if nothing moves the body.
    pub(super) mass: f64,
}

/// The number of sub-steps that the loads of an island need in a tick of 1/60 s, if it is more than
/// `steps`. `carriers` are its bodies, and `local` gives the indices of the bodies of a pair among
/// them, or an index beyond the end for a body outside the island.
pub(super) fn sub_steps<'a>(
    steps: u32,
    carriers: &[Carrier],
    pairs: impl Iterator<Item = &'a Pair>,
    local: impl Fn(&Pair) -> [usize; 2],
) -> u32 {
    let masses = || carriers.iter().map(|carrier| carrier.mass).filter(|mass| mass.is_finite());
    let least = masses().fold(f64::INFINITY, f64::min);
    // No body of the island carries more than all others.
    if !(2..=MAX_STACK).contains(&carriers.len())
        || needed(masses().sum::<f64>() - least, least) <= steps
    {
        return steps;
    }
    // Upper and lower bodies, sorted so that a body comes after all that lie on it.
    let mut ranks: Vec<usize> = (0..carriers.len()).collect();
    ranks.sort_by(|&a, &b| carriers[b].height.total_cmp(&carriers[a].height));
    let mut rank_of = vec![0; carriers.len()];
    ranks.iter().enumerate().for_each(|(rank, &carrier)| rank_of[carrier] = rank);
    let lies_on = |pair: &Pair| {
        let both = local(pair);
        let [Some(one), Some(two)] = both.map(|at| carriers.get(at)) else { return None };
        let lies = one.mass.is_finite()
            && two.mass.is_finite()
            && pair.axis.z.abs() >= CARRYING_SLOPE
            && one.velocity.distance(two.velocity) < LYING_SPEED;
        let [lower, upper] = if pair.axis.z > 0.0 { both } else { [both[1], both[0]] };
        lies.then(|| (rank_of[upper], lower))
    };
    let mut lying: Vec<(usize, usize)> = pairs.filter_map(lies_on).collect();
    lying.sort_unstable();
    lying.dedup();
    // A body hands on its own mass and its load to those below it in equal shares.
    let mut loads = vec![0.0; carriers.len()];
    for below in lying.chunk_by(|a, b| a.0 == b.0) {
        let upper = ranks[below[0].0];
        let share = (carriers[upper].mass + loads[upper]) / below.len() as f64;
        below.iter().for_each(|&(_, lower)| loads[lower] += share);
    }
    let all = carriers.iter().zip(loads).map(|(carrier, load)| needed(load, carrier.mass));
    all.fold(steps, u32::max)
}

/// The number of sub-steps for a body of this mass under this load.
fn needed(load: f64, mass: f64) -> u32 {
    (PER_ROOT * (load / mass).sqrt()).min(MOST_FOR_LOADS.into()).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bodies::blocker::Blocker;
    use crate::bodies::contact::{PairKey, Points};
    use crate::collision::separation::Features;

    /// The body `upper` lies on `body`.
    fn pair(body: u16, upper: u16) -> Pair {
        let key = PairKey { body, other: Blocker::Entity(upper), parts: (0, 0) };
        let (features, points) = (Features::NONE, Points::new());
        Pair { key, axis: DVec3::Z, features, gap: 0.1, points }
    }

    /// The sub-steps of bodies of these masses, each higher than the one before. Of each pair of
    /// indices, the second body lies on the first.
    fn needed_by(masses: &[f64], lying: &[[u16; 2]]) -> u32 {
        let carrier =
            |(at, &mass): (usize, &f64)| Carrier { height: at as f64, velocity: DVec3::ZERO, mass };
        let carriers: Vec<Carrier> = masses.iter().enumerate().map(carrier).collect();
        let pairs: Vec<Pair> = lying.iter().map(|&[body, upper]| pair(body, upper)).collect();
        sub_steps(4, &carriers, pairs.iter(), |pair| {
            [Some(pair.key.body), pair.key.other.entity()].map(|slot| slot.map_or(9, usize::from))
        })
    }

    #[test]
    fn sub_steps_grow_as_the_root_of_the_load() {
        assert_eq!(needed_by(&[1.0, 1.0], &[[0, 1]]), 4);
        assert_eq!(needed_by(&[1.0, 9.0], &[[0, 1]]), 12);
        assert_eq!(needed_by(&[1.0, 4.0, 5.0], &[[0, 1], [1, 2]]), 12, "loads are handed on");
        let legs = [[0, 4], [1, 4], [2, 4], [3, 4]];
        assert_eq!(needed_by(&[1.0, 1.0, 1.0, 1.0, 36.0], &legs), 12, "legs share the load");
        assert_eq!(needed_by(&[9.0, 1.0], &[[0, 1]]), 4, "a light body on a heavy one");
        assert_eq!(needed_by(&[1.0, 1000.0], &[[0, 1]]), 40);
        assert_eq!(needed_by(&[1.0, f64::INFINITY], &[[0, 1]]), 4);
    }

    #[test]
    fn heaps_and_bodies_that_hit_each_other_get_no_more() {
        let masses = |count: usize| {
            let mut masses = vec![1.0; count];
            masses[1] = 9.0;
            masses
        };
        assert_eq!(needed_by(&masses(MAX_STACK), &[[0, 1]]), 12);
        assert_eq!(needed_by(&masses(MAX_STACK + 1), &[[0, 1]]), 4);
        let hit = |speed| {
            let body = |height, mass, velocity| Carrier { height, velocity, mass };
            let bodies = [body(0.0, 1.0, DVec3::ZERO), body(1.0, 9.0, DVec3::NEG_Z * speed)];
            sub_steps(4, &bodies, [pair(0, 1)].iter(), |_| [0, 1])
        };
        assert_eq!(hit(0.9 * LYING_SPEED), 12);
        assert_eq!(hit(1.1 * LYING_SPEED), 4);
    }
}
