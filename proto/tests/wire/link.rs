//! One direction of a network link that loses, duplicates, delays and reorders packets.

use std::collections::BTreeMap;
use std::time::Duration;

use obsp_proto::Time;

use crate::random::Random;

/// How a link impairs packets; probabilities are per packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Impairments {
    pub(crate) loss: f64,
    pub(crate) duplication: f64,
    pub(crate) delay: Duration,
    pub(crate) jitter: Duration,
    /// Probability that a packet is delayed long enough for others to overtake it.
    pub(crate) reordering: f64,
    /// Probability that an outage of up to a second begins.
    pub(crate) outage: f64,
}

impl Impairments {
    /// A link at its best: a millisecond of delay and nothing else.
    pub(crate) const GOOD: Self = Self {
        loss: 0.0,
        duplication: 0.0,
        delay: Duration::from_millis(1),
        jitter: Duration::ZERO,
        reordering: 0.0,
        outage: 0.0,
    };

    /// A bad link with bursts: 50 ms ± 20 ms each way, 5 % loss.
    pub(crate) const BAD: Self = Self {
        loss: 0.05,
        duplication: 0.02,
        delay: Duration::from_millis(50),
        jitter: Duration::from_millis(20),
        reordering: 0.03,
        outage: 0.002,
    };

    /// Impairments between the best link and far worse than the bad one.
    pub(crate) fn random(random: &mut Random) -> Self {
        Self {
            loss: random.within(0.0, 0.4) * random.unit(),
            duplication: random.within(0.0, 0.2) * random.unit(),
            delay: Duration::from_secs_f64(random.within(0.0, 0.4) * random.unit()),
            jitter: Duration::from_secs_f64(random.within(0.0, 0.2) * random.unit()),
            reordering: random.within(0.0, 0.2) * random.unit(),
            outage: random.within(0.0, 0.01) * random.unit(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) impairments: Impairments,
    random: Random,
    /// Packets on their way, by arrival, then by order of sending.
    under_way: BTreeMap<(Time, u64), Vec<u8>>,
    sent: u64,
    outage_until: Time,
    /// Length of the longest packet that the path carries, in bytes.
    pub(crate) largest: usize,
    /// Number of packets that were longer.
    pub(crate) oversized: u64,
}

impl Link {
    pub(crate) fn new(seed: u64, impairments: Impairments) -> Self {
        let random = Random::new(seed);
        Self {
            impairments,
            random,
            under_way: BTreeMap::new(),
            sent: 0,
            outage_until: Time::ZERO,
            largest: usize::MAX,
            oversized: 0,
        }
    }

    /// Begins an outage that ends at `until`.
    pub(crate) fn cut(&mut self, until: Time) {
        self.outage_until = until;
    }

    pub(crate) fn send(&mut self, now: Time, packet: Vec<u8>) {
        let Impairments { loss, duplication, delay, jitter, reordering, outage } = self.impairments;
        if self.random.chance(outage) {
            self.outage_until = now + Duration::from_secs_f64(self.random.unit());
        }
        if packet.len() > self.largest {
            self.oversized += 1;
            return;
        }
        if now < self.outage_until || self.random.chance(loss) {
            return;
        }
        let copies = if self.random.chance(duplication) { 2 } else { 1 };
        for _ in 0..copies {
            let mut arrival = now + delay + jitter.mul_f64(self.random.unit());
            if self.random.chance(reordering) {
                arrival = arrival + Duration::from_secs_f64(self.random.within(0.0, 0.3));
            }
            self.sent += 1;
            self.under_way.insert((arrival, self.sent), packet.clone());
        }
    }

    /// The next packet that has arrived by `now`.
    pub(crate) fn receive(&mut self, now: Time) -> Option<Vec<u8>> {
        let first = self.under_way.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(first.remove())
    }
}
