use std::time::Duration;

use crate::Time;

/// Lines that may be said in a row.
const BURST: u32 = 5;

/// Time after which one more may be.
const INTERVAL: Duration = Duration::from_secs(1);

/// Lines too many after which nobody is talking but flooding.
const MOST_SURPLUS: u32 = 100;

/// How much one player may still say to everybody.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChatAllowance {
    /// When all of it will be there again.
    whole_at: Time,
    surplus: u32,
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// All may hear it.
    Heard,
    /// It is one too many, and dropped.
    Surplus,
    /// So were far too many before.
    Flood,
}

impl ChatAllowance {
    /// All of it.
    pub(super) fn new(now: Time) -> Self {
        Self { whole_at: now, surplus: 0 }
    }

    /// Takes a line off that is said at `now`.
    pub(super) fn take(&mut self, now: Time) -> Said {
        if self.whole_at.since(now) > INTERVAL * (BURST - 1) {
            self.surplus += 1;
            return if self.surplus > MOST_SURPLUS { Said::Flood } else { Said::Surplus };
        }
        self.whole_at = self.whole_at.max(now) + INTERVAL;
        Said::Heard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_much_is_heard_once_a_second_and_who_floods_is_found_out() {
        let mut allowance = ChatAllowance::new(Time::ZERO);
        let at = |seconds| Time::since_start(Duration::from_secs(seconds));
        let heard = |allowance: &mut ChatAllowance, now: Time, lines: u32| {
            (0..lines).filter(|_| allowance.take(now) == Said::Heard).count()
        };
        assert_eq!(heard(&mut allowance, at(10), 8), 5);
        assert_eq!(heard(&mut allowance, at(11), 2), 1);
        assert_eq!(heard(&mut allowance, at(14), 5), 3);
        assert_eq!(heard(&mut allowance, at(100), 6), 5);
        assert!((0..200).any(|_| allowance.take(at(100)) == Said::Flood));
    }
}
