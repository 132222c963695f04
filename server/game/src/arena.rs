//! The arena game: a deathmatch in which each player has three weapons, by default a ray, rockets
//! and grenades.
//!
//! A *ray* hits at once, and meets other players where the shooter saw them. A *rocket* flies
//! straight and explodes when something stops it. A *grenade* bounces and explodes when its fuse
//! has burnt down (`weapons`). An explosion damages, pushes and wakes all bodies in line of sight
//! (`blast`). A player without health is dead: the attacker scores, and the player comes back after
//! a while (`fighter`). All numbers are in the match's `game.toml` (`GameFile`).
//!
//! In a map with [`items`] players pick them up. Where the map has ammunition, a ray
//! takes a shell, a nail or a cell, and a rocket or a grenade takes a rocket. Doors, lifts, trains,
//! buttons and triggers of the map play as in Quake (`map_entities`).

mod blast;
mod fighter;
mod map_entities;
mod state;
mod weapons;

use obsp::Map;
use obsp::model::Model;
use obsp_proto::control::Vitals;
use obsp_proto::schema::Action;
use obsp_sim::{Buttons, Command, EntityId, MovementParameters, World};

use self::fighter::Fighter;
pub use self::state::ArenaState;
use crate::actions;
use crate::game::{Game, Respawn};
use crate::game_file::GameFile;
use crate::quake::items::{self, Items};
use crate::replicated::{Replicated, Subject, Values};
use crate::volumes::VolumeId;
use crate::world_mut::WorldMut;

/// The arena game.
///
/// ```
/// use std::sync::Arc;
///
/// use obsp_game::arena::Arena;
/// use obsp_game::{Event, Match, RunningMatch, Vitals};
/// use obsp_sim::{Buttons, Command, Config, PlayerKind};
///
/// let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let mut game = Match::new(Arena, map, Config::default())?;
/// let player = game.join_as(PlayerKind::Box)?;
/// let fire = Command { buttons: Buttons::PRIMARY, ..Command::default() };
/// game.step(&[(player, fire)]);
///
/// let is_ray = |event: &Event| matches!(event, Event::Ray { player: by, .. } if *by == player);
/// assert!(game.events().iter().any(is_ray));
/// assert_eq!(game.vitals(player), Some(Vitals { health: 100, score: 0 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Arena;

impl Game for Arena {
    type State = ArenaState;

    fn actions(&self) -> Vec<Action> {
        actions::of_arena()
    }

    fn classes(&self) -> Vec<String> {
        let items = items::CLASSES.map(String::from);
        map_entities::classes().into_iter().chain(items).collect()
    }

    fn brush_models(&self, map: &Map) -> Vec<Model> {
        map_entities::brush_models(map)
    }

    fn models_on(&self, map: &Map, file: &GameFile) -> Vec<Model> {
        let mut models = self.models();
        models.extend(items::models(map, file));
        models
    }

    fn movements_on(
        &self,
        map: &Map,
        usual: MovementParameters,
    ) -> Vec<(&'static str, MovementParameters)> {
        map_entities::movements(map, usual)
    }

    fn replicated_on(&self, map: &Map, file: &GameFile) -> Replicated {
        map_entities::declared(Items::declared(self.replicated(), map, file), map)
    }

    fn set_up(&self, world: &mut WorldMut<'_>) -> ArenaState {
        // Items drop on lifts and doors, so these come first.
        let entities = map_entities::set_up(world);
        ArenaState { entities, items: Items::set_up(world), ..ArenaState::default() }
    }

    fn joined(&self, state: &mut ArenaState, world: &mut WorldMut<'_>, player: EntityId) {
        state.fighters.insert(player, Fighter::new(world.game_file().player().health));
        if let Some(items) = &mut state.items {
            items.joined(player);
        }
    }

    fn left(&self, state: &mut ArenaState, _: &mut WorldMut<'_>, player: EntityId) {
        state.fighters.remove(player);
        if let Some(items) = &mut state.items {
            items.left(player);
        }
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

    fn entered(
        &self,
        state: &mut ArenaState,
        _: &mut WorldMut<'_>,
        volume: VolumeId,
        entity: EntityId,
    ) {
        state.entities.entered(volume, entity);
    }

    fn tick(&self, state: &mut ArenaState, world: &mut WorldMut<'_>) {
        map_entities::tick(state, world);
        if let Some(items) = &mut state.items {
            items.tick(world, &mut state.fighters);
        }
    }

    fn values(&self, state: &ArenaState, world: &World, of: Subject, values: &mut Values<'_>) {
        if let Some(items) = state.items() {
            items.values(world, of, values);
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
        if stays {
            return Respawn::Wait;
        }
        // The gravity that a zone gave a player ends with the player's life. The call fails for
        // drivers, who have no such gravity.
        let _ = world.set_movement(player, None);
        Respawn::SpawnPoint
    }

    fn vitals(&self, state: &ArenaState, player: EntityId) -> Option<Vitals> {
        let fighter = state.fighters.get(player)?;
        Some(Vitals { health: fighter.health.max(0).unsigned_abs(), score: fighter.score })
    }
}

/// The number of ticks in a number of seconds, rounded up.
fn ticks(world: &WorldMut<'_>, seconds: f64) -> u16 {
    (seconds / world.seconds()).ceil() as u16
}
