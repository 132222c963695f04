//! The arena game with another weapon and another body. The gravity gun pulls the body that its
//! owner looks at, and holds the body in front of the owner's eyes. The new body is a gem, made to
//! be pulled.
//!
//! The arena game is unchanged: these rules call its rules and add their own.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp::MapEntity;
use obsp::model::{Model, shipped};
use obsp_game::arena::{Arena, ArenaState};
use obsp_game::{Action, Game, PerEntity, Respawn, Vitals, WorldMut};
use obsp_sim::{Buttons, Command, EntityId, Kind};
use serde::{Deserialize, Serialize};

/// The number of gems at the start of a match.
pub const GEMS: usize = 6;

/// Reach of the gun, in units, and the distance from the eyes at which it holds a body.
const REACH: f64 = 1024.0;
const HOLD: f64 = 72.0;
/// Height of the eyes above the centre of a player's box, in units.
const EYES: f64 = 22.0;
/// Speed of a pulled body in units per second: `EAGERNESS` times its distance from the place where
/// the gun holds it, and at most `SPEED`.
const EAGERNESS: f64 = 8.0;
const SPEED: f64 = 500.0;

/// The rules of the game.
#[derive(Clone, Debug)]
pub struct GravityGun {
    models: Arc<[Model]>,
}

/// The state of a match: the arena game's state, and the body that each player holds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct State {
    arena: ArenaState,
    held: PerEntity<EntityId>,
}

impl Default for GravityGun {
    fn default() -> Self {
        let gem = Model::from_obj("gem", include_str!("../gem.obj")).expect("a closed solid");
        Self { models: shipped().into_iter().chain([gem]).collect() }
    }
}

impl State {
    /// The body that a player holds.
    pub fn held(&self, player: EntityId) -> Option<EntityId> {
        self.held.get(player).copied()
    }
}

impl Game for GravityGun {
    type State = State;

    fn models(&self) -> Vec<Model> {
        self.models.to_vec()
    }

    /// The weapons of the arena game.
    fn actions(&self) -> Vec<Action> {
        Arena.actions()
    }

    fn set_up(&self, world: &mut WorldMut<'_>) -> State {
        let map = Arc::clone(world.map());
        let is_start = |entity: &&MapEntity| entity.classname().starts_with("info_player");
        let starts = map.entities().iter().filter(is_start);
        let starts: Vec<DVec3> = starts.filter_map(|entity| entity.origin()).collect();
        let gem = world.model("gem").expect("the gem is among the game's models");
        for start in starts.iter().cycle().take(GEMS) {
            // If there is no room near a start, the match has one gem less.
            let _ = world.spawn_body_near(gem, *start + DVec3::Z * 64.0, DQuat::IDENTITY);
        }
        State { arena: Arena.set_up(world), ..State::default() }
    }

    fn joined(&self, state: &mut State, world: &mut WorldMut<'_>, player: EntityId) {
        Arena.joined(&mut state.arena, world, player);
    }

    fn left(&self, state: &mut State, world: &mut WorldMut<'_>, player: EntityId) {
        state.held.remove(player);
        Arena.left(&mut state.arena, world, player);
    }

    fn command(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &mut Command,
    ) {
        Arena.command(&mut state.arena, world, player, command);
    }

    /// The walk key pulls the body. So a player who carries something walks.
    fn moved(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &Command,
    ) {
        Arena.moved(&mut state.arena, world, player, command);
        let held = state.held.remove(player);
        if !command.buttons.contains(Buttons::WALK) {
            return;
        }
        let Some(position) = world.entity(player).map(|entity| entity.position) else { return };
        let (eye, aim) = (position + DVec3::Z * EYES, command.aim());
        let seen = || world.cast_ray(eye, eye + aim * REACH, Some(player)).entity;
        let Some(body) = held.or_else(seen) else { return };
        let Some(at) = loose(world, body) else { return };
        let velocity = ((eye + aim * HOLD - at) * EAGERNESS).clamp_length_max(SPEED);
        // The simulation stops the body before it enters another.
        if world.set_velocity(body, velocity, DVec3::ZERO).is_ok() {
            state.held.insert(player, body);
        }
    }

    fn missile_moved(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        missile: EntityId,
        flies: bool,
    ) {
        Arena.missile_moved(&mut state.arena, world, missile, flies);
    }

    fn respawn(&self, state: &mut State, world: &mut WorldMut<'_>, player: EntityId) -> Respawn {
        Arena.respawn(&mut state.arena, world, player)
    }

    fn vitals(&self, state: &State, player: EntityId) -> Option<Vitals> {
        Arena.vitals(&state.arena, player)
    }
}

/// The position of a body that can be pulled; `None` for players and bodies that are gone.
fn loose(world: &WorldMut<'_>, body: EntityId) -> Option<DVec3> {
    world.mass(body)?;
    let entity = world.entity(body)?;
    matches!(entity.kind, Kind::Prop { .. }).then_some(entity.position)
}
