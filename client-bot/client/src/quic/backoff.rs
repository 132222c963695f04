use std::time::Duration;

use obsp_sim::Random;

/// The first wait. A server that merely restarts is back within this time.
const FIRST: Duration = Duration::from_millis(250);

/// The longest wait. Players hardly notice the difference between this wait and a shorter one.
const LONGEST: Duration = Duration::from_secs(4);

/// Exponential back-off with jitter, for reconnecting. Each wait is twice as long as the previous
/// one, up to a limit, and differs between clients. So the clients of a restarted server do not all
/// arrive at the same moment.
#[derive(Clone, Debug)]
pub struct Backoff {
    random: Random,
    next: Duration,
}

impl Backoff {
    /// A sequence of waits drawn from `seed`, which should differ between clients.
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), next: FIRST }
    }

    /// The wait before the next attempt, drawn evenly from the upper half of an
    /// interval that starts at 250 ms and doubles up to 4 s.
    pub fn next_wait(&mut self) -> Duration {
        let wait = self.next.mul_f64(self.random.between(0.5, 1.0));
        self.next = (self.next * 2).min(LONGEST);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_differ_between_clients() {
        let waits = |seed| {
            let mut backoff = Backoff::new(seed);
            (0..20).map(|_| backoff.next_wait()).collect::<Vec<_>>()
        };
        for (attempt, wait) in waits(7).into_iter().enumerate() {
            let longest = (FIRST * (1 << attempt.min(10))).min(LONGEST);
            assert!(wait >= longest / 2 && wait <= longest, "{attempt}: {wait:?}");
        }
        assert_eq!(waits(7), waits(7));
        assert_ne!(waits(7), waits(8));
    }
}
