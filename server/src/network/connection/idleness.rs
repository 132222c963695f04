use std::time::{Duration, Instant};

use obsp_sim::Command;

/// Share of the time limit after which an idle player is warned.
const WARNED_AT: f64 = 0.75;

/// Measures how long a player has been idle, that is, has sent the same command over and over.
#[derive(Debug)]
pub(crate) struct Idleness {
    last: Command,
    since: Instant,
    warned: bool,
}

/// The decision on an idle player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing happens.
    Active,
    /// The player is warned, once, that this much time is left.
    Warn(Duration),
    /// The player is removed.
    Remove,
}

impl Idleness {
    /// The idleness of a player who has just come.
    pub(crate) fn new(now: Instant) -> Self {
        Self { last: Command::default(), since: now, warned: false }
    }

    /// Notes the latest command.
    pub(crate) fn note(&mut self, command: Command, now: Instant) {
        // The age of the view changes without the player doing anything.
        let command = Command { view_age: 0, ..command };
        if command != self.last {
            *self = Self { last: command, since: now, warned: false };
        }
    }

    /// Decides on a player who may be idle for `limit` at most. Zero means no limit.
    pub(crate) fn judge(&mut self, limit: Duration, now: Instant) -> Verdict {
        let idle = now.saturating_duration_since(self.since);
        if limit.is_zero() || idle < limit.mul_f64(WARNED_AT) {
            return Verdict::Active;
        }
        if idle >= limit {
            return Verdict::Remove;
        }
        if std::mem::replace(&mut self.warned, true) {
            return Verdict::Active;
        }
        Verdict::Warn(limit - idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_player_who_does_the_same_for_too_long_is_warned_once_and_removed() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let limit = Duration::from_secs(100);
        let mut idleness = Idleness::new(begin);
        let forward = Command { forward: 127, ..Command::default() };
        assert_eq!(idleness.judge(limit, at(74)), Verdict::Active);
        assert_eq!(idleness.judge(limit, at(75)), Verdict::Warn(Duration::from_secs(25)));
        assert_eq!(idleness.judge(limit, at(80)), Verdict::Active, "the warning comes once");
        idleness.note(forward, at(90));
        assert_eq!(idleness.judge(limit, at(160)), Verdict::Active);
        idleness.note(Command { view_age: 9, ..forward }, at(189));
        assert_eq!(idleness.judge(limit, at(190)), Verdict::Remove);
        assert_eq!(idleness.judge(Duration::ZERO, at(9999)), Verdict::Active);
    }
}
