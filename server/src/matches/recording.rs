//! Recordings of a running server. [`obsp_recording`] says what a recording holds.
//!
//! A server records through a `LiveRecorder`, which never makes a tick wait and never replaces a
//! file. If the disk fails, the match goes on, and `Status` shows the failure to operators.

pub(crate) mod build;
mod file;
mod keeper;
mod latest;
mod level_recordings;
mod live;
mod new_file;
pub(crate) mod options;
mod replay_buffer;
mod status;

use std::path::{Path, PathBuf};

#[cfg(test)]
pub(crate) use file::open_for_writing;
pub(crate) use file::{Lock, is_recording};
pub(crate) use keeper::Keeper;
pub(crate) use latest::Latest;
pub(crate) use level_recordings::LevelRecordings;
pub(crate) use live::LiveRecorder;
pub use obsp_recording::{
    Beginning, Difference, Header, Note, Playback, RecordedTick, Recorder, Recording,
    RecordingError, Said, Schedule, Summary, Writer,
};
pub(crate) use replay_buffer::ReplayBuffer;
pub(crate) use status::Status;

use new_file::NewFile;

/// The beginning of a recording that this build makes of a match.
pub(crate) fn beginning_of(
    simulation: &dyn obsp_game::RunningMatch,
    config: obsp_sim::Config,
) -> Beginning {
    Beginning::of(simulation, config, crate::matches::recording::build::name())
}

/// Begins a recording in the file `path` or, if that exists, in the first of `path.1`, `path.2` and
/// so on that does not. Also returns the name of the file.
///
/// # Errors
/// The file cannot be created or written.
pub(crate) fn begin_new(
    path: &Path,
    beginning: &Beginning,
) -> Result<(PathBuf, Writer), RecordingError> {
    let failed = |source| RecordingError::Write { path: path.to_owned(), source };
    let new = NewFile::open(path).map_err(failed)?;
    let remove = new.removal();
    let NewFile { path, file, .. } = new;
    // If the beginning cannot be written, the empty file is removed.
    let writer = Writer::begin(path.clone(), file, beginning).inspect_err(|_| remove())?;
    Ok((path, writer))
}

/// A function that looks up the kind with which a player of `world` has joined.
pub(crate) fn kind_in(
    world: &obsp_sim::World,
) -> impl Fn(obsp_sim::EntityId) -> obsp_sim::PlayerKind {
    |id| world.player_kind(id).unwrap_or_default()
}

#[cfg(test)]
mod tests;
