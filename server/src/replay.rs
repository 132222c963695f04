//! Replays: a recording run again, flat out, and held to its digests.

mod run;

use std::path::PathBuf;

use clap::Args;
use thiserror::Error;

pub use obsp_recording::Difference;
pub use run::{Outcome, verify};

use crate::error::StartError;
use crate::map_file;
use crate::recording::{Reader, RecordingError};

/// `server replay`: what to run again.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ReplayOptions {
    /// The recording, as `--record` wrote it
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The map, if it is not found under the name that the recording has
    #[arg(long, value_name = "NAME")]
    pub map: Option<String>,
}

/// Why a recording could not be run again.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The map could not be had.
    #[error(transparent)]
    Map(#[from] StartError),
    /// The recording could not be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The map is another one.
    #[error(
        "the recording was made on a map {name} with hash {recorded}, but that of {found} is \
         {hash}; name the right one with --map"
    )]
    OtherMap {
        /// Its name in the recording.
        name: String,
        /// Its hash in the recording.
        recorded: String,
        /// The map that was loaded.
        found: PathBuf,
        /// And its hash.
        hash: String,
    },
    /// The map cannot carry the match.
    #[error("the match cannot be set up: {0}")]
    Setup(#[from] obsp_sim::SetupError),
}

/// Runs a recording again and compares all digests.
///
/// # Errors
/// It could not be run. A difference, or a recording that breaks off, is an
/// [`Outcome`], not an error.
pub fn replay(options: &ReplayOptions) -> Result<Outcome, ReplayError> {
    let mut reader = Reader::open(&options.file)?;
    let header = reader.header();
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
    verify(&mut reader, map.into())
}

fn hex(hash: &[u8; 32]) -> String {
    obsp_proto::control::MapHash(*hash).to_string()
}
