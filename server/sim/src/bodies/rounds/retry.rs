//! A stopped body gets a further attempt if it is in flight, or if a kinematic body drives it.

use glam::DVec3;

use super::{Remainder, Rounds};
use crate::bodies::blocker::Blocker;
use crate::bodies::entities::Entity;
use crate::bodies::mobility::Mobility;

/// Maximum number of attempts per tick in which a body in flight spends the rest of its motion.
const MAX_FLIGHT_ATTEMPTS: usize = 6;

impl Rounds<'_> {
    /// Lets bodies that were stopped spend the rest of their tick. A body in flight may be stopped
    /// several times: two bodies that meet may touch once more, elsewhere, before they part.
    pub(super) fn spend(&mut self, stopped: Vec<Remainder>) -> Vec<Remainder> {
        let (mut retried, mut ended) = self.split_by_retry(stopped);
        for _ in 1..MAX_FLIGHT_ATTEMPTS {
            let stopped = self.advance_remainders(&retried, |_, target| target);
            let others;
            (retried, others) = stopped
                .into_iter()
                .partition(|remainder| !self.islands.is_supported(remainder.slot));
            ended.extend(others);
            if retried.is_empty() {
                break;
            }
        }
        ended.extend(self.advance_remainders(&retried, |_, target| target));
        ended.sort_unstable_by_key(|remainder| remainder.slot);
        ended
    }

    /// Divides the bodies that were stopped: the first list gets a further attempt, the second does
    /// not.
    ///
    /// A body gets a further attempt if the body or its blocker has moved or taken an impulse since
    /// the stop, so that the attempt may end otherwise. In addition the body must be in flight,
    /// where it would visibly lose the rest of its tick, or a kinematic body must drive it or its
    /// blocker. For any other body the solver has proposed a motion that keeps its contacts. Most
    /// stopped bodies of a heap would be stopped again.
    fn split_by_retry(&self, stopped: Vec<Remainder>) -> (Vec<Remainder>, Vec<Remainder>) {
        let changed = |slot| self.changed.contains(slot);
        // A body that was driven in the last tick still counts as driven: it may be a hair away
        // from its driver. A body that a driver touches for the first time in this tick counts as
        // driven as well.
        let moves_with_driver = |slot: u16| {
            let driven = |entity: &Entity| {
                entity.mobility() == Mobility::Kinematic
                    || entity.record.driven_velocity != DVec3::ZERO
            };
            self.islands.driven().contains(slot) || self.entities.get(slot).is_some_and(driven)
        };
        stopped.into_iter().partition(|&Remainder { slot, blocker, .. }| {
            let blocker = blocker.and_then(Blocker::entity);
            let may_go_on = changed(slot) || blocker.is_some_and(changed);
            let is_driven = moves_with_driver(slot) || blocker.is_some_and(moves_with_driver);
            may_go_on && (is_driven || !self.islands.is_supported(slot))
        })
    }
}
