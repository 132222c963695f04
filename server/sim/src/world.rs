//! The match itself: its set-up, its ticks, and the questions that can be asked in between.

mod agents;
mod armed_moves;
mod contacts;
mod conveyors;
mod digest;
mod dynamics;
mod layers;
mod linear_moves;
mod liquids;
mod missiles;
mod operations;
mod passing;
mod pockets;
mod presence;
mod props;
mod queries;
mod relocations;
mod rescue;
mod save;
mod selected;
mod sensors;
mod settings;
mod step;
mod sweep;
mod swings;
mod teleporters;
mod touches;
mod volume_search;
mod why;

use std::sync::Arc;

use glam::DVec3;
use obsp::MapEntity;
use obsp::model::Model;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::relocations::Relocations;
use self::sensors::Sensors;
use crate::arena::{Arena, DrawnModel};
use crate::bodies::armed_move::ArmedMove;
use crate::bodies::blocker::Blocker;
use crate::bodies::contact::Pair;
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::roles::{Hovertank, Kinematic, Missile, PlayerBody, Role, Walker};
use crate::bodies::rounds::Strike;
use crate::bodies::sleep;
use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;
use crate::command::Command;
use crate::context::StepContext;
use crate::counters::{AwakeReason, Counters};
use crate::event::WorldEvent;
use crate::memory::keep_freed_memory;
use crate::players::history::PositionHistory;
use crate::players::movement::PlayerMotion;
use crate::players::walk::motion_of;
use crate::setup::{Config, SetupError, SetupWarning};
use crate::state::{EntityId, EntityState, Kind, ModelId, PlayerKind, Posture, State};

pub use contacts::{BodyContact, Contact};
pub use queries::RayHit;
pub use relocations::Relocation;
pub use save::LoadWorldError;
pub use selected::Nearest;
pub use sensors::{MAX_SENSORS, SensorError, SensorEvent, SensorId, SensorShape};
pub use step::Step;
pub use sweep::{SweepHit, SweptShape};
pub use volume_search::VolumeSearch;
pub use why::{FallsAsleep, StoppedBy, Touching, Why};

/// Why a player cannot join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AddPlayerError {
    /// The match was set up without the model.
    #[error("the match has no hovertank: its list of models must contain one")]
    NoHovertank,
    /// All places are taken.
    #[error("the match is full: all {0} places are taken")]
    Full(u16),
}

/// A player ran into a body. The simulation does not depend on this record. It selects the bodies
/// whose exact state a client needs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Touch {
    player: EntityId,
    body: EntityId,
    tick: u64,
}

/// A match: everything that moves, in one map. A clone goes on exactly like the match itself.
#[derive(Clone, Debug)]
pub struct World {
    arena: Arc<Arena>,
    config: Config,
    entities: Entities,
    pairs: Vec<Pair>,
    history: PositionHistory,
    context: StepContext,
    events: Vec<WorldEvent>,
    relocations: Relocations,
    warnings: Vec<SetupWarning>,
    /// The players on foot who were pushed in the last tick.
    pushed: Vec<EntityId>,
    /// The bodies that players on foot have run into recently.
    touches: Vec<Touch>,
    /// The impulses by which the guard stopped bodies in the last tick. The simulation does not
    /// depend on them, and they are not saved.
    strikes: Vec<Strike>,
    sensors: Sensors,
    /// The armed moves of kinematic bodies, in ascending order of slot.
    armed: Vec<(EntityId, ArmedMove)>,
    tick: u64,
}

impl World {
    /// Sets up a match on `map` with rigid bodies of `models`. Entities of class `prop` are placed
    /// where the map has them. Up to [`Config::objects`] more are scattered over the places that
    /// players can reach, if there is room for them. Then the props fall until they rest, for up to
    /// 10 seconds of game time.
    ///
    /// With glibc the process keeps up to 16 MiB of the memory that it frees from then on.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use obsp_sim::{Config, World};
    ///
    /// let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// let world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// // The props of the map are in place, and nobody has joined yet.
    /// assert!(!world.state().entities.is_empty() && world.players().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SetupError`] if the map or the configuration does not allow a match.
    pub fn new(
        map: Arc<obsp::Map>,
        models: Arc<[Model]>,
        config: Config,
    ) -> Result<Self, SetupError> {
        let mut world = Self::unsettled(map, models, config)?;
        let budget = world.context.budget.take();
        world.settle_props();
        world.context.budget = budget;
        world.count();
        Ok(world)
    }

    /// Sets up a match like [`World::new`], but the props do not fall: they are where they were
    /// placed.
    ///
    /// # Errors
    /// [`SetupError`] if the map or the configuration does not allow a match.
    pub fn unsettled(
        map: Arc<obsp::Map>,
        models: Arc<[Model]>,
        config: Config,
    ) -> Result<Self, SetupError> {
        let mut world = Self::bare(map, &models, config)?;
        world.place_drawn_props();
        world.scatter_props();
        world.count();
        Ok(world)
    }

    /// The match without any entity.
    fn bare(map: Arc<obsp::Map>, models: &[Model], config: Config) -> Result<Self, SetupError> {
        if !(10..=1000).contains(&config.tick_rate) {
            return Err(SetupError::TickRate(config.tick_rate));
        }
        keep_freed_memory();
        let arena = Arena::new(map, models)?;
        if arena.spawn_points.is_empty() {
            let wrong = arena.warnings.into_iter().next();
            return Err(wrong.map_or(SetupError::NoSpawnPoint, SetupError::NoUsableSpawnPoint));
        }
        let mut world = Self {
            warnings: arena.warnings.clone(),
            entities: Entities::new(&arena.map.bounds(), config.max_players),
            arena: Arc::new(arena),
            config,
            pairs: Vec::new(),
            history: PositionHistory::default(),
            context: StepContext {
                seconds: 1.0 / f64::from(config.tick_rate),
                ..StepContext::default()
            },
            events: Vec::new(),
            relocations: Relocations::default(),
            pushed: Vec::new(),
            touches: Vec::new(),
            strikes: Vec::new(),
            sensors: Sensors::default(),
            armed: Vec::new(),
            tick: 0,
        };
        world.set_budget_per_second(Some(Self::DEFAULT_BUDGET_PER_SECOND));
        Ok(world)
    }

    /// Adds a player on foot: [`World::join_as`] with [`PlayerKind::Box`].
    ///
    /// # Errors
    /// [`AddPlayerError::Full`] when all places are taken.
    pub fn join(&mut self) -> Result<EntityId, AddPlayerError> {
        self.join_as(PlayerKind::Box)
    }

    /// Adds a player, at the free spawn point farthest from all others. If no spawn point is free,
    /// the player waits in limbo until one is.
    ///
    /// # Errors
    /// [`AddPlayerError`] when all places are taken, or there is no hovertank to drive.
    pub fn join_as(&mut self, kind: PlayerKind) -> Result<EntityId, AddPlayerError> {
        let id = self.add_player(kind)?;
        self.return_from_limbo(id.slot);
        self.count();
        Ok(id)
    }

    /// Adds a player who waits outside of the world until [`World::bring_back`] or
    /// [`World::bring_back_at`].
    ///
    /// # Errors
    /// [`AddPlayerError`] when all places are taken, or there is no hovertank to drive.
    pub fn add_player(&mut self, kind: PlayerKind) -> Result<EntityId, AddPlayerError> {
        self.check_places()?;
        let (body, shape) = self.new_player(kind)?;
        let full = AddPlayerError::Full(self.config.max_players);
        self.entities.insert(Role::Player(body), shape).ok_or(full)
    }

    /// Checks that a place for a player is free. Agents take none.
    fn check_places(&self) -> Result<(), AddPlayerError> {
        let players = self.entities.active().filter(|entity| entity.player().is_some()).count();
        let places = self.config.max_players;
        let taken = players - self.entities.agents().len();
        if taken < usize::from(places) { Ok(()) } else { Err(AddPlayerError::Full(places)) }
    }

    /// The body and shape of a new player.
    fn new_player(&self, kind: PlayerKind) -> Result<(PlayerBody, ShapeId), AddPlayerError> {
        Ok(match kind {
            PlayerKind::Box => {
                let shape = self.arena.shapes.of_posture(Posture::Standing);
                (PlayerBody::Box(Walker::default()), shape)
            }
            PlayerKind::Hovertank => {
                let model = self.arena.model("hovertank");
                let drives = |model: &ModelId| !self.arena.shapes.is_kinematic(*model);
                let model = model.filter(drives).ok_or(AddPlayerError::NoHovertank)?;
                let shape = self.arena.shapes.of_model(model).ok_or(AddPlayerError::NoHovertank)?;
                (PlayerBody::Hovertank(Hovertank::new(model)), shape)
            }
        })
    }

    /// Removes a player. Nothing happens if the player has already left the match.
    pub fn leave(&mut self, id: EntityId) {
        self.detach_all_from(id);
        sleep::remove(&mut self.entities, id);
        self.forget_contacts(id.slot);
        self.count();
    }

    /// The kind of a player; `None` if there is no such player.
    pub fn player_kind(&self, id: EntityId) -> Option<PlayerKind> {
        Some(match self.entities.find(id)?.player()? {
            PlayerBody::Box(_) => PlayerKind::Box,
            PlayerBody::Hovertank(_) => PlayerKind::Hovertank,
        })
    }

    /// Advances by one tick, without the rules of any game: missiles that are stopped are removed.
    /// A player without a command stands idle. Of several commands for one player the first counts.
    /// Commands for ids that are not a player's are ignored.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::DVec3;
    /// # use obsp_sim::{Command, Config, PlayerKind, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let start = DVec3::new(-400.0, -320.0, 28.5);
    /// let player = world.add_player_at(PlayerKind::Box, start, 0)?;
    /// // Half a second of running at full speed, along the y axis.
    /// let run = Command { forward: 127, yaw: 16_384, ..Command::default() };
    /// (0..30).for_each(|_| world.step(&[(player, run)]));
    /// let end = world.entity(player).expect("the entity is in the world").position;
    /// assert!(end.y > start.y + 50.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn step(&mut self, commands: &[(EntityId, Command)]) {
        let mut step = self.begin_step();
        for player in self.players() {
            let own = commands.iter().find(|(id, _)| *id == player);
            let command = own.map(|(_, command)| *command).unwrap_or_default();
            self.move_player(&mut step, player, command);
        }
        self.move_bodies(&mut step);
        for missile in self.missiles() {
            if self.move_missile(&mut step, missile) == Some(false) {
                sleep::remove(&mut self.entities, missile);
                self.forget_contacts(missile.slot);
            }
        }
        self.bring_back_all();
        self.update_sensors();
        self.end_step(step);
    }

    /// The state of all entities in the world, in ascending order of slot.
    pub fn state(&self) -> State {
        let entities = self.entities.iter().filter_map(|entity| self.view(entity)).collect();
        State { tick: self.tick, entities }
    }

    /// A hash of everything that ticks change and that the next tick depends on. Equal
    /// worlds have equal digests on every machine.
    pub fn digest(&self) -> u64 {
        let Self { tick, entities, pairs, history, sensors, armed, .. } = self;
        digest::digest(*tick, entities, pairs, history, self.body_gravity(), (sensors, armed))
    }

    /// The whole motion state of a player on foot, from which a client predicts; `None` if there is
    /// no such player, or the player waits in limbo.
    pub fn player_motion(&self, id: EntityId) -> Option<PlayerMotion> {
        motion_of(self.entities.find(id)?)
    }

    /// Whether the motion of a player on foot had a cause in the last tick that a client cannot
    /// have predicted. There are three such causes. A body that the player's own shove had not set
    /// in motion was in the way or carried the player. An explosion threw the player. Or the player
    /// was put elsewhere.
    pub fn was_pushed(&self, id: EntityId) -> bool {
        self.pushed.contains(&id)
    }

    /// The events of the last tick, in order.
    pub fn events(&self) -> &[WorldEvent] {
        &self.events
    }

    /// Takes the events that happened since the last tick began, or since the last call of this
    /// function.
    pub fn take_events(&mut self) -> Vec<WorldEvent> {
        std::mem::take(&mut self.events)
    }

    /// The slots of the bodies that are awake, ascending, each with the reason.
    pub fn awake_because(&self) -> impl Iterator<Item = (u16, AwakeReason)> {
        let awake = |entity: &Entity| Some((entity.id.slot, entity.awake_because()?));
        self.entities.active().filter_map(awake)
    }

    /// The counters of the simulation.
    pub fn counters(&self) -> &Counters {
        &self.context.counters
    }

    /// The map that the match is played on.
    pub fn map(&self) -> &Arc<obsp::Map> {
        &self.arena.map
    }

    /// Names of the models, by [`ModelId`](crate::ModelId).
    pub fn model_names(&self) -> &[String] {
        &self.arena.model_names
    }

    /// The model of the match that is drawn in the map as the brushes of `entity`
    /// ([`obsp::Map::model_of`]), and its place; `None` if the match was set up without it.
    pub fn model_of(&self, entity: &MapEntity) -> Option<DrawnModel> {
        let index = self.arena.map.index_of(entity)?;
        let drawn = self.arena.drawn.iter().find(|(known, _)| *known == index);
        drawn.map(|(_, drawn)| *drawn)
    }

    /// Half extents of a player's box in `posture`, in units.
    pub fn agent_half_extents(&self, posture: Posture) -> DVec3 {
        self.arena.shapes[self.arena.shapes.of_posture(posture)].bounds.half_extents()
    }

    /// The motions of all players on foot in the world.
    fn motions(&self) -> Vec<(EntityId, PlayerMotion)> {
        self.entities.active().filter_map(|entity| Some((entity.id, motion_of(entity)?))).collect()
    }

    fn view(&self, entity: &Entity) -> Option<EntityState> {
        let Pose { position, orientation } = self.pose_of(entity)?;
        let kind = match &entity.role {
            Role::Player(PlayerBody::Box(walker)) => Kind::Player { posture: walker.posture },
            Role::Player(PlayerBody::Hovertank(tank)) => Kind::Vehicle { model: tank.model },
            Role::Prop(model)
            | Role::Kinematic(Kinematic { model, .. })
            | Role::Missile(Missile { model, .. }) => Kind::Prop { model: *model },
        };
        // A client extrapolates by the velocity, and must not see a stopped body move on.
        let stopped = entity.is_kinematic() && entity.sleep.held;
        let (velocity, rests) = entity.seen_motion();
        Some(EntityState {
            id: entity.id,
            kind,
            position,
            orientation,
            velocity: if stopped { DVec3::ZERO } else { velocity },
            asleep: rests || entity.placement().is_none(),
            traits: entity.traits(),
        })
    }

    /// Moves the props. Then puts back the bodies that overlap something and the bodies that fell
    /// out of the map. `overlapping` contains the overlapping bodies that were found before.
    /// Players who fell wait from then on.
    fn advance_props(&mut self, mut overlapping: Vec<u16>) {
        let (found, strikes) = crate::bodies::tick::step(
            (&self.arena.map, &self.arena.currents),
            &self.arena.shapes,
            &mut self.entities,
            &mut self.pairs,
            &mut self.context,
        );
        overlapping.extend(found);
        self.strikes = strikes;
        for slot in overlapping {
            self.rescue(slot);
        }
        self.catch_fallen();
        // A shoved body that touches others no longer moves by the shove alone.
        for pair in self.pairs.iter().filter(|pair| !pair.points.is_empty()) {
            let Blocker::Entity(other) = pair.key.other else { continue };
            let is_body = |slot| {
                let entity = self.entities.get(slot);
                entity.is_some_and(|entity| entity.is_rigid() || entity.is_kinematic())
            };
            if is_body(pair.key.body) && is_body(other) {
                for slot in [pair.key.body, other] {
                    if let Some(entity) = self.entities.get_mut(slot) {
                        entity.record.shoved_by = None;
                    }
                }
            }
        }
        self.entities.end_tick();
    }

    fn count(&mut self) {
        let (mut waiting, mut because) = (0, [0; AwakeReason::COUNT]);
        for entity in self.entities.active() {
            waiting += u64::from(entity.waits_for_room());
            if let Some(reason) = entity.awake_because() {
                because[reason as usize] += 1;
            }
        }
        self.context.counters.limbo = waiting;
        self.context.counters.entities = self.entities.placed_count() as u64;
        self.context.counters.awake = because.iter().sum();
        self.context.counters.awake_because = because;
    }
}

#[cfg(test)]
mod tests;
