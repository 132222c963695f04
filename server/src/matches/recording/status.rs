use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::error;

/// The status of a running match's recording, for operators. The threads that record write it, and
/// the pages read it.
#[derive(Debug)]
pub(crate) struct Status {
    /// The file that was asked for.
    asked: PathBuf,
    /// The file that was created for the recording.
    created: OnceLock<PathBuf>,
    ticks: AtomicU64,
    bytes: AtomicU64,
    failure: OnceLock<String>,
}

impl Status {
    pub(super) fn new(asked: PathBuf) -> Self {
        Self {
            asked,
            created: OnceLock::new(),
            ticks: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            failure: OnceLock::new(),
        }
    }

    /// The file that is written. Until it is created, this is the file that was asked for.
    pub(crate) fn path(&self) -> &Path {
        self.created.get().unwrap_or(&self.asked)
    }

    /// Ticks that were handed to the operating system. A replay is sure to reach the last of them.
    pub(crate) fn ticks(&self) -> u64 {
        self.ticks.load(Ordering::Relaxed)
    }

    /// Bytes that were handed to the operating system.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Why the recording ended before the match, if it did.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Notes the file that was created.
    pub(super) fn created(&self, path: PathBuf) {
        // The file is created once, so setting it does not fail.
        let _ = self.created.set(path);
    }

    /// Notes how much was handed to the operating system so far.
    pub(super) fn flushed(&self, ticks: u64, bytes: u64) {
        self.ticks.store(ticks, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Notes and logs that the recording has ended. Only the first reason counts.
    pub(super) fn fail(&self, reason: String) {
        if self.failure.set(reason.clone()).is_ok() {
            error!(
                "the recording {} failed after tick {}: {reason}; the match goes on without it \
                 until the next map or a restart",
                self.path().display(),
                self.ticks()
            );
        }
    }
}
