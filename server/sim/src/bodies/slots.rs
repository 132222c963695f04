//! Sets of slots.

/// Returns one flag for each of `slot_count` slots: whether `slots` names it. Tests of many bodies
/// read this list, because looking up the entities takes longer.
pub(crate) fn flags_by_slot(slots: impl Iterator<Item = u16>, slot_count: usize) -> Vec<bool> {
    let mut flags = vec![false; slot_count];
    slots.for_each(|slot| flags[usize::from(slot)] = true);
    flags
}
