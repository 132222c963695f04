//! Percentiles of the durations of recent ticks, from a histogram of fine buckets.

use std::array;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Buckets for each doubling of a duration, all of the same width. No bucket is wider than a
/// sixteenth of the durations in it, so its middle differs from them by at most a thirty-second.
const BUCKETS_PER_DOUBLING: usize = 16;

/// Durations below `2^SHORTEST` ns, 8 µs, share the first bucket. No tick is that short.
const SHORTEST: u32 = 13;

/// Durations of `2^LONGEST` ns, 4.3 s, or more share the last bucket: any such tick is a hang.
const LONGEST: u32 = 32;

const BUCKETS: usize = (LONGEST - SHORTEST) as usize * BUCKETS_PER_DOUBLING;

/// Marks that are kept. One is set every ten seconds, so the oldest is from 50 to
/// 60 seconds old.
const MARKS: usize = 6;

type Counts = [u64; BUCKETS];

/// The durations of the ticks since the last mark, and over the last minute: a histogram that only
/// grows, with a copy of it for each mark. The tick thread adds to it without ever waiting.
#[derive(Debug)]
pub(crate) struct RecentTicks {
    counts: [AtomicU64; BUCKETS],
    /// The copies of the histogram, the newest last. Never empty.
    marks: Mutex<VecDeque<Box<Counts>>>,
}

/// The durations of some ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Durations(Box<Counts>);

impl RecentTicks {
    pub(crate) fn new() -> Self {
        let marks = VecDeque::from([Box::new([0; BUCKETS])]);
        Self { counts: array::from_fn(|_| AtomicU64::new(0)), marks: Mutex::new(marks) }
    }

    /// Counts one tick.
    pub(crate) fn add(&self, duration: Duration) {
        self.counts[bucket(duration)].fetch_add(1, Ordering::Relaxed);
    }

    /// Sets a new mark, and returns the ticks since the last one.
    pub(crate) fn mark(&self) -> Durations {
        let now = self.now();
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let since = marks.back().map_or_else(|| Durations(now.clone()), |last| between(last, &now));
        marks.push_back(now);
        if marks.len() > MARKS {
            marks.pop_front();
        }
        since
    }

    /// The ticks since the oldest mark, which was set about a minute ago.
    pub(crate) fn last_minute(&self) -> Durations {
        let now = self.now();
        let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        marks.front().map_or_else(|| Durations(now.clone()), |oldest| between(oldest, &now))
    }

    fn now(&self) -> Box<Counts> {
        Box::new(array::from_fn(|index| self.counts[index].load(Ordering::Relaxed)))
    }
}

impl Durations {
    /// How many ticks these are.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The duration that this percentage of the ticks did not exceed, accurate to 1/32. `None` if
    /// there are no ticks.
    pub(crate) fn percentile(&self, percent: u64) -> Option<Duration> {
        // Any percentage covers at least the first tick.
        let wanted = (self.count() * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let reaches = |&count: &u64| {
            seen += count;
            seen >= wanted
        };
        self.0.iter().position(reaches).map(middle)
    }
}

/// The durations that were counted between two readings.
fn between(before: &Counts, after: &Counts) -> Durations {
    // A count that another thread reads while it grows is never less than before.
    Durations(Box::new(array::from_fn(|index| after[index].saturating_sub(before[index]))))
}

/// The bucket of a duration: linear between two powers of two.
fn bucket(duration: Duration) -> usize {
    let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let clamped = nanoseconds.clamp(1 << SHORTEST, (1 << LONGEST) - 1);
    let doubling = clamped.ilog2();
    let part = (clamped >> (doubling - BUCKETS_PER_DOUBLING.ilog2())) as usize;
    (doubling - SHORTEST) as usize * BUCKETS_PER_DOUBLING + part % BUCKETS_PER_DOUBLING
}

/// The duration in the middle of a bucket.
fn middle(index: usize) -> Duration {
    let (doubling, part) = (index / BUCKETS_PER_DOUBLING, index % BUCKETS_PER_DOUBLING);
    // Counted in halves of a bucket, so that the middle is a whole number.
    let halves = 2 * (BUCKETS_PER_DOUBLING + part) as u64 + 1;
    let width = SHORTEST - BUCKETS_PER_DOUBLING.ilog2() + doubling as u32;
    Duration::from_nanos((halves << width) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Whether a percentile is as expected, to the accuracy that it promises.
    fn is_about(found: Option<Duration>, expected: Duration) -> bool {
        found.is_some_and(|found| found.abs_diff(expected) <= expected / 32)
    }

    #[test]
    fn every_duration_is_found_again_within_a_thirty_second() {
        let mut nanoseconds = 1 << SHORTEST;
        let mut last = 0;
        while nanoseconds < 1 << LONGEST {
            let duration = Duration::from_nanos(nanoseconds);
            let index = bucket(duration);
            assert!(index == last || index == last + 1, "{duration:?}: {index} after {last}");
            assert!(is_about(Some(middle(index)), duration), "{duration:?}: {:?}", middle(index));
            last = index;
            nanoseconds += nanoseconds / 100;
        }
        assert_eq!(bucket(Duration::ZERO), 0);
        assert_eq!(bucket(Duration::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_of_none_of_one_and_of_a_hundred() {
        let ticks = RecentTicks::new();
        assert_eq!((ticks.mark().count(), ticks.mark().percentile(99)), (0, None));
        ticks.add(3 * MS);
        let one = ticks.mark();
        assert!(is_about(one.percentile(50), 3 * MS) && is_about(one.percentile(99), 3 * MS));
        (1..=100).rev().for_each(|milliseconds| ticks.add(milliseconds * MS));
        let hundred = ticks.mark();
        assert_eq!(hundred.count(), 100);
        assert!(is_about(hundred.percentile(50), 50 * MS), "{:?}", hundred.percentile(50));
        assert!(is_about(hundred.percentile(99), 99 * MS), "{:?}", hundred.percentile(99));
    }

    #[test]
    fn the_last_minute_forgets_what_is_older() {
        let ticks = RecentTicks::new();
        ticks.add(90 * MS);
        for _ in 0..MARKS - 1 {
            ticks.mark();
            ticks.add(MS);
        }
        assert_eq!(ticks.last_minute().count(), MARKS as u64);
        ticks.mark();
        assert_eq!(ticks.last_minute().count(), MARKS as u64 - 1);
        assert!(is_about(ticks.last_minute().percentile(99), MS));
    }
}
