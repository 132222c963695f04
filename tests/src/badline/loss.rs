/// Gilbert's model of loss in bursts: a good line loses nothing, a bad one everything, and the line
/// changes between good and bad at random (Gilbert 1960; a special case of Elliott's model).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Loss {
    is_bad: bool,
}

impl Loss {
    /// Whether the next datagram is lost. `share` is the mean share of lost datagrams, `burst` the
    /// mean length of a burst, and `draw` is evenly distributed from 0 to 1.
    pub(super) fn takes(&mut self, share: f64, burst: f64, draw: f64) -> bool {
        self.is_bad = if share <= 0.0 {
            false
        } else if share >= 1.0 {
            true
        } else if burst <= 1.0 {
            draw < share
        } else {
            let recover = 1.0 / burst;
            let fail = recover * share / (1.0 - share);
            if self.is_bad { draw >= recover } else { draw < fail }
        };
        self.is_bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Random;

    /// The share of lost datagrams, and the mean length of a burst.
    fn measured(share: f64, burst: f64) -> (f64, f64) {
        const DATAGRAMS: u32 = 400_000;
        let (mut loss, mut random) = (Loss::default(), Random::new(1));
        let (mut lost, mut bursts, mut before) = (0_u32, 0_u32, false);
        for _ in 0..DATAGRAMS {
            let now = loss.takes(share, burst, random.unit());
            lost += u32::from(now);
            bursts += u32::from(now && !before);
            before = now;
        }
        (f64::from(lost) / f64::from(DATAGRAMS), f64::from(lost) / f64::from(bursts.max(1)))
    }

    #[test]
    fn share_and_length_of_bursts_are_as_asked() {
        // Independent losses of a twentieth come in runs of 1 / 0.95 on average.
        for (share, burst, expected) in [(0.05, 1.0, 1.05), (0.05, 3.0, 3.0), (0.2, 8.0, 8.0)] {
            let (lost, length) = measured(share, burst);
            assert!((lost / share - 1.0).abs() < 0.05, "{share} {burst}: {lost} lost");
            assert!((length / expected - 1.0).abs() < 0.05, "{share} {burst}: {length} in a row");
        }
        assert_eq!(measured(0.0, 3.0).0, 0.0);
        assert_eq!(measured(1.0, 3.0).0, 1.0);
    }
}
