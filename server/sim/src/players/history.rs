//! Lag compensation: the positions of the players in the latest ticks.

mod packed;

use std::collections::VecDeque;
use std::fmt;

use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::bodies::entities::Entities;
use crate::bodies::roles::Role;
use crate::collision::pose::{Motion, Pose};
use crate::collision::shape::ShapeId;
use crate::state::EntityId;

/// Number of ticks that are kept: half a second at a server's highest tick rate. The longest
/// allowed compensation is much shorter.
const KEPT: usize = 64;

/// Units of [`Command::view_age`](crate::Command::view_age) in a tick.
const PARTS: u64 = 16;

/// A player who moved farther than this in a tick, in units, was put elsewhere, so no position in
/// between is used.
const RELOCATED: f64 = 128.0;

/// The poses of the players at the end of the latest ticks. With them a ray is judged by the
/// shooter's picture, in which a moving opponent is where it was a round trip and an interpolation
/// delay ago.
#[derive(Clone, Debug, Default)]
pub(crate) struct PositionHistory {
    /// The poses by tick, the latest tick first; within a tick in ascending order of slot.
    ticks: VecDeque<Vec<PastPose>>,
}

/// Shape and pose of a player at the end of a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PastPose {
    pub(crate) player: EntityId,
    pub(crate) shape: ShapeId,
    pub(crate) pose: Pose,
}

impl PositionHistory {
    /// Adds the tick that has just ended, and forgets the oldest.
    pub(crate) fn remember(&mut self, entities: &Entities) {
        let mut poses = if self.ticks.len() < KEPT {
            Vec::new()
        } else {
            self.ticks.pop_back().unwrap_or_default()
        };
        poses.clear();
        let players = entities.active().filter(|entity| matches!(entity.role, Role::Player(_)));
        poses.extend(players.filter_map(|entity| {
            let placement = entity.placement()?;
            Some(PastPose { player: entity.id, shape: placement.shape(), pose: *placement.pose() })
        }));
        self.ticks.push_front(poses);
    }

    /// The pose of `player` `age` sixteenths of a tick before the end of the tick that is being
    /// simulated. `None` if the player was not in the world at that time. An age beyond the oldest
    /// tick that is kept counts as the age of that tick.
    pub(crate) fn pose_at(&self, player: EntityId, age: u16) -> Option<PastPose> {
        // The latest tick that is kept is the one before the tick that is being simulated.
        let age = u64::from(age).saturating_sub(PARTS);
        let (ticks, parts) = ((age / PARTS) as usize, age % PARTS);
        let last = self.ticks.len().checked_sub(1)?;
        let later = self.at(ticks.min(last), player);
        if parts == 0 || ticks >= last {
            return later;
        }
        let earlier = self.at(ticks + 1, player)?;
        let Some(later) = later else { return Some(earlier) };
        let way = later.pose.position - earlier.pose.position;
        if way.length() > RELOCATED {
            return Some(earlier);
        }
        let share = 1.0 - parts as f64 / PARTS as f64;
        let pose = Motion::new(earlier.pose, later.pose).at(share);
        Some(PastPose { pose, ..earlier })
    }

    fn at(&self, ticks: usize, player: EntityId) -> Option<PastPose> {
        let poses = self.ticks.get(ticks)?;
        let index = poses.binary_search_by_key(&player.slot, |pose_at| pose_at.player.slot).ok()?;
        Some(poses[index]).filter(|pose_at| pose_at.player == player)
    }

    /// Number of ticks that are remembered.
    pub(crate) fn len(&self) -> usize {
        self.ticks.len()
    }

    /// Everything that is remembered, the latest tick first.
    pub(crate) fn poses(&self) -> impl Iterator<Item = &PastPose> {
        self.ticks.iter().flatten()
    }
}

impl Serialize for PositionHistory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&packed::to_bytes(&self.ticks))
    }
}

impl<'de> Deserialize<'de> for PositionHistory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = PositionHistory;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("past positions of players")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<PositionHistory, E> {
                let ticks = packed::from_bytes(bytes);
                let ticks = ticks.ok_or_else(|| E::custom("past positions cannot be read"))?;
                Ok(PositionHistory { ticks })
            }
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}
