//! One direction of one client's line, without sockets and clocks.

use std::time::Duration;

use super::Conditions;
use super::bottleneck::Bottleneck;
use super::loss::Loss;
use crate::harness::Random;

/// One direction of one client's line: decides the fate of each datagram.
#[derive(Clone, Debug)]
pub struct Direction {
    random: Random,
    loss: Loss,
    bottleneck: Bottleneck,
}

/// The fate of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The datagram arrives.
    Arrives {
        /// When the datagram arrives.
        at: Duration,
        /// When its second copy arrives, if the datagram is duplicated.
        copy: Option<Duration>,
        /// Whether the datagram is held back so that others overtake it.
        held: bool,
    },
    /// The datagram never arrives.
    Dropped(Cause),
}

/// The reason why a datagram does not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The datagram is larger than the line's MTU.
    Mtu,
    /// The line is in a blackout.
    Blackout,
    /// The queue at the narrow link is full.
    Queue,
    /// The datagram is lost by chance.
    Loss,
}

impl Direction {
    /// A direction with an empty queue. Its random choices depend only on the seed.
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), loss: Loss::default(), bottleneck: Bottleneck::default() }
    }

    /// Decides the fate of the next datagram, of `bytes` of UDP payload, which is sent at `now`.
    /// Times must not run backward from one datagram to the next.
    ///
    /// Each datagram takes the same number of random values, whatever its fate: the values
    /// of the nth datagram depend only on the seed and on n.
    pub fn send(&mut self, now: Duration, bytes: usize, conditions: &Conditions) -> Fate {
        let [loss, jitter, copy_jitter, duplicate, reorder] =
            std::array::from_fn(|_| self.random.unit());
        let is_lost = self.loss.takes(conditions.loss, conditions.burst, loss);
        if conditions.mtu.is_some_and(|mtu| bytes > mtu) {
            return Fate::Dropped(Cause::Mtu);
        }
        if conditions.is_black(now) {
            return Fate::Dropped(Cause::Blackout);
        }
        // Datagrams are lost behind the narrow link, so lost ones also take its bandwidth.
        let Some(passed) = self.bottleneck.pass(now, bytes, conditions) else {
            return Fate::Dropped(Cause::Queue);
        };
        if is_lost {
            return Fate::Dropped(Cause::Loss);
        }
        let arrival = |jitter: f64| {
            let late = conditions.delay + conditions.jitter.mul_f64(2.0 * jitter);
            passed + late.saturating_sub(conditions.jitter)
        };
        let held = reorder < conditions.reorder;
        let hold = if held { Conditions::REORDER_HOLD } else { Duration::ZERO };
        let copy = (duplicate < conditions.duplicate).then(|| arrival(copy_jitter));
        Fate::Arrives { at: arrival(jitter) + hold, copy, held }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Blackout;
    use super::*;

    const EVERY: Duration = Duration::from_millis(10);
    const MILLISECOND: Duration = Duration::from_millis(1);

    /// The fates of datagrams of 100 bytes, sent a hundred a second.
    fn fates(count: u32, seed: u64, conditions: &Conditions) -> Vec<(Duration, Fate)> {
        let mut direction = Direction::new(seed);
        let times = (0..count).map(|number| EVERY * number);
        times.map(|time| (time, direction.send(time, 100, conditions))).collect()
    }

    fn share(fates: &[(Duration, Fate)], of: impl Fn(Fate) -> bool) -> f64 {
        fates.iter().filter(|(_, fate)| of(*fate)).count() as f64 / fates.len() as f64
    }

    #[test]
    fn a_line_without_a_fault_passes_everything_at_once() {
        for (time, fate) in fates(100, 1, &Conditions::default()) {
            assert_eq!(fate, Fate::Arrives { at: time, copy: None, held: false });
        }
    }

    #[test]
    fn the_same_seed_does_the_same_and_another_something_else() {
        let conditions = Conditions {
            jitter: 10 * MILLISECOND,
            delay: 20 * MILLISECOND,
            loss: 0.1,
            burst: 2.0,
            duplicate: 0.1,
            reorder: 0.1,
            ..Conditions::default()
        };
        assert_eq!(fates(1000, 7, &conditions), fates(1000, 7, &conditions));
        assert_ne!(fates(1000, 7, &conditions), fates(1000, 8, &conditions));
        // Loss does not change the delays of the other datagrams.
        let lossless = Conditions { loss: 0.0, ..conditions.clone() };
        for (with, without) in
            fates(1000, 7, &conditions).into_iter().zip(fates(1000, 7, &lossless))
        {
            assert!(
                with.1 == Fate::Dropped(Cause::Loss) || with == without,
                "{with:?} {without:?}"
            );
        }
    }

    #[test]
    fn delay_and_jitter_are_within_their_bounds_and_jitter_reorders() {
        let (delay, jitter) = (50 * MILLISECOND, 20 * MILLISECOND);
        let conditions = Conditions { delay, jitter, ..Conditions::default() };
        let (mut sum, mut last, mut reordered) = (Duration::ZERO, Duration::ZERO, 0);
        for (time, fate) in fates(1000, 3, &conditions) {
            let Fate::Arrives { at, .. } = fate else { panic!("{fate:?}") };
            let late = at - time;
            assert!(late >= delay - jitter && late <= delay + jitter, "{late:?}");
            reordered += u32::from(at < last);
            (sum, last) = (sum + late, at);
        }
        let mean = sum / 1000;
        assert!(mean.abs_diff(delay) < MILLISECOND, "{mean:?}");
        assert!(reordered > 100, "{reordered}");
        // With a jitter above the delay, no datagram arrives before it was sent.
        let hasty = Conditions { delay: MILLISECOND, jitter, ..Conditions::default() };
        for (time, fate) in fates(1000, 3, &hasty) {
            assert!(matches!(fate, Fate::Arrives { at, .. } if at >= time));
        }
    }

    #[test]
    fn shares_are_as_asked() {
        let conditions =
            Conditions { loss: 0.05, duplicate: 0.1, reorder: 0.02, ..Conditions::default() };
        let fates = fates(100_000, 5, &conditions);
        let lost = share(&fates, |fate| fate == Fate::Dropped(Cause::Loss));
        let copied = share(&fates, |fate| matches!(fate, Fate::Arrives { copy: Some(_), .. }));
        let held = share(&fates, |fate| matches!(fate, Fate::Arrives { held: true, .. }));
        assert!((lost - 0.05).abs() < 0.003, "{lost}");
        assert!((copied - 0.095).abs() < 0.004, "{copied}");
        assert!((held - 0.019).abs() < 0.002, "{held}");
    }

    #[test]
    fn nothing_passes_in_a_blackout_and_all_before_and_after() {
        let blackout = |start, length| Blackout {
            start: Duration::from_millis(start),
            length: Duration::from_millis(length),
        };
        let blackouts = vec![blackout(1000, 300), blackout(2000, 10)];
        let conditions = Conditions { blackouts, ..Conditions::default() };
        for (time, fate) in fates(300, 1, &conditions) {
            let is_black = matches!(time.as_millis(), 1000..1300 | 2000..2010);
            let expected = match is_black {
                true => Fate::Dropped(Cause::Blackout),
                false => Fate::Arrives { at: time, copy: None, held: false },
            };
            assert_eq!(fate, expected, "{time:?}");
        }
    }

    #[test]
    fn datagrams_above_the_mtu_never_arrive() {
        let conditions = Conditions { mtu: Some(1200), ..Conditions::default() };
        let mut direction = Direction::new(1);
        let mut fate = |bytes| direction.send(Duration::ZERO, bytes, &conditions);
        assert!(matches!(fate(1200), Fate::Arrives { .. }));
        assert_eq!(fate(1201), Fate::Dropped(Cause::Mtu));
    }

    #[test]
    fn a_full_queue_drops_and_lost_datagrams_take_bandwidth_too() {
        // 128 bytes with headers, 100 times a second: 102.4 kbit/s.
        let narrow = |loss| Conditions { bandwidth: Some(51.2), loss, ..Conditions::default() };
        let dropped = |loss| {
            let fates = fates(10_000, 1, &narrow(loss));
            share(&fates, |fate| fate == Fate::Dropped(Cause::Queue))
        };
        assert!((dropped(0.0) - 0.5).abs() < 0.01, "{}", dropped(0.0));
        assert!((dropped(0.5) - 0.5).abs() < 0.01, "{}", dropped(0.5));
    }
}
