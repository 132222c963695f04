//! Adaptation of the snapshot rate to what a path carries: fewer and fuller snapshots
//! while its queue grows.

use std::time::Duration;

use obsp_proto::Time;
use obsp_proto::snapshot::MIN_SNAPSHOT;
use quinn::ConnectionStats;

use super::path_estimate::PathEstimate;

/// Time between two decisions: a dozen packets, a few round trips.
const INTERVAL: Duration = Duration::from_millis(250);

/// Bytes that a packet needs beside the snapshot in it: IP's and UDP's headers, and
/// QUIC's with its seal and an acknowledgement.
const PACKET_OVERHEAD: f64 = 28.0 + 40.0;

/// Snapshots a second that every line is sent, however narrow it is: what lies
/// between two of them is interpolated, and 50 ms more is what that costs.
const LEAST_SNAPSHOTS: f64 = 20.0;

/// Bytes a second below which the rate is not lowered: the fewest snapshots, with next
/// to nothing in them. While much moves they are larger, for each may have
/// [`MIN_SNAPSHOT`]: 52 kbit/s of IP packets.
const FLOOR: f64 = LEAST_SNAPSHOTS * (32.0 + PACKET_OVERHEAD);

/// Growth of the round trip over its recent least, from which on a queue is taken to
/// build up; below the second, there is none: a snapshot that takes longer than the
/// least packet because it is larger is no queue (200 bytes at 64 kbit/s).
const CONGESTED: Duration = Duration::from_millis(50);
const CLEAR: Duration = Duration::from_millis(25);

/// Growth from which on one look is enough to take a line for a narrow one. Below, two in a
/// row must tell of a queue: where jitter makes every fourth round trip so long by chance,
/// all that one look has to go by are so about once an hour.
const SURELY_CONGESTED: Duration = Duration::from_millis(80);

/// Share of packets lost from which on a line without a queue is taken to be too
/// narrow: more than any radio link that can be played over loses by chance.
const HEAVY_LOSS: f64 = 0.25;

/// Decisions in a row with heavy loss before it counts: a short outage is none.
const LOSS_PATIENCE: u32 = 4;

/// The share, at most, of the rate that the line carried when it was congested, and the
/// time in which the queue is to drain.
const CUT: f64 = 0.85;
const DRAIN: Duration = Duration::from_millis(500);

/// Most that is cut at once: a queue may be that of a moment.
const MOST_CUT: f64 = 0.5;

/// Growth at a decision while the line is clear: a fifth a second, and a hundredth
/// near where it was congested twice, so that it is tried again once in half a minute
/// only.
const GROWTH: f64 = 1.05;
const CAREFUL_GROWTH: f64 = 1.003;

/// Weight of one snapshot in the average length: that of the last second or so.
const LENGTH_WEIGHT: f64 = 1.0 / 32.0;

/// QUIC's counters of a connection, its smoothed round trip, how long the queue on the
/// way is, and how many bytes of packets, their headers of IP and UDP included, were
/// acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PathSample {
    pub(super) rtt: Duration,
    pub(super) queue: Duration,
    pub(super) packets: u64,
    pub(super) lost: u64,
    pub(super) delivered: u64,
}

impl PathSample {
    /// QUIC's counters so far, on a path whose packets are known as `path` has it. QUIC's
    /// smoothed round trip would not do: it takes jitter for a queue, and that of a client
    /// whose joining filled the queue is never short.
    pub(super) fn new(stats: &ConnectionStats, path: &PathEstimate) -> Self {
        let (packets, lost) = (stats.path.sent_packets, stats.path.lost_packets);
        let (queue, delivered) = (path.standing_queue(), path.acknowledged());
        Self { rtt: stats.path.rtt, queue, packets, lost, delivered }
    }
}

/// Fits a client's snapshots to what its line carries: where a queue builds up on
/// the way, or much is lost, fewer and fuller ones are sent, down to 20 a second, and
/// more again once the line is clear. A delay-based control as LEDBAT's (RFC 6817):
/// loss by chance does not lower it.
#[derive(Clone, Debug)]
pub(super) struct RateAdaptation {
    snapshot_rate: f64,
    /// Bytes a second, overhead included; `None` while the line has not been found
    /// too narrow.
    rate: Option<f64>,
    /// The rate at which the line was congested last.
    ceiling: f64,
    /// Whether it was congested at about that rate before, too: once may be by chance.
    is_confirmed: bool,
    /// Bytes of a snapshot, on average, and of every which that was.
    length: f64,
    sent_interval: u32,
    /// Bytes of snapshots that were sent since the last look, overhead included.
    sent: f64,
    last: Option<(Time, PathSample)>,
    /// Until when a cut has had no time to show.
    settling_until: Time,
    heavy_losses: u32,
    /// Whether there was a queue at the last look.
    is_congested: bool,
}

impl RateAdaptation {
    /// For a client that is sent so many snapshots a second at most.
    pub(super) fn new(snapshot_rate: u32) -> Self {
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

    /// Whether the last look is long enough ago for another.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.last.is_none_or(|(last, _)| now.since(last) >= INTERVAL)
    }

    /// Decides by what happened since the last look; `now` is at least
    /// 250 ms later.
    pub(super) fn observe(&mut self, now: Time, sample: PathSample) {
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
            // Of what was delivered, some may have been a map.
            let carried = sent.min(delivered as f64) / passed;
            if now >= self.settling_until && carried > 0.0 {
                self.cut(carried, queue);
                self.settling_until = now + sample.rtt + INTERVAL;
            }
        } else if queue < CLEAR && loss < HEAVY_LOSS {
            self.grow();
        }
    }

    /// Begins anew with this sample, and decides nothing by what happened before it:
    /// too little was sent to tell what the line carries.
    pub(super) fn skip(&mut self, now: Time, sample: PathSample) {
        (self.sent, self.heavy_losses) = (0.0, 0);
        self.last = Some((now, sample));
    }

    /// Notes the bytes of a snapshot that was sent.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.sent_interval = self.interval();
        self.sent += bytes as f64 + PACKET_OVERHEAD;
        self.length += (bytes as f64 - self.length) * LENGTH_WEIGHT;
    }

    /// Sends so much less than what the line carried that the queue drains.
    fn cut(&mut self, carried: f64, queue: Duration) {
        let left = 1.0 - queue.as_secs_f64() / DRAIN.as_secs_f64();
        self.is_confirmed = (0.6..1.6).contains(&(carried / self.ceiling));
        self.ceiling = carried;
        self.rate = Some((carried * left.clamp(MOST_CUT, CUT)).max(FLOOR));
        self.heavy_losses = 0;
    }

    /// Sends a little more, unless nothing is held back.
    fn grow(&mut self) {
        let Some(rate) = self.rate else { return };
        let near = CUT * self.ceiling..self.ceiling / CUT;
        let is_near = self.is_confirmed && near.contains(&rate);
        let rate = rate * if is_near { CAREFUL_GROWTH } else { GROWTH };
        // As much as twice what every snapshot could be full of is no bound.
        let all = self.snapshot_rate * (2.0 * MIN_SNAPSHOT as f64 + PACKET_OVERHEAD);
        self.rate = (rate < all).then_some(rate);
    }

    /// Bytes a second that the line is known to carry at least, overhead included; `None`
    /// while it has not been found too narrow.
    pub(super) fn capacity(&self) -> Option<f64> {
        self.rate.map(|rate| rate.max(self.ceiling))
    }

    /// Only every which snapshot is to be sent: as few as fit the rate, if they are as
    /// long as they are now. Of what moves, half as many snapshots tell in one and a
    /// half times the bytes.
    pub(super) fn interval(&self) -> u32 {
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
    pub(super) fn largest(&self) -> usize {
        let Some(rate) = self.rate else { return usize::MAX };
        let snapshots = self.snapshot_rate / f64::from(self.interval());
        // `as` saturates.
        ((rate / snapshots - PACKET_OVERHEAD) as usize).max(MIN_SNAPSHOT)
    }

    /// Snapshots a second that are sent now, at most.
    pub(super) fn snapshot_rate(&self) -> f64 {
        self.snapshot_rate / f64::from(self.interval())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that carries so many bytes a second after a queue of so long, with a way
    /// of 20 ms each way that loses a share.
    struct Line {
        carries: f64,
        queue: Duration,
        loss: f64,
    }

    /// The bytes sent to a client of 60 snapshots a second, of which each would have so many
    /// bytes: snapshots a second, and the share of time in which the queue delays by more than
    /// 60 ms, over the second half of so many seconds.
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
        // The queue takes one packet of these and no second one.
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
