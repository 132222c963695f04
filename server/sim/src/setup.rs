use thiserror::Error;

use crate::state::MAX_MODELS;

/// How a match is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Ticks per second.
    pub tick_rate: u32,
    /// What all randomness grows from.
    pub seed: u64,
    /// Props scattered beyond the map's own.
    pub objects: u32,
    /// Players at a time.
    pub max_players: u16,
}

/// Why a match cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SetupError {
    /// The map was compiled without a size that players need.
    #[error("the map has no size named '{0}': compile it with one in its spaces file")]
    MissingSize(&'static str),
    /// Nobody could ever join.
    #[error(
        "the map has no spawn point: add an info_player_deathmatch or info_player_start entity"
    )]
    NoSpawnPoint,
    /// The rate lies outside what the motion bounds are proven for.
    #[error("a tick rate of {0} Hz is outside 10 to 1000")]
    TickRate(u32),
    /// Too many models for an index.
    #[error("{0} models are more than {MAX_MODELS}")]
    TooManyModels(usize),
}
