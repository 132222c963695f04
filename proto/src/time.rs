//! Moments and ticks.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use bincode::{Decode, Encode};

/// A moment: the time since an origin of the caller's choice. Only moments of one session are
/// compared. So every caller may choose an origin, and tests need no clock.
///
/// ```
/// use std::time::Duration;
///
/// use obsp_proto::Time;
///
/// let start = Time::since_start(Duration::from_secs(5));
/// let later = start + Duration::from_millis(250);
/// assert_eq!(later.since(start), Duration::from_millis(250));
/// assert_eq!(start.since(later), Duration::ZERO, "a difference is never negative");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Duration);

impl Time {
    /// The origin itself.
    pub const ZERO: Self = Self(Duration::ZERO);

    /// The moment this long after the origin, such as
    /// `Time::since_start(start.elapsed())`.
    pub const fn since_start(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// The time since the origin.
    pub const fn elapsed(self) -> Duration {
        self.0
    }

    /// The time since `earlier`; zero if `earlier` is later than this moment.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Time {
    type Output = Self;

    fn add(self, length: Duration) -> Self {
        Self(self.0.saturating_add(length))
    }
}

impl Sub for Time {
    type Output = Duration;

    /// The same as [`Time::since`].
    fn sub(self, earlier: Self) -> Duration {
        self.since(earlier)
    }
}

/// The number of a simulation tick. At 60 ticks a second 32 bits last two years of one
/// match.
///
/// ```
/// use obsp_proto::Tick;
///
/// let tick = Tick(70_000);
/// assert_eq!(tick.after(5).distance(tick), 5);
/// // Only 16 bits are sent. The receiver knows a tick that is near.
/// assert_eq!(Tick::from_low_bits(tick.low_bits(), Tick(69_990)), Some(tick));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct Tick(pub u32);

impl Tick {
    /// The tick with this number of the simulation ([`obsp_sim::State::tick`]); `None` beyond
    /// 32 bits.
    pub fn from_simulation(tick: u64) -> Option<Self> {
        u32::try_from(tick).ok().map(Self)
    }

    /// The tick `count` later, or the last one.
    pub fn after(self, count: u32) -> Self {
        Self(self.0.saturating_add(count))
    }

    /// The tick `count` earlier, or `None` if there is no such tick.
    pub fn before(self, count: u32) -> Option<Self> {
        self.0.checked_sub(count).map(Self)
    }

    /// Number of ticks by which this tick is after `other`; negative if it is before.
    pub fn distance(self, other: Self) -> i64 {
        i64::from(self.0) - i64::from(other.0)
    }

    /// The lowest 16 bits, which are the part of a tick that is sent.
    pub fn low_bits(self) -> u16 {
        self.0 as u16
    }

    /// The tick nearest to `near` whose lowest 16 bits are `low`; `None` if that would be before
    /// tick 0 or after the last tick. The result is right if both ends' current ticks differ by
    /// less than 2^15 (four minutes at 128 a second), which the idle time-out ensures.
    pub fn from_low_bits(low: u16, near: Self) -> Option<Self> {
        let offset = low.wrapping_sub(near.low_bits()) as i16;
        near.0.checked_add_signed(i32::from(offset)).map(Self)
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_bits_find_the_nearest_tick() {
        for near in [0u32, 5, 40_000, 65_535, 65_536, 1_000_000] {
            for offset in [-32_768i64, -300, -1, 0, 1, 7, 32_767] {
                let meant = i64::from(near) + offset;
                let low = meant as u16;
                let expected = u32::try_from(meant).ok().map(Tick);
                assert_eq!(Tick::from_low_bits(low, Tick(near)), expected, "{near} {offset}");
            }
        }
        assert_eq!(Tick::from_low_bits(0, Tick(u32::MAX)), None);
    }
}
