//! Measures how late the caller is. Snapshots that arrive while the caller is busy wait for the
//! caller, not on the line. Such lateness says nothing about the network, so it must not delay the
//! rendering of later frames.

use std::time::Duration;

use obsp_proto::Time;

/// Time after a stall within which the caller handles everything that arrived during it. A web page
/// takes a while, because it reads one datagram at a time and draws in between.
const BACKLOG: Duration = Duration::from_secs(1);

/// Stalls of at least this length, three ticks at 60 Hz, add up if the next one begins before the
/// backlog of the first is handled. A snapshot that arrived during the first stall waited for both.
/// Shorter stalls are as frequent as ticks, and would add up to a wait that no snapshot had.
const LONG: Duration = Duration::from_millis(50);

/// The caller's stalls whose backlog may not have been handled yet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stall {
    ended: Time,
    length: Duration,
}

impl Stall {
    /// Records that a stall from `since` ended at `now`.
    pub(crate) fn ended(&mut self, since: Time, now: Time) {
        let (length, backlog) = (now.since(since), self.backlog(now));
        if length >= LONG {
            *self = Self { ended: now, length: (backlog + length).min(BACKLOG) };
        } else if length > backlog {
            *self = Self { ended: now, length };
        }
    }

    /// The longest time for which a snapshot that the caller handles at `now` may have waited for
    /// the caller. `due` is when the caller's next command is due.
    pub(crate) fn waited(&self, due: Option<Time>, now: Time) -> Duration {
        let overdue = due.map_or(Duration::ZERO, |due| now.since(due));
        overdue.max(self.backlog(now))
    }

    /// Records that the caller handled a snapshot that had not waited, so no snapshot waits now.
    pub(crate) fn caught_up(&mut self) {
        self.length = Duration::ZERO;
    }

    fn backlog(&self, now: Time) -> Duration {
        if now.since(self.ended) < BACKLOG { self.length } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(milliseconds: u64) -> Time {
        Time::since_start(Duration::from_millis(milliseconds))
    }

    #[test]
    fn a_datagram_of_a_stall_waited_for_the_caller() {
        let mut stall = Stall::default();
        let waited = |stall: &Stall, due, now| stall.waited(Some(at(due)), at(now)).as_millis();
        assert_eq!(waited(&stall, 1016, 1010), 0, "no command is overdue");
        assert_eq!(waited(&stall, 1016, 1300), 284, "the caller has not sent yet");
        stall.ended(at(1016), at(1300));
        assert_eq!(waited(&stall, 1316, 1301), 284, "the caller has sent");
        stall.ended(at(1316), at(1350));
        assert_eq!(waited(&stall, 1366, 1351), 284, "a shorter stall has followed");
        stall.ended(at(1366), at(1466));
        assert_eq!(waited(&stall, 1483, 1467), 384, "two long stalls have followed");
        stall.caught_up();
        assert_eq!(waited(&stall, 1483, 1468), 0, "the caller sent without waiting");
        stall.ended(at(1483), at(1500));
        assert_eq!(waited(&stall, 2516, 2500), 0, "long after");
        assert_eq!(stall.waited(None, at(2500)), Duration::ZERO, "the player is not in the match");
    }
}
