//! Saved poses. A pose is saved as its difference from a nearby pose, in steps of `f64`, because
//! such differences are small numbers. Every pose is restored to the bit.

use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

use crate::bodies::entities::{Entity, SearchState};
use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;

/// A pose as the difference from a base that saving and loading both know.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedPose([u64; 7]);

impl SavedPose {
    /// The pose of a body; `None` if it is outside of the world.
    pub(super) fn of(entity: &Entity) -> Option<Self> {
        entity.placement().map(|placement| Self::from_base(placement.pose(), None))
    }

    fn from_base(pose: &Pose, base: Option<&Pose>) -> Self {
        let (numbers, mut known) = (words(pose), base.map_or([0; 7], words));
        known[6] = last_of_unit(pose.orientation.x, pose.orientation.y, pose.orientation.z);
        let step = |at: usize| numbers[at].wrapping_sub(known[at]) as i64;
        Self(std::array::from_fn(|at| (step(at) << 1 ^ step(at) >> 63) as u64))
    }

    /// The pose that was saved with this base.
    pub(super) fn pose(&self, base: Option<&Pose>) -> Pose {
        let known = base.map_or([0; 7], words);
        let step = |at: usize| self.0[at] >> 1 ^ (self.0[at] & 1).wrapping_neg();
        let number = |at: usize| f64::from_bits(known[at].wrapping_add(step(at)));
        let [i, j, k] = [number(3), number(4), number(5)];
        let w = f64::from_bits(last_of_unit(i, j, k).wrapping_add(step(6)));
        Pose {
            position: DVec3::new(number(0), number(1), number(2)),
            orientation: DQuat::from_xyzw(i, j, k, w),
        }
    }
}

fn words(pose: &Pose) -> [u64; 7] {
    let [x, y, z] = pose.position.to_array();
    let [i, j, k, w] = pose.orientation.to_array();
    [x, y, z, i, j, k, w].map(f64::to_bits)
}

/// The bits of the fourth number of a unit quaternion, given the other three. They are exact except
/// for rounding. A negative fourth number is not reproduced.
fn last_of_unit(i: f64, j: f64, k: f64) -> u64 {
    (1.0 - (i * i + j * j + k * k)).max(0.0).sqrt().to_bits()
}

/// A pose near the pose of its body, or no pose.
#[derive(Serialize, Deserialize)]
pub(super) enum NearPose {
    None,
    Same,
    Other(SavedPose),
}

impl NearPose {
    /// The anchor of a body.
    pub(super) fn anchor(entity: &Entity) -> Self {
        let own = entity.placement().map(|placement| placement.pose());
        match &entity.sleep.anchor {
            None => Self::None,
            Some(anchor) if own.is_some_and(|own| words(own) == words(anchor)) => Self::Same,
            Some(anchor) => Self::Other(SavedPose::from_base(anchor, own)),
        }
    }

    /// The pose that was saved, of a body with the pose `own`.
    pub(super) fn pose(&self, own: Option<&Pose>) -> Option<Pose> {
        match self {
            Self::None => None,
            Self::Same => own.copied(),
            Self::Other(saved) => Some(saved.pose(own)),
        }
    }
}

/// The state of a body at the last search for contacts.
#[derive(Serialize, Deserialize)]
pub(super) enum SavedSearch {
    None,
    /// The body has not changed since the search.
    Same,
    Other(ShapeId, bool, SavedPose),
}

impl SavedSearch {
    /// The state of a body at the last search.
    pub(super) fn of(entity: &Entity) -> Self {
        match &entity.record.searched_as {
            None => Self::None,
            same if *same == entity.search_state() => Self::Same,
            Some(SearchState { shape, pose, awake }) => {
                let own = entity.placement().map(|placement| placement.pose());
                Self::Other(*shape, *awake, SavedPose::from_base(pose, own))
            }
        }
    }

    /// The state at the last search. `entity` is the body as it was saved, except for this state.
    pub(super) fn state(&self, entity: &Entity) -> Option<SearchState> {
        let own = entity.placement().map(|placement| placement.pose());
        match self {
            Self::None => None,
            Self::Same => entity.search_state(),
            Self::Other(shape, awake, saved) => {
                Some(SearchState { shape: *shape, pose: saved.pose(own), awake: *awake })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn poses_come_back_to_the_bit_from_any_base() {
        let mut random = Random::new(8);
        let mut number = || random.between(-2.0, 2.0) * 10_f64.powi(random.below(9) as i32 - 4);
        for round in 0..500 {
            let mut pose = || Pose {
                position: DVec3::new(number(), number(), number()),
                orientation: DQuat::from_xyzw(number(), number(), number(), number()).normalize(),
            };
            let (pose, base) = (pose(), pose());
            for base in [None, Some(&base), Some(&pose)] {
                let saved = SavedPose::from_base(&pose, base);
                assert_eq!(words(&saved.pose(base)), words(&pose), "round {round}");
                // The fourth number of an orientation follows from the others, except for rounding.
                // The rounding is greatest where that number is small.
                let last = pose.orientation.w;
                assert!(last < 0.1 || saved.0[6] < 1 << 12, "{last}: {}", saved.0[6]);
            }
        }
        let odd = Pose {
            position: DVec3::new(f64::INFINITY, -0.0, f64::MIN_POSITIVE),
            orientation: DQuat::from_xyzw(-1.0, f64::MAX, f64::NAN, -1.0),
        };
        let back = SavedPose::from_base(&odd, None).pose(None);
        assert_eq!(words(&back), words(&odd));
    }
}
