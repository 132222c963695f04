//! Replays: a recording is run again as fast as possible, and its digests are compared.
//!
//! Each stretch from one keyframe to the next is run by itself, so that all CPU cores have work.
//! The match at the end of a stretch has to equal the one at the beginning of the next.

mod outcome;
mod stretch;
mod verify;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;

use clap::Args;
use obsp_game::AnyGame;
use obsp_game::arena::Arena;
use thiserror::Error;

pub use obsp_recording::Difference;
pub use outcome::Outcome;
pub use verify::{Plan, verify};

use crate::common::error::StartError;
use crate::matches::map_file;
use crate::matches::recording::{Recording, RecordingError};

/// `server replay`: the recording to run again, and how.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ReplayOptions {
    /// The recording, as `--record` wrote it
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The map, if it is not found under the name that the recording has
    #[arg(long, value_name = "NAME")]
    pub map: Option<String>,

    /// Begins at the last keyframe that is not after this tick, instead of the beginning
    #[arg(long, value_name = "TICK", default_value_t = 0)]
    pub from: u64,

    /// Also audits every tick by brute force: no two bodies may interpenetrate, and none may be
    /// inside the solid parts of the map
    #[arg(long)]
    pub audit: bool,

    /// Number of threads; by default as many as there are processors
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,

    /// Prints the outcome as JSON
    #[arg(long)]
    pub json: bool,
}

impl ReplayOptions {
    /// The options that run all of a recording, from its beginning.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        let file = file.into();
        Self { file, map: None, from: 0, audit: false, threads: None, json: false }
    }
}

/// Why a recording could not be run again.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The map could not be found or loaded.
    #[error(transparent)]
    Map(#[from] StartError),
    /// The recording could not be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The map is not the one that the recording was made on.
    #[error(
        "the recording was made on a map {name} with hash {recorded}, but {found} has hash \
         {hash}; name the right one with --map"
    )]
    OtherMap {
        /// The map's name in the recording.
        name: String,
        /// The map's hash in the recording.
        recorded: String,
        /// The map that was loaded.
        found: PathBuf,
        /// The hash of the map that was loaded.
        hash: String,
    },
    /// The recording is of another game.
    #[error(
        "the recording is of the game {0}, and this program plays {played}; the program that \
         serves {0} runs it again with --replay FILE", .recorded.escape_debug()
    )]
    OtherGame {
        /// The game that was recorded.
        recorded: String,
        /// The game that is played here.
        played: &'static str,
    },
    /// The match cannot be set up on the map.
    #[error("the match cannot be set up: {0}")]
    Setup(#[from] obsp_sim::SetupError),
}

/// Runs a recording of the arena game again and compares all digests.
///
/// # Errors
/// The errors of [`replay_game`].
pub fn replay(options: &ReplayOptions) -> Result<Outcome, ReplayError> {
    replay_game(&Arena, options)
}

/// Runs a recording of a game again and compares all digests.
///
/// # Errors
/// The recording could not be run. A difference, or a recording that breaks off, is an [`Outcome`],
/// not an error.
pub fn replay_game(game: &dyn AnyGame, options: &ReplayOptions) -> Result<Outcome, ReplayError> {
    let recording = Recording::open(&options.file)?;
    let header = recording.header();
    if header.game != game.game_name() {
        let (recorded, played) = (header.game.clone(), game.game_name());
        return Err(ReplayError::OtherGame { recorded, played });
    }
    let name = options.map.as_deref().unwrap_or(&header.map_name);
    let found = map_file::find(name, &map_file::folders())?;
    let map = map_file::load(&found)?;
    if map.hash() != header.map_hash {
        return Err(ReplayError::OtherMap {
            name: header.map_name.clone(),
            recorded: hex(&header.map_hash),
            found,
            hash: hex(&map.hash()),
        });
    }
    let processors = || available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let threads = options.threads.unwrap_or_else(processors);
    let plan = Plan { from: options.from, audit: options.audit, threads };
    verify(game, &recording, &map.into(), plan)
}

fn hex(hash: &[u8; 32]) -> String {
    obsp_proto::control::MapHash(*hash).to_string()
}
