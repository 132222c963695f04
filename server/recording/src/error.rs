use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::format::{MAGIC, VERSION};

/// Reasons why a recording cannot be written or read.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// The file could not be made or written.
    #[error("cannot write the recording {path}: {source}")]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The disk was too slow, so ticks had to be left out.
    #[error(
        "the recording {path} ends after tick {tick}: the disk could not keep up; record to a \
         faster one"
    )]
    Behind {
        /// The path of the file.
        path: PathBuf,
        /// The last tick that was written.
        tick: u64,
    },
    /// The file could not be opened or read.
    #[error("cannot read the recording {path}: {source}")]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not a recording.
    #[error("{path} is not a recording: it does not begin with {}", MAGIC.escape_ascii())]
    Magic {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file is of another version.
    #[error(
        "{path} is a recording of version {version}, but this build reads version {VERSION}; replay \
         it with the server that wrote it"
    )]
    Version {
        /// The path of the file.
        path: PathBuf,
        /// The version of the file.
        version: u16,
    },
    /// The file ends before its end mark, because its writer was cut off.
    #[error(
        "{path} breaks off after tick {tick}: the server still records it, or was killed, or its \
         disk was full or too slow; everything up to that tick can be trusted"
    )]
    Truncated {
        /// The path of the file.
        path: PathBuf,
        /// The last tick that is whole.
        tick: u64,
    },
    /// No recorder writes a frame like this.
    #[error("{path} is damaged after tick {tick}: {reason}")]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The last tick before the damage.
        tick: u64,
        /// The reason.
        reason: String,
    },
}

impl RecordingError {
    /// Whether the file could not be written because the disk is full.
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let Self::Write { source, .. } = self else { return false };
        matches!(source.kind(), FileTooLarge | QuotaExceeded | StorageFull)
    }
}
