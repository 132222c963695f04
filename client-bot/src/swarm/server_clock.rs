//! An estimate of the server's current tick, by which the age of a state is measured.

use std::time::{Duration, Instant};

use obsp_proto::Tick;

/// Largest relative drift between the clocks of two machines. The earliest arrival moves later at
/// this rate, so that the estimate follows the drift.
const DRIFT: f64 = 1e-4;

/// The server has skipped time if all snapshots arrive later than the earliest one by more than
/// [`SKIP_THRESHOLD`] for as long as [`SKIP_CONFIRMATION`], and the round-trip time has not grown
/// as much.
const SKIP_THRESHOLD: Duration = Duration::from_millis(100);
const SKIP_CONFIRMATION: Duration = Duration::from_secs(1);

/// Estimates the server's current tick from the snapshots that arrived quickest. The estimate is
/// late by the time that these snapshots took. An outage or a slow connection does not stop this
/// clock.
#[derive(Clone, Debug)]
pub(super) struct ServerClock {
    tick_rate: f64,
    start: Instant,
    /// Minimum number of ticks by which a snapshot arrived after its tick, if tick 0 were at
    /// `start`.
    earliest: Option<f64>,
    last: Instant,
    least_rtt: Duration,
    /// The instant since which all snapshots have arrived too late, and the smallest number of
    /// ticks by which one of them arrived after its tick.
    late: Option<(Instant, f64)>,
}

impl ServerClock {
    /// A clock before the first snapshot, with the tick rate of the server's hello.
    pub(super) fn new(tick_rate: f64, now: Instant) -> Self {
        let (earliest, late) = (None, None);
        Self { tick_rate, start: now, earliest, last: now, least_rtt: Duration::MAX, late }
    }

    /// Records that the snapshot of `tick` arrived at `now`, with the round-trip time
    /// of the connection.
    pub(super) fn arrived(&mut self, now: Instant, tick: Tick, rtt: Duration) {
        let after = self.ticks(now) - f64::from(tick.0);
        let forgotten = now.duration_since(self.last).as_secs_f64() * self.tick_rate * DRIFT;
        self.last = now;
        self.least_rtt = self.least_rtt.min(rtt);
        let earliest = self.earliest.map_or(after, |earliest| (earliest + forgotten).min(after));
        self.earliest = Some(earliest);
        let is_late = after - earliest > SKIP_THRESHOLD.as_secs_f64() * self.tick_rate;
        // A snapshot that waited in a queue is also late, but then the round trip is longer.
        if !is_late || rtt > self.least_rtt + SKIP_THRESHOLD / 2 {
            self.late = None;
            return;
        }
        let (since, least) = self.late.map_or((now, after), |(at, least)| (at, least.min(after)));
        self.late = Some((since, least));
        if now.duration_since(since) >= SKIP_CONFIRMATION {
            (self.earliest, self.late) = (Some(least), None);
        }
    }

    /// How long ago the server was at `tick`; `None` before the first snapshot.
    pub(super) fn age(&self, now: Instant, tick: Tick) -> Option<Duration> {
        let present = self.ticks(now) - self.earliest?;
        let seconds = (present - f64::from(tick.0)) / self.tick_rate;
        Some(Duration::try_from_secs_f64(seconds).unwrap_or_default())
    }

    fn ticks(&self, now: Instant) -> f64 {
        now.duration_since(self.start).as_secs_f64() * self.tick_rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(80);

    /// A clock of 10 ms a tick, and when it began.
    fn clock() -> (ServerClock, Instant) {
        let start = Instant::now();
        (ServerClock::new(100.0, start), start)
    }

    fn millis(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn age(clock: &ServerClock, now: Instant, tick: u32) -> u128 {
        clock.age(now, Tick(tick)).unwrap().as_millis()
    }

    #[test]
    fn states_age_during_an_outage() {
        let (mut clock, start) = clock();
        assert_eq!(clock.age(start, Tick(0)), None);
        // 40 ms on the way, and up to 20 ms of jitter.
        for tick in 0..100_u32 {
            let late = millis(u64::from(tick * 7 % 21));
            clock.arrived(start + millis(40 + 10 * u64::from(tick)) + late, Tick(tick), RTT);
        }
        let arrival = start + millis(40 + 990);
        assert_eq!(age(&clock, arrival, 99), 0);
        assert_eq!(age(&clock, arrival + millis(3000), 99), 3000);
        // With the first snapshot after the outage, the newest state is fresh again.
        clock.arrived(arrival + millis(3000), Tick(399), RTT);
        assert!(age(&clock, arrival + millis(3000), 399) < 2);
    }

    #[test]
    fn states_are_old_while_they_wait_in_a_queue() {
        let (mut clock, start) = clock();
        clock.arrived(start + millis(40), Tick(0), RTT);
        for tick in 1..1000_u32 {
            let now = start + millis(540 + 10 * u64::from(tick));
            clock.arrived(now, Tick(tick), RTT + millis(500));
            let age = age(&clock, now, tick);
            assert!((498..=500).contains(&age), "{age} ms at tick {tick}");
        }
    }

    #[test]
    fn time_that_the_server_skipped_counts_for_a_second_only() {
        let (mut clock, start) = clock();
        (0..100).for_each(|tick| {
            clock.arrived(start + millis(40 + 10 * tick), Tick(tick as u32), RTT);
        });
        let stall = millis(2000);
        for tick in 100..300_u32 {
            let now = start + millis(40 + 10 * u64::from(tick)) + stall;
            clock.arrived(now, Tick(tick), RTT);
            let age = age(&clock, now, tick);
            assert!(if tick < 200 { age >= 1998 } else { age < 2 }, "{age} ms at tick {tick}");
        }
    }
}
