use std::collections::VecDeque;

use xxhash_rust::xxh3::Xxh3Default;

use crate::digest::numbers;
use crate::entities::{Entities, Role};
use crate::pose::{Motion, Pose};
use crate::shape::ShapeId;
use crate::state::EntityId;

/// Ticks that are remembered: half a second at the highest rate a server runs
/// at, well above what it lets anybody shoot into the past.
const KEPT: usize = 64;

/// Parts of a tick that [`Command::view_age`](crate::Command::view_age) counts.
const PARTS: u64 = 16;

/// Units in a tick beyond which nobody ran but was put elsewhere; in between
/// there is nobody then.
const RELOCATED: f64 = 128.0;

/// Where the players stood at the end of the latest ticks, so that a ray can
/// be judged by what the shooter saw: of a moving opponent a client shows what
/// was there a round trip and an interpolation ago.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// The latest first; each in ascending order of slot.
    ticks: VecDeque<Vec<Stance>>,
}

/// How a player stood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stance {
    player: EntityId,
    pub(crate) shape: ShapeId,
    pub(crate) pose: Pose,
}

impl Past {
    /// Adds the tick that has just ended.
    pub(crate) fn remember(&mut self, entities: &Entities) {
        let mut stances = if self.ticks.len() < KEPT {
            Vec::new()
        } else {
            self.ticks.pop_back().unwrap_or_default()
        };
        stances.clear();
        let players = entities.iter().filter(|entity| matches!(entity.role, Role::Player(_)));
        stances.extend(players.filter_map(|entity| {
            let placement = entity.placement()?;
            Some(Stance { player: entity.id, shape: placement.shape(), pose: *placement.pose() })
        }));
        self.ticks.push_front(stances);
    }

    /// How `player` stood `age` sixteenths of a tick before the end of the
    /// tick that is being played; `None` if they were not there. Older than
    /// what is remembered is taken for the oldest that is.
    pub(crate) fn stance(&self, player: EntityId, age: u16) -> Option<Stance> {
        // The latest tick remembered is one before the one being played.
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
        Some(Stance { pose, ..earlier })
    }

    fn at(&self, ticks: usize, player: EntityId) -> Option<Stance> {
        let stances = self.ticks.get(ticks)?;
        let index = stances.binary_search_by_key(&player.slot, |stance| stance.player.slot).ok()?;
        Some(stances[index]).filter(|stance| stance.player == player)
    }

    /// Adds everything to a digest.
    pub(crate) fn digest(&self, hash: &mut Xxh3Default) {
        for stance in self.ticks.iter().flatten() {
            hash.update(&stance.player.slot.to_le_bytes());
            hash.update(&stance.player.generation.to_le_bytes());
            hash.update(&stance.shape.0.to_le_bytes());
            numbers(hash, &stance.pose.position.to_array());
            numbers(hash, &stance.pose.orientation.to_array());
        }
    }
}
