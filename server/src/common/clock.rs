//! The machine's two clocks: the date, and the time that has passed.
//!
//! The date (wall clock) may be set at any moment, by years: machines without a battery boot in the
//! past. The elapsed time only grows, by the time that has passed. On Linux and Windows it includes
//! the time for which the machine slept. Anything that is valid until a date is judged by the wall
//! clock, and checked again every minute. Anything that lasts for a duration is judged by the
//! elapsed time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The largest difference between the two clocks that does not count as a step. It comes from slow
/// corrections of the time and from the resolution of the clocks.
const TOLERANCE: Duration = Duration::from_secs(2);

/// The two clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The date.
    pub(crate) wall: SystemTime,
    /// The time since some moment, such as the start of the machine.
    pub(crate) elapsed: Duration,
}

/// Reads the clocks. Clones read the same clocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock(Source);

#[derive(Clone, Debug, Default)]
enum Source {
    /// The machine's clocks.
    #[default]
    Machine,
    /// Clocks that a test steps.
    #[cfg(test)]
    ByHand(std::sync::Arc<std::sync::Mutex<Reading>>),
}

impl Clock {
    /// Reads both clocks now.
    pub(crate) fn now(&self) -> Reading {
        match &self.0 {
            Source::Machine => Reading { wall: SystemTime::now(), elapsed: machine::elapsed() },
            #[cfg(test)]
            Source::ByHand(reading) => *reading.lock().unwrap(),
        }
    }

    /// Seconds since 1970 by the wall clock; 0 for earlier dates.
    pub(crate) fn unix(&self) -> u64 {
        self.now().unix()
    }
}

impl Reading {
    /// Seconds since 1970 by the wall clock; 0 for earlier dates.
    pub(crate) fn unix(&self) -> u64 {
        self.wall.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }
}

/// Notices that the wall clock was set.
#[derive(Debug)]
pub(crate) struct Steps(Reading);

impl Steps {
    /// Notices steps from this reading on.
    pub(crate) fn since(reading: Reading) -> Self {
        Self(reading)
    }

    /// The seconds by which the wall clock was set since the last call: forward if they are
    /// positive. `None` if it was not set. Sleep of the machine is not a step.
    pub(crate) fn next(&mut self, now: Reading) -> Option<i64> {
        let last = std::mem::replace(&mut self.0, now);
        let expected = last.wall + now.elapsed.saturating_sub(last.elapsed);
        let (seconds, is_forward) = match now.wall.duration_since(expected) {
            Ok(forward) => (forward, true),
            Err(back) => (back.duration(), false),
        };
        let is_step = seconds > TOLERANCE;
        let seconds = i64::try_from(seconds.as_secs()).unwrap_or(i64::MAX);
        is_step.then_some(if is_forward { seconds } else { -seconds })
    }
}

#[cfg(target_os = "linux")]
mod machine {
    use std::time::Duration;

    /// The time since the machine's start, with the time that it slept.
    pub(super) fn elapsed() -> Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
        Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
    }
}

#[cfg(not(target_os = "linux"))]
mod machine {
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    /// The time since the first call.
    pub(super) fn elapsed() -> Duration {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }
}

#[cfg(test)]
impl Clock {
    /// Clocks that stand still until they are told otherwise. The wall clock shows `unix` seconds
    /// since 1970.
    pub(crate) fn by_hand(unix: u64) -> Self {
        let wall = UNIX_EPOCH + Duration::from_secs(unix);
        let reading = Reading { wall, elapsed: Duration::from_secs(1000) };
        Self(Source::ByHand(std::sync::Arc::new(std::sync::Mutex::new(reading))))
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, time: Duration) {
        let Source::ByHand(reading) = &self.0 else { return };
        let mut reading = reading.lock().unwrap();
        *reading = Reading { wall: reading.wall + time, elapsed: reading.elapsed + time };
    }

    /// Sets the wall clock to `unix` seconds since 1970.
    pub(crate) fn set(&self, unix: u64) {
        let Source::ByHand(reading) = &self.0 else { return };
        reading.lock().unwrap().wall = UNIX_EPOCH + Duration::from_secs(unix);
    }
}

/// Seconds since 1970, by the system's clock.
pub(crate) fn unix_time() -> u64 {
    UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_is_noticed_and_time_that_passes_is_not() {
        let clock = Clock::by_hand(946_684_800);
        let mut steps = Steps::since(clock.now());
        clock.pass(Duration::from_secs(60));
        assert_eq!(steps.next(clock.now()), None);
        clock.set(1_800_000_000);
        assert_eq!(steps.next(clock.now()), Some(1_800_000_000 - 946_684_860));
        assert_eq!(steps.next(clock.now()), None, "a step is told once");
        clock.pass(Duration::from_secs(14 * 24 * 3600));
        assert_eq!(steps.next(clock.now()), None, "a machine that slept was not set");
        let unix = clock.unix();
        clock.set(unix - 3600);
        assert_eq!(steps.next(clock.now()), Some(-3600));
        for (seconds, noticed) in [(2, None), (-2, None), (3, Some(3)), (-3, Some(-3))] {
            clock.set(clock.unix().checked_add_signed(seconds).unwrap());
            assert_eq!(steps.next(clock.now()), noticed, "{seconds} s");
        }
    }

    #[test]
    fn the_machine_s_clocks_go_on() {
        let clock = Clock::default();
        let (first, second) = (clock.now(), clock.now());
        assert!(second.elapsed >= first.elapsed && first.unix() > 1_600_000_000);
        assert_eq!(Steps::since(first).next(second), None);
    }
}
