//! Configuration of a match, with its errors and warnings.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::state::MAX_MODELS;

/// The configuration of a match.
///
/// ```
/// use obsp_sim::Config;
///
/// // 200 props more than the map has, and the defaults of everything else.
/// let config = Config { objects: 200, ..Config::default() };
/// assert_eq!((config.tick_rate, config.max_players), (60, 32));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Ticks per second.
    pub tick_rate: u32,
    /// Seed of the random number generator.
    pub seed: u64,
    /// Props scattered in addition to the map's own.
    pub objects: u32,
    /// Maximum number of players at a time; zero for a match of agents alone. Even then the map
    /// needs a spawn point, because bodies that fall out of the map come back near one.
    pub max_players: u16,
}

impl Default for Config {
    /// 32 players at 60 ticks a second, only the props of the map, seed 1: the server's
    /// defaults, except for the props.
    fn default() -> Self {
        Self { tick_rate: 60, seed: 1, objects: 0, max_players: 32 }
    }
}

/// Why a match cannot be set up.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SetupError {
    /// The map was compiled without a size that players need.
    #[error(
        "the map has no player size named '{0}': add it to the spaces file, and compile the map \
         again"
    )]
    MissingSize(&'static str),
    /// The map has no spawn point, so no player could join.
    #[error(
        "the map has no spawn point: add an info_player_deathmatch or info_player_start entity; a \
         match without places for players needs one too, because bodies that fall come back near it"
    )]
    NoSpawnPoint,
    /// All spawn points of the map are unusable, so no player could join.
    #[error("no spawn point of the map can be used: {0}")]
    NoUsableSpawnPoint(SetupWarning),
    /// The rate is outside the range for which the motion bounds are proven.
    #[error("a tick rate of {0} Hz is outside 10 to 1000")]
    TickRate(u32),
    /// There are more than [`MAX_MODELS`] models.
    #[error("{0} models are too many: a match has {MAX_MODELS} at most")]
    TooManyModels(usize),
    /// A model is drawn in another map than that of the match.
    #[error("the model {0} is drawn in another map: make it from the map that is played")]
    OtherMap(String),
    /// The game declares something that cannot be played.
    #[error("the game cannot be played: {0}")]
    Game(String),
}

/// A problem of the map or the configuration that does not stop a match from starting.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SetupWarning {
    /// An entity that needs a position has none.
    #[error("an entity of class {classname} has no origin of three numbers, so it is left out")]
    NoOrigin {
        /// Class of the entity.
        classname: String,
    },
    /// A spawn point cannot be used.
    #[error(
        "{classname} at {origin}: a standing player does not fit there, nor up to 64 units higher; \
         the spawn point is left out"
    )]
    SpawnInSolid {
        /// Class of the spawn point.
        classname: String,
        /// Origin of the entity, in units.
        origin: DVec3,
    },
    /// A player who spawns here falls out of the map.
    #[error("{classname} at {origin}: there is no floor below it, so players fall out of the map")]
    SpawnOverVoid {
        /// Class of the spawn point.
        classname: String,
        /// Origin of the entity, in units.
        origin: DVec3,
    },
    /// A prop has an unknown model.
    #[error(
        "prop at {origin}: there is no model '{model}', so the prop is left out. The models are: \
         {known}"
    )]
    UnknownModel {
        /// Origin of the prop, in units.
        origin: DVec3,
        /// Value of the prop's key `model`.
        model: String,
        /// Names of the models, separated by commas.
        known: String,
    },
    /// A prop is where it does not fit.
    #[error(
        "prop at {origin}: there is no room for a {model} within 256 units, so the prop is left out"
    )]
    NoRoom {
        /// Origin of the prop, in units.
        origin: DVec3,
        /// Value of the prop's key `model`.
        model: String,
    },
    /// Props fell out of the map: it may have holes.
    #[error(
        "{count} props fell out of the map before the match began and were put elsewhere: the map \
         may have a hole"
    )]
    Fell {
        /// How many props fell.
        count: u64,
    },
    /// A game has left out entities of a class.
    #[error(
        "{count} of the class {class} are left out. Possible causes: they are drawn in a solid; \
         they lack an entity that they need, as a train needs a path_corner; their brushes are too \
         thin or too many; or the match has no room for more models or bodies"
    )]
    LeftOut {
        /// The class.
        class: String,
        /// How many entities of it.
        count: u32,
    },
    /// Not all props that were to be scattered found room.
    #[error("{asked} props were to be scattered, and only {placed} found room")]
    FewerObjects {
        /// How many props were to be scattered.
        asked: u32,
        /// How many props found room.
        placed: u32,
    },
}
