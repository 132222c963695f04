//! Recordings of a running server: see [`obsp_recording`] for what they are.
//!
//! A server records through a `LiveRecorder`, which never makes a tick wait and never
//! replaces a file. If the disk fails, the match goes on, and `Status` tells operators.

mod latest;
mod level_recordings;
mod live;
mod new_file;
mod status;

pub(crate) use latest::Latest;
pub(crate) use level_recordings::LevelRecordings;
pub(crate) use live::LiveRecorder;
pub use obsp_recording::{Header, Reader, Recorder, RecordingError, Tick, Writer};
pub(crate) use status::Status;

/// The header of a match that has not ticked yet, recorded by this build.
pub(crate) fn header_of(
    simulation: &dyn obsp_game::RunningMatch,
    config: obsp_sim::Config,
) -> Header {
    let map = simulation.world().map();
    Header::new(map, config, simulation.digest(), crate::build::name())
}

/// As what a player of `world` has joined.
pub(crate) fn kind_in(
    world: &obsp_sim::World,
) -> impl Fn(obsp_sim::EntityId) -> obsp_sim::PlayerKind {
    |id| world.player_kind(id).unwrap_or_default()
}

#[cfg(test)]
mod tests;
