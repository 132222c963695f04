//! Whether the server sends snapshots to the players whose commands arrive. An event loop may turn,
//! and ticks may come, while the server decides on no snapshot.
//!
//! A decision to send no snapshot also counts. A client that acknowledges nothing, or has used up
//! its budget, is sent nothing, and that is not a fault of the server.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::matches::telemetry::heartbeat::{Heartbeat, Stall};

/// If players are heard but the match has decided on no snapshot for this long, the match counts as
/// sending none at all. The time is many ticks long.
const SILENCE: Duration = Duration::from_secs(5);

/// Datagrams of players that must have come since the last decision: as many as one player sends in
/// a second and a half. Fewer come from a newcomer before the first snapshot.
const HEARD: u32 = 90;

/// The last decision on a snapshot, and the datagrams of players that came after it.
pub(crate) struct Answers {
    attended: Heartbeat,
    /// Datagrams of players since the last decision.
    heard: AtomicU32,
}

impl Answers {
    pub(crate) fn new(now: Instant) -> Self {
        Self { attended: Heartbeat::new(now), heard: AtomicU32::new(0) }
    }

    /// Notes a datagram of a player.
    pub(crate) fn heard(&self) {
        // Only the network thread writes.
        let heard = self.heard.load(Ordering::Relaxed);
        self.heard.store(heard.saturating_add(1), Ordering::Relaxed);
    }

    /// Notes that a client's snapshot was handed to the path, or withheld for the client's sake.
    pub(crate) fn attended(&self, now: Instant) {
        self.heard.store(0, Ordering::Relaxed);
        self.attended.beat(now);
    }

    /// The last completed period without a decision, whether players were heard in it or not.
    pub(crate) fn last_stall(&self) -> Option<Stall> {
        self.attended.last_stall()
    }

    /// Time since the last decision, if players are heard and the time is too long.
    pub(crate) fn silence(&self, now: Instant) -> Option<Duration> {
        let (age, heard) = (self.attended.age(now), self.heard.load(Ordering::Relaxed));
        (age >= SILENCE && heard >= HEARD).then_some(age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_that_hears_players_and_sends_nothing_is_silent() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let answers = Answers::new(start);
        assert_eq!(answers.silence(at(60_000)), None, "nobody is there");
        // A newcomer is heard first, and is sent a snapshot soon after.
        (0..HEARD - 1).for_each(|_| answers.heard());
        assert_eq!(answers.silence(at(61_000)), None);
        answers.attended(at(61_000));
        // A player whose line carries nothing is not heard either.
        assert_eq!(answers.silence(at(75_000)), None);
        (0..HEARD).for_each(|_| answers.heard());
        assert_eq!(answers.silence(at(65_999)), None);
        assert_eq!(answers.silence(at(66_000)), Some(SILENCE));
        answers.attended(at(66_001));
        assert_eq!(answers.silence(at(66_001)), None);
    }
}
