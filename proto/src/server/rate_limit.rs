//! Limits on what a client may send on the control stream: chat lines, and reports of
//! digest mismatches.

use std::time::Duration;

use crate::Time;
use crate::snapshot::DIGEST_INTERVAL;

/// Chat lines that are accepted in a row.
const CHAT_BURST: u32 = 5;

/// Time after which one more chat line is accepted.
const CHAT_INTERVAL: Duration = Duration::from_secs(1);

/// Mismatch reports that are accepted at once. As many may arrive together after an outage of the
/// network.
const MISMATCH_BURST: u64 = 8;

/// A client with more than this many messages beyond a limit counts as flooding.
const MAX_EXCESS: u64 = 100;

/// The decision of a limit about a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The message is within the limit.
    Accepted,
    /// The message is beyond the limit, and is dropped.
    Excess,
    /// The message is beyond the limit, as were far too many before it. The session ends.
    Flooding,
}

/// Limits the chat lines of one player.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChatLimit {
    /// The time at which the whole burst will be available again.
    full_at: Time,
    excess: Excess,
}

impl ChatLimit {
    /// A limit with the whole burst available.
    pub(super) fn new(now: Time) -> Self {
        Self { full_at: now, excess: Excess::default() }
    }

    /// Decides about a line that arrives at `now`.
    pub(super) fn check(&mut self, now: Time) -> Verdict {
        if self.full_at.since(now) > CHAT_INTERVAL * (CHAT_BURST - 1) {
            return self.excess.count();
        }
        self.full_at = self.full_at.max(now) + CHAT_INTERVAL;
        Verdict::Accepted
    }
}

/// Limits the mismatch reports of one client to one for each digest that was sent to it. Only a few
/// reports may be saved up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MismatchLimit {
    /// Number of digests whose reports were accepted or can no longer be saved up.
    used: u64,
    excess: Excess,
}

impl MismatchLimit {
    /// Decides about a report of a client that was sent this many snapshots.
    pub(super) fn check(&mut self, snapshots: u64) -> Verdict {
        let digests = snapshots.div_ceil(DIGEST_INTERVAL.into());
        self.used = self.used.max(digests.saturating_sub(MISMATCH_BURST));
        if self.used < digests {
            self.used += 1;
            return Verdict::Accepted;
        }
        self.excess.count()
    }
}

/// Counts messages beyond a limit.
#[derive(Clone, Copy, Debug, Default)]
struct Excess(u64);

impl Excess {
    fn count(&mut self) -> Verdict {
        self.0 += 1;
        if self.0 > MAX_EXCESS { Verdict::Flooding } else { Verdict::Excess }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_player_may_chat_once_a_second_and_a_flood_is_detected() {
        let mut limit = ChatLimit::new(Time::ZERO);
        let at = |seconds| Time::since_start(Duration::from_secs(seconds));
        let accepted = |limit: &mut ChatLimit, now: Time, lines: u32| {
            (0..lines).filter(|_| limit.check(now) == Verdict::Accepted).count()
        };
        assert_eq!(accepted(&mut limit, at(10), 8), 5);
        assert_eq!(accepted(&mut limit, at(11), 2), 1);
        assert_eq!(accepted(&mut limit, at(14), 5), 3);
        assert_eq!(accepted(&mut limit, at(100), 6), 5);
        assert!((0..200).any(|_| limit.check(at(100)) == Verdict::Flooding));
    }

    /// How many of `reports` reports are accepted if they arrive at once.
    fn accepted(limit: &mut MismatchLimit, snapshots: u64, reports: u64) -> usize {
        (0..reports).filter(|_| limit.check(snapshots) == Verdict::Accepted).count()
    }

    #[test]
    fn each_digest_may_be_reported_and_few_may_be_saved_up() {
        let mut honest = MismatchLimit::default();
        for digests in 1..1000 {
            assert_eq!(honest.check(digests * u64::from(DIGEST_INTERVAL)), Verdict::Accepted);
        }
        let mut saving = MismatchLimit::default();
        assert_eq!(accepted(&mut saving, 100_000, 50), MISMATCH_BURST as usize);
        assert_eq!(accepted(&mut saving, 100_000 + 3 * u64::from(DIGEST_INTERVAL), 40), 3);
        assert!((0..100).any(|_| saving.check(200) == Verdict::Flooding));
    }
}
