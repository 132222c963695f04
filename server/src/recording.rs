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
pub use obsp_recording::{Header, Note, Recorder, Recording, RecordingError, Said, Tick, Writer};
pub(crate) use status::Status;

/// Seconds between two keyframes.
const KEYFRAME_SECONDS: u64 = 10;

/// Whether a keyframe follows the tick of this number.
pub(crate) fn is_keyframe(tick: u64, config: obsp_sim::Config) -> bool {
    tick.is_multiple_of(KEYFRAME_SECONDS * u64::from(config.tick_rate))
}

/// The header of a match, recorded by this build.
pub(crate) fn header_of(
    simulation: &dyn obsp_game::RunningMatch,
    config: obsp_sim::Config,
) -> Header {
    let map = simulation.world().map();
    Header::new(map, config, simulation.game_name(), crate::build::name())
}

/// As what a player of `world` has joined.
pub(crate) fn kind_in(
    world: &obsp_sim::World,
) -> impl Fn(obsp_sim::EntityId) -> obsp_sim::PlayerKind {
    |id| world.player_kind(id).unwrap_or_default()
}

#[cfg(test)]
mod tests;
