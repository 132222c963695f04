//! A histogram of durations in constant memory, however long a swarm runs.

use std::time::Duration;

/// Width of a bin up to one second: finer than the timer of the network thread.
const BIN: Duration = Duration::from_micros(100);
/// Number of bins up to one second.
const BINS: usize = 10_000;

/// Width of a bin above one second, and the number of such bins, which reach up to eleven seconds.
/// Longer durations share the last bin.
const WIDE_BIN: Duration = Duration::from_millis(10);
const WIDE_BINS: usize = 1_000;

/// A distribution of durations. Its percentiles are accurate to the width of a bin, and its maximum
/// is exact.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    bins: Vec<u32>,
    count: u64,
    max: Duration,
}

impl Histogram {
    pub(super) fn new() -> Self {
        Self { bins: vec![0; BINS + WIDE_BINS], count: 0, max: Duration::ZERO }
    }

    pub(super) fn record(&mut self, length: Duration) {
        let narrow = length.as_nanos() / BIN.as_nanos();
        let bin = if narrow < BINS as u128 {
            narrow as usize
        } else {
            let wide = (length - BIN * BINS as u32).as_nanos() / WIDE_BIN.as_nanos();
            BINS + wide.min(WIDE_BINS as u128 - 1) as usize
        };
        self.bins[bin] = self.bins[bin].saturating_add(1);
        self.count += 1;
        self.max = self.max.max(length);
    }

    /// Adds all that another histogram has recorded.
    pub(super) fn merge(&mut self, other: &Self) {
        for (own, theirs) in self.bins.iter_mut().zip(&other.bins) {
            *own = own.saturating_add(*theirs);
        }
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    /// The duration that `percent` per cent of all durations do not exceed, rounded up to the width
    /// of a bin; zero if nothing was recorded.
    pub(super) fn percentile(&self, percent: u64) -> Duration {
        let rank = (self.count * percent).div_ceil(100).max(1);
        let mut below = 0;
        for (bin, &count) in self.bins.iter().enumerate().take(BINS + WIDE_BINS - 1) {
            below += u64::from(count);
            if below >= rank {
                let (narrow, wide) = ((bin + 1).min(BINS), (bin + 1).saturating_sub(BINS));
                let end = BIN * narrow as u32 + WIDE_BIN * wide as u32;
                return end.min(self.max);
            }
        }
        self.max
    }

    /// Number of durations recorded.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The longest duration recorded.
    pub(super) fn max(&self) -> Duration {
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_to_a_bin() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.percentile(99), Duration::ZERO);
        for millisecond in 1..=100 {
            histogram.record(Duration::from_millis(millisecond));
        }
        for (percent, milliseconds) in [(1, 1), (50, 50), (99, 99), (100, 100)] {
            let exact = Duration::from_millis(milliseconds);
            let found = histogram.percentile(percent);
            assert!(found >= exact && found <= exact + BIN, "{percent} %: {found:?}");
        }
    }

    #[test]
    fn merging_is_like_recording_all() {
        let (mut all, mut even, mut odd) = (Histogram::new(), Histogram::new(), Histogram::new());
        for millisecond in 0..50 {
            let length = Duration::from_millis(millisecond);
            all.record(length);
            if millisecond % 2 == 0 { &mut even } else { &mut odd }.record(length);
        }
        even.merge(&odd);
        for percent in [1, 25, 50, 99, 100] {
            assert_eq!(even.percentile(percent), all.percentile(percent), "{percent} %");
        }
        assert_eq!(even.max(), all.max());
    }

    #[test]
    fn above_a_second_percentiles_are_right_to_a_wide_bin() {
        let mut histogram = Histogram::new();
        (1..=100).for_each(|tenth| histogram.record(Duration::from_millis(100) * tenth));
        for (percent, tenths) in [(5, 5), (10, 10), (11, 11), (50, 50), (99, 99)] {
            let exact = Duration::from_millis(100) * tenths;
            let found = histogram.percentile(percent);
            assert!(found >= exact && found <= exact + WIDE_BIN, "{percent} %: {found:?}");
        }
    }

    #[test]
    fn the_maximum_is_exact_beyond_the_bins() {
        let mut histogram = Histogram::new();
        histogram.record(Duration::from_secs(30));
        assert_eq!(histogram.percentile(50), Duration::from_secs(30));
        assert_eq!(histogram.max(), Duration::from_secs(30));
    }
}
