//! The pace of map transfers: they take what snapshots leave of the path, and give way
//! when the round trip grows.

use std::time::{Duration, Instant};

use super::path_estimate::PathEstimate;

/// Delay that the transfer may add to the round trip: less than what makes the
/// snapshots beside it give way.
const TARGET: Duration = Duration::from_millis(30);

/// The congestion window at first, at least, and at most: a few packets, a bit of
/// one (a line that carries 16 kbit/s), and what a line of 40 ms carries 13 Mbit/s
/// with.
const INITIAL: f64 = 4_096.0;
const LEAST: f64 = 300.0;
const SMALL: f64 = 2.0 * PACKET;
pub(super) const MOST: f64 = 65_536.0;

/// Share by which the window grows in an [`INTERVAL`] while there is no queue, and
/// by which it shrinks while the queue is twice as long as it may be.
const GAIN: f64 = 0.25;

/// Share of what the path holds without a queue, as the rate has it at which packets
/// were acknowledged while there was one, below which a queue does not shrink the window:
/// on a long way it would shrink many times before the first has an effect.
const HELD: f64 = 0.9;

/// Least time between two changes of the window: in less, their effect cannot be
/// seen in the recent round trips.
const INTERVAL: Duration = Duration::from_millis(100);

/// Bytes after which the share of losses is judged: of fewer packets it says
/// little.
const JUDGED: u64 = 32 * 1024;

/// Share of losses from which on the window grows no more, and from which on it is
/// halved. A line that loses a twentieth at random is below the former.
const LOSSY: f64 = 0.15;
const CONGESTED: f64 = 0.25;

/// Silence, in round trips, from which on nothing more is sent; and at least.
const SILENT_ROUND_TRIPS: u32 = 3;
const LEAST_SILENCE: Duration = Duration::from_millis(200);

/// Bytes a second that are sent whatever else fills the path, so that the transfer
/// ends one day.
const FLOOR_RATE: f64 = 2_000.0;

/// Time whose share of the window may be sent at once, and time whose share is
/// worth being sent: on a narrow line a full packet would keep snapshots waiting.
const BURST: Duration = Duration::from_millis(20);
const CHUNK: Duration = Duration::from_millis(20);

/// Bytes that fill a packet.
const PACKET: f64 = 1_200.0;

/// A round trip that was never measured.
const UNKNOWN_ROUND_TRIP: Duration = Duration::from_millis(100);

/// How much of a long transfer may be sent beside a game: what the path carries
/// without a queue, after LEDBAT (RFC 6817).
///
/// A congestion window grows while the round trip is hardly longer than it was
/// without a queue, and shrinks when it is. Losses count only if they are heavy,
/// and when nothing is acknowledged, nothing is sent. The window is that of the
/// whole connection: snapshots are never held back, so the transfer takes what
/// they leave.
#[derive(Clone, Debug)]
pub(super) struct Background {
    window: f64,
    /// Whether the window still doubles each round trip, as no queue was met yet.
    is_starting: bool,
    /// When the window was changed last, and what had been acknowledged by then.
    changed: Instant,
    acknowledged: u64,
    /// The packets acknowledged and lost when losses were last judged.
    judged: (u64, u64),
    is_lossy: bool,
    /// Bytes that may be sent by the pace of the window, and since when they have
    /// been counted.
    tokens: f64,
    floor_tokens: f64,
    paced: Instant,
}

impl Background {
    /// A transfer that begins now.
    pub(super) fn new(now: Instant, path: &PathEstimate) -> Self {
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

    /// Bytes that may be sent now. To be asked every few milliseconds;
    /// [`Background::sent`] takes off what was sent.
    pub(super) fn allowance(&mut self, now: Instant, path: &PathEstimate) -> usize {
        let round_trip = path.round_trip(now).unwrap_or(UNKNOWN_ROUND_TRIP);
        if path.unheard(now) > (round_trip * SILENT_ROUND_TRIPS).max(LEAST_SILENCE) {
            self.window = INITIAL.min(self.window);
            (self.tokens, self.paced) = (0.0, now);
            return 0;
        }
        if path.acknowledged() < self.acknowledged {
            // Another path: its counters begin anew.
            (self.acknowledged, self.judged) = (0, (0, 0));
        }
        self.judge_losses(path);
        self.change_window(now, path, round_trip);
        let rate = self.window / round_trip.max(Duration::from_millis(1)).as_secs_f64();
        let elapsed = now.saturating_duration_since(self.paced).as_secs_f64();
        self.paced = now;
        // Twice the window's pace, lest a timer's lateness slow it down.
        let burst = (rate * BURST.as_secs_f64()).max(PACKET);
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

    /// Takes off what was sent.
    pub(super) fn sent(&mut self, bytes: usize) {
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
        if share > CONGESTED {
            self.window = (self.window / 2.0).max(LEAST);
        }
    }

    fn change_window(&mut self, now: Instant, path: &PathEstimate, round_trip: Duration) {
        let Some(queueing) = path.queueing(now) else { return };
        let above = queueing.as_secs_f64() / TARGET.as_secs_f64();
        if self.is_starting && above > 0.5 {
            // The packets that fill the queue were sent a round trip ago; since then the
            // window has doubled.
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
            // A window that was not used does not show what a larger one would do; but on a
            // short way one packet that waits to be acknowledged fills a small window.
            let used = rate * round_trip.as_secs_f64();
            if used > self.window / 2.0 || self.window < SMALL {
                self.window = changed.min(MOST);
            }
        }
        (self.changed, self.acknowledged) = (now, path.acknowledged());
    }
}
