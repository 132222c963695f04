use std::time::{Duration, Instant};

/// A limit on the use of something: an amount per second in the long run, and an amount at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    /// Units a second.
    pub(crate) per_second: f64,
    /// Units at once, after a pause.
    pub(crate) burst: f64,
}

/// A token bucket: the part of a [`Rate`] that was used and has not been regained yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenBucket {
    used: f64,
    last: Instant,
}

impl TokenBucket {
    /// A full bucket: nothing was used.
    pub(crate) fn full(now: Instant) -> Self {
        Self { used: 0.0, last: now }
    }

    /// Takes `amount` if the bucket holds it. Returns whether it did.
    pub(crate) fn take(&mut self, rate: Rate, amount: f64, now: Instant) -> bool {
        let is_there = self.used(rate, now) + amount <= rate.burst;
        if is_there {
            self.used += amount;
        }
        is_there
    }

    /// Takes `amount` whether the bucket holds it or not.
    pub(crate) fn charge(&mut self, rate: Rate, amount: f64, now: Instant) {
        self.used = self.used(rate, now) + amount;
    }

    /// Time until the bucket holds `amount`; zero if it does.
    pub(crate) fn wait(&mut self, rate: Rate, amount: f64, now: Instant) -> Duration {
        let missing = (self.used(rate, now) + amount - rate.burst).max(0.0);
        Duration::from_secs_f64(missing / rate.per_second)
    }

    /// Whether all that was used is regained.
    pub(crate) fn is_full(&mut self, rate: Rate, now: Instant) -> bool {
        self.used(rate, now) <= 0.0
    }

    fn used(&mut self, rate: Rate, now: Instant) -> f64 {
        let regained = rate.per_second * now.saturating_duration_since(self.last).as_secs_f64();
        self.last = self.last.max(now);
        self.used = (self.used - regained).max(0.0);
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_a_burst_and_then_its_rate() {
        let rate = Rate { per_second: 2.0, burst: 10.0 };
        let begin = Instant::now();
        let mut bucket = TokenBucket::full(begin);
        let mut taken = |seconds: u64| {
            let now = begin + Duration::from_secs(seconds);
            (0..100).filter(|_| bucket.take(rate, 1.0, now)).count()
        };
        assert_eq!([taken(0), taken(1), taken(3), taken(3), taken(1000)], [10, 2, 4, 0, 10]);
    }

    #[test]
    fn a_debt_is_waited_for() {
        let rate = Rate { per_second: 2.0, burst: 10.0 };
        let now = Instant::now();
        let mut bucket = TokenBucket::full(now);
        assert!(bucket.is_full(rate, now));
        bucket.charge(rate, 14.0, now);
        assert_eq!(bucket.wait(rate, 2.0, now), Duration::from_secs(3));
        assert!(!bucket.is_full(rate, now + Duration::from_secs(6)));
        assert!(bucket.is_full(rate, now + Duration::from_secs(7)));
    }
}
