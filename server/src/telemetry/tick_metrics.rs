use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use metrics::{Counter, Histogram, counter, histogram};

use super::catalogue;

/// Upper edges, in seconds, of the buckets of a tick's duration. One lies
/// exactly on the deadline at 60 Hz, so that "over budget" is a bucket.
pub(super) const DURATION_EDGES: [f64; 11] =
    [0.00025, 0.0005, 0.001, 0.002, 0.004, 0.006, 0.008, 0.012, 1.0 / 60.0, 0.025, 0.1];

/// Durations kept between two status lines at most: 10 s at 128 Hz, twice.
const WINDOW: usize = 2560;

/// What the tick thread counts.
pub(crate) struct TickMetrics {
    duration: Histogram,
    ticks: Counter,
    overruns: Counter,
    dropped: Counter,
    /// Held by the tick thread for one push and by the network thread for one
    /// swap, so neither ever waits for the other's work.
    window: Mutex<Window>,
}

/// The ticks since the last status line.
#[derive(Debug, Default)]
struct Window {
    durations: Vec<Duration>,
    overruns: u64,
    dropped: u64,
}

/// How ticks went since the last time somebody asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TickSummary {
    pub(crate) median: Duration,
    pub(crate) p99: Duration,
    /// Ticks that were not done when the next one was due.
    pub(crate) overruns: u64,
    /// Ticks left out.
    pub(crate) dropped: u64,
}

impl TickMetrics {
    pub(super) fn register() -> Self {
        Self {
            duration: histogram!(catalogue::TICK_DURATION),
            ticks: counter!(catalogue::TICKS),
            overruns: counter!(catalogue::TICK_OVERRUNS),
            dropped: counter!(catalogue::TICKS_DROPPED),
            window: Mutex::new(Window::new()),
        }
    }

    /// Counts one tick: how long it took, whether it was done too late, and how
    /// many ticks were left out before it.
    pub(crate) fn ticked(&self, duration: Duration, overran: bool, dropped: u64) {
        self.duration.record(duration.as_secs_f64());
        self.ticks.increment(1);
        self.overruns.increment(u64::from(overran));
        self.dropped.increment(dropped);
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        window.overruns += u64::from(overran);
        window.dropped += dropped;
        if window.durations.len() < WINDOW {
            window.durations.push(duration);
        }
    }

    /// How ticks went since the last call.
    pub(crate) fn take_summary(&self) -> TickSummary {
        let mut window = Window::new();
        let mut shared = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *shared, &mut window);
        drop(shared);
        window.summary()
    }
}

impl Window {
    /// An empty window that can be filled without another allocation.
    fn new() -> Self {
        Self { durations: Vec::with_capacity(WINDOW), ..Self::default() }
    }

    fn summary(mut self) -> TickSummary {
        self.durations.sort_unstable();
        let last = self.durations.len().saturating_sub(1);
        let at =
            |percent: usize| self.durations.get((self.durations.len() * percent / 100).min(last));
        TickSummary {
            median: at(50).copied().unwrap_or_default(),
            p99: at(99).copied().unwrap_or_default(),
            overruns: self.overruns,
            dropped: self.dropped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deadline_at_60_hz_is_an_edge() {
        assert!(DURATION_EDGES.contains(&(1.0 / 60.0)));
        assert!(DURATION_EDGES.is_sorted());
    }

    #[test]
    fn a_summary_of_none_of_one_and_of_many() {
        let ms = Duration::from_millis;
        let of = |durations: Vec<Duration>| {
            let summary = Window { durations, overruns: 2, dropped: 1 }.summary();
            assert_eq!((summary.overruns, summary.dropped), (2, 1));
            (summary.median, summary.p99)
        };
        assert_eq!(of(vec![]), (ms(0), ms(0)));
        assert_eq!(of(vec![ms(3)]), (ms(3), ms(3)));
        assert_eq!(of((0..100).rev().map(ms).collect()), (ms(50), ms(99)));
    }
}
