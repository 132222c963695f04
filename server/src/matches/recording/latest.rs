use std::sync::{Arc, Mutex, PoisonError};

use super::Status;

/// The recording of the current level, and the totals of the earlier ones. Each level has a file of
/// its own.
#[derive(Debug, Default)]
pub(crate) struct Latest(Mutex<Recordings>);

#[derive(Debug, Default)]
struct Recordings {
    status: Option<Arc<Status>>,
    /// Recordings that have ended.
    finished: u64,
    /// Finished recordings that were deleted to keep the limits.
    deleted: u64,
    /// Ticks and bytes of earlier recordings.
    earlier: (u64, u64),
}

impl Latest {
    /// Notes that another recording begins.
    pub(crate) fn begin(&self, status: Arc<Status>) {
        let mut recordings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(over) = recordings.status.replace(status) {
            recordings.earlier.0 += over.ticks();
            recordings.earlier.1 += over.bytes();
        }
    }

    /// The status of the current level's recording, if there is one.
    pub(crate) fn status(&self) -> Option<Arc<Status>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).status.clone()
    }

    /// Notes that the thread of a recording has closed its file.
    pub(super) fn note_finished(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).finished += 1;
    }

    /// Recordings that have ended.
    pub(super) fn finished(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).finished
    }

    /// Notes that finished recordings were deleted to keep the limits.
    pub(super) fn note_deleted(&self, count: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).deleted += count;
    }

    /// Finished recordings that were deleted to keep the limits.
    pub(crate) fn deleted(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).deleted
    }

    /// Ticks and bytes written to all recordings.
    pub(crate) fn written(&self) -> (u64, u64) {
        let recordings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (ticks, bytes) = recordings.earlier;
        recordings
            .status
            .as_ref()
            .map_or((ticks, bytes), |now| (ticks + now.ticks(), bytes + now.bytes()))
    }
}
