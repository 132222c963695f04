//! The byte budget of one client.

use std::time::Duration;

use crate::Time;

/// Time for which the budget can be saved up, so that a client that joins gets the whole state
/// quickly.
const SAVED: Duration = Duration::from_millis(500);

/// Bytes that one client may be sent: a rate, with short bursts.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    bytes_per_second: f64,
    available: f64,
    last: Time,
}

impl Budget {
    /// A budget of this many bytes per second, starting at `now`.
    pub fn new(bytes_per_second: u32, now: Time) -> Self {
        let bytes_per_second = f64::from(bytes_per_second);
        let available = bytes_per_second * SAVED.as_secs_f64();
        Self { bytes_per_second, available, last: now }
    }

    /// Bytes that may be sent now.
    pub fn available(&mut self, now: Time) -> usize {
        let gained = self.bytes_per_second * now.since(self.last).as_secs_f64();
        let most = self.bytes_per_second * SAVED.as_secs_f64();
        self.available = (self.available + gained).min(most);
        self.last = self.last.max(now);
        self.available.max(0.0) as usize
    }

    /// Subtracts bytes that were sent.
    pub fn spend(&mut self, bytes: usize) {
        self.available -= bytes as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_bounds_what_is_sent() {
        let mut budget = Budget::new(6000, Time::ZERO);
        let mut sent = 0;
        for tick in 0..600 {
            let now = Time::since_start(Duration::from_secs_f64(f64::from(tick) / 60.0));
            let bytes = budget.available(now).min(1200);
            budget.spend(bytes);
            sent += bytes;
        }
        assert!((60_000..63_000).contains(&sent), "{sent}");
    }
}
