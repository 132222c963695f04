//! The clock of the tick thread: it decides when the next tick is due, and how many are
//! dropped when the thread has fallen behind.

use std::time::Duration;

/// Ticks that may be run back to back to catch up with the clock. At 60 Hz this is 67 ms: about as
/// much as a client's interpolation can hide. Further due ticks are dropped, so that a slow machine
/// does not fall ever further behind.
const MAX_CATCH_UP: u64 = 4;

/// Decides when the next tick is due. It reads no clock: the caller gives every time, as the time
/// since the match began.
///
/// Deadlines lie on a fixed grid, `n / rate`, so rounding never adds up and a
/// late tick does not delay those after it.
#[derive(Debug)]
pub(crate) struct Pacer {
    /// Ticks per second.
    rate: u64,
    /// The next tick's place on the grid.
    next: u64,
}

/// The next thing for the tick thread to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Wait for this long.
    Wait(Duration),
    Run {
        /// Ticks that are dropped just before this one, because the clock is too far ahead.
        dropped: u64,
        /// How long ago the tick was due.
        late: Duration,
    },
}

impl Pacer {
    /// A pacer for `rate` ticks a second, the first one due at once.
    pub(crate) fn new(rate: u32) -> Self {
        Self { rate: u64::from(rate), next: 0 }
    }

    /// Decides what to do at the time `now`.
    pub(crate) fn turn(&mut self, now: Duration) -> Turn {
        let deadline = self.deadline();
        if now < deadline {
            return Turn::Wait(deadline - now);
        }
        let dropped = self.periods_behind(now).saturating_sub(MAX_CATCH_UP);
        self.next += dropped;
        let late = now - self.deadline();
        self.next += 1;
        Turn::Run { dropped, late }
    }

    /// Whether the tick that has just ended, at `now`, was still running when the next one was due.
    pub(crate) fn overran(&self, now: Duration) -> bool {
        now >= self.deadline()
    }

    /// When the next tick is due.
    fn deadline(&self) -> Duration {
        let (seconds, ticks) = (self.next / self.rate, self.next % self.rate);
        // The time is rounded up, so that a deadline lies at its own place on the grid, not at the
        // previous one.
        let nanoseconds = (ticks * 1_000_000_000).div_ceil(self.rate);
        Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds)
    }

    /// How many whole periods `now` is past the next deadline.
    fn periods_behind(&self, now: Duration) -> u64 {
        let ticks = now.subsec_nanos() as u64 * self.rate / 1_000_000_000;
        (now.as_secs() * self.rate + ticks).saturating_sub(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a pacer against a virtual clock until `end`. Tick `n` takes `cost(n)`. Returns how many
    /// ticks ran, were dropped and overran.
    fn simulate(rate: u32, end: Duration, cost: impl Fn(u64) -> Duration) -> (u64, u64, u64) {
        let mut pacer = Pacer::new(rate);
        let mut now = Duration::ZERO;
        let (mut run, mut dropped, mut overrun) = (0, 0, 0);
        while now < end {
            match pacer.turn(now) {
                Turn::Wait(time) => now += time,
                Turn::Run { dropped: left_out, .. } => {
                    now += cost(run);
                    run += 1;
                    dropped += left_out;
                    overrun += u64::from(pacer.overran(now));
                }
            }
        }
        (run, dropped, overrun)
    }

    #[test]
    fn ticks_keep_their_rate_for_an_hour() {
        for rate in [10, 60, 64, 128] {
            let hour = Duration::from_secs(3600);
            let (run, dropped, overrun) = simulate(rate, hour, |_| Duration::from_millis(2));
            assert_eq!((run, dropped, overrun), (3600 * u64::from(rate), 0, 0), "{rate} Hz");
        }
    }

    #[test]
    fn one_late_tick_is_caught_up_and_counted() {
        let slow = |tick| Duration::from_millis(if tick == 30 { 40 } else { 2 });
        let (run, dropped, overrun) = simulate(60, Duration::from_secs(1), slow);
        assert_eq!((run, dropped), (60, 0));
        // The tick of 40 ms misses two deadlines. The ticks that catch up are in time again.
        assert_eq!(overrun, 2);
    }

    #[test]
    fn a_long_stall_drops_time_instead_of_chasing_it() {
        let stall = |tick| Duration::from_millis(if tick == 30 { 500 } else { 1 });
        let (run, dropped, _) = simulate(60, Duration::from_secs(2), stall);
        assert_eq!(run + dropped, 120);
        assert_eq!(dropped, 30 - 1 - MAX_CATCH_UP);
    }

    #[test]
    fn a_machine_that_is_always_too_slow_settles_at_its_own_pace() {
        let (run, dropped, overrun) =
            simulate(60, Duration::from_secs(10), |_| Duration::from_millis(50));
        assert_eq!(run, 200);
        assert_eq!(overrun, 200);
        // All other ticks that were due are dropped, except for a few that may still be caught up.
        assert!((600 - 200 - 2 * MAX_CATCH_UP..=400).contains(&dropped), "{dropped} dropped");
    }

    #[test]
    fn waiting_ends_exactly_at_the_deadline() {
        let mut pacer = Pacer::new(60);
        let late = |late| Turn::Run { dropped: 0, late };
        assert_eq!(pacer.turn(Duration::ZERO), late(Duration::ZERO));
        let Turn::Wait(time) = pacer.turn(Duration::ZERO) else { panic!("due too soon") };
        assert_eq!(pacer.turn(time - Duration::from_nanos(1)), Turn::Wait(Duration::from_nanos(1)));
        let nanosecond = Duration::from_nanos(1);
        assert_eq!(pacer.turn(time + nanosecond), late(nanosecond));
    }
}
