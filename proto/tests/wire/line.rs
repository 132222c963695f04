//! One direction of a line that loses, doubles, delays and reorders.

use std::collections::BTreeMap;
use std::time::Duration;

use proto::Time;

use crate::random::Random;

/// How a line misbehaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    pub(crate) loss: f64,
    pub(crate) duplication: f64,
    pub(crate) delay: Duration,
    pub(crate) jitter: Duration,
    /// How probably a packet is held back long enough for others to pass it.
    pub(crate) reordering: f64,
    /// How probably a packet finds the line dead for up to a second.
    pub(crate) outage: f64,
}

impl Habits {
    /// A line at its best: a millisecond and nothing amiss.
    pub(crate) const GOOD: Self = Self {
        loss: 0.0,
        duplication: 0.0,
        delay: Duration::from_millis(1),
        jitter: Duration::ZERO,
        reordering: 0.0,
        outage: 0.0,
    };

    /// A bad line and worse: 50 ms ± 20 ms each way, 5 % loss,
    /// bursts.
    pub(crate) const BAD: Self = Self {
        loss: 0.05,
        duplication: 0.02,
        delay: Duration::from_millis(50),
        jitter: Duration::from_millis(20),
        reordering: 0.03,
        outage: 0.002,
    };

    /// Habits somewhere between the best and far beyond the bad.
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
pub(crate) struct Line {
    pub(crate) habits: Habits,
    random: Random,
    /// By arrival, then by order of sending.
    under_way: BTreeMap<(Time, u64), Vec<u8>>,
    sent: u64,
    dead_until: Time,
    /// Bytes of the longest packet that gets through.
    pub(crate) largest: usize,
    /// Packets that were longer.
    pub(crate) oversized: u64,
}

impl Line {
    pub(crate) fn new(seed: u64, habits: Habits) -> Self {
        let random = Random::new(seed);
        Self {
            habits,
            random,
            under_way: BTreeMap::new(),
            sent: 0,
            dead_until: Time::ZERO,
            largest: usize::MAX,
            oversized: 0,
        }
    }

    /// Lets nothing through until then.
    pub(crate) fn cut(&mut self, until: Time) {
        self.dead_until = until;
    }

    pub(crate) fn send(&mut self, now: Time, packet: Vec<u8>) {
        let Habits { loss, duplication, delay, jitter, reordering, outage } = self.habits;
        if self.random.chance(outage) {
            self.dead_until = now + Duration::from_secs_f64(self.random.unit());
        }
        if packet.len() > self.largest {
            self.oversized += 1;
            return;
        }
        if now < self.dead_until || self.random.chance(loss) {
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

    /// The next packet that has arrived by now.
    pub(crate) fn receive(&mut self, now: Time) -> Option<Vec<u8>> {
        let first = self.under_way.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(first.remove())
    }
}
