//! The pace of map transfers. They take the capacity that snapshots leave, and slow down when the
//! round trip grows.

use std::time::{Duration, Instant};

use super::HEAVY_LOSS;
use super::path_estimate::PathEstimate;

/// Delay that the transfer may add to the round trip. It is less than the delay that makes the
/// snapshots beside it slow down.
const TARGET: Duration = Duration::from_millis(30);

/// Bytes of the initial congestion window: a few packets.
const INITIAL: f64 = 4_096.0;
/// Bytes of the smallest window: a quarter of a packet, for a line that carries 16 kbit/s.
const LEAST: f64 = 300.0;
/// Bytes of the largest window: a line with a round trip of 40 ms carries 13 Mbit/s with it.
pub(crate) const MOST: f64 = 65_536.0;

/// Share by which the window grows in an [`INTERVAL`] without a queue. It shrinks by the same share
/// while the queue is twice as long as [`TARGET`].
const GAIN: f64 = 0.25;

/// A queue does not shrink the window below this share of what the path holds without a queue: the
/// rate of acknowledgements times the round trip without a queue. On a path with a long round trip,
/// the window would otherwise shrink many times before the first change has an effect.
const HELD: f64 = 0.9;

/// Shortest time between two changes of the window. The recent round trips show the effect of a
/// change only after this time.
const INTERVAL: Duration = Duration::from_millis(100);

/// Losses are judged whenever this many more bytes have been acknowledged or lost. The losses among
/// fewer bytes say little.
const JUDGED: u64 = 32 * 1024;

/// If more than this share of bytes is lost, the window does not grow. A line that loses a
/// twentieth at random stays below it.
const LOSSY: f64 = 0.15;

/// After this many round trips without an acknowledgement, the transfer pauses.
const SILENT_ROUND_TRIPS: u32 = 3;
/// Shortest time without an acknowledgement that pauses the transfer, however short the round trip.
const LEAST_SILENCE: Duration = Duration::from_millis(200);

/// Bytes a second that are sent even if other traffic fills the path, so that every transfer ends.
const FLOOR_RATE: f64 = 2_000.0;

/// The transfer may send at once as much as its pace allows in this time. It waits until it may
/// send that much, or a full packet if a packet is less. On a narrow line it sends smaller packets,
/// because a full one would keep snapshots waiting.
const CHUNK: Duration = Duration::from_millis(20);

/// Bytes that fill a packet.
const PACKET: f64 = 1_200.0;

/// The round trip that is assumed until one was measured.
const UNKNOWN_ROUND_TRIP: Duration = Duration::from_millis(100);

/// How much of a map transfer may be sent beside a game: as much as the path carries without a
/// queue, after LEDBAT (RFC 6817).
///
/// The congestion window grows while the round trip is hardly longer than it was without a queue,
/// and shrinks while it is much longer. Losses count only if they are heavy. When nothing is
/// acknowledged for a while, nothing is sent. The window covers the whole connection. Snapshots are
/// never held back, so the transfer takes what they leave.
#[derive(Clone, Debug)]
pub(crate) struct Background {
    window: f64,
    /// Whether the window still doubles each round trip, because no queue has been met yet.
    is_starting: bool,
    /// When the window was changed last, and the bytes that had been acknowledged by then.
    changed: Instant,
    acknowledged: u64,
    /// The bytes acknowledged and lost when losses were last judged.
    judged: (u64, u64),
    is_lossy: bool,
    /// Bytes that the pace of the window allows now.
    tokens: f64,
    /// Bytes that [`FLOOR_RATE`] allows now.
    floor_tokens: f64,
    /// When `tokens` and `floor_tokens` were last updated.
    paced: Instant,
}

impl Background {
    /// A transfer that begins now.
    pub(crate) fn new(now: Instant, path: &PathEstimate) -> Self {
        Self {
            window: INITIAL,
            is_starting: true,
            changed: now,
            acknowledged: path.acknowledged(),
            judged: (path.acknowledged(), path.lost()),
            is_lossy: false,
            tokens: 0.0,
            floor_tokens: 0.0,
            paced: now,
        }
    }

    /// How many bytes may be sent now. The caller asks every few milliseconds, and reports what it
    /// sent to [`Background::sent`].
    pub(crate) fn allowance(&mut self, now: Instant, path: &PathEstimate) -> usize {
        let round_trip = path.round_trip(now).unwrap_or(UNKNOWN_ROUND_TRIP);
        if path.unheard(now) > (round_trip * SILENT_ROUND_TRIPS).max(LEAST_SILENCE) {
            self.window = self.window.min(INITIAL);
            (self.tokens, self.paced) = (0.0, now);
            return 0;
        }
        if path.acknowledged() < self.acknowledged {
            // The connection uses another path, whose counters began at 0.
            (self.acknowledged, self.judged) = (0, (0, 0));
        }
        self.judge_losses(path);
        self.change_window(now, path, round_trip);
        let rate = self.window / round_trip.max(Duration::from_millis(1)).as_secs_f64();
        let elapsed = now.saturating_duration_since(self.paced).as_secs_f64();
        self.paced = now;
        // The pace is twice the rate that the window gives, so that a late timer does not slow down
        // the transfer.
        let burst = (rate * CHUNK.as_secs_f64()).max(PACKET);
        self.tokens = (self.tokens + 2.0 * rate * elapsed).min(burst);
        let room = (self.window - path.in_flight() as f64).max(0.0);
        let allowed = self.tokens.min(room);
        self.floor_tokens = (self.floor_tokens + FLOOR_RATE * elapsed).min(LEAST);
        let worthwhile = (rate * CHUNK.as_secs_f64()).clamp(LEAST, PACKET);
        if allowed >= worthwhile {
            allowed as usize
        } else if self.floor_tokens >= LEAST {
            LEAST as usize
        } else {
            0
        }
    }

    /// Subtracts bytes that were sent from the allowance.
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.tokens -= bytes as f64;
        self.floor_tokens = (self.floor_tokens - bytes as f64).max(0.0);
    }

    fn judge_losses(&mut self, path: &PathEstimate) {
        let (acknowledged, lost) = (path.acknowledged(), path.lost());
        let acknowledged_since = acknowledged.saturating_sub(self.judged.0);
        let lost_since = lost.saturating_sub(self.judged.1);
        if acknowledged_since + lost_since < JUDGED {
            return;
        }
        self.judged = (acknowledged, lost);
        let share = lost_since as f64 / (acknowledged_since + lost_since) as f64;
        self.is_lossy = share > LOSSY;
        self.is_starting &= !self.is_lossy;
        if share > HEAVY_LOSS {
            self.window = (self.window / 2.0).max(LEAST);
        }
    }

    fn change_window(&mut self, now: Instant, path: &PathEstimate, round_trip: Duration) {
        let Some(queueing) = path.queueing(now) else { return };
        let above = queueing.as_secs_f64() / TARGET.as_secs_f64();
        if self.is_starting && above > 0.5 {
            // The packets that fill the queue were sent a round trip ago. Since then the window has
            // doubled, so it is halved.
            self.is_starting = false;
            self.window = (self.window / 2.0).max(LEAST);
            (self.changed, self.acknowledged) = (now, path.acknowledged());
        }
        let acknowledged = path.acknowledged().saturating_sub(self.acknowledged);
        if self.is_starting {
            self.window = (self.window + acknowledged as f64).min(MOST);
            (self.changed, self.acknowledged) = (now, path.acknowledged());
            return;
        }
        let elapsed = now.saturating_duration_since(self.changed);
        if elapsed < round_trip.max(INTERVAL) {
            return;
        }
        let change = GAIN * (1.0 - above).max(-2.0);
        let changed = self.window * (1.0 + change);
        let rate = acknowledged as f64 / elapsed.as_secs_f64();
        if change < 0.0 {
            let held = rate * path.base().unwrap_or(round_trip).as_secs_f64();
            self.window = self.window.min(changed.max(HELD * held)).max(LEAST);
        } else if !self.is_lossy {
            // A window that was not used does not show what a larger one would do, so it does not
            // grow. One of less than two packets grows anyway: on a short path, one packet that
            // waits for its acknowledgement fills it.
            let used = rate * round_trip.as_secs_f64();
            if used > self.window / 2.0 || self.window < 2.0 * PACKET {
                self.window = changed.min(MOST);
            }
        }
        (self.changed, self.acknowledged) = (now, path.acknowledged());
    }
}
