//! Whether players who are heard are also sent something. An event loop may turn, and ticks may
//! come, while nothing leaves the server.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::heartbeat::{Heartbeat, Stall};

/// A match that has sent no snapshot for so long, though it hears players, sends none at all. It is
/// far longer than the time between two probes of a line that carries nothing.
const SILENCE: Duration = Duration::from_secs(5);

/// Datagrams of players that must have come since the last snapshot. A second and a half of one
/// player's: less than that comes before a newcomer is sent a first snapshot.
const HEARD: u32 = 90;

/// The datagrams of a match in both directions.
pub(crate) struct Answers {
    sent: Heartbeat,
    /// Datagrams of players since the last snapshot.
    heard: AtomicU32,
}

impl Answers {
    pub(super) fn new(now: Instant) -> Self {
        Self { sent: Heartbeat::new(now), heard: AtomicU32::new(0) }
    }

    /// Notes a datagram of a player.
    pub(super) fn heard(&self) {
        // Only the network thread writes.
        let heard = self.heard.load(Ordering::Relaxed);
        self.heard.store(heard.saturating_add(1), Ordering::Relaxed);
    }

    /// Notes a snapshot that was handed to the path.
    pub(super) fn sent(&self, now: Instant) {
        self.heard.store(0, Ordering::Relaxed);
        self.sent.beat(now);
    }

    /// The last time without snapshots that is over, whether or not players were there.
    pub(crate) fn last_stall(&self) -> Option<Stall> {
        self.sent.last_stall()
    }

    /// Time since the last snapshot, if players are heard and none is sent any.
    pub(crate) fn silence(&self, now: Instant) -> Option<Duration> {
        let (age, heard) = (self.sent.age(now), self.heard.load(Ordering::Relaxed));
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
        answers.sent(at(61_000));
        // A player whose line carries nothing is not heard either.
        assert_eq!(answers.silence(at(75_000)), None);
        (0..HEARD).for_each(|_| answers.heard());
        assert_eq!(answers.silence(at(65_999)), None);
        assert_eq!(answers.silence(at(66_000)), Some(SILENCE));
        answers.sent(at(66_001));
        assert_eq!(answers.silence(at(66_001)), None);
    }
}
