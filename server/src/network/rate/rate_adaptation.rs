//! Adaptation of the snapshot rate to what a path carries: fewer and fuller snapshots
//! while its queue grows.

use std::time::Duration;

use obsp_proto::Time;
use obsp_proto::snapshot::MIN_SNAPSHOT;
use quinn::ConnectionStats;

use super::path_estimate::PathEstimate;

/// Time between two decisions: a dozen packets, a few round trips.
const INTERVAL: Duration = Duration::from_millis(250);

/// Bytes of a packet beside the snapshot in it: the headers of IP and UDP, and QUIC's header,
/// authentication tag and an acknowledgement.
const PACKET_OVERHEAD: f64 = 28.0 + 40.0;

/// Snapshots a second that every line is sent, however narrow it is. The client interpolates
/// between two of them, which costs 50 ms more delay.
const LEAST_SNAPSHOTS: f64 = 20.0;

/// The rate is never lowered below this many bytes a second: the fewest snapshots, with next to
/// nothing in them. While much moves, snapshots are larger, because each may have [`MIN_SNAPSHOT`]
/// bytes. That makes 52 kbit/s of IP packets.
const FLOOR: f64 = LEAST_SNAPSHOTS * (32.0 + PACKET_OVERHEAD);

/// A longer delay of the queue counts as congestion.
const CONGESTED: Duration = Duration::from_millis(50);
/// A queue with a shorter delay is ignored. At 64 kbit/s, a packet takes this much longer with 200
/// more bytes.
const CLEAR: Duration = Duration::from_millis(25);

/// A longer delay of the queue counts as congestion at once. A shorter one has to be seen at two
/// decisions in a row. If jitter makes every fourth round trip this long, all round trips of one
/// decision are this long about once an hour.
const SURELY_CONGESTED: Duration = Duration::from_millis(80);

/// If at least this share of packets is lost, a line counts as too narrow even without a queue. No
/// radio link that can be played over loses this much by chance.
const HEAVY_LOSS: f64 = 0.25;

/// Heavy loss counts after this many decisions in a row. A short outage has fewer.
const LOSS_PATIENCE: u32 = 4;

/// A cut leaves at most this share of the rate that the congested line carried.
const CUT: f64 = 0.85;
/// The time in which the queue is to drain after a cut.
const DRAIN: Duration = Duration::from_millis(500);

/// A cut leaves at least this share, because the queue may last only a moment.
const MOST_CUT: f64 = 0.5;

/// Growth of the rate at a decision while the line is clear: a fifth a second.
const GROWTH: f64 = 1.05;
/// Growth near a rate at which the line was congested twice: a hundredth a second. After a cut to
/// [`CUT`] of that rate or less, it takes about 14 s or more to reach the rate again.
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

/// Fits a client's snapshots to what its line carries. If a queue builds up on the path, or much is
/// lost, fewer and fuller snapshots are sent, down to 20 a second. Once the line is clear, more are
/// sent again. The control is based on delay, as in LEDBAT (RFC 6817): loss by chance does not
/// lower the rate.
#[derive(Clone, Debug)]
pub(crate) struct RateAdaptation {
    snapshot_rate: f64,
    /// Bytes a second, overhead included; `None` while the line has not been found
    /// too narrow.
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
    last: Option<(Time, PathSample)>,
    /// Until this time, the last cut cannot have taken effect.
    settling_until: Time,
    heavy_losses: u32,
    /// Whether the last decision saw a queue.
    is_congested: bool,
}

impl RateAdaptation {
    /// The adaptation for a client that is sent at most `snapshot_rate` snapshots a second.
    pub(crate) fn new(snapshot_rate: u32) -> Self {
        Self {
            snapshot_rate: snapshot_rate.into(),
            rate: None,
            ceiling: f64::INFINITY,
            is_confirmed: false,
            length: 0.0,
            sent_interval: 1,
            sent: 0.0,
            last: None,
            settling_until: Time::ZERO,
            heavy_losses: 0,
            is_congested: false,
        }
    }

    /// Whether the last decision is long enough ago for another.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.last.is_none_or(|(last, _)| now.since(last) >= INTERVAL)
    }

    /// Decides on the rate by the sample and the last one, which is at least 250 ms older.
    pub(crate) fn observe(&mut self, now: Time, sample: PathSample) {
        let sent = std::mem::take(&mut self.sent);
        let Some((last, before)) = self.last.replace((now, sample)) else { return };
        let packets = sample.packets.saturating_sub(before.packets);
        let lost = sample.lost.saturating_sub(before.lost);
        let delivered = sample.delivered.saturating_sub(before.delivered);
        let passed = now.since(last).as_secs_f64();
        if packets == 0 || passed == 0.0 {
            return;
        }
        let loss = (lost as f64 / packets as f64).min(1.0);
        let queue = sample.queue;
        self.heavy_losses = if loss >= HEAVY_LOSS { self.heavy_losses + 1 } else { 0 };
        let was_congested = std::mem::replace(&mut self.is_congested, queue > CONGESTED);
        let is_sure = queue > SURELY_CONGESTED || was_congested || self.rate.is_some();
        if (queue > CONGESTED && is_sure) || self.heavy_losses >= LOSS_PATIENCE {
            // Some of the delivered bytes may have been a map's.
            let carried = sent.min(delivered as f64) / passed;
            if now >= self.settling_until && carried > 0.0 {
                self.cut(carried, queue);
                self.settling_until = now + sample.rtt + INTERVAL;
            }
        } else if queue < CLEAR && loss < HEAVY_LOSS {
            self.grow();
        }
    }

    /// Starts again with this sample, without a decision: too little was sent to show what the line
    /// carries.
    pub(crate) fn skip(&mut self, now: Time, sample: PathSample) {
        (self.sent, self.heavy_losses) = (0.0, 0);
        self.last = Some((now, sample));
    }

    /// Notes the bytes of a snapshot that was sent.
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.sent_interval = self.interval();
        self.sent += bytes as f64 + PACKET_OVERHEAD;
        self.length += (bytes as f64 - self.length) * LENGTH_WEIGHT;
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
        let all = self.snapshot_rate * (2.0 * MIN_SNAPSHOT as f64 + PACKET_OVERHEAD);
        self.rate = (rate < all).then_some(rate);
    }

    /// Bytes a second that the line is known to carry at least, overhead included; `None`
    /// while it has not been found too narrow.
    pub(crate) fn capacity(&self) -> Option<f64> {
        self.rate.map(|rate| rate.max(self.ceiling))
    }

    /// The interval of snapshots: 1 sends every one, 2 every other one. It is the smallest interval
    /// at which snapshots of the current length fit the rate. A snapshot at twice the interval has
    /// about one and a half times the bytes, because more has moved.
    pub(crate) fn interval(&self) -> u32 {
        let Some(rate) = self.rate else { return 1 };
        let most = (self.snapshot_rate / LEAST_SNAPSHOTS).max(1.0) as u32;
        let fits = |interval: u32| {
            let grown = (f64::from(interval) / f64::from(self.sent_interval)).sqrt();
            let packet = self.length * grown + PACKET_OVERHEAD;
            packet * self.snapshot_rate / f64::from(interval) <= rate
        };
        (1..most).find(|&interval| fits(interval)).unwrap_or(most)
    }

    /// Bytes of the largest snapshot that is to be sent.
    pub(crate) fn largest(&self) -> usize {
        let Some(rate) = self.rate else { return usize::MAX };
        let snapshots = self.snapshot_rate / f64::from(self.interval());
        // `as` saturates.
        ((rate / snapshots - PACKET_OVERHEAD) as usize).max(MIN_SNAPSHOT)
    }

    /// Snapshots a second that are sent now, at most.
    pub(crate) fn snapshot_rate(&self) -> f64 {
        self.snapshot_rate / f64::from(self.interval())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that carries this many bytes a second behind a queue of this length. It delays by 20
    /// ms each way and loses this share of packets.
    struct Line {
        carries: f64,
        queue: Duration,
        loss: f64,
    }

    /// Plays for this many seconds with 60 snapshots a second of `wanted` bytes each. Returns, for
    /// the second half of the time, the snapshots a second and the share of time in which the queue
    /// delays by more than 60 ms.
    fn play(line: &Line, wanted: usize, seconds: u32) -> (f64, f64) {
        let mut rate = RateAdaptation::new(60);
        let (mut waiting, mut rtt) = (0.0_f64, 0.04);
        let (mut sent, mut queued) = (0, 0);
        let (mut sample, mut chance) = (PathSample::default(), 0.0);
        for tick in 0..seconds * 60 {
            let now = Time::since_start(Duration::from_secs(1) * tick / 60);
            waiting = (waiting - line.carries / 60.0).max(0.0);
            if tick % rate.interval() == 0 {
                let length = wanted.min(rate.largest());
                rate.sent(length);
                let bytes = length as f64 + PACKET_OVERHEAD;
                sample.packets += 1;
                chance += line.loss;
                let delay = (waiting + bytes) / line.carries;
                if chance >= 1.0 || delay > line.queue.as_secs_f64() {
                    chance = (chance - 1.0).max(0.0);
                    sample.lost += 1;
                } else {
                    waiting += bytes;
                    sample.delivered += bytes as u64;
                    rtt += (0.04 + delay - rtt) / 8.0;
                }
                sent += u32::from(tick >= seconds * 30);
            }
            if tick >= seconds * 30 {
                queued += u32::from(waiting / line.carries > 0.06);
            }
            sample.rtt = Duration::from_secs_f64(rtt);
            sample.queue = Duration::from_secs_f64((rtt - 0.04).max(0.0));
            if rate.is_due(now) {
                rate.observe(now, sample);
            }
        }
        let half = f64::from(seconds) / 2.0;
        (f64::from(sent) / half, f64::from(queued) / (half * 60.0))
    }

    #[test]
    fn a_narrow_line_gets_fewer_and_fuller_snapshots_and_no_queue() {
        let queue = Duration::from_millis(200);
        for wanted in [60, 120, 300, 900] {
            let line = Line { carries: 8000.0, queue, loss: 0.0 };
            let (rate, queued) = play(&line, wanted, 120);
            assert!(rate >= 20.0, "{wanted} bytes: {rate} a second");
            assert!(queued < 0.08, "{wanted} bytes: queue {queued} of the time");
        }
    }

    #[test]
    fn a_policed_line_without_a_queue_is_noticed_by_its_loss() {
        let line = Line { carries: 8000.0, queue: Duration::from_millis(34), loss: 0.0 };
        // The queue holds one of these packets, but not two.
        let (rate, _) = play(&line, 200, 60);
        assert!((20.0..40.0).contains(&rate), "{rate} a second");
    }

    #[test]
    fn loss_by_chance_lowers_nothing() {
        let line = Line { carries: 1e6, queue: Duration::from_secs(1), loss: 0.15 };
        assert_eq!(play(&line, 200, 20).0, 60.0);
    }

    #[test]
    fn a_line_that_is_wide_again_gets_all_again() {
        let mut rate = RateAdaptation::new(60);
        let mut sample = PathSample { rtt: Duration::from_millis(40), ..PathSample::default() };
        let mut observe = |second: f64, rtt| {
            sample.packets += 15;
            sample.delivered += 15 * (150 + PACKET_OVERHEAD as u64);
            (0..15).for_each(|_| rate.sent(150));
            sample.rtt = Duration::from_millis(rtt);
            sample.queue = Duration::from_millis(rtt - 40);
            rate.observe(Time::since_start(Duration::from_secs_f64(second)), sample);
            rate.interval()
        };
        assert_eq!(observe(1.0, 40), 1);
        assert_eq!(observe(1.25, 40), 1);
        assert!(observe(1.5, 140) > 1);
        let again = (0..400).find(|&look| observe(2.0 + f64::from(look) / 4.0, 40) == 1);
        assert!(again.is_some_and(|look| look < 200), "{again:?}");
    }
}
