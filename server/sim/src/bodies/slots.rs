//! Sets of slots.

/// Maximum number of entities per match. Encodings of entities must provide for this many slots.
pub const MAX_ENTITIES: usize = 4096;

/// A set of slots: one bit for each slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlotSet([u64; MAX_ENTITIES / 64]);

impl SlotSet {
    /// The empty set.
    pub(crate) const EMPTY: Self = Self([0; MAX_ENTITIES / 64]);

    /// Adds a slot.
    pub(crate) fn insert(&mut self, slot: u16) {
        self.0[usize::from(slot / 64)] |= 1 << (slot % 64);
    }

    /// Removes a slot.
    pub(crate) fn remove(&mut self, slot: u16) {
        self.0[usize::from(slot / 64)] &= !(1 << (slot % 64));
    }

    /// Whether the set has this slot.
    pub(crate) fn contains(&self, slot: u16) -> bool {
        self.0[usize::from(slot / 64)] >> (slot % 64) & 1 != 0
    }

    /// Whether the set has no slot.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// The slots of the set, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u16> {
        ascending(self.0.iter().copied())
    }

    /// The slots that both sets have, ascending.
    pub(crate) fn common(&self, other: &Self) -> impl Iterator<Item = u16> {
        ascending(self.0.iter().zip(&other.0).map(|(a, b)| a & b))
    }
}

/// The slots whose bits are set in these words.
fn ascending(words: impl Iterator<Item = u64>) -> impl Iterator<Item = u16> {
    let mut words = words.zip((0u16..).step_by(64));
    let (mut bits, mut first) = (0, 0);
    std::iter::from_fn(move || {
        while bits == 0 {
            (bits, first) = words.next()?;
        }
        let slot = first + bits.trailing_zeros() as u16;
        bits &= bits - 1;
        Some(slot)
    })
}

impl Extend<u16> for SlotSet {
    fn extend<I: IntoIterator<Item = u16>>(&mut self, slots: I) {
        slots.into_iter().for_each(|slot| self.insert(slot));
    }
}

impl FromIterator<u16> for SlotSet {
    fn from_iter<I: IntoIterator<Item = u16>>(slots: I) -> Self {
        let mut set = Self::EMPTY;
        set.extend(slots);
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::random::Random;

    #[test]
    fn a_set_of_slots_is_a_set_in_order() {
        let mut random = Random::new(9);
        let (mut sets, mut known) = ([SlotSet::EMPTY; 2], [const { BTreeSet::new() }; 2]);
        let last = MAX_ENTITIES as u16 - 1;
        for step in 0..4000 {
            let slot = [0, 63, 64, last, random.below(MAX_ENTITIES as u64) as u16][step % 5];
            let of = random.below(2) as usize;
            if random.below(3) > 0 {
                sets[of].insert(slot);
                known[of].insert(slot);
            } else {
                sets[of].remove(slot);
                known[of].remove(&slot);
            }
            assert_eq!(sets[of].contains(slot), known[of].contains(&slot));
            assert_eq!(sets[of].is_empty(), known[of].is_empty());
            assert!(sets[of].iter().eq(known[of].iter().copied()));
            assert!(sets[0].common(&sets[1]).eq(known[0].intersection(&known[1]).copied()));
        }
        assert_eq!(known[0].iter().copied().collect::<SlotSet>(), sets[0]);
    }
}
