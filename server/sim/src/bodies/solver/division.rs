//! Islands divided into blocks for the threads: many small islands make up a block, and a heap is
//! cut into several.

use glam::DVec3;

use super::block::Block;
use super::contacts::{Contacts, SubSteps};

/// Minimum number of bodies in a block of small islands, if there are enough bodies. Smaller blocks
/// would leave lanes empty.
const BLOCK: usize = 128;

/// Maximum number of bodies of one island per block. A larger island is halved until its parts are
/// small enough. With smaller blocks, more contacts would be between blocks, and a single thread
/// solves all contacts between blocks.
pub(super) const MAX_BLOCK: usize = 256;

/// The block that holds a body, and where in the block it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) block: u32,
    /// The body's index among the members of the block. Zero if the body is in no block, because no
    /// impulse moves the body or it touches nothing.
    pub(super) local: u32,
}

/// An island that is cut into blocks.
pub(super) struct DividedIsland {
    /// Index of its first block, and the index after its last block.
    pub(super) blocks: [usize; 2],
    /// Contacts between bodies of different blocks.
    pub(super) contacts: Contacts,
}

/// All blocks of a tick.
pub(super) struct Division {
    pub(super) blocks: Vec<Block>,
    pub(super) divided: Vec<DividedIsland>,
    /// The place of each body; the first is the fixed body.
    pub(super) places: Vec<Place>,
    /// For each combination of tick count, sub-step count and kinds of repeated passes: the index
    /// of the last block of whole islands with this combination.
    open: Vec<([u32; 4], usize)>,
}

impl Division {
    /// Makes a division of `count` bodies, without blocks.
    pub(super) fn new(count: usize) -> Self {
        let places = vec![Place::default(); count];
        Self { blocks: Vec::new(), divided: Vec::new(), places, open: Vec::new() }
    }

    /// Adds an island with its `members` and its touching `pairs`; `bodies_of` gives the two bodies
    /// of a pair. The island moves by this many `ticks`.
    pub(super) fn add(
        &mut self,
        [members, pairs]: [&[(usize, usize)]; 2],
        steps: SubSteps,
        ticks: u16,
        position: impl Fn(usize) -> DVec3,
        bodies_of: impl Fn(usize) -> [usize; 2],
    ) {
        let members = members.iter().map(|&(_, body)| body);
        let pairs = pairs.iter().map(|&(_, pair)| pair);
        if members.len() <= MAX_BLOCK {
            let repeats = [steps.repeats_impacts, steps.repeats_landings].map(u32::from);
            let key = [u32::from(ticks), steps.count, repeats[0], repeats[1]];
            let entry = self.open.iter().position(|(of, _)| *of == key).unwrap_or_else(|| {
                self.open.push((key, usize::MAX));
                self.open.len() - 1
            });
            let open = &mut self.open[entry].1;
            if self.blocks.get(*open).is_none_or(|block| block.member_count() >= BLOCK) {
                self.blocks.push(Block::new(steps, true));
                *open = self.blocks.len() - 1;
            }
            let at = *open;
            self.put(at, members);
            self.blocks[at].contacts.pairs.extend(pairs);
            return;
        }
        let mut bodies: Vec<(DVec3, usize)> = members.map(|body| (position(body), body)).collect();
        let first = self.blocks.len();
        halve(&mut bodies, &mut |part| {
            self.blocks.push(Block::new(steps, false));
            self.put(self.blocks.len() - 1, part.iter().map(|&(_, body)| body));
        });
        let mut contacts = Contacts::default();
        for pair in pairs {
            let [own, other] = bodies_of(pair).map(|body| self.places[body]);
            if own.local == 0 || other.local == 0 || own.block == other.block {
                let home = if own.local == 0 { other } else { own };
                self.blocks[home.block as usize].contacts.pairs.push(pair);
            } else {
                contacts.pairs.push(pair);
            }
        }
        self.divided.push(DividedIsland { blocks: [first, self.blocks.len()], contacts });
    }

    /// Puts an island, or a part of one, into a block.
    fn put(&mut self, at: usize, members: impl Iterator<Item = usize>) {
        let block = &mut self.blocks[at];
        let island = block.begin_island();
        for body in members {
            let local = block.add_member(body, island);
            self.places[body] = Place { block: at as u32, local };
        }
    }
}

/// Cuts bodies in halves across the axis of their widest extent, until the parts are small enough,
/// and visits the parts.
fn halve(bodies: &mut [(DVec3, usize)], visit: &mut impl FnMut(&[(DVec3, usize)])) {
    if bodies.len() <= MAX_BLOCK {
        // Bodies are in order of slot, as their contacts are.
        bodies.sort_unstable_by_key(|&(_, body)| body);
        return visit(bodies);
    }
    let (mut least, mut greatest) = (bodies[0].0, bodies[0].0);
    for &(position, _) in &*bodies {
        (least, greatest) = (least.min(position), greatest.max(position));
    }
    let axis = (greatest - least).max_position();
    let middle = bodies.len() / 2;
    bodies
        .select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1)));
    let (low, high) = bodies.split_at_mut(middle);
    halve(low, visit);
    halve(high, visit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const STEPS: SubSteps =
        SubSteps { count: 8, seconds: 1.0 / 60.0, repeats_impacts: false, repeats_landings: false };

    /// Chains of bodies: each two neighbours are a pair, and each body is a pair with the world.
    #[test]
    fn every_body_and_every_pair_is_in_one_place() {
        let mut random = Random::new(3);
        let sizes = [1, 3, 100, 70, MAX_BLOCK, MAX_BLOCK + 1, 5, 1000];
        let count = sizes.iter().sum::<usize>() + 1;
        let positions: Vec<DVec3> = (0..count)
            .map(|_| DVec3::new(random.between(0.0, 900.0), random.between(0.0, 90.0), 0.0))
            .collect();
        let bodies_of =
            |pair: usize| if pair < count { [pair, pair + 1] } else { [pair - count, 0] };
        let mut division = Division::new(count);
        let mut first = 1;
        for size in sizes {
            let members: Vec<_> = (first..first + size).map(|body| (first, body)).collect();
            let pairs: Vec<_> = (first..first + size - 1)
                .chain(count + first..count + first + size)
                .map(|pair| (first, pair))
                .collect();
            division.add([&members, &pairs], STEPS, 1, |body| positions[body], bodies_of);
            first += size;
        }
        let mut pairs: Vec<usize> = Vec::new();
        for (at, block) in division.blocks.iter().enumerate() {
            assert!(block.member_count() < BLOCK + MAX_BLOCK);
            for &pair in &block.contacts.pairs {
                let [a, b] = bodies_of(pair).map(|body| division.places[body]);
                assert!(a.block == at as u32 && a.local > 0);
                assert!(b.local == 0 || b.block == at as u32);
            }
            pairs.extend(&block.contacts.pairs);
        }
        assert_eq!(division.divided.len(), 2);
        for island in &division.divided {
            assert!(!island.contacts.pairs.is_empty());
            for &pair in &island.contacts.pairs {
                let [a, b] = bodies_of(pair).map(|body| division.places[body]);
                assert!(a.block != b.block && a.local > 0 && b.local > 0);
            }
            pairs.extend(&island.contacts.pairs);
        }
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), 2 * (count - 1) - sizes.len());
        let mut places = division.places[1..].to_vec();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), count - 1);
    }
}
