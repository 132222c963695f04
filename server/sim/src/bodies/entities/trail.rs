//! The entities that a phase of a tick moves, each with the position from which it came.

use glam::DVec3;

/// The positions that entities have left since the trail was begun.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    /// `None` if no trail is kept. An entity that came from outside of the world left no position.
    left: Option<Vec<(u16, Option<DVec3>)>>,
}

impl Trail {
    /// Begins a trail.
    pub(crate) fn begin(&mut self) {
        self.left = Some(Vec::new());
    }

    /// Notes that the entity in a slot has left a position.
    pub(super) fn note(&mut self, slot: u16, position: Option<DVec3>) {
        if let Some(left) = &mut self.left {
            left.push((slot, position));
        }
    }

    /// Ends the trail: the slots of all entities that have left positions, ascending, each with the
    /// first of its positions.
    pub(crate) fn end(&mut self) -> Vec<(u16, DVec3)> {
        let mut left = self.left.take().unwrap_or_default();
        // The sort keeps the positions of a slot in order.
        left.sort_by_key(|&(slot, _)| slot);
        left.dedup_by_key(|&mut (slot, _)| slot);
        left.into_iter().filter_map(|(slot, position)| Some((slot, position?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trail_has_the_first_position_of_each_entity_that_was_in_the_world() {
        let mut trail = Trail::default();
        trail.note(1, Some(DVec3::X));
        assert_eq!(trail.end(), [], "no trail was begun");
        trail.begin();
        trail.note(5, Some(DVec3::X));
        trail.note(3, None);
        trail.note(5, Some(DVec3::Y));
        trail.note(3, Some(DVec3::Y));
        trail.note(2, Some(DVec3::Z));
        assert_eq!(trail.end(), [(2, DVec3::Z), (5, DVec3::X)]);
        trail.note(2, Some(DVec3::X));
        assert_eq!(trail.end(), []);
    }
}
