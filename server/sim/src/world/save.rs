//! A world as bytes, and back: [`World::save`], [`World::load`], [`World::restore`].
//!
//! The bytes contain everything that ticks change: bodies, contacts, sleep, the entities that wait
//! outside of the world, the events of the last tick. The parts that never change (map, shapes,
//! spawn points) are identified by the map's hash and the names of the models. Caches are rebuilt,
//! because no result depends on them.
//!
//! Saved bytes may come from anyone. Each number is checked, and each pose goes through the guard
//! before it is committed, so no two bodies overlap in a world that was loaded.

mod poses;

use std::borrow::Cow;
use std::sync::Arc;

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::error::DecodeError;
use bincode::serde::{decode_from_slice, encode_to_vec};
use glam::{DQuat, DVec3};
use obsp::model::{BodyKind, Model};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::poses::{NearPose, SavedPose, SavedSearch};
use super::{Touch, World};
use crate::arena::LEFT;
use crate::arena::movement_sets::MovementSets;
use crate::arena::parameters::MovementParameters;
use crate::bodies::blocker::Blocker;
use crate::bodies::contact::Pair;
use crate::bodies::entities::{Entities, Entity, MAX_ENTITIES, SearchState};
use crate::bodies::roles::{Cargo, Kinematic, Missile, PlayerBody, Role};
use crate::bodies::rounds::Strike;
use crate::bodies::solver::max_spin;
use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;
use crate::event::WorldEvent;
use crate::players::history::PositionHistory;
use crate::setup::{Config, SetupError};
use crate::state::{EntityId, Posture};

/// Version of the format. Any change of the saved data raises it.
const VERSION: u16 = 6;

/// Maximum number of bytes that are read.
const MAX_BYTES: usize = 1 << 26;

/// Maximum distance of a saved position from the map, in units. Entities that have left the map are
/// taken out after the bodies have moved, but missiles move later in the tick.
const AROUND: f64 = LEFT + 1024.0;

/// Maximum saved speed, in units or radians per second.
const MAX_SPEED: f64 = 1e9;

/// Maximum saved speed of a kinematic body, in units per second.
const MAX_DRIVEN: f64 = 5_000.0;

/// Share by which a kinematic body may spin faster than the greatest spin, because of rounding.
const SPIN_ROUNDING: f64 = 1e-9;

/// Maximum absolute value of any other saved number.
const MAX_NUMBER: f64 = 1e12;

/// Maximum saved impulse, in kg·units/s: more than the heaviest body at its highest speed has.
const MAX_IMPULSE: f64 = 1e18;

/// Maximum difference of the length of a saved orientation or direction from 1.
const UNIT: f64 = 1e-6;

/// Maximum number of ticks of a match. At 60 ticks a second this is 148,000 years.
const MAX_TICK: u64 = 1 << 48;

/// Maximum number of ticks in the saved history of positions.
const MAX_HISTORY: usize = 64;

/// Why a saved match cannot be loaded.
#[derive(Debug, Error)]
pub enum LoadWorldError {
    /// The bytes are not a saved match, or they are damaged.
    #[error("the saved match cannot be read: {0}")]
    Decode(#[from] DecodeError),
    /// The bytes were saved by another version.
    #[error("the match was saved in version {0}, and this is version {VERSION}")]
    Version(u16),
    /// The match was saved on another map, with other models, or set up differently.
    #[error("the match was saved with another {0}")]
    Other(&'static str),
    /// The bytes contain a number or a state that no match can have.
    #[error("the saved match is damaged: {0}")]
    Damaged(String),
    /// Two bodies, or a body and the world, would interpenetrate.
    #[error("the saved match is damaged: the entity in slot {} overlaps something", .0.slot)]
    Overlap(EntityId),
    /// The map cannot carry a match.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// The set-up of a match.
#[derive(Serialize, Deserialize)]
struct Header {
    version: u16,
    map: [u8; 32],
    models: Vec<String>,
    tick_rate: u32,
    seed: u64,
    objects: u32,
    max_players: u16,
}

/// The state that ticks change.
#[derive(Serialize, Deserialize)]
struct Saved<'a> {
    tick: u64,
    /// The numbers of the usual [`MovementParameters`].
    movement: [f64; MovementParameters::COUNT],
    /// The other sets, with their names.
    movement_sets: Vec<(String, [f64; MovementParameters::COUNT])>,
    /// The gravity of bodies, in units per second squared.
    body_gravity: f64,
    /// Maximum cost of the bodies in a tick; `None` for no limit.
    budget: Option<f64>,
    generations: Cow<'a, [u16]>,
    agents: Cow<'a, [EntityId]>,
    entities: Vec<SavedEntity<'a>>,
    pairs: Cow<'a, [Pair]>,
    strikes: Cow<'a, [Strike]>,
    history: Cow<'a, PositionHistory>,
    events: Cow<'a, [WorldEvent]>,
    pushed: Cow<'a, [EntityId]>,
    touches: Cow<'a, [Touch]>,
}

#[derive(Serialize, Deserialize)]
struct SavedEntity<'a> {
    entity: Cow<'a, Entity>,
    /// The pose of the entity; `None` outside of the world.
    pose: Option<SavedPose>,
    anchor: NearPose,
    searched: SavedSearch,
}

type Wire = Configuration<LittleEndian, Varint, Limit<MAX_BYTES>>;

fn wire() -> Wire {
    bincode::config::standard().with_limit::<MAX_BYTES>()
}

impl World {
    /// The whole match as bytes. A match from [`World::load`] goes on exactly like this one, with
    /// equal digests. The bytes do not contain the settings of the computation (threads, stages,
    /// resolution, clock) or the counters.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use obsp_sim::{Config, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let (saved, digest) = (world.save(), world.digest());
    /// world.step(&[]);
    /// assert_ne!(world.digest(), digest);
    /// world.restore(&saved)?;
    /// assert_eq!(world.digest(), digest);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self) -> Vec<u8> {
        let Config { tick_rate, seed, objects, max_players } = self.config;
        let header = Header {
            version: VERSION,
            map: self.arena.map.hash(),
            models: self.arena.model_names.clone(),
            tick_rate,
            seed,
            objects,
            max_players,
        };
        let saved_entity = |entity| SavedEntity {
            entity: Cow::Borrowed(entity),
            pose: SavedPose::of(entity),
            anchor: NearPose::anchor(entity),
            searched: SavedSearch::of(entity),
        };
        let saved = Saved {
            tick: self.tick,
            movement: self.movement().to_array(),
            movement_sets: self.movement_sets().numbers_of_others(),
            body_gravity: self.body_gravity(),
            budget: self.context.budget,
            generations: self.entities.generations().into(),
            agents: self.entities.agents().into(),
            entities: self.entities.iter().map(saved_entity).collect(),
            pairs: Cow::Borrowed(&self.pairs),
            strikes: Cow::Borrowed(&self.strikes),
            history: Cow::Borrowed(&self.history),
            events: Cow::Borrowed(&self.events),
            pushed: Cow::Borrowed(&self.pushed),
            touches: Cow::Borrowed(&self.touches),
        };
        // Plain data always has an encoding. If it had none, loading would refuse the empty bytes.
        encode_to_vec((header, saved), wire()).unwrap_or_default()
    }

    /// Loads a saved match, on its map and with its models.
    ///
    /// # Errors
    /// [`LoadWorldError`] if [`World::save`] cannot have made the bytes from a match on `map` with
    /// `models`, or if two bodies would overlap.
    pub fn load(
        map: Arc<obsp::Map>,
        models: Arc<[Model]>,
        saved: &[u8],
    ) -> Result<Self, LoadWorldError> {
        let (header, _): (Header, usize) = decode_from_slice(saved, wire())?;
        let Header { version, tick_rate, seed, objects, max_players, .. } = header;
        if version != VERSION {
            return Err(LoadWorldError::Version(version));
        }
        let config = Config { tick_rate, seed, objects, max_players };
        let mut world = Self::bare(map, &models, config)?;
        world.restore(saved)?;
        Ok(world)
    }

    /// Replaces the state of this match by a saved one. The saved state may be that of another
    /// match with the same map, models and configuration.
    ///
    /// # Errors
    /// [`LoadWorldError`] as for [`World::load`]; nothing changes then.
    pub fn restore(&mut self, saved: &[u8]) -> Result<(), LoadWorldError> {
        let (header, used): (Header, usize) = decode_from_slice(saved, wire())?;
        self.check_header(&header)?;
        let body = &saved[used..];
        let (saved, used): (Saved, usize) = decode_from_slice(body, wire())?;
        if used != body.len() {
            let more = body.len() - used;
            return Err(LoadWorldError::Damaged(format!(
                "{more} bytes follow the end of the match"
            )));
        }
        let checks = Checks { world: self };
        let entities = checks.entities(&saved)?;
        checks.rest(&saved, entities.slot_count())?;
        let movement = MovementSets::from_numbers(saved.movement, &saved.movement_sets);
        let movement = movement.map_err(|error| damaged(error.to_string()))?;
        let unknown =
            |entity: &Entity| entity.walker().is_some_and(|it| !movement.has(it.movement));
        if entities.iter().any(unknown) {
            return Err(damaged(
                "a player moves by parameters that the match does not have".into(),
            ));
        }
        let Saved { tick, body_gravity, budget, pairs, strikes, .. } = saved;
        let Saved { history, events, pushed, touches, .. } = saved;
        self.set_body_gravity(body_gravity).map_err(|error| damaged(error.to_string()))?;
        self.tick = tick;
        self.context.budget = budget;
        if *self.movement_sets() != movement {
            self.set_movement_sets(movement).map_err(|error| damaged(error.to_string()))?;
        }
        self.pairs = pairs.into_owned();
        self.strikes = strikes.into_owned();
        self.entities = entities;
        self.history = history.into_owned();
        self.events = events.into_owned();
        self.pushed = pushed.into_owned();
        self.touches = touches.into_owned();
        self.count();
        Ok(())
    }

    fn check_header(&self, header: &Header) -> Result<(), LoadWorldError> {
        let Header { version, map, models, tick_rate, seed, objects, max_players } = header;
        let config = Config {
            tick_rate: *tick_rate,
            seed: *seed,
            objects: *objects,
            max_players: *max_players,
        };
        match () {
            () if *version != VERSION => Err(LoadWorldError::Version(*version)),
            () if *map != self.arena.map.hash() => Err(LoadWorldError::Other("map")),
            () if *models != self.arena.model_names => Err(LoadWorldError::Other("list of models")),
            () if config != self.config => Err(LoadWorldError::Other("configuration")),
            () => Ok(()),
        }
    }
}

/// The checks of a saved state, for the match that it is to replace.
struct Checks<'a> {
    world: &'a World,
}

impl Checks<'_> {
    /// The saved entities, each at its saved pose, if it can be there.
    fn entities(&self, saved: &Saved) -> Result<Entities, LoadWorldError> {
        if !saved.agents.is_sorted_by(|a, b| a < b) {
            return Err(damaged("its agents are not in order".to_owned()));
        }
        let World { arena, config, .. } = self.world;
        let mut entities = Entities::with_generations(
            &arena.map.bounds(),
            config.max_players,
            saved.generations.to_vec(),
            saved.agents.to_vec(),
        )
        .ok_or_else(|| damaged(format!("it has more than {MAX_ENTITIES} slots")))?;
        entities.use_grid(self.world.entities.uses_grid());
        for SavedEntity { entity, pose, anchor, searched } in &saved.entities {
            let id = entity.id;
            let reject = |what: &str| damaged(format!("in slot {}, {what}", id.slot));
            let pose = pose.as_ref().map(|saved| saved.pose(None));
            let mut entity = entity.clone().into_owned();
            entity.sleep.anchor = anchor.pose(pose.as_ref());
            self.entity(&entity).map_err(reject)?;
            entity.dynamics.restore(&arena.shapes[entity.shape]).map_err(reject)?;
            let (shape, posture) = (entity.shape, entity.walker().map(|walker| walker.posture));
            entities
                .restore(entity)
                .ok_or_else(|| reject("the slot is missing, taken or of another generation"))?;
            if let Some(pose) = pose {
                self.pose(&pose).map_err(reject)?;
                if let Some(posture) = posture {
                    self.on_foot(&pose, shape, posture).map_err(reject)?;
                }
                let space = arena.space(&entities);
                let placement = space.restore(shape, pose).ok_or(LoadWorldError::Overlap(id))?;
                entities.commit(id.slot, placement);
            }
            if let Some(entity) = entities.get_mut(id.slot) {
                entity.record.searched_as = searched.state(entity);
                let searched_as = entity.record.searched_as;
                self.search(searched_as).map_err(reject)?;
            }
        }
        let is_player = |id: &EntityId| entities.find(*id).is_some_and(|it| it.player().is_some());
        if !saved.agents.iter().all(is_player) {
            return Err(damaged("an agent is no player".to_owned()));
        }
        Ok(entities)
    }

    /// Checks the pose of a player on foot.
    fn on_foot(&self, pose: &Pose, shape: ShapeId, posture: Posture) -> Result<(), &'static str> {
        if *pose != on_foot(pose) {
            return Err("a player on foot has a rotation, or a position that is not exact in f32");
        }
        if shape != self.world.arena.shapes.of_posture(posture) {
            return Err("the box of a player does not belong to the posture");
        }
        Ok(())
    }

    /// Checks the role of an entity and its motion.
    fn entity(&self, entity: &Entity) -> Result<(), &'static str> {
        let shapes = &self.world.arena.shapes;
        let standing = shapes.of_posture(Posture::Standing);
        let crouching = shapes.of_posture(Posture::Crouching);
        let fits = match &entity.role {
            Role::Player(PlayerBody::Box(_)) => [standing, crouching].contains(&entity.shape),
            Role::Player(PlayerBody::Hovertank(tank)) => {
                numbers(&tank.drive.linear.to_array())?;
                numbers(&tank.drive.angular.to_array())?;
                shapes.of_model(tank.model) == Some(entity.shape)
            }
            Role::Kinematic(Kinematic { slowdowns, .. })
                if *slowdowns > Kinematic::MAX_SLOWDOWNS =>
            {
                return Err("a kinematic body was slowed down more often than is possible");
            }
            Role::Kinematic(Kinematic { model, .. })
            | Role::Prop(model)
            | Role::Missile(Missile { model, .. })
            | Role::Cargo(Cargo { model, .. }) => shapes.of_model(*model) == Some(entity.shape),
        };
        // A shape that fits belongs to the match, so the index is in range.
        let is_kinematic = || shapes[entity.shape].kind == BodyKind::Kinematic;
        if !fits || is_kinematic() != entity.is_kinematic() {
            return Err("the shape of an entity does not belong to its kind");
        }
        if entity.dynamics.own().is_some() && !entity.has_dynamics() {
            return Err("an entity that is no dynamic body has parameters of its own");
        }
        speed(entity.velocity, MAX_SPEED)?;
        speed(entity.angular, MAX_SPEED)?;
        if entity.is_kinematic() {
            // The solver does not limit the velocities of kinematic bodies.
            speed(entity.velocity, MAX_DRIVEN)?;
            let most = max_spin(self.world.context.seconds) * (1.0 + SPIN_ROUNDING);
            speed(entity.angular, most)?;
        }
        if entity.walker().is_some() && entity.velocity != entity.velocity.as_vec3().as_dvec3() {
            return Err("the velocity of a player on foot is not exact in f32");
        }
        // The two distances may be infinite, for a body that overlaps something, or that turns too
        // far.
        if entity.record.free_distance.is_nan() || entity.record.moved.is_nan() {
            return Err("a distance is not a number");
        }
        if let Some(anchor) = &entity.sleep.anchor {
            self.pose(anchor)?;
        }
        Ok(())
    }

    /// Checks the state of an entity at the last search for contacts.
    fn search(&self, state: Option<SearchState>) -> Result<(), &'static str> {
        let Some(SearchState { shape, pose, .. }) = state else { return Ok(()) };
        if !self.is_of_model(shape) {
            return Err("there is no shape of this number");
        }
        self.pose(&pose)
    }

    fn pose(&self, Pose { position, orientation }: &Pose) -> Result<(), &'static str> {
        if !self.world.arena.map.bounds().inflated(AROUND).contains(*position) {
            return Err("a position is far outside of the map");
        }
        unit(orientation.length())
    }

    /// Checks the state of the world except its entities.
    fn rest(&self, saved: &Saved, slots: usize) -> Result<(), LoadWorldError> {
        let error = |what: &'static str| move |why: &str| damaged(format!("in {what}, {why}"));
        if saved.tick > MAX_TICK {
            return Err(damaged(format!("tick {} is beyond {MAX_TICK}", saved.tick)));
        }
        if saved.budget.is_some_and(|budget| !(0.0..=MAX_NUMBER).contains(&budget)) {
            return Err(damaged("the budget is negative, too great or not a number".into()));
        }
        for pair in &*saved.pairs {
            self.pair(pair, slots).map_err(error("a contact"))?;
        }
        for Strike { body, other, at, normal, impulse } in &*saved.strikes {
            self.between(*body, *other, slots).map_err(error("a stop"))?;
            let all = [at.to_array(), normal.to_array(), [*impulse; 3]].concat();
            numbers(&all).map_err(error("a stop"))?;
        }
        if !saved.pairs.is_sorted_by_key(|pair| pair.key) {
            return Err(error("the list of contacts")("a pair is out of order"));
        }
        if saved.history.len() > MAX_HISTORY {
            return Err(error("the past positions")("there are too many ticks"));
        }
        for past in saved.history.poses() {
            let known = [Posture::Standing, Posture::Crouching]
                .map(|posture| self.world.arena.shapes.of_posture(posture));
            let shape = known.contains(&past.shape) || self.is_of_model(past.shape);
            let pose = self.pose(&past.pose);
            if !shape {
                return Err(error("a past position")("there is no shape of this number"));
            }
            pose.map_err(error("a past position"))?;
        }
        let late = saved.touches.iter().any(|touch| touch.tick > saved.tick);
        if late {
            return Err(error("a touch")("the tick is in the future"));
        }
        Ok(())
    }

    fn is_of_model(&self, shape: ShapeId) -> bool {
        usize::from(shape.0) < 2 + self.world.arena.model_names.len()
    }

    /// Checks that a body may have met an obstacle.
    fn between(&self, body: u16, other: Blocker, slots: usize) -> Result<(), &'static str> {
        let known = match other {
            Blocker::Solid(index) => (index as usize) < self.world.arena.map.solids().len(),
            Blocker::Entity(slot) => usize::from(slot) < slots,
        };
        let is_known = known && usize::from(body) < slots;
        is_known.then_some(()).ok_or("there is no such body or solid")
    }

    fn pair(&self, pair: &Pair, slots: usize) -> Result<(), &'static str> {
        self.between(pair.key.body, pair.key.other, slots)?;
        unit(pair.axis.length())?;
        numbers(&[pair.gap])?;
        for point in &pair.points {
            numbers(&point.local.as_dvec3().to_array())?;
            numbers(&[point.gap.into()])?;
            let [normal, tangent, bitangent] = point.impulse;
            let impulses = [normal, tangent, bitangent, point.taken];
            let impulses = impulses.map(|impulse| f64::from(impulse).abs());
            if impulses.iter().any(|impulse| !(0.0..=MAX_IMPULSE).contains(impulse)) {
                return Err("an impulse is too great or not a number");
            }
        }
        Ok(())
    }
}

fn damaged(what: String) -> LoadWorldError {
    LoadWorldError::Damaged(what)
}

/// The pose of a player on foot: without rotation, and with a position rounded to `f32`.
fn on_foot(pose: &Pose) -> Pose {
    Pose { position: pose.position.as_vec3().as_dvec3(), orientation: DQuat::IDENTITY }
}

fn numbers(values: &[f64]) -> Result<(), &'static str> {
    let usual = values.iter().all(|value| value.abs() <= MAX_NUMBER);
    if usual { Ok(()) } else { Err("a number is too great or not a number") }
}

fn speed(velocity: DVec3, most: f64) -> Result<(), &'static str> {
    if velocity.length() <= most { Ok(()) } else { Err("a speed is too great or not a number") }
}

fn unit(length: f64) -> Result<(), &'static str> {
    if (length - 1.0).abs() <= UNIT { Ok(()) } else { Err("a direction is not of length one") }
}
