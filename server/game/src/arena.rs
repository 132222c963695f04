//! The arena game: everybody against everybody, each with three weapons: usually a ray,
//! rockets and grenades.
//!
//! A *ray* hits at once, and meets other players where the shooter saw them. A *rocket* flies
//! straight and explodes where it is stopped; a *grenade* bounces and explodes when its fuse
//! has burnt down (`weapons`). An explosion hurts, pushes and wakes all bodies in plain sight
//! (`blast`). Who has lost all health is dead, which the attacker scores, and comes back after
//! a while (`fighter`). The driver of a hovertank drops cargo instead of grenades. All numbers
//! are those of the match's `game.toml` (`GameFile`).

mod blast;
mod fighter;
mod weapons;

use obsp_proto::control::Vitals;
use obsp_sim::{Buttons, Command, EntityId};
use serde::{Deserialize, Serialize};

use self::fighter::Fighter;
use self::weapons::Shot;
use crate::game::{Game, Respawn};
use crate::per_entity::PerEntity;
use crate::world_mut::WorldMut;

/// The arena game.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arena;

/// All that the arena game changes: the players as fighters, and what they have thrown.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ArenaState {
    fighters: PerEntity<Fighter>,
    shots: PerEntity<Shot>,
}

impl Game for Arena {
    type State = ArenaState;

    fn set_up(&self, _: &mut WorldMut<'_>) -> ArenaState {
        ArenaState::default()
    }

    fn joined(&self, state: &mut ArenaState, world: &mut WorldMut<'_>, player: EntityId) {
        state.fighters.insert(player, Fighter::new(world.game_file().player().health));
    }

    fn left(&self, state: &mut ArenaState, _: &mut WorldMut<'_>, player: EntityId) {
        state.fighters.remove(player);
    }

    fn command(
        &self,
        state: &mut ArenaState,
        _: &mut WorldMut<'_>,
        player: EntityId,
        command: &mut Command,
    ) {
        if let Some(fighter) = state.fighters.get_mut(player) {
            fighter.protected = command.buttons.contains(Buttons::PROTECTED);
        }
    }

    fn moved(
        &self,
        state: &mut ArenaState,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &Command,
    ) {
        weapons::fire(state, world, player, command);
    }

    fn missile_moved(
        &self,
        state: &mut ArenaState,
        world: &mut WorldMut<'_>,
        missile: EntityId,
        flies: bool,
    ) {
        let Some(shot) = state.shots.get_mut(missile) else { return };
        shot.fuse = shot.fuse.saturating_sub(1);
        if shot.fuse == 0 || !flies {
            blast::explode(state, world, missile);
        }
    }

    fn respawn(
        &self,
        state: &mut ArenaState,
        world: &mut WorldMut<'_>,
        player: EntityId,
    ) -> Respawn {
        let health = world.game_file().player().health;
        let fighter = state.fighters.get_mut(player);
        let stays = fighter.is_some_and(|fighter| fighter.stays_dead(health));
        if stays { Respawn::Wait } else { Respawn::SpawnPoint }
    }

    fn vitals(&self, state: &ArenaState, player: EntityId) -> Option<Vitals> {
        let fighter = state.fighters.get(player)?;
        Some(Vitals { health: fighter.health.max(0).unsigned_abs(), score: fighter.score })
    }
}

/// So many seconds in ticks.
fn ticks(world: &WorldMut<'_>, seconds: f64) -> u16 {
    (seconds / world.seconds()).ceil() as u16
}
