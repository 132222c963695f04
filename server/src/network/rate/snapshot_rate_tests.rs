//! Snapshots over lines in a small model, and over paths that are made up.

use std::time::{Duration, Instant};

use obsp_proto::Time;
use obsp_proto::snapshot::MIN_SNAPSHOT;

use super::UNHEARD;
use super::path_estimate::PathEstimate;
use super::snapshot_rate::{PACKET_OVERHEAD, PROBE_BYTES, PathSample, QUEUE_LIMIT, SnapshotRate};

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
    let mut rate = SnapshotRate::new(60);
    let (mut waiting, mut rtt) = (0.0_f64, 0.04);
    let (mut sent, mut queued) = (0, 0);
    let (mut sample, mut chance) = (PathSample::default(), 0.0);
    for tick in 0..seconds * 60 {
        let now = Time::since_start(Duration::from_secs(1) * tick / 60);
        waiting = (waiting - line.carries / 60.0).max(0.0);
        if tick % rate.interval() == 0 {
            let length = wanted.min(rate.largest());
            rate.sent(tick.into(), length);
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
        rate.adapt(now, || sample);
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
    let mut rate = SnapshotRate::new(60);
    let mut sample = PathSample { rtt: Duration::from_millis(40), ..PathSample::default() };
    let mut observe = |second: f64, rtt| {
        sample.packets += 15;
        sample.delivered += 15 * (150 + PACKET_OVERHEAD as u64);
        (0..15).for_each(|_| rate.sent(0, 150));
        sample.rtt = Duration::from_millis(rtt);
        sample.queue = Duration::from_millis(rtt - 40);
        rate.adapt(Time::since_start(Duration::from_secs_f64(second)), || sample);
        rate.interval()
    };
    assert_eq!(observe(1.0, 40), 1);
    assert_eq!(observe(1.25, 40), 1);
    assert!(observe(1.5, 140) > 1);
    let again = (0..400).find(|&look| observe(2.0 + f64::from(look) / 4.0, 40) == 1);
    assert!(again.is_some_and(|look| look < 200), "{again:?}");
}

/// How many snapshots are sent in a second of ticks over this path, and the most bytes that one
/// of them may have.
fn sent(tick_rate: u32, now: Instant, path: &PathEstimate) -> (u32, usize) {
    let mut rate = SnapshotRate::new(tick_rate);
    let (mut count, mut largest) = (0, 0);
    for tick in 1..=u64::from(tick_rate) {
        if let Some(bytes) = rate.allows(tick, now, path) {
            rate.sent(tick, 10);
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
    let (mut rate, mut path) = (SnapshotRate::new(60), PathEstimate::new(now));
    let mut send = |path: &PathEstimate, ticks: std::ops::Range<u64>| {
        let sent = ticks.filter(|&tick| {
            let is_sent = rate.allows(tick, now, path).is_some();
            if is_sent {
                rate.sent(tick, 500);
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
    let (mut rate, mut path) = (SnapshotRate::new(60), PathEstimate::new(now));
    path.on_acknowledged(now, now, 100_000);
    assert!(rate.allows(1, now, &path).is_some());
    path.on_acknowledged(now, now, 100_000);
    rate.sent(1, 50_000);
    assert!(rate.allows(2, now, &path).is_some());
    let other = PathEstimate::new(now);
    assert!(rate.allows(3, now, &other).is_some());
    rate.sent(3, 1_600);
    assert_eq!(rate.allows(4, now, &other), None, "a snapshot while 1600 bytes are unacknowledged");
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
