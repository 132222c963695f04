use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::labelled;

labelled! {
    /// Why a line is not in the log.
    pub(crate) enum LostLine {
        /// Too many lines waited to be written.
        QueueFull = "queue_full",
        /// Writing the line failed.
        Unwritable = "unwritable",
        /// The call site had logged too often.
        RateLimited = "rate_limited",
    }
}

/// Lines lost since the process began. The counters belong to the process and not to one of its
/// servers, because the process has one log.
static LOST: [AtomicU64; LostLine::ALL.len()] = [const { AtomicU64::new(0) }; LostLine::ALL.len()];

impl LostLine {
    /// Counts `lines` more.
    pub(crate) fn count(self, lines: u64) {
        LOST[self as usize].fetch_add(lines, Ordering::Relaxed);
    }

    /// Lines lost for this reason since the process began.
    pub(crate) fn counted(self) -> u64 {
        LOST[self as usize].load(Ordering::Relaxed)
    }
}
