//! Sets of slots.

use super::contact::Pair;

/// Returns one flag for each of `slot_count` slots: whether `slots` names it. Tests of many bodies
/// read this list, because looking up the entities takes longer.
pub(crate) fn flags_by_slot(slots: impl Iterator<Item = u16>, slot_count: usize) -> Vec<bool> {
    let mut flags = vec![false; slot_count];
    slots.for_each(|slot| flags[usize::from(slot)] = true);
    flags
}

/// The slots of all bodies with contact points, once for each pair.
pub(crate) fn touching_slots(pairs: &[Pair]) -> impl Iterator<Item = u16> {
    let touching = pairs.iter().filter(|pair| !pair.points.is_empty());
    touching.flat_map(|pair| [Some(pair.key.body), pair.key.other.entity()]).flatten()
}
