use std::time::Duration;

/// Width of a bin: finer than a clock tick of the network thread.
const BIN: Duration = Duration::from_micros(100);
/// Bins up to one second; all that is longer shares the last one.
const BINS: usize = 10_000;

/// How a length of time is distributed, in constant memory however long a
/// swarm runs.
#[derive(Clone, Debug)]
pub(super) struct Distribution {
    bins: Vec<u32>,
    count: u64,
    longest: Duration,
}

impl Distribution {
    pub(super) fn new() -> Self {
        Self { bins: vec![0; BINS], count: 0, longest: Duration::ZERO }
    }

    pub(super) fn record(&mut self, length: Duration) {
        let bin = (length.as_nanos() / BIN.as_nanos()).min(BINS as u128 - 1) as usize;
        self.bins[bin] = self.bins[bin].saturating_add(1);
        self.count += 1;
        self.longest = self.longest.max(length);
    }

    /// Takes in all that another has recorded.
    pub(super) fn merge(&mut self, other: &Self) {
        for (own, theirs) in self.bins.iter_mut().zip(&other.bins) {
            *own = own.saturating_add(*theirs);
        }
        self.count += other.count;
        self.longest = self.longest.max(other.longest);
    }

    /// The length that `percent` of all are not above, to the width of a bin
    /// and rounded up; nothing if there are none.
    pub(super) fn percentile(&self, percent: u64) -> Duration {
        let rank = (self.count * percent).div_ceil(100).max(1);
        let mut below = 0;
        for (bin, &count) in self.bins.iter().enumerate().take(BINS - 1) {
            below += u64::from(count);
            if below >= rank {
                return (BIN * (bin as u32 + 1)).min(self.longest);
            }
        }
        self.longest
    }

    /// How many were recorded.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn longest(&self) -> Duration {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_to_a_bin() {
        let mut distribution = Distribution::new();
        assert_eq!(distribution.percentile(99), Duration::ZERO);
        for millisecond in 1..=100 {
            distribution.record(Duration::from_millis(millisecond));
        }
        for (percent, milliseconds) in [(1, 1), (50, 50), (99, 99), (100, 100)] {
            let exact = Duration::from_millis(milliseconds);
            let found = distribution.percentile(percent);
            assert!(found >= exact && found <= exact + BIN, "{percent} %: {found:?}");
        }
    }

    #[test]
    fn merging_is_like_recording_all() {
        let (mut all, mut even, mut odd) =
            (Distribution::new(), Distribution::new(), Distribution::new());
        for millisecond in 0..50 {
            let length = Duration::from_millis(millisecond);
            all.record(length);
            if millisecond % 2 == 0 { &mut even } else { &mut odd }.record(length);
        }
        even.merge(&odd);
        for percent in [1, 25, 50, 99, 100] {
            assert_eq!(even.percentile(percent), all.percentile(percent), "{percent} %");
        }
        assert_eq!(even.longest(), all.longest());
    }

    #[test]
    fn what_is_too_long_for_the_bins_keeps_its_length() {
        let mut distribution = Distribution::new();
        distribution.record(Duration::from_secs(3));
        assert_eq!(distribution.percentile(50), Duration::from_secs(3));
        assert_eq!(distribution.longest(), Duration::from_secs(3));
    }
}
