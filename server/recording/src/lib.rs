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
mod summary;
mod words;
mod writer;

pub use error::RecordingError;
pub use format::{Beginning, Header, Keyframe, Note, RecordedTick, Said};
pub use playback::{Difference, Playback};
pub use recorder::Recorder;
pub use recording::{Recording, Ticks};
pub use schedule::Schedule;
pub use summary::Summary;
pub use writer::Writer;

/// For the fuzz target: reads hostile bytes as the body of each kind of frame, without any check of
/// hashes.
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
    let _ = words::add(bytes, &mut [RecordedTick::default(), RecordedTick::default()]);
}

/// Replaces the contents of a recording's frames, and computes their hashes anew. `change` receives
/// the number and the content of each frame. It returns the contents of the frames that replace
/// that frame; an empty list removes the frame. This function is for the fuzz target.
#[doc(hidden)]
pub fn with_bodies(
    mut bytes: &[u8],
    mut change: impl FnMut(usize, Vec<u8>) -> Vec<Vec<u8>>,
) -> Vec<u8> {
    let start = bytes.split_off(..format::MAGIC.len() + 2).unwrap_or_default();
    let (mut out, mut before) = (start.to_vec(), frame::Chain::new());
    let mut after = before.clone();
    let mut number = 0;
    while let Ok(frame::Found::Frame(kind, body)) = frame::read(&mut bytes, &mut before) {
        for body in change(number, body) {
            // A write to memory does not fail.
            let _ = frame::write(&mut out, &mut after, kind, &body);
        }
        number += 1;
    }
    out
}

#[cfg(test)]
mod tests;
