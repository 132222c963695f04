use std::time::Duration;

use super::Conditions;

/// The narrowest link of a line. It carries one datagram after the other, and drops datagrams that
/// would wait too long (a queue with tail drop).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bottleneck {
    /// The time at which the last datagram in the queue has passed the link.
    free_at: Duration,
}

impl Bottleneck {
    /// The time at which a datagram of this many bytes, arriving at `now`, has passed the link;
    /// `None` if it is dropped.
    pub(super) fn pass(
        &mut self,
        now: Duration,
        bytes: usize,
        conditions: &Conditions,
    ) -> Option<Duration> {
        let Some(kilobits) = conditions.bandwidth else { return Some(now) };
        let begin = self.free_at.max(now);
        if begin - now > conditions.queue {
            return None;
        }
        let bits = (bytes + Conditions::OVERHEAD) as f64 * 8.0;
        let seconds = bits / (kilobits * 1000.0);
        self.free_at = begin + Duration::try_from_secs_f64(seconds).ok()?;
        Some(self.free_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_link_carries_its_rate_and_queues_no_longer_than_asked() {
        let queue = Duration::from_millis(100);
        let conditions = Conditions { bandwidth: Some(64.0), queue, ..Conditions::default() };
        let (mut link, mut bytes, mut longest) = (Bottleneck::default(), 0, Duration::ZERO);
        // A hundred datagrams a second for ten seconds are twice the link's rate.
        for number in 0..1000_u32 {
            let now = Duration::from_millis(10) * number;
            if let Some(arrival) = link.pass(now, 132, &conditions) {
                bytes += 160;
                longest = longest.max(arrival - now);
            }
        }
        let kilobits = f64::from(bytes) * 8.0 / 10_000.0;
        assert!((kilobits - 64.0).abs() < 1.0, "{kilobits} kbit/s");
        // A datagram takes 20 ms to pass.
        assert!(longest > queue && longest <= queue + Duration::from_millis(20), "{longest:?}");
    }

    #[test]
    fn an_idle_link_takes_a_datagram_of_any_length() {
        let conditions =
            Conditions { bandwidth: Some(8.0), queue: Duration::ZERO, ..Conditions::default() };
        let mut link = Bottleneck::default();
        let passed = |milliseconds| Some(Duration::from_millis(milliseconds));
        assert_eq!(link.pass(Duration::ZERO, 972, &conditions), passed(1000));
        assert_eq!(link.pass(Duration::from_millis(999), 972, &conditions), None);
        assert_eq!(link.pass(Duration::from_millis(1500), 972, &conditions), passed(2500));
    }
}
