#![doc = include_str!("../README.md")]

mod error;
mod format;
mod playback;
mod reader;
mod recorder;
mod writer;

pub use error::RecordingError;
pub use format::{Header, Tick};
pub use playback::{Difference, Playback};
pub use reader::Reader;
pub use recorder::Recorder;
pub use writer::Writer;

#[cfg(test)]
mod tests;
