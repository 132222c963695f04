use std::sync::atomic::{AtomicU64, Ordering};

/// Why a line is not in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LostLine {
    /// Too many lines waited to be written.
    QueueFull,
    /// Writing the line failed.
    Unwritable,
    /// The call site had logged too often.
    RateLimited,
}

/// Lines lost since the process began. The counters belong to the process and not to one of its
/// servers, because the process has one log.
static LOST: [AtomicU64; LostLine::ALL.len()] = [const { AtomicU64::new(0) }; LostLine::ALL.len()];

impl LostLine {
    pub(crate) const ALL: [Self; 3] = [Self::QueueFull, Self::Unwritable, Self::RateLimited];

    /// The label of this reason in the metrics.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::Unwritable => "unwritable",
            Self::RateLimited => "rate_limited",
        }
    }

    /// Counts `lines` more.
    pub(crate) fn count(self, lines: u64) {
        LOST[self as usize].fetch_add(lines, Ordering::Relaxed);
    }

    /// Lines lost for this reason since the process began.
    pub(crate) fn counted(self) -> u64 {
        LOST[self as usize].load(Ordering::Relaxed)
    }
}
