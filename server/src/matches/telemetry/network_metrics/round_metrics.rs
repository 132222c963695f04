use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use metrics::{Histogram, histogram};

use crate::common::labelled;
use crate::matches::telemetry::catalogue;

/// The time to send one tick to all clients. Every connection adds the times that it takes. When
/// the next tick is sent, the sums are recorded.
pub(crate) struct RoundMetrics {
    parts: [RoundPart; Part::ALL.len()],
}

labelled! {
    /// A part of the work of sending a tick to clients.
    pub(crate) enum Part {
        /// Rounding the state to integers, once for all.
        Quantise = "quantise",
        /// Choosing the entities that each client is sent.
        Interest = "interest",
        /// Encoding the snapshots.
        Encode = "encode",
        /// Handing the snapshots to QUIC.
        Send = "send",
    }
}

struct RoundPart {
    nanoseconds: AtomicU64,
    duration: Histogram,
}

impl RoundMetrics {
    pub(crate) fn register() -> Self {
        let part = |part: Part| RoundPart {
            nanoseconds: AtomicU64::new(0),
            duration: histogram!(catalogue::TICK_PHASE, "phase" => part.label()),
        };
        Self { parts: Part::ALL.map(part) }
    }

    /// Adds the time since `begin` to a part, and returns the time now, at
    /// which the next part begins.
    pub(crate) fn spent(&self, part: Part, begin: Instant) -> Instant {
        let now = Instant::now();
        self.add(part, now - begin);
        now
    }

    pub(crate) fn add(&self, part: Part, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.parts[part as usize].nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Records the sums of the times that were added since the last call.
    pub(crate) fn close(&self) {
        for part in &self.parts {
            let nanoseconds = part.nanoseconds.swap(0, Ordering::Relaxed);
            part.duration.record(Duration::from_nanos(nanoseconds).as_secs_f64());
        }
    }
}
