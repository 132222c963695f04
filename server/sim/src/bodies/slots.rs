//! Sets of slots.

/// Of so many slots, which are among some: one look for each that is asked about later, and not
/// one at the entity, which is elsewhere in memory.
pub(crate) fn marked(some: impl Iterator<Item = u16>, slot_count: usize) -> Vec<bool> {
    let mut marked = vec![false; slot_count];
    some.for_each(|slot| marked[usize::from(slot)] = true);
    marked
}
