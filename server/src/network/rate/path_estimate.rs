//! The estimate of a path from acknowledgements: queueing delay, delivery rate and loss.

use std::time::{Duration, Instant};

/// Length of a bucket of the recent minimum. At 60 snapshots a second, two buckets hold a handful
/// of acknowledgements. So their minimum is free of jitter and of acknowledgements that were held
/// back.
const RECENT_BUCKET: Duration = Duration::from_millis(50);
const RECENT_BUCKETS: usize = 2;

/// Length of a bucket of the minimum for decisions that are made a few times a second. A queue that
/// is never empty for two buckets is a standing queue (RFC 8289, 3.2). Jitter, or a single
/// acknowledgement that an outage held back, does not look like one.
const STANDING_BUCKET: Duration = Duration::from_millis(125);

/// One acknowledgement has the weight `1 / USUAL_WEIGHT` in the usual delay. So this is the average
/// of the last second or two.
const USUAL_WEIGHT: u32 = 64;

/// Length of a bucket of the base round trip. The window of some forty seconds
/// outlasts a queue that was filled by mistake, and follows a route that has
/// become longer.
const BASE_BUCKET: Duration = Duration::from_secs(8);
const BASE_BUCKETS: usize = 5;

/// Bytes that IP and UDP add to each packet (IPv4; IPv6 adds 20 more).
pub(crate) const IP_OVERHEAD: u64 = 28;

/// The estimate of the path to a client, from acknowledgements: the delay of its queue, the bytes
/// that were delivered and lost, and since when nothing was heard.
///
/// The acknowledged bytes include the headers of IP and UDP, because a narrow line also has to
/// carry these.
#[derive(Clone, Debug)]
pub(crate) struct PathEstimate {
    base: WindowedMin<BASE_BUCKETS>,
    recent: WindowedMin<RECENT_BUCKETS>,
    standing: WindowedMin<RECENT_BUCKETS>,
    /// How much longer than the base the round trip is on average.
    usual: Duration,
    /// The shortest round trip among the packets of the current acknowledgement. It belongs to the
    /// last packet, which waited least for the acknowledgement.
    batch: Option<Duration>,
    acknowledged: u64,
    lost: u64,
    in_flight: u64,
    /// When the first packet after the last acknowledgement was sent.
    waiting_since: Option<Instant>,
}

impl PathEstimate {
    /// The estimate of a path of which nothing is known yet.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            base: WindowedMin::new(now, BASE_BUCKET),
            recent: WindowedMin::new(now, RECENT_BUCKET),
            standing: WindowedMin::new(now, STANDING_BUCKET),
            usual: Duration::ZERO,
            batch: None,
            acknowledged: 0,
            lost: 0,
            in_flight: 0,
            waiting_since: None,
        }
    }

    /// Notes that packets with `bytes` in all were sent.
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u64) {
        self.in_flight += bytes;
        self.waiting_since.get_or_insert(now);
    }

    /// Notes that a packet was acknowledged.
    pub(crate) fn on_acknowledged(&mut self, now: Instant, sent: Instant, bytes: u64) {
        let round_trip = now.saturating_duration_since(sent);
        self.batch = Some(self.batch.map_or(round_trip, |least| least.min(round_trip)));
        self.acknowledged += bytes + IP_OVERHEAD;
    }

    /// Notes the end of an acknowledgement, after which `in_flight` bytes are in flight.
    pub(crate) fn on_batch_end(&mut self, now: Instant, in_flight: u64) {
        self.in_flight = in_flight;
        self.waiting_since = (in_flight > 0).then_some(now);
        if let Some(round_trip) = self.batch.take() {
            self.base.insert(now, round_trip);
            self.recent.insert(now, round_trip);
            self.standing.insert(now, round_trip);
            let delay = round_trip.saturating_sub(self.base().unwrap_or(round_trip));
            self.usual = self.usual * (USUAL_WEIGHT - 1) / USUAL_WEIGHT + delay / USUAL_WEIGHT;
        }
    }

    /// Notes that packets with `bytes` in all were lost.
    pub(crate) fn on_lost(&mut self, bytes: u64) {
        self.lost += bytes;
        self.in_flight = self.in_flight.saturating_sub(bytes);
    }

    /// How long packets have been under way without an acknowledgement.
    pub(crate) fn unheard(&self, now: Instant) -> Duration {
        self.waiting_since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// The round trip without any queue, if it was ever measured.
    pub(crate) fn base(&self) -> Option<Duration> {
        self.base.get()
    }

    /// The recent round trip, or the base one if none was measured recently.
    pub(crate) fn round_trip(&self, now: Instant) -> Option<Duration> {
        self.recent.at(now).or(self.base())
    }

    /// The delay of the queue: how much longer than the base the recent round trip is. `None` if
    /// none was measured recently.
    pub(crate) fn queueing(&self, now: Instant) -> Option<Duration> {
        Some(self.recent.at(now)?.saturating_sub(self.base()?))
    }

    /// How much longer than usual the delay of the queue is. The usual delay is the average on this
    /// line, where packets may jitter or wait for one another. `None` if no round trip was measured
    /// recently.
    pub(crate) fn unusual_queueing(&self, now: Instant) -> Option<Duration> {
        Some(self.queueing(now)?.saturating_sub(self.usual))
    }

    /// The delay of a standing queue: how much longer than the base the least round trip of the
    /// last two [`STANDING_BUCKET`]s was.
    pub(crate) fn standing_queue(&self) -> Duration {
        let (Some(standing), Some(base)) = (self.standing.get(), self.base()) else {
            return Duration::ZERO;
        };
        standing.saturating_sub(base)
    }

    /// Bytes that are in flight.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Bytes that were acknowledged in all.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Bytes that were lost in all.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }
}

/// The smallest of the values that were inserted during the last few buckets of time.
#[derive(Clone, Copy, Debug)]
struct WindowedMin<const BUCKETS: usize> {
    /// The newest bucket is the first.
    least: [Option<Duration>; BUCKETS],
    bucket: Duration,
    /// When the newest bucket began.
    began: Instant,
}

impl<const BUCKETS: usize> WindowedMin<BUCKETS> {
    fn new(now: Instant, bucket: Duration) -> Self {
        Self { least: [None; BUCKETS], bucket, began: now }
    }

    fn insert(&mut self, now: Instant, value: Duration) {
        let passed = self.passed(now);
        let shift = (passed as usize).min(BUCKETS);
        self.least.copy_within(..BUCKETS - shift, shift);
        self.least[..shift].fill(None);
        self.began += self.bucket * passed;
        self.least[0] = Some(self.least[0].map_or(value, |least| least.min(value)));
    }

    /// The smallest value as of the last insertion.
    fn get(&self) -> Option<Duration> {
        self.least.iter().flatten().min().copied()
    }

    /// The smallest value as of now.
    fn at(&self, now: Instant) -> Option<Duration> {
        let left = BUCKETS.saturating_sub(self.passed(now) as usize);
        self.least[..left].iter().flatten().min().copied()
    }

    /// How many buckets have begun since the newest one in `least`.
    fn passed(&self, now: Instant) -> u32 {
        let passed = now.saturating_duration_since(self.began).as_nanos() / self.bucket.as_nanos();
        u32::try_from(passed).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn milliseconds(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    /// The estimate of a path after `seconds`. The path carries 60 packets a second, and each is
    /// acknowledged after `round_trip(sent)`, in milliseconds.
    fn estimate(seconds: u64, round_trip: impl Fn(u64) -> u64) -> (PathEstimate, Instant) {
        let begin = Instant::now();
        let mut path = PathEstimate::new(begin);
        let mut now = begin;
        for packet in 0..seconds * 60 {
            let sent = milliseconds(packet * 1000 / 60);
            now = begin + sent + milliseconds(round_trip(packet * 1000 / 60));
            path.on_sent(begin + sent, 100);
            path.on_acknowledged(now, begin + sent, 100);
            path.on_batch_end(now, 0);
        }
        (path, now)
    }

    #[test]
    fn a_queue_is_told_from_a_long_way_and_from_jitter() {
        let (path, now) = estimate(10, |_| 80);
        assert_eq!(path.queueing(now), Some(Duration::ZERO));
        let (path, now) = estimate(10, |sent| 80 + if sent > 8_000 { 45 } else { 0 });
        assert_eq!(
            (path.base(), path.queueing(now)),
            (Some(milliseconds(80)), Some(milliseconds(45)))
        );
        let (path, now) = estimate(10, |sent| 80 + sent * 7919 % 20);
        assert!(path.queueing(now).unwrap() < milliseconds(10), "{:?}", path.queueing(now));
    }

    /// A line with up to 40 ms of jitter each way. Round trips are 40 ms longer than the shortest
    /// on average, without a queue. Now and then, all recent ones are late by chance.
    #[test]
    fn jitter_is_usual_and_a_queue_is_not() {
        let jitter = |sent: u64| 60 + sent * 7919 % 41 + sent * 104_729 % 41;
        let (path, now) = estimate(10, |sent| if sent > 9_900 { 140 } else { jitter(sent) });
        assert!(path.queueing(now).unwrap() > milliseconds(60), "{:?}", path.queueing(now));
        let unusual = path.unusual_queueing(now).unwrap();
        assert!(unusual < milliseconds(50), "{unusual:?}");
        let (path, now) = estimate(10, |sent| if sent > 9_900 { 140 } else { 60 });
        let unusual = path.unusual_queueing(now).unwrap();
        assert!(unusual > milliseconds(60), "{unusual:?}");
    }

    /// Joining fills the queue at once, so only the handshake met an empty one.
    #[test]
    fn a_queue_that_is_full_from_the_first_snapshots_on_is_noticed() {
        let (path, _) = estimate(10, |sent| if sent < 50 { 80 } else { 250 });
        assert_eq!(path.standing_queue(), milliseconds(170));
        let (path, _) = estimate(10, |sent| 80 + sent * 7919 % 40);
        assert!(path.standing_queue() < milliseconds(10), "{:?}", path.standing_queue());
    }

    #[test]
    fn a_route_that_has_become_longer_is_no_queue_after_a_while() {
        let longer = |sent| if sent > 10_000 { 200 } else { 50 };
        let (path, now) = estimate(20, longer);
        assert_eq!(path.queueing(now), Some(milliseconds(150)));
        let (path, now) = estimate(60, longer);
        assert_eq!(path.queueing(now), Some(Duration::ZERO));
    }

    #[test]
    fn silence_is_counted_from_the_first_packet_without_an_answer() {
        let (mut path, now) = estimate(1, |_| 50);
        assert_eq!(path.unheard(now + milliseconds(5_000)), Duration::ZERO, "nothing was sent");
        path.on_sent(now + milliseconds(100), 100);
        path.on_sent(now + milliseconds(900), 100);
        assert_eq!(path.unheard(now + milliseconds(1_000)), milliseconds(900));
        assert_eq!(path.queueing(now + milliseconds(1_000)), None, "too long ago");
        path.on_acknowledged(now + milliseconds(1_000), now + milliseconds(900), 100);
        path.on_batch_end(now + milliseconds(1_000), 0);
        assert_eq!(path.unheard(now + milliseconds(1_500)), Duration::ZERO);
        path.on_sent(now, 100);
        path.on_lost(100);
        assert_eq!((path.in_flight(), path.lost()), (0, 100));
    }
}
