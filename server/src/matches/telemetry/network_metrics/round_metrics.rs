use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use metrics::{Histogram, histogram};

use crate::matches::telemetry::catalogue;

/// The time to send one tick to all clients. Every connection adds the times that it takes. When
/// the next tick is sent, the sums are recorded.
pub(crate) struct RoundMetrics {
    parts: [RoundPart; Part::ALL.len()],
}

/// A part of the work of sending a tick to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Rounding the state to integers, once for all.
    Quantise,
    /// Choosing the entities that each client is sent.
    Interest,
    /// Encoding the snapshots.
    Encode,
    /// Handing the snapshots to QUIC.
    Send,
}

struct RoundPart {
    nanoseconds: AtomicU64,
    duration: Histogram,
}

impl Part {
    const ALL: [Self; 4] = [Self::Quantise, Self::Interest, Self::Encode, Self::Send];

    fn label(self) -> &'static str {
        match self {
            Self::Quantise => "quantise",
            Self::Interest => "interest",
            Self::Encode => "encode",
            Self::Send => "send",
        }
    }
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
