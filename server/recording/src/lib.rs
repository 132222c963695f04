#![doc = include_str!("../README.md")]

mod chunk;
mod error;
mod format;
mod frame;
mod packing;
mod playback;
mod recorder;
mod recording;
mod schedule;
mod writer;

pub use error::RecordingError;
pub use format::{Beginning, Header, Keyframe, Note, Said, Tick};
pub use playback::{Difference, Playback};
pub use recorder::Recorder;
pub use recording::{Recording, Ticks};
pub use schedule::Schedule;
pub use writer::Writer;

/// Reads hostile bytes as the body of each kind of frame, past the hashes. For the fuzz target.
#[doc(hidden)]
pub fn read_as_bodies(bytes: &[u8]) {
    let _ = format::decode_header(bytes);
    let _ = format::decode_game_file(bytes, [0; 32]);
    let _ = format::decode::<Vec<Note>>(bytes);
    if let Ok(format::PackedKeyframe { commands, packed, .. }) = format::decode_keyframe(bytes) {
        let _ = packing::unpack(&packed, &[]);
        let _ = packing::unpack(&packed, bytes);
        let _ = chunk::decode(bytes, &mut chunk::Commands::of(&commands));
    }
    let _ = chunk::decode(bytes, &mut chunk::Commands::default());
    let _ = packing::unpack(bytes, &[]);
}

#[cfg(test)]
mod tests;
