use std::sync::Arc;

use glam::DVec3;
use maps::SizeId;
use maps::model::Model;
use thiserror::Error;

use crate::agent;
use crate::command::Command;
use crate::contact::Pair;
use crate::counters::Counters;
use crate::digest::digest;
use crate::dynamics;
use crate::entities::{Entities, Entity, Role};
use crate::guard::{Placement, Space};
use crate::movement::{PlayerMotion, Walker};
use crate::pose::Pose;
use crate::random::Random;
use crate::rest;
use crate::setup::{Config, SetupError};
use crate::shape::{ShapeId, Shapes};
use crate::spawn;
use crate::state::{EntityId, EntityState, Kind, ModelId, Posture, State};

/// Below the lowest solid by this many units, a body has fallen out of a map
/// that is not sealed.
const FALLEN: f64 = 1024.0;

/// Longest time in game seconds that placed props get to come to rest.
const SETTLING_SECONDS: u32 = 10;

/// Why a player cannot join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum JoinError {
    /// All places are taken.
    #[error("the match is full: all {0} places are taken")]
    Full(u16),
}

/// A match: everything that moves, in one map.
#[derive(Debug)]
pub struct World {
    map: Arc<maps::World>,
    shapes: Shapes,
    model_names: Vec<String>,
    sight: SizeId,
    config: Config,
    spawn_points: Vec<DVec3>,
    floor: f64,
    entities: Entities,
    pairs: Vec<Pair>,
    counters: Counters,
    tick: u64,
}

impl World {
    /// Sets up a match on `map` with rigid bodies of `models`. Entities of
    /// class `prop` are placed as drawn; [`Config::objects`] more are
    /// scattered where players can get to, as many as find room.
    ///
    /// # Errors
    /// [`SetupError`] if the map or the configuration cannot carry a match.
    pub fn new(
        map: Arc<maps::World>,
        models: Arc<[Model]>,
        config: Config,
    ) -> Result<Self, SetupError> {
        if !(20..=1000).contains(&config.tick_rate) {
            return Err(SetupError::TickRate(config.tick_rate));
        }
        let shapes = Shapes::new(&map, &models)?;
        let spawn_points = spawn::spawn_points(&map);
        if spawn_points.is_empty() {
            return Err(SetupError::NoSpawnPoint);
        }
        let mut world = Self {
            sight: map.size("point").unwrap_or(shapes.boxes.of(Posture::Crouching).1),
            floor: map.bounds().min.z - FALLEN,
            entities: Entities::new(&map.bounds()),
            model_names: models.iter().map(|model| model.name().to_owned()).collect(),
            map,
            shapes,
            config,
            spawn_points,
            pairs: Vec::new(),
            counters: Counters::default(),
            tick: 0,
        };
        world.place_drawn_props();
        world.scatter_props();
        world.settle_props();
        world.count();
        Ok(world)
    }

    /// Lets a player in, at the free spawn point farthest from everyone else;
    /// if none is free they wait in limbo until one is.
    ///
    /// # Errors
    /// [`JoinError::Full`] when all places are taken.
    pub fn join(&mut self) -> Result<EntityId, JoinError> {
        let full = JoinError::Full(self.config.max_players);
        let players = self.entities.iter().filter(|entity| entity.walker().is_some()).count();
        if players >= usize::from(self.config.max_players) {
            return Err(full);
        }
        let role = Role::Player(Walker::default());
        let id =
            self.entities.insert(role, self.shapes.of_posture(Posture::Standing)).ok_or(full)?;
        self.return_from_limbo(id.slot);
        self.count();
        Ok(id)
    }

    /// Takes a player out; an id that is no longer there is ignored.
    pub fn leave(&mut self, id: EntityId) {
        let bounds =
            self.entities.find(id).and_then(Entity::placement).map(|placement| *placement.bounds());
        self.entities.remove(id);
        if let Some(bounds) = bounds {
            rest::wake_around(&mut self.entities, &bounds);
        }
        self.count();
    }

    /// Advances by one tick. Players without a command stand idle; of several
    /// commands for one player the first counts; commands for others are
    /// ignored.
    pub fn step(&mut self, commands: &[(EntityId, Command)]) {
        let seconds = 1.0 / f64::from(self.config.tick_rate);
        self.tick += 1;
        let mut overlapping = Vec::new();
        for slot in self.entities.slots_where(|entity| entity.walker().is_some()) {
            let own = |(id, _): &&(EntityId, Command)| {
                self.entities.get(slot).is_some_and(|entity| entity.id == *id)
            };
            let command = commands.iter().find(own).map(|(_, command)| *command);
            let overlaps = agent::step(
                (&self.map, &self.shapes),
                &mut self.entities,
                slot,
                command.unwrap_or_default(),
                seconds,
                &mut self.counters,
            );
            overlapping.extend(overlaps.then_some(slot));
        }
        self.advance_props(seconds, overlapping);
        for slot in self.entities.slots_where(|entity| entity.placement().is_none()) {
            self.return_from_limbo(slot);
        }
        self.count();
    }

    /// Everything that can be seen, in ascending order of slot.
    pub fn state(&self) -> State {
        let entities = self.entities.iter().filter_map(|entity| self.view(entity)).collect();
        State { tick: self.tick, entities }
    }

    /// A fingerprint of everything the next tick depends on. Equal worlds
    /// have equal digests on every machine.
    pub fn digest(&self) -> u64 {
        digest(self.tick, &self.entities)
    }

    /// A player's whole motion state, for a client to predict from; `None` if
    /// there is no such player, or they wait in limbo.
    pub fn player_motion(&self, id: EntityId) -> Option<PlayerMotion> {
        let entity = self.entities.find(id)?;
        Some(PlayerMotion {
            // Exact: a player's place and speed are always ones that `f32` holds.
            position: entity.placement()?.pose().position.as_vec3(),
            velocity: entity.velocity.as_vec3(),
            walker: *entity.walker()?,
        })
    }

    /// What has been done so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The map that the match is played on.
    pub fn map(&self) -> &Arc<maps::World> {
        &self.map
    }

    /// Names of the models, by [`ModelId`].
    pub fn model_names(&self) -> &[String] {
        &self.model_names
    }

    /// Half extents of a player's box in `posture`, in units.
    pub fn agent_half_extents(&self, posture: Posture) -> DVec3 {
        self.shapes[self.shapes.of_posture(posture)].bounds.half_extents()
    }

    fn view(&self, entity: &Entity) -> Option<EntityState> {
        let placement = entity.placement()?;
        let (kind, orientation) = match &entity.role {
            Role::Player(walker) => {
                let degrees = f64::from(walker.yaw) * (360.0 / 65536.0);
                (Kind::Player { posture: walker.posture }, spawn::turn(degrees))
            }
            Role::Prop(model) => (Kind::Prop { model: *model }, placement.pose().orientation),
        };
        Some(EntityState {
            id: entity.id,
            kind,
            position: placement.pose().position,
            orientation,
            velocity: entity.velocity,
            asleep: entity.rest.asleep,
        })
    }

    fn space(&self) -> Space<'_> {
        Space { map: &self.map, shapes: &self.shapes, entities: &self.entities }
    }

    fn place_drawn_props(&mut self) {
        let map = Arc::clone(&self.map);
        for drawn in map.entities().iter().filter(|entity| entity.classname() == "prop") {
            let name = drawn.get("model").unwrap_or_default();
            let model = self.model_names.iter().position(|known| known == name);
            let (Some(model), Some(position)) = (model, drawn.origin()) else { continue };
            let orientation = spawn::turn(drawn.angle().unwrap_or(0.0));
            let pose = Pose { position, orientation };
            self.insert_prop(ModelId(model as u8), |space, shape, sight, counters| {
                spawn::nearest_free(space, shape, pose, sight, counters)
            });
        }
    }

    fn scatter_props(&mut self) {
        let mut random = Random::new(self.config.seed);
        let everyday = |id: &ModelId| {
            maps::model::EVERYDAY.contains(&self.model_names[usize::from(id.0)].as_str())
        };
        let models: Vec<ModelId> =
            (0..self.model_names.len()).map(|id| ModelId(id as u8)).filter(everyday).collect();
        if models.is_empty() {
            return;
        }
        let points = self.spawn_points.clone();
        for _ in 0..self.config.objects {
            let model = models[random.below(models.len() as u64) as usize];
            self.insert_prop(model, |space, shape, sight, counters| {
                spawn::scattered(space, &points, shape, sight, &mut random, counters)
            });
        }
    }

    /// Adds a prop if `place` finds room for it.
    fn insert_prop(
        &mut self,
        model: ModelId,
        place: impl FnOnce(&Space, ShapeId, SizeId, &mut Counters) -> Option<Placement>,
    ) {
        let Some(shape) = self.shapes.of_model(model) else { return };
        let mut counters = self.counters;
        let placement = place(&self.space(), shape, self.sight, &mut counters);
        self.counters = counters;
        let Some(placement) = placement else { return };
        if let Some(id) = self.entities.insert(Role::Prop(model), shape) {
            self.entities.commit(id.slot, placement);
        }
    }

    /// Lets what was placed fall and come to rest before the match begins, so
    /// that the first players do not join an avalanche.
    fn settle_props(&mut self) {
        let seconds = 1.0 / f64::from(self.config.tick_rate);
        let longest = SETTLING_SECONDS * self.config.tick_rate;
        for _ in 0..longest {
            if self.entities.slots_where(Entity::is_awake_prop).is_empty() {
                break;
            }
            self.advance_props(seconds, Vec::new());
        }
    }

    /// Moves the props and puts right whoever was found `overlapping`, before
    /// or now, and whoever fell out of the map.
    fn advance_props(&mut self, seconds: f64, mut overlapping: Vec<u16>) {
        overlapping.extend(dynamics::step(
            &self.map,
            &self.shapes,
            &mut self.entities,
            &mut self.pairs,
            seconds,
            &mut self.counters,
        ));
        for slot in overlapping {
            self.rescue(slot);
        }
        self.catch_fallen();
    }

    /// The emergency routine: out of the world, and back at the nearest free
    /// place, else at a spawn point, else into limbo. Who is free again, now
    /// that others were taken out, stays.
    fn rescue(&mut self, slot: u16) {
        let Some(entity) = self.entities.get(slot) else { return };
        let Some(placement) = entity.placement().copied() else { return };
        self.entities.withdraw(slot);
        let mut counters = self.counters;
        let nearest = spawn::nearest_free(
            &self.space(),
            placement.shape(),
            *placement.pose(),
            self.sight,
            &mut counters,
        );
        self.counters = counters;
        match nearest {
            Some(nearest) if nearest.pose() == placement.pose() => {
                self.entities.commit(slot, nearest);
                return;
            }
            Some(nearest) => self.settle_in(slot, nearest),
            None => self.return_from_limbo(slot),
        }
        self.counters.emergency_replacements += 1;
        rest::wake_around(&mut self.entities, placement.bounds());
    }

    /// Puts an entity that is nowhere at a spawn point, if one is free.
    fn return_from_limbo(&mut self, slot: u16) {
        let Some(entity) = self.entities.get(slot) else { return };
        let mut counters = self.counters;
        let (space, points) = (self.space(), &self.spawn_points);
        let placement = match &entity.role {
            Role::Player(_) => spawn::player_place(
                &space,
                points,
                self.shapes.of_posture(Posture::Standing),
                &mut counters,
            ),
            Role::Prop(_) => spawn::any_free(&space, points, entity.shape, &mut counters),
        };
        self.counters = counters;
        if let Some(placement) = placement {
            self.settle_in(slot, placement);
        }
    }

    fn settle_in(&mut self, slot: u16, placement: Placement) {
        let standing = placement.shape() == self.shapes.of_posture(Posture::Standing);
        if let Some(entity) = self.entities.get_mut(slot) {
            entity.velocity = DVec3::ZERO;
            entity.angular = DVec3::ZERO;
            entity.rest = crate::entities::Rest::default();
            if let Role::Player(walker) = &mut entity.role {
                walker.posture = if standing { Posture::Standing } else { Posture::Crouching };
            }
        }
        self.entities.commit(slot, placement);
    }

    fn catch_fallen(&mut self) {
        let floor = self.floor;
        let fallen = |entity: &Entity| {
            entity.placement().is_some_and(|placement| placement.pose().position.z < floor)
        };
        for slot in self.entities.slots_where(fallen) {
            self.counters.fallen += 1;
            self.entities.withdraw(slot);
            self.return_from_limbo(slot);
        }
    }

    fn count(&mut self) {
        let entities = || self.entities.iter();
        self.counters.awake = entities().filter(|entity| entity.is_awake_prop()).count() as u64;
        self.counters.limbo =
            entities().filter(|entity| entity.placement().is_none()).count() as u64;
        self.counters.entities = entities().count() as u64 - self.counters.limbo;
    }
}

#[cfg(test)]
mod tests;
