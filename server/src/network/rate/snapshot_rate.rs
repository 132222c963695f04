//! Decides for which ticks a client is sent a snapshot, and how large each may be, by what the
//! client's line carries.

use std::time::{Duration, Instant};

use obsp_proto::Time;
use obsp_proto::snapshot::MIN_SNAPSHOT;
use quinn::ConnectionStats;

use super::path_estimate::PathEstimate;
use super::{HEAVY_LOSS, UNHEARD};

/// Bytes that may be in flight before anything is known of a line. Each acknowledged byte makes
/// room for one more (slow start). The whole world, sent at once, would fill the queue of a narrow
/// line for a second.
const INITIAL_WINDOW: u64 = 1500;

/// A line whose queue delays by more than this is congested. Snapshots are then sent more slowly.
const CONGESTED: Duration = Duration::from_millis(50);

/// A queue with a shorter delay does not count. At 64 kbit/s, a packet takes this much longer with
/// 200 more bytes.
const SHORT_QUEUE: Duration = Duration::from_millis(25);

/// Shortest time between two decisions: a dozen packets, a few round trips.
const INTERVAL: Duration = Duration::from_millis(250);

/// After a cut, at most this share of the bytes that the congested line carried is sent, so that
/// its queue drains.
const CUT: f64 = 0.85;

/// Probing snapshots a second: on a dead line, and while a queue drains. The first one comes at
/// most a tenth of a second after the line is back.
pub(crate) const PROBE_RATE: u32 = 10;

/// Limit in bytes of a probing snapshot on a dead line. It holds the most urgent records.
pub(crate) const PROBE_BYTES: usize = 400;

/// Snapshots a second that every live line is sent, however narrow it is. The client interpolates
/// between two of them, which costs 50 ms more delay.
const LEAST_SNAPSHOTS: u32 = 20;

/// Bytes of a packet beside the snapshot in it: the headers of IP and UDP, and QUIC's header,
/// authentication tag and an acknowledgement.
pub(super) const PACKET_OVERHEAD: f64 = 28.0 + 40.0;

/// The rate is never lowered below this many bytes a second: the fewest snapshots, with next to
/// nothing in them. While much moves, snapshots are larger, because each may have [`MIN_SNAPSHOT`]
/// bytes. That makes 52 kbit/s of IP packets.
const FLOOR: f64 = LEAST_SNAPSHOTS as f64 * (32.0 + PACKET_OVERHEAD);

/// If the recent round trip is longer than usual by more than this, snapshots become few and small
/// at once. The rate would be too late: a fight that begins fills the queue of a narrow line before
/// the next decision.
pub(super) const QUEUE_LIMIT: Duration = Duration::from_millis(60);

/// A queue over [`QUEUE_LIMIT`] that is still there after this many seconds must come from other
/// traffic, so sending less does not drain it.
const DRAINING_SECONDS: u32 = 1;

/// A longer delay of the queue counts as congestion at once. A shorter one has to be seen at two
/// decisions in a row. If jitter makes every fourth round trip this long, all round trips of one
/// decision are this long about once an hour.
const SURELY_CONGESTED: Duration = Duration::from_millis(80);

/// The time in which the queue is to drain after a cut.
const DRAIN: Duration = Duration::from_millis(500);
/// A cut leaves at least this share, because the queue may last only a moment.
const MOST_CUT: f64 = 0.5;

/// Heavy loss counts after this many decisions in a row. A short outage has fewer.
const LOSS_PATIENCE: u32 = 4;

/// Growth of the rate at a decision while the line is clear.
const GROWTH: f64 = 1.05;
/// Growth near a rate at which the line was congested twice: a hundredth a second. After a cut it
/// takes about 14 s or more to reach that rate again.
const CAREFUL_GROWTH: f64 = 1.003;

/// Weight of one snapshot in the average length. The average covers the last second or so.
const LENGTH_WEIGHT: f64 = 1.0 / 32.0;

/// A sample of a connection: QUIC's smoothed round trip and its counters of packets, the delay of
/// the queue on the path, and the acknowledged bytes with their headers of IP and UDP.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathSample {
    pub(crate) rtt: Duration,
    pub(crate) queue: Duration,
    pub(crate) packets: u64,
    pub(crate) lost: u64,
    pub(crate) delivered: u64,
}

impl PathSample {
    /// The sample from QUIC's counters and from the estimate of the path. The queue comes from the
    /// estimate, because QUIC's smoothed round trip takes jitter for a queue. For a client whose
    /// joining filled the queue, QUIC also never sees a short round trip.
    pub(crate) fn new(stats: &ConnectionStats, path: &PathEstimate) -> Self {
        let (packets, lost) = (stats.path.sent_packets, stats.path.lost_packets);
        let (queue, delivered) = (path.standing_queue(), path.acknowledged());
        Self { rtt: stats.path.rtt, queue, packets, lost, delivered }
    }
}

/// Fits a client's snapshots to what its line carries.
///
/// Four times a second it decides on a rate: if a queue stands on the path, or much is lost, fewer
/// and fuller snapshots are sent, down to 20 a second. Once the line is clear, more are sent again.
/// Loss by chance does not lower the rate (after LEDBAT, RFC 6817). Between two decisions,
/// snapshots only probe a line that is silent or whose queue has just grown. They start slowly, and
/// become fewer while more is in flight than a narrow line carries.
#[derive(Clone, Debug)]
pub(crate) struct SnapshotRate {
    tick_rate: u32,
    /// The tick of the last snapshot that was sent.
    last: Option<u64>,
    /// The tick since which the queue has been too long.
    queue_since: Option<u64>,
    /// Bytes that had been acknowledged before the first snapshot. They belong to the handshake.
    handshake: Option<u64>,
    /// Bytes of all snapshots so far.
    bytes: u64,
    /// Bytes that had been acknowledged when the last snapshot was decided on.
    acknowledged: u64,
    /// Whether snapshots only probed the path at some time since the last decision on the rate.
    is_probing: bool,
    /// Bytes a second, overhead included; `None` while the line has not been found too narrow.
    rate: Option<f64>,
    /// The rate at which the line was congested last.
    ceiling: f64,
    /// Whether the line had already been congested at about that rate. Congestion that was seen
    /// only once may be chance.
    is_confirmed: bool,
    /// Bytes of a snapshot, on average.
    length: f64,
    /// The [`interval`](Self::interval) at which the last snapshot was sent.
    sent_interval: u32,
    /// Bytes of snapshots that were sent since the last decision, overhead included.
    sent: f64,
    /// When the rate was last decided on, and by which sample.
    decided: Option<(Time, PathSample)>,
    /// Until this time, the last cut cannot have taken effect.
    settling_until: Time,
    heavy_losses: u32,
    /// Whether the last decision saw a queue.
    is_congested: bool,
}

impl SnapshotRate {
    /// The rate for a client that has been sent nothing yet, and is sent at most one snapshot a
    /// tick.
    pub(crate) fn new(tick_rate: u32) -> Self {
        Self {
            tick_rate,
            last: None,
            queue_since: None,
            handshake: None,
            bytes: 0,
            acknowledged: 0,
            is_probing: false,
            rate: None,
            ceiling: f64::INFINITY,
            is_confirmed: false,
            length: 0.0,
            sent_interval: 1,
            sent: 0.0,
            decided: None,
            settling_until: Time::ZERO,
            heavy_losses: 0,
            is_congested: false,
        }
    }

    /// Limit in bytes of the snapshot of `tick` at `now` on this path. `None` if it is not to be
    /// sent.
    pub(crate) fn allows(&mut self, tick: u64, now: Instant, path: &PathEstimate) -> Option<usize> {
        let (mut interval, mut largest) = (self.interval(), self.largest());
        if path.unheard(now) >= UNHEARD {
            self.is_probing = true;
            (interval, largest) = (self.tick_rate / PROBE_RATE, PROBE_BYTES);
        } else if self.is_draining(tick, now, path) {
            interval = interval.max(self.tick_rate / PROBE_RATE);
            largest = MIN_SNAPSHOT;
        } else if self.is_starting(path) {
            interval = interval.max(self.tick_rate / LEAST_SNAPSHOTS);
            largest = MIN_SNAPSHOT;
        } else if self.is_filling(path) {
            interval = interval.max(self.tick_rate / LEAST_SNAPSHOTS);
        }
        let is_due = self.last.is_none_or(|last| tick >= last + u64::from(interval));
        is_due.then_some(largest)
    }

    /// Notes that the snapshot of `tick` was sent, and its bytes.
    pub(crate) fn sent(&mut self, tick: u64, bytes: usize) {
        self.last = Some(tick);
        self.bytes += bytes as u64;
        self.sent_interval = self.interval();
        self.sent += bytes as f64 + PACKET_OVERHEAD;
        self.length += (bytes as f64 - self.length) * LENGTH_WEIGHT;
    }

    /// Whether more has been sent than the slow start allows.
    fn is_starting(&mut self, path: &PathEstimate) -> bool {
        let acknowledged = path.acknowledged();
        let handshake = *self.handshake.get_or_insert(acknowledged);
        let before = std::mem::replace(&mut self.acknowledged, acknowledged);
        if acknowledged < before {
            // The connection uses another path. Its counters began at 0, and the slow start begins
            // again.
            (self.handshake, self.bytes) = (Some(acknowledged), 0);
            return false;
        }
        self.bytes > INITIAL_WINDOW + 2 * (acknowledged - handshake)
    }

    /// Whether more is in flight than a line that is known to be narrow carries within a round trip
    /// and [`CONGESTED`]: three ticks at 60 Hz, two for the client to acknowledge and one for the
    /// next snapshot. A fight fills the queue before the first packet that waited in it is
    /// acknowledged.
    fn is_filling(&self, path: &PathEstimate) -> bool {
        let (Some(rate), Some(base)) = (self.rate, path.base()) else { return false };
        // The line carried the ceiling, too.
        path.in_flight() as f64 > rate.max(self.ceiling) * (base + CONGESTED).as_secs_f64()
    }

    /// Whether a queue has built up within the last [`DRAINING_SECONDS`].
    fn is_draining(&mut self, tick: u64, now: Instant, path: &PathEstimate) -> bool {
        if path.unusual_queueing(now).is_none_or(|queue| queue <= QUEUE_LIMIT) {
            self.queue_since = None;
            return false;
        }
        let since = *self.queue_since.get_or_insert(tick);
        tick - since < u64::from(DRAINING_SECONDS * self.tick_rate)
    }

    /// Decides on the rate, by a sample taken at `now`, if the last decision is [`INTERVAL`] ago.
    /// Returns the snapshots a second that are sent from then on, at most.
    pub(crate) fn adapt(&mut self, now: Time, sample: impl FnOnce() -> PathSample) -> Option<f64> {
        if self.decided.is_some_and(|(last, _)| now.since(last) < INTERVAL) {
            return None;
        }
        let (sample, sent) = (sample(), std::mem::take(&mut self.sent));
        let before = self.decided.replace((now, sample));
        if std::mem::take(&mut self.is_probing) {
            // Fewer bytes arrived because fewer were sent, so the sample is useless.
            self.heavy_losses = 0;
        } else if let Some((last, before)) = before
            && sample.packets > before.packets
            && now > last
        {
            self.decide(now, sent, sample, (last, before));
        }
        Some(f64::from(self.tick_rate) / f64::from(self.interval()))
    }

    /// Decides on the rate by the sample and the last one, and by the bytes sent between the two.
    fn decide(&mut self, now: Time, sent: f64, sample: PathSample, last: (Time, PathSample)) {
        let (last, before) = last;
        let packets = sample.packets - before.packets;
        let lost = sample.lost.saturating_sub(before.lost);
        let loss = (lost as f64 / packets as f64).min(1.0);
        self.heavy_losses = if loss >= HEAVY_LOSS { self.heavy_losses + 1 } else { 0 };
        let was_congested = std::mem::replace(&mut self.is_congested, sample.queue > CONGESTED);
        let is_sure = sample.queue > SURELY_CONGESTED || was_congested || self.rate.is_some();
        if (self.is_congested && is_sure) || self.heavy_losses >= LOSS_PATIENCE {
            // Some of the delivered bytes may have been a map's.
            let delivered = sample.delivered.saturating_sub(before.delivered);
            let carried = sent.min(delivered as f64) / now.since(last).as_secs_f64();
            if now >= self.settling_until && carried > 0.0 {
                self.cut(carried, sample.queue);
                self.settling_until = now + sample.rtt + INTERVAL;
            }
        } else if sample.queue < SHORT_QUEUE && loss < HEAVY_LOSS {
            self.grow();
        }
    }

    /// Lowers the rate so far below what the line carried that the queue drains.
    fn cut(&mut self, carried: f64, queue: Duration) {
        let left = 1.0 - queue.as_secs_f64() / DRAIN.as_secs_f64();
        self.is_confirmed = (0.6..1.6).contains(&(carried / self.ceiling));
        self.ceiling = carried;
        self.rate = Some((carried * left.clamp(MOST_CUT, CUT)).max(FLOOR));
        self.heavy_losses = 0;
    }

    /// Raises the rate a little, if it is limited.
    fn grow(&mut self) {
        let Some(rate) = self.rate else { return };
        let near = CUT * self.ceiling..self.ceiling / CUT;
        let is_near = self.is_confirmed && near.contains(&rate);
        let rate = rate * if is_near { CAREFUL_GROWTH } else { GROWTH };
        // A rate that leaves each snapshot twice [`MIN_SNAPSHOT`] bytes is not a limit.
        let all = f64::from(self.tick_rate) * (2.0 * MIN_SNAPSHOT as f64 + PACKET_OVERHEAD);
        self.rate = (rate < all).then_some(rate);
    }

    /// The interval of snapshots: 1 sends every one, 2 every other one. It is the smallest interval
    /// at which snapshots of the current length fit the rate. A snapshot at twice the interval has
    /// about one and a half times the bytes, because more has moved.
    pub(crate) fn interval(&self) -> u32 {
        let Some(rate) = self.rate else { return 1 };
        let most = (self.tick_rate / LEAST_SNAPSHOTS).max(1);
        let fits = |interval: u32| {
            let grown = (f64::from(interval) / f64::from(self.sent_interval)).sqrt();
            let packet = self.length * grown + PACKET_OVERHEAD;
            packet * f64::from(self.tick_rate) / f64::from(interval) <= rate
        };
        (1..most).find(|&interval| fits(interval)).unwrap_or(most)
    }

    /// Bytes of the largest snapshot that fits the rate.
    pub(crate) fn largest(&self) -> usize {
        let Some(rate) = self.rate else { return usize::MAX };
        let snapshots = f64::from(self.tick_rate) / f64::from(self.interval());
        // `as` saturates.
        ((rate / snapshots - PACKET_OVERHEAD) as usize).max(MIN_SNAPSHOT)
    }
}
