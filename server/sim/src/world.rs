mod measure;
mod placing;
mod rescue;

use std::sync::Arc;

use glam::DVec3;
use maps::model::Model;
use thiserror::Error;

use crate::agent;
use crate::arena::Arena;
use crate::combat::{self, Combat, Fighter, Past, Projectile};
use crate::command::Command;
use crate::contact::Pair;
use crate::counters::Counters;
use crate::digest::digest;
use crate::dynamics;
use crate::entities::{Entities, Entity, Player, PlayerBody, Role};
use crate::event::Event;
use crate::guard::{Blocker, Space};
use crate::hovertank::{self, Cargo, Hovertank};
use crate::movement::{PlayerMotion, Walker};
use crate::predict::Moving;
use crate::setup::{Config, SetupError, SetupWarning};
use crate::spawn;
use crate::state::{EntityId, EntityState, Kind, PlayerKind, Posture, State};

/// How a player stands in the match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vitals {
    /// What is left to lose; zero while dead.
    pub health: u16,
    /// Others killed, less oneself.
    pub score: i16,
}

/// A point at which a prop that is awake touches something, or is about to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Where, in units.
    pub at: DVec3,
    /// What is left between the two there, in units.
    pub gap: f64,
    /// What the solver pushed with in the last tick, in kilogram units per
    /// second; zero if they only come near.
    pub impulse: f64,
}

/// Why a player cannot join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum JoinError {
    /// The match was set up without the model.
    #[error("this match has no hovertank: there is none among its models")]
    NoHovertank,
    /// All places are taken.
    #[error("the match is full: all {0} places are taken")]
    Full(u16),
}

/// A player ran into a body. No tick depends on it: it only tells what clients
/// want to know exactly.
#[derive(Clone, Copy, Debug)]
struct Touch {
    player: EntityId,
    body: EntityId,
    tick: u64,
}

/// Seconds for which it is remembered what a player has run into: who shoves
/// something touches it every other tick.
const TOUCH_SECONDS: f64 = 0.25;

/// A match: everything that moves, in one map.
#[derive(Debug)]
pub struct World {
    arena: Arena,
    config: Config,
    entities: Entities,
    pairs: Vec<Pair>,
    past: Past,
    counters: Counters,
    events: Vec<Event>,
    warnings: Vec<SetupWarning>,
    /// The players on foot who were pushed in the last tick.
    pushed: Vec<EntityId>,
    /// What players on foot have run into lately.
    touches: Vec<Touch>,
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
        if !(10..=1000).contains(&config.tick_rate) {
            return Err(SetupError::TickRate(config.tick_rate));
        }
        let arena = Arena::new(map, &models)?;
        if arena.spawn_points.is_empty() {
            let wrong = arena.warnings.into_iter().next();
            return Err(wrong.map_or(SetupError::NoSpawnPoint, SetupError::NoUsableSpawnPoint));
        }
        let mut world = Self {
            warnings: arena.warnings.clone(),
            entities: Entities::new(&arena.map.bounds(), config.max_players),
            arena,
            config,
            pairs: Vec::new(),
            past: Past::default(),
            counters: Counters::default(),
            events: Vec::new(),
            pushed: Vec::new(),
            touches: Vec::new(),
            tick: 0,
        };
        world.place_drawn_props();
        world.scatter_props();
        world.settle_props();
        world.count();
        Ok(world)
    }

    /// Lets a player in on foot: [`World::join_as`] a [`PlayerKind::Box`].
    ///
    /// # Errors
    /// [`JoinError::Full`] when all places are taken.
    pub fn join(&mut self) -> Result<EntityId, JoinError> {
        self.join_as(PlayerKind::Box)
    }

    /// Lets a player in, at the free spawn point farthest from everyone else;
    /// if none is free they wait in limbo until one is.
    ///
    /// # Errors
    /// [`JoinError`] when all places are taken, or nothing is there to drive.
    pub fn join_as(&mut self, kind: PlayerKind) -> Result<EntityId, JoinError> {
        let full = JoinError::Full(self.config.max_players);
        let players = self.entities.iter().filter(|entity| entity.player().is_some()).count();
        if players >= usize::from(self.config.max_players) {
            return Err(full);
        }
        let (body, shape) = match kind {
            PlayerKind::Box => {
                let shape = self.arena.shapes.of_posture(Posture::Standing);
                (PlayerBody::Box(Walker::default()), shape)
            }
            PlayerKind::Hovertank => {
                let model = self.arena.model("hovertank").ok_or(JoinError::NoHovertank)?;
                let shape = self.arena.shapes.of_model(model).ok_or(JoinError::NoHovertank)?;
                (PlayerBody::Hovertank(Hovertank::new(model)), shape)
            }
        };
        let role = Role::Player(Player { body, fighter: Fighter::default() });
        let id = self.entities.insert(role, shape).ok_or(full)?;
        self.return_from_limbo(id.slot);
        self.count();
        Ok(id)
    }

    /// Takes a player out, and what cargo of theirs lies about; an id that is
    /// no longer there is ignored.
    pub fn leave(&mut self, id: EntityId) {
        let tank = self.entities.find(id).and_then(Entity::hovertank);
        let cargo = tank.and_then(|tank| tank.cargo);
        for left in cargo.into_iter().chain([id]) {
            hovertank::remove(&mut self.entities, left);
        }
        self.count();
    }

    /// As what a player has joined; `None` if there is no such player.
    pub fn player_kind(&self, id: EntityId) -> Option<PlayerKind> {
        Some(match self.entities.find(id)?.player()?.body {
            PlayerBody::Box(_) => PlayerKind::Box,
            PlayerBody::Hovertank(_) => PlayerKind::Hovertank,
        })
    }

    /// Advances by one tick. Players without a command stand idle; of several
    /// commands for one player the first counts; commands for others are
    /// ignored.
    pub fn step(&mut self, commands: &[(EntityId, Command)]) {
        let seconds = 1.0 / f64::from(self.config.tick_rate);
        self.tick += 1;
        self.events.clear();
        self.pushed.clear();
        let remembered = (TOUCH_SECONDS / seconds) as u64;
        self.touches.retain(|touch| touch.tick + remembered >= self.tick);
        let overlapping = self.advance_players(commands, seconds);
        let moved = self.motions();
        self.advance_props(seconds, overlapping);
        hovertank::deploy(
            &self.arena,
            &mut self.entities,
            &self.pairs,
            (seconds, &mut self.events),
            &mut self.counters,
        );
        combat::advance_projectiles(&mut self.combat(seconds));
        self.bring_back();
        // Whatever a player's own move did not do, something else did.
        let displaced = moved.iter().filter(|(id, own)| self.player_motion(*id) != Some(*own));
        let displaced: Vec<_> = displaced.map(|(id, _)| *id).collect();
        self.pushed.extend(displaced);
        self.past.remember(&self.entities);
        self.count();
    }

    /// Everything that can be seen, in ascending order of slot.
    pub fn state(&self) -> State {
        let entities = self.entities.iter().filter_map(|entity| self.view(entity)).collect();
        State { tick: self.tick, entities }
    }

    /// A fingerprint of everything that ticks change and the next one depends
    /// on. Equal worlds have equal digests on every machine.
    pub fn digest(&self) -> u64 {
        digest(self.tick, &self.entities, &self.pairs, &self.past)
    }

    /// The whole motion state of a player on foot, for a client to predict
    /// from; `None` if there is no such player, or they wait in limbo.
    pub fn player_motion(&self, id: EntityId) -> Option<PlayerMotion> {
        let entity = self.entities.find(id)?;
        Some(PlayerMotion {
            // Exact: a player's place and speed are always ones that `f32` holds.
            position: entity.placement()?.pose().position.as_vec3(),
            velocity: entity.velocity.as_vec3(),
            walker: *entity.walker()?,
        })
    }

    /// Whether something else had a say in how a player on foot moved in the
    /// last tick, which a client can therefore not have predicted: a body that
    /// moved was in the way or carried them, unless their own shove had set it
    /// going; a burst threw them; or they were put elsewhere.
    pub fn was_pushed(&self, id: EntityId) -> bool {
        self.pushed.contains(&id)
    }

    /// The rigid bodies that a player on foot has run into or stood on lately,
    /// the last one first, as they are now: what a client has to know exactly to
    /// foresee how they give way.
    pub fn touched_by(&self, id: EntityId) -> impl Iterator<Item = Moving> {
        let own = self.touches.iter().rev().filter(move |touch| touch.player == id);
        own.filter_map(|touch| {
            let entity = self.entities.find(touch.body).filter(|entity| entity.is_rigid())?;
            Some(Moving { state: self.view(entity)?, spin: entity.angular })
        })
    }

    /// What happened in the last tick, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Where props that are awake touched something in the last tick, or came
    /// near.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> {
        let points = self.pairs.iter().flat_map(|pair| &pair.points);
        points.map(|point| Contact { at: point.on_body, gap: point.gap, impulse: point.impulse[0] })
    }

    /// A player's standing, also while they are dead; `None` if there is no
    /// such player.
    pub fn vitals(&self, id: EntityId) -> Option<Vitals> {
        let fighter = self.entities.find(id)?.fighter()?;
        Some(Vitals { health: fighter.health.max(0) as u16, score: fighter.score })
    }

    /// What was drawn or asked for and the match goes on without.
    pub fn warnings(&self) -> &[SetupWarning] {
        &self.warnings
    }

    /// What has been done so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The map that the match is played on.
    pub fn map(&self) -> &Arc<maps::World> {
        &self.arena.map
    }

    /// Names of the models, by [`ModelId`](crate::ModelId).
    pub fn model_names(&self) -> &[String] {
        &self.arena.model_names
    }

    /// Half extents of a player's box in `posture`, in units.
    pub fn agent_half_extents(&self, posture: Posture) -> DVec3 {
        self.arena.shapes[self.arena.shapes.of_posture(posture)].bounds.half_extents()
    }

    /// The motions of all players on foot who are there.
    fn motions(&self) -> Vec<(EntityId, PlayerMotion)> {
        let ids = self.entities.iter().map(|entity| entity.id);
        ids.filter_map(|id| Some((id, self.player_motion(id)?))).collect()
    }

    fn view(&self, entity: &Entity) -> Option<EntityState> {
        let placement = entity.placement()?;
        let (kind, orientation) = match &entity.role {
            Role::Player(Player { body: PlayerBody::Box(walker), .. }) => {
                let angle = f64::from(walker.yaw) * (std::f64::consts::TAU / 65536.0);
                (Kind::Player { posture: walker.posture }, spawn::turn(angle))
            }
            Role::Player(Player { body: PlayerBody::Hovertank(tank), .. }) => {
                (Kind::Vehicle { model: tank.model }, placement.pose().orientation)
            }
            Role::Prop(model)
            | Role::Projectile(Projectile { model, .. })
            | Role::Cargo(Cargo { model, .. }) => {
                (Kind::Prop { model: *model }, placement.pose().orientation)
            }
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
        Space { map: &self.arena.map, shapes: &self.arena.shapes, entities: &self.entities }
    }

    fn combat(&mut self, seconds: f64) -> Combat<'_> {
        Combat {
            arena: &self.arena,
            entities: &mut self.entities,
            past: &self.past,
            events: &mut self.events,
            counters: &mut self.counters,
            seconds,
        }
    }

    /// Moves the players on foot, steers the others, and lets them shoot, in
    /// ascending order of slot. Returns who was found inside something.
    fn advance_players(&mut self, commands: &[(EntityId, Command)], seconds: f64) -> Vec<u16> {
        let mut overlapping = Vec::new();
        for slot in self.entities.slots_where(|entity| entity.player().is_some()) {
            let Some(player) = self.entities.get(slot).map(|entity| entity.id) else { continue };
            let own = commands.iter().find(|(id, _)| *id == player);
            let command = own.map(|(_, command)| *command).unwrap_or_default();
            let (arena, entities) = (&self.arena, &mut self.entities);
            hovertank::steer(arena, entities, slot, command, seconds);
            let counters = &mut self.counters;
            let outcome = agent::step(arena, entities, slot, command, seconds, counters);
            if outcome.teleported {
                self.events.push(Event::Teleported { player });
            }
            overlapping.extend(outcome.overlaps.then_some(slot));
            self.pushed.extend(outcome.pushed.then_some(player));
            self.note_touches(player, &outcome.touched);
            combat::fire(&mut self.combat(seconds), slot, command);
        }
        overlapping
    }

    /// Notes what a player has run into, the latest last and each once.
    fn note_touches(&mut self, player: EntityId, touched: &[u16]) {
        for body in touched.iter().filter_map(|&slot| Some(self.entities.get(slot)?.id)) {
            self.touches.retain(|touch| touch.player != player || touch.body != body);
            self.touches.push(Touch { player, body, tick: self.tick });
        }
    }

    /// Moves the props and puts right whoever was found `overlapping`, before
    /// or now, and whoever fell out of the map.
    fn advance_props(&mut self, seconds: f64, mut overlapping: Vec<u16>) {
        overlapping.extend(dynamics::step(
            &self.arena.map,
            &self.arena.shapes,
            &mut self.entities,
            &mut self.pairs,
            seconds,
            &mut self.counters,
        ));
        for slot in overlapping {
            self.rescue(slot);
        }
        self.catch_fallen();
        // What leans on other bodies no longer goes as its shover alone has it.
        for pair in self.pairs.iter().filter(|pair| !pair.points.is_empty()) {
            let Blocker::Entity(other) = pair.key.other else { continue };
            let is_rigid = |slot| self.entities.get(slot).is_some_and(Entity::is_rigid);
            if is_rigid(pair.key.body) && is_rigid(other) {
                for slot in [pair.key.body, other] {
                    if let Some(entity) = self.entities.get_mut(slot) {
                        entity.shoved_by = None;
                    }
                }
            }
        }
    }

    fn count(&mut self) {
        let entities = || self.entities.iter();
        let dead = |entity: &Entity| entity.fighter().is_some_and(|fighter| fighter.dead > 0);
        let placed = entities().filter(|entity| entity.placement().is_some()).count();
        let waiting = entities().filter(|entity| entity.placement().is_none() && !dead(entity));
        self.counters.limbo = waiting.count() as u64;
        self.counters.entities = placed as u64;
        self.counters.awake = entities().filter(|entity| entity.yields()).count() as u64;
    }
}

#[cfg(test)]
mod tests;
