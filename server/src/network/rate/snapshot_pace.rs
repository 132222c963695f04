//! Decides whether a snapshot may be sent now, and how large it may be: probes on a dead line,
//! fewer snapshots while a queue drains, and a slow start for newcomers.

use std::time::{Duration, Instant};

use obsp_proto::Time;
use obsp_proto::snapshot::MIN_SNAPSHOT;

use super::path_estimate::PathEstimate;
use super::rate_adaptation::{PathSample, RateAdaptation};

/// After a silence of this length, snapshots only probe the path. It is longer than the longest
/// playable round trip, so that no live line is taken for dead.
pub(crate) const UNHEARD: Duration = Duration::from_secs(1);

/// Probing snapshots a second. The first one comes at most a tenth of a second after the line is
/// back.
pub(crate) const PROBE_RATE: u32 = 10;

/// Limit in bytes of a probing snapshot. It holds the most urgent records.
pub(crate) const PROBE_BYTES: usize = 400;

/// If the recent round trip is longer than usual by more than this, snapshots become few and small
/// at once. The adaptation would be too late: a fight that begins fills the queue of a narrow line
/// before the adaptation notices.
const QUEUE_LIMIT: Duration = Duration::from_millis(60);

/// Snapshots a second while a queue over [`QUEUE_LIMIT`] drains.
const DRAINING_RATE: u32 = 10;
/// Limit in bytes of each snapshot while such a queue drains.
const DRAINING_BYTES: usize = MIN_SNAPSHOT;

/// A narrow line may have as many bytes in flight as it carries in a round trip plus this time:
/// three ticks at 60 Hz. Two are for the client to acknowledge, one for the next snapshot.
const FILLING: Duration = Duration::from_millis(50);

/// Snapshots a second while more bytes than [`FILLING`] allows are in flight. The rate is no lower,
/// because the bytes may belong to a map.
const FILLING_RATE: u32 = 20;

/// A queue that is still there after this many seconds must come from other traffic, so sending
/// less does not drain it.
const DRAINING_SECONDS: u32 = 1;

/// Bytes that a newcomer is sent before any are acknowledged. Each acknowledged byte makes room for
/// two (slow start). The whole world, sent at once, would fill the queue of a narrow line for a
/// second.
const INITIAL_WINDOW: u64 = 1500;
/// Snapshots a second, each of the smallest size, while the slow start has no room.
const STARTING_RATE: u32 = 20;

/// Decides for which ticks a client is sent a snapshot, and how large each may be, by what the
/// client's line carries.
///
/// A silent client is sent few and small snapshots. So a line that was gone for seconds has little
/// in flight when it comes back, and the first such snapshot shows at once that it is back.
#[derive(Clone, Debug)]
pub(crate) struct SnapshotPace {
    tick_rate: u32,
    /// The tick of the last snapshot that was sent.
    last: Option<u64>,
    /// The tick since which the queue has been too long.
    queue_since: Option<u64>,
    /// Bytes that had been acknowledged before the first snapshot. They belong to the handshake.
    handshake: Option<u64>,
    /// Bytes of all snapshots so far.
    bytes: u64,
    /// Bytes that had been acknowledged when the pace last decided on a snapshot.
    acknowledged: u64,
    /// Whether snapshots only probed the path at some time since the last decision on the rate.
    is_probing: bool,
    /// The rate that the line carries.
    adaptation: RateAdaptation,
}

impl SnapshotPace {
    /// The pace of a client that has been sent nothing yet.
    pub(crate) fn new(tick_rate: u32) -> Self {
        let adaptation = RateAdaptation::new(tick_rate);
        Self {
            tick_rate,
            last: None,
            queue_since: None,
            handshake: None,
            bytes: 0,
            acknowledged: 0,
            is_probing: false,
            adaptation,
        }
    }

    /// Limit in bytes of the snapshot of `tick` at `now` on this path. `None` if it is not to be
    /// sent.
    pub(crate) fn allows(&mut self, tick: u64, now: Instant, path: &PathEstimate) -> Option<usize> {
        let (mut interval, mut largest) = (self.adaptation.interval(), self.adaptation.largest());
        if path.unheard(now) >= UNHEARD {
            self.is_probing = true;
            (interval, largest) = (self.tick_rate / PROBE_RATE, PROBE_BYTES);
        } else if self.is_draining(tick, now, path) {
            interval = interval.max(self.tick_rate / DRAINING_RATE);
            largest = largest.min(DRAINING_BYTES);
        } else if self.is_starting(path) {
            interval = interval.max(self.tick_rate / STARTING_RATE);
            largest = largest.min(MIN_SNAPSHOT);
        } else if self.is_filling(path) {
            interval = interval.max(self.tick_rate / FILLING_RATE);
        }
        let is_due = self.last.is_none_or(|last| tick >= last + u64::from(interval));
        is_due.then_some(largest)
    }

    /// Whether more has been sent than the slow start allows.
    fn is_starting(&mut self, path: &PathEstimate) -> bool {
        let acknowledged = path.acknowledged();
        let handshake = *self.handshake.get_or_insert(acknowledged);
        if acknowledged < self.acknowledged {
            // The connection uses another path. Its counters began at 0, and the slow start begins
            // again.
            (self.handshake, self.bytes) = (Some(acknowledged), 0);
            self.acknowledged = acknowledged;
            return false;
        }
        self.acknowledged = acknowledged;
        self.bytes > INITIAL_WINDOW + 2 * (acknowledged - handshake)
    }

    /// Whether more is in flight than a line that is known to be narrow carries within a round trip
    /// and [`FILLING`]. A fight fills the queue before the first packet that waited in it is
    /// acknowledged.
    fn is_filling(&self, path: &PathEstimate) -> bool {
        let (Some(capacity), Some(base)) = (self.adaptation.capacity(), path.base()) else {
            return false;
        };
        path.in_flight() as f64 > capacity * (base + FILLING).as_secs_f64()
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

    /// Adapts to what the line carries, by a sample taken at `now`, if a decision is due. Returns
    /// the snapshots a second that are sent from then on. After probes, the sample is useless:
    /// fewer bytes arrived because fewer were sent.
    pub(crate) fn adapt(&mut self, now: Time, sample: impl FnOnce() -> PathSample) -> Option<f64> {
        let is_due = self.adaptation.is_due(now);
        is_due.then(|| {
            if std::mem::take(&mut self.is_probing) {
                self.adaptation.skip(now, sample());
            } else {
                self.adaptation.observe(now, sample());
            }
            self.adaptation.snapshot_rate()
        })
    }

    /// Notes that the snapshot of `tick` was sent, and its bytes.
    pub(crate) fn sent(&mut self, tick: u64, bytes: usize) {
        self.last = Some(tick);
        self.bytes += bytes as u64;
        self.adaptation.sent(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many snapshots are sent in a second of ticks over this path, and the most bytes that one
    /// of them may have.
    fn sent(tick_rate: u32, now: Instant, path: &PathEstimate) -> (u32, usize) {
        let mut pace = SnapshotPace::new(tick_rate);
        let (mut count, mut largest) = (0, 0);
        for tick in 1..=u64::from(tick_rate) {
            if let Some(bytes) = pace.allows(tick, now, path) {
                pace.sent(tick, 10);
                count += 1;
                largest = largest.max(bytes);
            }
        }
        (count, largest)
    }

    /// A path on which a packet was acknowledged after each of these times.
    fn path(begin: Instant, round_trips: [Duration; 2]) -> (PathEstimate, Instant) {
        let (mut path, mut now) = (PathEstimate::new(begin), begin);
        for round_trip in round_trips {
            let sent = now;
            path.on_sent(sent, 100);
            now = sent + round_trip.max(Duration::from_millis(200));
            path.on_acknowledged(now, now - round_trip, 100);
            path.on_batch_end(now, 0);
        }
        (path, now)
    }

    #[test]
    fn a_silent_client_is_only_probed() {
        let now = Instant::now();
        let mut path = PathEstimate::new(now);
        path.on_sent(now, 100);
        assert_eq!(sent(60, now + UNHEARD / 2, &path), (60, usize::MAX));
        for (tick_rate, most) in [(10, 10), (60, 10), (128, 11)] {
            let (count, bytes) = sent(tick_rate, now + UNHEARD, &path);
            assert!((10..=most).contains(&count), "{count} at {tick_rate} Hz");
            assert_eq!(bytes, PROBE_BYTES);
        }
    }

    #[test]
    fn a_newcomer_is_sent_no_more_than_twice_what_came() {
        let now = Instant::now();
        let (mut pace, mut path) = (SnapshotPace::new(60), PathEstimate::new(now));
        let mut send = |path: &PathEstimate, ticks: std::ops::Range<u64>| {
            let sent = ticks.filter(|&tick| {
                let is_sent = pace.allows(tick, now, path).is_some();
                if is_sent {
                    pace.sent(tick, 500);
                }
                is_sent
            });
            sent.count()
        };
        // Four snapshots of 500 bytes, and then one every 50 ms.
        assert_eq!(send(&path, 1..61), 4 + 18);
        path.on_acknowledged(now, now, 1_000_000);
        assert_eq!(send(&path, 61..121), 60);
    }

    /// QUIC's counters start at 0 again when a client comes from another address.
    #[test]
    fn another_path_begins_slowly_and_from_nothing() {
        let now = Instant::now();
        let (mut pace, mut path) = (SnapshotPace::new(60), PathEstimate::new(now));
        path.on_acknowledged(now, now, 100_000);
        assert!(pace.allows(1, now, &path).is_some());
        path.on_acknowledged(now, now, 100_000);
        pace.sent(1, 50_000);
        assert!(pace.allows(2, now, &path).is_some());
        let other = PathEstimate::new(now);
        assert!(pace.allows(3, now, &other).is_some());
        pace.sent(3, 1_600);
        assert_eq!(pace.allows(4, now, &other), None, "more was sent than came through");
    }

    #[test]
    fn a_queue_is_given_time_to_drain_at_once() {
        let millis = Duration::from_millis;
        let (path_with, now) = path(Instant::now(), [millis(40), millis(40) + QUEUE_LIMIT * 2]);
        for (tick_rate, most) in [(10, 10), (60, 10), (128, 11)] {
            let (count, bytes) = sent(tick_rate, now, &path_with);
            assert!(count <= most, "{count} at {tick_rate} Hz");
            assert_eq!(bytes, MIN_SNAPSHOT);
        }
        // The draining ends as soon as a packet comes back in time.
        let (path_without, now) = path(Instant::now(), [millis(40), millis(40) + QUEUE_LIMIT / 2]);
        assert_eq!(sent(60, now, &path_without), (60, usize::MAX));
    }
}
