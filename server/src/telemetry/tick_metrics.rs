use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use metrics::{Counter, Histogram, counter, histogram};

use super::catalogue;

/// Upper edges, in seconds, of the buckets of a tick's duration. One lies
/// exactly on the deadline of each usual tick rate, so that "over budget" is a
/// bucket; and one at 2.34 ms, the 99th percentile that a full arena is held
/// to.
pub(super) const DURATION_EDGES: [f64; 19] = [
    0.00025,
    0.0005,
    0.001,
    0.0015,
    0.00234,
    0.004,
    0.006,
    1.0 / 128.0,
    1.0 / 120.0,
    0.01,
    0.0125,
    1.0 / 64.0,
    1.0 / 60.0,
    0.02,
    0.025,
    1.0 / 30.0,
    0.05,
    0.1,
    0.25,
];

/// Upper edges, in seconds, of the buckets of a phase: parts of a tick, the
/// cheapest of which take microseconds.
pub(super) const PHASE_EDGES: [f64; 12] =
    [1e-5, 3e-5, 1e-4, 2.5e-4, 5e-4, 0.001, 0.00234, 0.004, 1.0 / 128.0, 1.0 / 60.0, 0.05, 0.25];

/// Upper edges, in seconds, of the buckets of how late a tick began: a sleeping
/// thread is woken within a tenth of a millisecond if the machine is free.
pub(super) const DELAY_EDGES: [f64; 9] =
    [1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 1.0 / 60.0, 0.05, 0.25];

/// Late ones among the last 64 ticks above which a server is not on time: now
/// and then the system gives the processor to somebody else.
const LATE_OF_64: u32 = 16;

/// What is remembered of ticks that never were: so many late ones that ten on
/// time are needed to make up for them.
const BEFORE_THE_FIRST: u64 = u64::MAX << (64 - LATE_OF_64 - 10);

/// Durations kept between two status lines at most: 10 s at 128 Hz, twice.
const WINDOW: usize = 2560;

/// What the tick thread counts.
pub(crate) struct TickMetrics {
    duration: Histogram,
    delay: Histogram,
    input: Histogram,
    simulation: Histogram,
    publication: Histogram,
    waking: Histogram,
    audits: Counter,
    audit_failures: Counter,
    /// One bit for each of the last 64 ticks, set if it was late; before the
    /// first ticks it says that all were.
    lateness: AtomicU64,
    ticks: Counter,
    overruns: Counter,
    dropped: Counter,
    /// Held by the tick thread for one push and by the network thread for one
    /// swap, so neither ever waits for the other's work.
    window: Mutex<Window>,
}

/// How long each part of a tick took on the tick thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TickPhases {
    /// Who joins and leaves, and each player's command.
    pub(crate) input: Duration,
    /// The simulation.
    pub(crate) simulation: Duration,
    /// Making a frame of the result, for others to look at.
    pub(crate) publication: Duration,
    /// Waking who waits for it. No part of the tick: it is done, and where a woken
    /// thread takes the processor at once, this is that thread's time.
    pub(crate) waking: Duration,
}

impl TickPhases {
    /// What the tick itself took.
    pub(crate) fn work(&self) -> Duration {
        self.input + self.simulation + self.publication
    }
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
        let phase = |name: &'static str| histogram!(catalogue::TICK_PHASE, "phase" => name);
        Self {
            duration: histogram!(catalogue::TICK_DURATION),
            delay: histogram!(catalogue::TICK_DELAY),
            input: phase("input"),
            simulation: phase("sim"),
            publication: phase("publish"),
            waking: phase("wake"),
            audits: counter!(catalogue::AUDITS),
            audit_failures: counter!(catalogue::AUDIT_FAILURES),
            ticks: counter!(catalogue::TICKS),
            overruns: counter!(catalogue::TICK_OVERRUNS),
            dropped: counter!(catalogue::TICKS_DROPPED),
            window: Mutex::new(Window::new()),
            lateness: AtomicU64::new(BEFORE_THE_FIRST),
        }
    }

    /// Whether the server ticks, and most ticks are done when they are due.
    pub(crate) fn is_on_time(&self) -> bool {
        self.lateness.load(Ordering::Relaxed).count_ones() <= LATE_OF_64
    }

    /// Counts one tick: how long it took, whether it was done too late, and how
    /// many ticks were left out before it.
    pub(crate) fn ticked(&self, duration: Duration, overran: bool, dropped: u64) {
        let late = u64::from(overran || dropped > 0);
        // Written by this thread alone.
        let lateness = self.lateness.load(Ordering::Relaxed);
        self.lateness.store(lateness << 1 | late, Ordering::Relaxed);
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

    /// Counts how long after its deadline a tick began.
    pub(crate) fn began(&self, late: Duration) {
        self.delay.record(late.as_secs_f64());
    }

    /// Counts what the parts of one tick took.
    pub(crate) fn spent(&self, phases: TickPhases) {
        self.input.record(phases.input.as_secs_f64());
        self.simulation.record(phases.simulation.as_secs_f64());
        self.publication.record(phases.publication.as_secs_f64());
        self.waking.record(phases.waking.as_secs_f64());
    }

    /// Counts an audit that found so many overlaps.
    pub(crate) fn audited(&self, failures: usize) {
        self.audits.increment(1);
        self.audit_failures.increment(failures as u64);
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
    fn the_deadline_of_each_usual_rate_is_an_edge() {
        for rate in [10.0, 20.0, 30.0, 60.0, 64.0, 100.0, 120.0, 128.0] {
            assert!(DURATION_EDGES.contains(&(1.0 / rate)), "{rate} Hz");
        }
        assert!(DURATION_EDGES.contains(&0.00234));
        for edges in [&DURATION_EDGES[..], &PHASE_EDGES, &DELAY_EDGES] {
            assert!(edges.is_sorted(), "{edges:?}");
        }
    }

    #[test]
    fn ready_after_ten_ticks_on_time_and_not_while_a_quarter_is_late() {
        let recorder = metrics::NoopRecorder;
        let ticks = metrics::with_local_recorder(&recorder, TickMetrics::register);
        let tick = |count: usize, late: bool| {
            for _ in 0..count {
                ticks.ticked(Duration::from_millis(1), late, 0);
            }
            ticks.is_on_time()
        };
        assert!(!tick(9, false));
        assert!(tick(1, false));
        assert!(tick(64, false));
        assert!(tick(16, true));
        assert!(!tick(1, true));
        assert!(!tick(47, false));
        assert!(tick(1, false));
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
