use metrics::{Counter, counter};

use super::catalogue;
use crate::operate::log::LostLine;

/// Metrics of the log of this process.
pub(super) struct LogMetrics([Counter; LostLine::ALL.len()]);

impl LogMetrics {
    pub(super) fn register() -> Self {
        Self(
            LostLine::ALL
                .map(|reason| counter!(catalogue::LOG_LINES_LOST, "reason" => reason.label())),
        )
    }

    /// Reads what the log has counted.
    pub(super) fn observe(&self) {
        for (counter, reason) in self.0.iter().zip(LostLine::ALL) {
            counter.absolute(reason.counted());
        }
    }
}
