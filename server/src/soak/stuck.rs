//! Detection of stuck players: those who try to move in many directions and get nowhere.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use obsp_sim::{Command, EntityId, State};

/// A player who has moved fewer units than this has not moved.
const AWAY: f64 = 4.0;

/// For so many seconds a player must have pushed before they are called stuck.
const PATIENCE: u32 = 10;

/// In so many of the eight octants they must have pushed.
const OCTANTS: u32 = 7;

/// A wish to move of less than this, of 127, is not counted as pushing.
const PUSHING: i32 = 60;

/// Finds players who cannot get away: who for ten seconds of pushing in
/// nearly all directions came no farther than a few units. Whoever has bodies
/// on all sides that give way to no push is stuck, too; who merely pushes
/// against a wall is not, because there were directions that they did not try.
#[derive(Debug)]
pub struct StuckWatch {
    patience: u32,
    players: BTreeMap<EntityId, Trial>,
    stuck: BTreeSet<EntityId>,
}

/// The attempts of a player to move since they last did.
#[derive(Clone, Copy, Debug)]
struct Trial {
    place: DVec3,
    pushed: u32,
    octants: u8,
}

impl StuckWatch {
    /// A watch over a match with so many ticks per second.
    pub fn new(tick_rate: u32) -> Self {
        let patience = PATIENCE * tick_rate;
        Self { patience, players: BTreeMap::new(), stuck: BTreeSet::new() }
    }

    /// Sees what players asked for and where that has led them. Returns those
    /// who are found to be stuck now.
    pub fn see(&mut self, state: &State, commands: &[(EntityId, Command)]) -> Vec<EntityId> {
        let mut found = Vec::new();
        let mut before = std::mem::take(&mut self.players);
        for entity in &state.entities {
            if !entity.kind.is_player() {
                continue;
            }
            let fresh = Trial { place: entity.position, pushed: 0, octants: 0 };
            let same = |trial: &Trial| trial.place.distance(entity.position) <= AWAY;
            let mut trial = before.remove(&entity.id).filter(same).unwrap_or(fresh);
            let command = commands.iter().find(|(id, _)| *id == entity.id);
            if let Some(octant) = command.and_then(|(_, command)| octant(command)) {
                trial.pushed += 1;
                trial.octants |= 1 << octant;
            }
            if trial.pushed >= self.patience && trial.octants.count_ones() >= OCTANTS {
                found.push(entity.id);
                trial = fresh;
            }
            self.players.insert(entity.id, trial);
        }
        self.stuck.extend(&found);
        found
    }

    /// How many players were ever found to be stuck.
    pub fn count(&self) -> usize {
        self.stuck.len()
    }
}

/// The octant of the compass in which a command pushes.
fn octant(command: &Command) -> Option<u8> {
    let (forward, right) = (i32::from(command.forward), i32::from(command.right));
    if forward.abs().max(right.abs()) < PUSHING {
        return None;
    }
    // Left is a quarter turn counter-clockwise from ahead.
    let turn = f64::from(-right).atan2(f64::from(forward)) / std::f64::consts::TAU;
    let heading = f64::from(command.yaw) / 65_536.0 + turn;
    Some((heading.rem_euclid(1.0) * 8.0) as u8 % 8)
}

#[cfg(test)]
mod tests {
    use glam::DQuat;
    use obsp_sim::{EntityState, Kind, Posture};

    use super::*;

    const ID: EntityId = EntityId { slot: 3, generation: 0 };

    /// Whether a player is found stuck who goes `drift` units a tick and turns
    /// `turn` of 65,536 a tick for 20 seconds.
    fn is_stuck(forward: i8, turn: u16, drift: f64) -> bool {
        let mut watch = StuckWatch::new(60);
        for tick in 0..1_200_u16 {
            let entity = EntityState {
                id: ID,
                kind: Kind::Player { posture: Posture::Standing },
                position: DVec3::X * (drift * f64::from(tick)),
                orientation: DQuat::IDENTITY,
                velocity: DVec3::ZERO,
                asleep: false,
            };
            let state = State { tick: tick.into(), entities: vec![entity] };
            let yaw = turn.wrapping_mul(tick);
            watch.see(&state, &[(ID, Command { forward, yaw, ..Command::default() })]);
        }
        watch.count() == 1
    }

    #[test]
    fn a_player_who_pushes_everywhere_and_gets_nowhere_is_stuck() {
        assert!(is_stuck(127, 200, 0.0));
        assert!(is_stuck(-127, 200, 0.001));
    }

    #[test]
    fn a_player_who_gets_away_or_stands_or_runs_against_a_wall_is_not_stuck() {
        assert!(!is_stuck(127, 200, 0.1));
        assert!(!is_stuck(0, 200, 0.0));
        assert!(!is_stuck(127, 20, 0.0));
    }
}
