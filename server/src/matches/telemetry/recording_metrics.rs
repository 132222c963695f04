use std::sync::Arc;

use metrics::{Counter, Gauge, counter, gauge};

use super::catalogue;
use crate::matches::recording::Latest;

/// Metrics of the recording; all zero if nothing is recorded.
pub(crate) struct RecordingMetrics {
    recording: Arc<Latest>,
    failed: Gauge,
    ticks: Counter,
    bytes: Counter,
    deleted: Counter,
}

impl RecordingMetrics {
    pub(crate) fn register(recording: Arc<Latest>) -> Self {
        Self {
            recording,
            failed: gauge!(catalogue::RECORDING_FAILED),
            ticks: counter!(catalogue::RECORDING_TICKS),
            bytes: counter!(catalogue::RECORDING_BYTES),
            deleted: counter!(catalogue::RECORDINGS_DELETED),
        }
    }

    /// Copies the current status.
    pub(crate) fn observe(&self) {
        self.deleted.absolute(self.recording.deleted());
        let Some(status) = self.recording.status() else { return };
        self.failed.set(f64::from(u8::from(status.failure().is_some())));
        let (ticks, bytes) = self.recording.written();
        self.ticks.absolute(ticks);
        self.bytes.absolute(bytes);
    }
}
