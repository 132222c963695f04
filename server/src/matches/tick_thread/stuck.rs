//! Detection of stuck players, one definition for the soak and for `/metrics`.
//!
//! A player is *stuck* if they ask to move in each of sixteen directions and jump, for two seconds
//! in all, and do not move. A player has not moved if they come no farther than four units
//! horizontally, rise no higher than a jump reaches, and do not sink. Jumping up and down on the
//! spot is not moving. A player who merely stands, or pushes against a wall, is not stuck. A player
//! whom the game holds, by movement parameters that barely let anyone move, is not stuck either. If
//! another player is beside and may block the only way out, ten seconds count instead of two.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use obsp_sim::{Buttons, Command, EntityId, EntityState, MovementParameters, State, World};

/// A player who has come fewer units than this has not moved.
const AWAY: f64 = 4.0;

/// A player must have asked to move for this many seconds in all before they count as stuck.
const PATIENCE: u32 = 2;

/// The same limit, in seconds, if another player was beside. Players move out of each other's way
/// sooner, unless they hold each other, and then they are stuck.
const PATIENCE_BESIDE: u32 = 10;

/// Another player is beside if nearer than this along each axis, in units. Two players on foot
/// touch at 32 units, or at 56 above each other.
const BESIDE: DVec3 = DVec3::new(40.0, 40.0, 64.0);

/// Number of directions. A stuck player has asked to move in each of them.
pub(crate) const DIRECTIONS: u32 = 16;

/// A direction counts once it is asked for without a pause for one twentieth of a second. A free
/// player has moved by then. A player who merely spins round never asks for one direction for that
/// long.
const RUNS_A_SECOND: u32 = 20;

/// A command that asks to move with less than this strength does not count. Full strength is 127.
const PUSHING: i32 = 60;

/// The lowest running speed of a player who is not held by the game, in units per second, and the
/// lowest share of it that such a player gains per second on the ground. With less, even a player
/// in the open does not come far enough in the time that each direction is asked for.
const HELD_BELOW: (f64, f64) = (64.0, 2.0);

/// Finds players who are stuck.
#[derive(Debug)]
pub struct StuckWatch {
    tick_rate: u32,
    players: BTreeMap<EntityId, Trial>,
    ever: BTreeSet<EntityId>,
}

/// A player's attempts to move, since the player last moved.
#[derive(Clone, Copy, Debug)]
struct Trial {
    place: DVec3,
    /// Ticks of asking to move.
    asked: u32,
    /// The direction in which the player asks to move now, and for how many ticks.
    run: (u8, u32),
    /// One bit for each direction in which the player has asked to move for long enough.
    directions: u16,
    jumped: bool,
    /// Whether another player was beside in the second half of the time.
    beside: bool,
    is_stuck: bool,
}

impl Trial {
    fn new(place: DVec3) -> Self {
        let (run, jumped, beside, is_stuck) = ((0, 0), false, false, false);
        Self { place, asked: 0, run, directions: 0, jumped, beside, is_stuck }
    }

    /// Whether the player has asked for everything, and for long enough.
    fn is_in_vain(&self, tick_rate: u32) -> bool {
        let patience = if self.beside { PATIENCE_BESIDE } else { PATIENCE };
        let asked_all = self.directions.count_ones() == DIRECTIONS && self.jumped;
        asked_all && self.asked >= patience * tick_rate
    }

    fn ask(&mut self, command: &Command, longest_run: u32) {
        self.jumped |= command.buttons.contains(Buttons::JUMP);
        let Some(direction) = direction(command) else {
            self.run = (0, 0);
            return;
        };
        self.asked += 1;
        let (before, ticks) = self.run;
        self.run = (direction, if before == direction { ticks + 1 } else { 1 });
        if self.run.1 >= longest_run {
            self.directions |= 1 << direction;
        }
    }
}

impl StuckWatch {
    /// A watch over a match with `tick_rate` ticks per second.
    pub fn new(tick_rate: u32) -> Self {
        Self { tick_rate, players: BTreeMap::new(), ever: BTreeSet::new() }
    }

    /// Judges the players by the commands of a tick and the state of the world after it. Returns
    /// the players who are found stuck now, and were not before.
    pub fn see(
        &mut self,
        world: &World,
        state: &State,
        commands: &[(EntityId, Command)],
    ) -> Vec<EntityId> {
        self.judge(state, commands, |player| {
            let set = world.player_movement(player).unwrap_or_default();
            *world.movement_sets().get(set)
        })
    }

    /// [`StuckWatch::see`] with the parameters by which each player moves.
    pub(crate) fn judge(
        &mut self,
        state: &State,
        commands: &[(EntityId, Command)],
        movement_of: impl Fn(EntityId) -> MovementParameters,
    ) -> Vec<EntityId> {
        let mut found = Vec::new();
        let mut before = std::mem::take(&mut self.players);
        for entity in state.entities.iter().filter(|entity| entity.kind.is_player()) {
            let movement = movement_of(entity.id);
            if is_held(&movement) {
                continue;
            }
            let stays = |trial: &Trial| stays(&movement, trial.place, entity.position);
            let known = before.remove(&entity.id).filter(stays);
            let mut trial = known.unwrap_or(Trial::new(entity.position));
            if let Some((_, command)) = commands.iter().find(|(id, _)| *id == entity.id) {
                trial.ask(command, self.tick_rate.div_ceil(RUNS_A_SECOND));
            }
            if 2 * trial.asked >= PATIENCE * self.tick_rate && !trial.beside {
                trial.beside = has_player_beside(state, entity);
            }
            if trial.is_in_vain(self.tick_rate) && !trial.is_stuck {
                trial.is_stuck = true;
                found.push(entity.id);
            }
            self.players.insert(entity.id, trial);
        }
        self.ever.extend(&found);
        found
    }

    /// How many players were ever found to be stuck.
    pub fn count(&self) -> usize {
        self.ever.len()
    }

    /// How many players are stuck now: they were found stuck, and have not moved since.
    pub fn now(&self) -> usize {
        self.players.values().filter(|trial| trial.is_stuck).count()
    }

    /// Whether a player has asked to move for `seconds` without moving, and is not known to be
    /// stuck yet.
    pub(crate) fn is_in_doubt(&self, player: EntityId, seconds: f64) -> bool {
        let asked = seconds * f64::from(self.tick_rate);
        self.players
            .get(&player)
            .is_some_and(|trial| !trial.is_stuck && f64::from(trial.asked) >= asked)
    }
}

/// Whether another player is beside a player.
fn has_player_beside(state: &State, player: &EntityState) -> bool {
    state.entities.iter().any(|other| {
        let off = (other.position - player.position).abs();
        other.kind.is_player() && other.id != player.id && off.cmplt(BESIDE).all()
    })
}

/// Whether the game holds a player who moves by these parameters.
fn is_held(movement: &MovementParameters) -> bool {
    let (speed, acceleration) = HELD_BELOW;
    movement.run_speed < speed || movement.ground_acceleration < acceleration
}

/// Whether a player who was at `place` and is here `now` has not moved.
fn stays(movement: &MovementParameters, place: DVec3, now: DVec3) -> bool {
    // Without gravity, a jump leads anywhere, so rising counts as moving.
    let jump = if movement.gravity > 0.0 { movement.jump_height() } else { 0.0 };
    let off = now - place;
    off.truncate().length() <= AWAY && (-AWAY..=jump + AWAY).contains(&off.z)
}

/// The direction in which a command asks to move, as one of sixteen directions of the compass.
fn direction(command: &Command) -> Option<u8> {
    let (forward, right) = (i32::from(command.forward), i32::from(command.right));
    if forward.abs().max(right.abs()) < PUSHING {
        return None;
    }
    // Left is a quarter turn counter-clockwise from ahead.
    let turn = f64::from(-right).atan2(f64::from(forward)) / std::f64::consts::TAU;
    let heading = f64::from(command.yaw) / 65_536.0 + turn;
    // Each direction is the middle of its sixteenth of a turn. A player with keys alone can ask for
    // eight of them without turning.
    Some(((heading * f64::from(DIRECTIONS)).round() as i64).rem_euclid(DIRECTIONS.into()) as u8)
}

#[cfg(test)]
mod tests;
