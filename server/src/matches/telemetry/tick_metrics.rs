//! Metrics of the tick thread: durations, phases, delays and late ticks.

pub(crate) mod recent_ticks;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

use super::catalogue;
use super::heartbeat::{Heartbeat, STALL, Stall};
use recent_ticks::RecentTicks;

/// Upper edges, in seconds, of the buckets of a tick's duration. For each usual tick rate, one edge
/// lies exactly on the deadline, so that ticks over the deadline have buckets of their own. One
/// edge lies at 2.34 ms, the goal for the 99th percentile of a full arena. Between 0.25 and 3 ms,
/// where a healthy server's ticks are, a quantile is accurate to 0.25 ms.
pub(crate) const DURATION_EDGES: [f64; 24] = [
    0.00025,
    0.0005,
    0.00075,
    0.001,
    0.00125,
    0.0015,
    0.00175,
    0.002,
    0.00234,
    0.003,
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

/// Upper edges, in seconds, of the buckets of a phase's duration. Phases are parts of a tick; the
/// cheapest of them take microseconds.
pub(crate) const PHASE_EDGES: [f64; 12] =
    [1e-5, 3e-5, 1e-4, 2.5e-4, 5e-4, 0.001, 0.00234, 0.004, 1.0 / 128.0, 1.0 / 60.0, 0.05, 0.25];

/// Upper edges, in seconds, of the buckets of a tick's delay. If the machine is free, a sleeping
/// thread is woken within a tenth of a millisecond.
pub(crate) const DELAY_EDGES: [f64; 9] =
    [1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 1.0 / 60.0, 0.05, 0.25];

/// A server with more late ticks than this among the last 64 is not on time. A few are allowed,
/// because now and then the system gives the processor to somebody else.
const LATE_OF_64: u32 = 16;

/// The history before the first tick: so many late ticks that the server is on time only after ten
/// ticks on time.
const BEFORE_THE_FIRST: u64 = u64::MAX << (64 - LATE_OF_64 - 10);

/// Metrics of the tick thread.
pub(crate) struct TickMetrics {
    duration: Histogram,
    delay: Histogram,
    input: Histogram,
    simulation: Histogram,
    publication: Histogram,
    waking: Histogram,
    audits: Counter,
    audit_failures: Counter,
    /// One bit for each of the last 64 ticks, set if it was late. At first it is
    /// [`BEFORE_THE_FIRST`].
    lateness: AtomicU64,
    ticks: Counter,
    overruns: Counter,
    dropped: Counter,
    age: Gauge,
    stalls: Counter,
    failed: Gauge,
    heartbeat: Heartbeat,
    /// The durations of recent ticks.
    recent: RecentTicks,
    /// Ticks that were late since the last status line.
    recent_overruns: AtomicU64,
    /// Ticks that were dropped since the last status line.
    recent_dropped: AtomicU64,
    /// Median and 99th percentile over the last minute.
    quantiles: [Gauge; 2],
}

/// How long each part of a tick took on the tick thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TickPhases {
    /// Joins and leaves, and each player's command.
    pub(crate) input: Duration,
    pub(crate) simulation: Duration,
    /// Making the state that is published.
    pub(crate) publication: Duration,
    /// Waking the threads that wait for the state. It is not part of the tick, which is done by
    /// then. If a woken thread takes the processor at once, the time until it gives the processor
    /// up counts here.
    pub(crate) waking: Duration,
}

impl TickPhases {
    /// The time that the tick itself took.
    pub(crate) fn work(&self) -> Duration {
        self.input + self.simulation + self.publication
    }

    /// The phases in their order, by the names that metrics have for them.
    pub(crate) fn named(&self) -> [(&'static str, Duration); 4] {
        let Self { input, simulation, publication, waking } = *self;
        [("input", input), ("sim", simulation), ("publish", publication), ("wake", waking)]
    }
}

/// A summary of the ticks since the last summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TickSummary {
    /// Ticks that were finished.
    pub(crate) ticks: u64,
    pub(crate) median: Duration,
    pub(crate) p99: Duration,
    /// Ticks that were not done when the next one was due.
    pub(crate) overruns: u64,
    /// Ticks that were dropped.
    pub(crate) dropped: u64,
}

impl TickMetrics {
    pub(crate) fn register() -> Self {
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
            age: gauge!(catalogue::TICK_AGE),
            stalls: counter!(catalogue::TICK_STALLS),
            failed: gauge!(catalogue::MATCH_FAILED),
            heartbeat: Heartbeat::new(Instant::now()),
            recent: RecentTicks::new(),
            recent_overruns: AtomicU64::new(0),
            recent_dropped: AtomicU64::new(0),
            quantiles: ["0.5", "0.99"]
                .map(|quantile| gauge!(catalogue::TICK_QUANTILES, "quantile" => quantile)),
            lateness: AtomicU64::new(BEFORE_THE_FIRST),
        }
    }

    /// Notes that the tick thread is about to tick. The set-up before is not a stall.
    pub(crate) fn begin(&self) {
        self.heartbeat.begin(Instant::now());
    }

    /// Time that has passed at `now` since a tick was finished.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        self.heartbeat.age(now)
    }

    /// Notes that the match has failed.
    pub(crate) fn fails(&self) {
        self.failed.set(1.0);
    }

    /// Whether no tick was finished for [`STALL`] or longer.
    pub(crate) fn is_stalled(&self) -> bool {
        self.age(Instant::now()) >= STALL
    }

    /// The last stall that has ended, if there was one.
    pub(crate) fn last_stall(&self) -> Option<Stall> {
        self.heartbeat.last_stall()
    }

    /// Counts a stall.
    pub(crate) fn stalled(&self) {
        self.stalls.increment(1);
    }

    /// Updates the metrics that change even if no tick is finished.
    pub(crate) fn observe(&self, now: Instant) {
        self.age.set(self.age(now).as_secs_f64());
        let last_minute = self.recent.last_minute();
        for (gauge, percent) in self.quantiles.iter().zip([50, 99]) {
            // Without ticks there is no percentile, and 0 would be wrong.
            gauge.set(last_minute.percentile(percent).map_or(f64::NAN, |time| time.as_secs_f64()));
        }
    }

    /// Whether at most [`LATE_OF_64`] of the last 64 ticks were late.
    pub(crate) fn is_on_time(&self) -> bool {
        self.lateness.load(Ordering::Relaxed).count_ones() <= LATE_OF_64
    }

    /// Counts one tick: how long it took, whether it was done too late, and how many ticks were
    /// dropped before it.
    pub(crate) fn ticked(&self, duration: Duration, overran: bool, dropped: u64) {
        let late = u64::from(overran || dropped > 0);
        self.heartbeat.beat(Instant::now());
        // Only the tick thread writes `lateness`.
        let lateness = self.lateness.load(Ordering::Relaxed);
        self.lateness.store(lateness << 1 | late, Ordering::Relaxed);
        self.duration.record(duration.as_secs_f64());
        self.ticks.increment(1);
        self.overruns.increment(u64::from(overran));
        self.dropped.increment(dropped);
        self.recent.add(duration);
        self.recent_overruns.fetch_add(u64::from(overran), Ordering::Relaxed);
        self.recent_dropped.fetch_add(dropped, Ordering::Relaxed);
    }

    /// Counts how long after its deadline a tick began.
    pub(crate) fn began(&self, late: Duration) {
        self.delay.record(late.as_secs_f64());
    }

    /// Records how long the parts of one tick took.
    pub(crate) fn spent(&self, phases: TickPhases) {
        self.input.record(phases.input.as_secs_f64());
        self.simulation.record(phases.simulation.as_secs_f64());
        self.publication.record(phases.publication.as_secs_f64());
        self.waking.record(phases.waking.as_secs_f64());
    }

    /// Counts an audit that found this many faults.
    pub(crate) fn audited(&self, failures: usize) {
        self.audits.increment(1);
        self.audit_failures.increment(failures as u64);
    }

    /// A summary of the ticks since the last call. It has to be called every ten seconds, because
    /// the last minute is counted by these calls.
    pub(crate) fn take_summary(&self) -> TickSummary {
        let ticks = self.recent.mark();
        TickSummary {
            ticks: ticks.count(),
            median: ticks.percentile(50).unwrap_or_default(),
            p99: ticks.percentile(99).unwrap_or_default(),
            overruns: self.recent_overruns.swap(0, Ordering::Relaxed),
            dropped: self.recent_dropped.swap(0, Ordering::Relaxed),
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
    fn a_summary_is_of_the_ticks_since_the_last() {
        let ticks = metrics::with_local_recorder(&metrics::NoopRecorder, TickMetrics::register);
        assert_eq!(ticks.take_summary(), TickSummary::default());
        ticks.ticked(Duration::from_millis(3), true, 0);
        ticks.ticked(Duration::from_millis(3), false, 2);
        let summary = ticks.take_summary();
        assert_eq!((summary.ticks, summary.overruns, summary.dropped), (2, 1, 2));
        assert!(summary.median.abs_diff(Duration::from_millis(3)) < Duration::from_micros(100));
        assert_eq!(ticks.take_summary(), TickSummary::default());
    }

    /// The result of Prometheus' `histogram_quantile(0.99, …)` for ticks that all took this many
    /// seconds.
    fn quantile(seconds: f64) -> f64 {
        let upper = DURATION_EDGES.iter().position(|&edge| seconds <= edge).unwrap();
        let lower = if upper == 0 { 0.0 } else { DURATION_EDGES[upper - 1] };
        lower + 0.99 * (DURATION_EDGES[upper] - lower)
    }

    #[test]
    fn a_quantile_of_the_histogram_tells_one_millisecond_from_two() {
        for milliseconds in [0.4, 1.0, 1.3, 2.0, 2.3] {
            let found = quantile(milliseconds / 1000.0) * 1000.0;
            assert!((found - milliseconds).abs() < 0.25, "{milliseconds} ms: {found} ms");
        }
    }
}
