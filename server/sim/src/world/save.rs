//! A world as bytes, and back: [`World::save`], [`World::load`], [`World::restore`].
//!
//! The bytes contain everything that ticks change: bodies, contacts, sleep, the entities that wait
//! outside of the world, the events of the last tick. The parts that never change (map, shapes,
//! spawn points) are identified by the map's hash and the names of the models. Caches are rebuilt,
//! because no result depends on them.
//!
//! Saved bytes may come from anyone. Each number is checked, and each pose goes through the guard
//! before it is committed, so no two bodies overlap in a world that was loaded.

mod checks;
mod poses;

use std::borrow::Cow;
use std::sync::Arc;

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::error::DecodeError;
use bincode::serde::{decode_from_slice, encode_to_vec};
use obsp::model::Model;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::checks::Checks;
use self::poses::{NearPose, SavedPose, SavedSearch};
use super::sensors::Sensors;
use super::{Touch, World};
use crate::arena::movement_sets::MovementSets;
use crate::arena::parameters::MovementParameters;
use crate::bodies::armed_move::ArmedMove;
use crate::bodies::contact::Pair;
use crate::bodies::entities::Entity;
use crate::bodies::rounds::Strike;
use crate::event::WorldEvent;
use crate::players::history::PositionHistory;
use crate::setup::{Config, SetupError};
use crate::state::EntityId;

/// Version of the format. Any change of the saved data raises it.
const VERSION: u16 = 12;

/// Maximum number of bytes that are read.
const MAX_BYTES: usize = 1 << 26;

/// Why a saved match cannot be loaded.
#[derive(Debug, Error)]
pub enum LoadWorldError {
    /// The bytes are not a saved match, or they are damaged.
    #[error("the saved match cannot be read: {0}")]
    Decode(#[from] DecodeError),
    /// The bytes were saved by another version.
    #[error(
        "the match was saved in format version {0}, and this program reads only version {VERSION}"
    )]
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
    config: Config,
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
    sensors: Cow<'a, Sensors>,
    armed: Cow<'a, [(EntityId, ArmedMove)]>,
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
        let header = Header {
            version: VERSION,
            map: self.arena.map.hash(),
            models: self.arena.model_names.clone(),
            config: self.config,
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
            sensors: Cow::Borrowed(&self.sensors),
            armed: Cow::Borrowed(&self.armed),
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
        let Header { version, config, .. } = header;
        if version != VERSION {
            return Err(LoadWorldError::Version(version));
        }
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
        let Saved { history, events, pushed, touches, sensors, armed, .. } = saved;
        let mut sensors = sensors.into_owned();
        let restored = sensors.restore(&self.arena.shapes);
        restored.map_err(|what| damaged(what.to_owned()))?;
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
        self.sensors = sensors;
        self.armed = armed.into_owned();
        self.count();
        Ok(())
    }

    fn check_header(&self, header: &Header) -> Result<(), LoadWorldError> {
        let Header { version, map, models, config } = header;
        match () {
            () if *version != VERSION => Err(LoadWorldError::Version(*version)),
            () if *map != self.arena.map.hash() => Err(LoadWorldError::Other("map")),
            () if *models != self.arena.model_names => Err(LoadWorldError::Other("list of models")),
            () if *config != self.config => Err(LoadWorldError::Other("configuration")),
            () => Ok(()),
        }
    }
}

fn damaged(what: String) -> LoadWorldError {
    LoadWorldError::Damaged(what)
}
