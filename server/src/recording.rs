//! Recordings: a match as a file, small enough to keep and exact enough to
//! run again.
//!
//! The simulation is deterministic, so what it was set up with and what went
//! into each tick is the whole match: the map's hash and the configuration,
//! then per tick who joined, who left and which players' commands changed.
//! Digests of the simulation tell on a later run at which tick it first went
//! another way.
//!
//! A file is a magic, a version, and *frames*: each a length of two bytes and
//! a bincode body of that length ([`Header`] first, then a [`Tick`] for each
//! tick, then an end). [`Recorder`] turns ticks into frames, [`Writer`] writes
//! them, [`Reader`] reads them back and takes nothing on trust. A running
//! server records through a `LiveRecorder`, which never makes a tick wait and
//! never replaces a file. If the disk fails, the match goes on, and `Status`
//! tells operators.

mod error;
mod format;
mod latest;
mod level_recordings;
mod live;
mod new_file;
mod reader;
mod recorder;
mod status;
mod writer;

pub use error::RecordingError;
pub use format::{Header, Tick};
pub(crate) use latest::Latest;
pub(crate) use level_recordings::LevelRecordings;
pub(crate) use live::LiveRecorder;
pub use reader::Reader;
pub use recorder::Recorder;
pub(crate) use status::Status;
pub use writer::Writer;

/// As what a player of `world` has joined.
pub(crate) fn kind_in(
    world: &obsp_sim::World,
) -> impl Fn(obsp_sim::EntityId) -> obsp_sim::PlayerKind {
    |id| world.player_kind(id).unwrap_or_default()
}

#[cfg(test)]
mod tests;
