//! Configuration of a match, and what can be wrong with it.

use glam::DVec3;
use thiserror::Error;

use crate::state::MAX_MODELS;

/// How a match is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Ticks per second.
    pub tick_rate: u32,
    /// Seed of the random number generator.
    pub seed: u64,
    /// Props scattered in addition to the map's own.
    pub objects: u32,
    /// Most players at a time.
    pub max_players: u16,
}

impl Default for Config {
    /// 32 players at 60 ticks a second, without props but those of the map, seed 1: the
    /// server's defaults but for the props.
    fn default() -> Self {
        Self { tick_rate: 60, seed: 1, objects: 0, max_players: 32 }
    }
}

/// Why a match cannot be set up.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SetupError {
    /// The map was compiled without a size that players need.
    #[error("the map has no size named '{0}': compile it with one in its spaces file")]
    MissingSize(&'static str),
    /// No player could join.
    #[error(
        "the map has no spawn point: add an info_player_deathmatch or info_player_start entity"
    )]
    NoSpawnPoint,
    /// No player could join.
    #[error("no spawn point of the map can be used: {0}")]
    NoUsableSpawnPoint(SetupWarning),
    /// The rate is outside the range for which the motion bounds are proven.
    #[error("a tick rate of {0} Hz is outside 10 to 1000")]
    TickRate(u32),
    /// There are more models than indices.
    #[error("{0} models are more than {MAX_MODELS}")]
    TooManyModels(usize),
    /// The game declares something that cannot be played.
    #[error("the game cannot be played: {0}")]
    Game(String),
}

/// Something that the map or the configuration asks for and that a match goes on
/// without.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SetupWarning {
    /// An entity that needs a position has none.
    #[error("{classname}: it has no origin of three numbers; it is left out")]
    NoOrigin {
        /// Its class.
        classname: String,
    },
    /// A spawn point cannot be used.
    #[error(
        "{classname} at {origin}: a standing player does not fit there, nor up to 64 units higher; \
         it is left out"
    )]
    SpawnInSolid {
        /// Its class.
        classname: String,
        /// Where it is.
        origin: DVec3,
    },
    /// A player who spawns here falls out of the map.
    #[error("{classname} at {origin}: there is no floor below it")]
    SpawnOverVoid {
        /// Its class.
        classname: String,
        /// Where it is.
        origin: DVec3,
    },
    /// A prop has an unknown model.
    #[error("prop at {origin}: there is no model '{model}'; it is left out. There are: {known}")]
    UnknownModel {
        /// Where it is.
        origin: DVec3,
        /// The value of its key `model`.
        model: String,
        /// Names of the models, separated by commas.
        known: String,
    },
    /// A prop is where it does not fit.
    #[error("prop at {origin}: there is no room for a {model} within 256 units; it is left out")]
    NoRoom {
        /// Where it is.
        origin: DVec3,
        /// The value of its key `model`.
        model: String,
    },
    /// The map has holes.
    #[error("{count} props fell out of the map before the match began and were put elsewhere")]
    Fell {
        /// How many.
        count: u64,
    },
    /// The map is too small.
    #[error("{asked} props were to be scattered, and only {placed} found room")]
    FewerObjects {
        /// How many were to be.
        asked: u32,
        /// How many there are.
        placed: u32,
    },
}
