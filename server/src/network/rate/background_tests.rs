//! A map transfer beside snapshots on lines of many kinds, in virtual time.

use std::time::Duration;

use quinn_proto::{Dir, IdleTimeout, StreamId, TransportConfig};

use super::background::Background;
use super::congestion::GameCongestion;
use super::snapshot_rate::{PathSample, SnapshotRate};
use super::virtual_line::{Direction, VirtualLine};
use crate::network::endpoint::{Limits, transport};

/// Bytes of the map dm4 as it is sent.
const MAP: usize = 534_071;

const TICK_RATE: u32 = 60;
const LIMITS: Limits = Limits { players: 32, budget: 16_000, snapshot_rate: TICK_RATE };

/// Bytes of a snapshot of a match of 32 players.
const SNAPSHOT: usize = 120;

/// A client's first snapshots are the largest there are, because its budget is still unspent.
const FIRST_SNAPSHOTS: u64 = 8;
/// Bytes of each of the first snapshots.
const FIRST_SNAPSHOT: usize = 1_000;

/// How often the transfer checks whether it may send.
const POLL: Duration = Duration::from_millis(2);

/// The measurements of a transfer.
#[derive(Debug)]
struct Outcome {
    /// How long the transfer took.
    time: Duration,
    /// Snapshots a second that arrived during the transfer.
    snapshots: f64,
    /// The 99th percentile of the snapshots' delays.
    delay: Duration,
    /// The longest time without a snapshot.
    gap: Duration,
}

fn slow(kbit: f64) -> Direction {
    let queue = Duration::from_millis(200);
    Direction { delay: DELAY, rate: Some(kbit * 125.0), queue, ..Direction::default() }
}

/// Half of a round trip.
const DELAY: Duration = Duration::from_millis(20);

fn transfer(down: Direction) -> Outcome {
    transfer_beside(SNAPSHOT, down)
}

/// Transfers a map beside snapshots of `snapshot_bytes`.
fn transfer_beside(snapshot_bytes: usize, down: Direction) -> Outcome {
    let up = Direction { rate: None, queue: Duration::ZERO, ..down.clone() };
    let mut client = TransportConfig::default();
    client.max_idle_timeout(Some(IdleTimeout::try_from(obsp_proto::IDLE_TIMEOUT).unwrap()));
    let mut line = VirtualLine::connect([down, up], transport(LIMITS), client, 1);
    let (mut rate, mut tick) = (SnapshotRate::new(TICK_RATE), 0);
    let mut download = Download::new(&mut line);
    let begin = line.elapsed();
    let mut arrivals: Vec<(Duration, Duration)> = Vec::new();
    while !download.is_done() {
        download.go_on(&mut line);
        if line.elapsed() - begin >= Duration::from_secs(tick) / TICK_RATE {
            tick += 1;
            send_snapshot(&mut line, &mut rate, tick, snapshot_bytes);
            let _ = line.client().datagrams().send(vec![0; 60].into(), true);
        }
        line.pass(POLL);
        for (at, snapshot) in line.take_received() {
            let sent = u64::from_le_bytes(snapshot[..8].try_into().unwrap());
            arrivals.push((at, at - Duration::from_nanos(sent)));
        }
        assert!(
            !line.is_lost() && line.elapsed() < Duration::from_secs(600),
            "the transfer does not end"
        );
    }
    let time = line.elapsed() - begin;
    let mut gaps = arrivals.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let gap = gaps.by_ref().max().unwrap_or_default();
    let mut delays: Vec<_> = arrivals.iter().map(|(_, delay)| *delay).collect();
    delays.sort_unstable();
    let snapshots = arrivals.len() as f64 / time.as_secs_f64();
    Outcome { time, snapshots, delay: delays[delays.len() * 99 / 100], gap }
}

/// Sends a snapshot that holds the time at which it was sent.
fn send_snapshot(
    line: &mut VirtualLine,
    rate: &mut SnapshotRate,
    tick: u64,
    snapshot_bytes: usize,
) {
    let (now, sent) = (line.now(), line.elapsed().as_nanos() as u64);
    let elapsed = obsp_proto::Time::since_start(line.elapsed());
    let server = line.server();
    let path = GameCongestion::path_of(server.congestion_state().clone_box());
    rate.adapt(elapsed, || PathSample::new(&server.stats(), &path));
    if let Some(most) = rate.allows(tick, now, &path) {
        let bytes = if tick <= FIRST_SNAPSHOTS { FIRST_SNAPSHOT } else { snapshot_bytes };
        let bytes = bytes.min(most);
        let mut snapshot = vec![0; bytes];
        snapshot[..8].copy_from_slice(&sent.to_le_bytes());
        server.datagrams().send(snapshot.into(), true).unwrap();
        rate.sent(tick, bytes);
    }
}

/// A transfer under way.
struct Download {
    background: Background,
    stream: StreamId,
    sent: usize,
    received: usize,
}

impl Download {
    fn new(line: &mut VirtualLine) -> Self {
        let now = line.now();
        let server = line.server();
        let path = GameCongestion::path_of(server.congestion_state().clone_box());
        let stream = server.streams().open(Dir::Uni).unwrap();
        Self { background: Background::new(now, &path), stream, sent: 0, received: 0 }
    }

    fn is_done(&self) -> bool {
        self.received == MAP
    }

    fn go_on(&mut self, line: &mut VirtualLine) {
        let now = line.now();
        let server = line.server();
        let path = GameCongestion::path_of(server.congestion_state().clone_box());
        let allowed = self.background.allowance(now, &path).min(MAP - self.sent);
        if allowed > 0 {
            let written = server.send_stream(self.stream).write(&vec![0; allowed]).unwrap_or(0);
            self.background.sent(written);
            self.sent += written;
        }
        let client = line.client();
        let mut stream = client.recv_stream(self.stream);
        let Ok(mut chunks) = stream.read(true) else { return };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.received += chunk.bytes.len();
        }
        let _ = chunks.finalize();
    }
}

fn assert_decent(name: &str, outcome: &Outcome, most: Duration) {
    println!("{name}: {outcome:?}");
    assert!(outcome.time < most, "{name}: {outcome:?}");
    // Twenty snapshots a second arrive, less a few that wait while a queue drains.
    assert!(outcome.snapshots > 19.0, "{name}: {outcome:?}");
    // The delay is the line's own 20 ms, at most 200 ms of queue, and the time that the packet in
    // front of it takes.
    assert!(outcome.delay < Duration::from_millis(250), "{name}: {outcome:?}");
    assert!(outcome.gap < Duration::from_millis(400), "{name}: {outcome:?}");
}

#[test]
fn a_free_line_brings_the_map_fast_and_delays_no_snapshot() {
    for loss in [0.0, 0.05] {
        let outcome = transfer(Direction { delay: DELAY, loss, ..Direction::default() });
        assert_decent(&format!("{loss} lost"), &outcome, Duration::from_millis(1_500));
        assert!(outcome.snapshots > 50.0, "{outcome:?}");
    }
}

/// Jitter misleads the transfer: packets that overtake one another seem lost, and a longer round
/// trip seems to come from a queue.
#[test]
fn a_line_of_much_jitter_brings_the_map_too() {
    for (jitter, loss) in [(20, 0.0), (40, 0.0), (40, 0.05)] {
        let jitter = Duration::from_millis(jitter);
        let delay = Duration::from_millis(30);
        let outcome = transfer(Direction { delay, jitter, loss, ..Direction::default() });
        assert_decent(&format!("{jitter:?}, {loss} lost"), &outcome, Duration::from_secs(10));
    }
}

#[test]
fn a_narrow_line_brings_snapshots_first_and_the_map_too() {
    for (kbit, loss, seconds) in
        [(64.0, 0.0, 300), (192.0, 0.0, 60), (192.0, 0.05, 60), (2_000.0, 0.0, 5)]
    {
        let outcome = transfer(Direction { loss, ..slow(kbit) });
        let name = format!("{kbit} kbit/s, {loss} lost");
        assert_decent(&name, &outcome, Duration::from_secs(seconds));
    }
}

/// Guards against a past fault. The burst of joining filled the queue before the rate
/// had measured the path. The queue was never empty afterwards, so its delay was taken for the
/// path's own. Snapshots used all that the line carried, and a third were lost for as long as the
/// client stayed.
#[test]
fn snapshots_that_would_fill_the_line_by_themselves_leave_room() {
    let outcome = transfer_beside(320, slow(192.0));
    // About fifty snapshots a second arrive and none is late. The map takes the rest of the line.
    assert_decent("192 kbit/s, large snapshots", &outcome, Duration::from_secs(90));
}

#[test]
fn a_line_with_hardly_a_queue_loses_few_snapshots() {
    let queue = Duration::from_millis(20);
    let outcome = transfer(Direction { queue, ..slow(1_000.0) });
    assert_decent("20 ms of queue", &outcome, Duration::from_secs(10));
    assert!(outcome.snapshots > 50.0, "{outcome:?}");
}

#[test]
fn a_line_that_is_gone_for_a_while_brings_snapshots_first_when_it_is_back() {
    let blackout = Duration::from_secs(3)..Duration::from_secs(6);
    let outcome = transfer(Direction { blackout, ..slow(500.0) });
    println!("gone for 3 s: {outcome:?}");
    assert!(outcome.gap < Duration::from_millis(3_250), "{outcome:?}");
    assert!(outcome.snapshots > 30.0, "{outcome:?}");
    assert!(outcome.time < Duration::from_secs(25), "{outcome:?}");
}

/// Guards against a past fault. On a short path, one packet that waited for its acknowledgement
/// filled a window of a few hundred bytes. So the window never grew, and the map came at its least
/// rate.
#[test]
fn a_short_way_through_a_narrow_line_brings_the_map_in_time() {
    let delay = Duration::from_millis(1);
    let outcome = transfer_beside(40, Direction { delay, ..slow(192.0) });
    assert_decent("2 ms, 192 kbit/s", &outcome, Duration::from_secs(60));
}

/// Guards against a past fault. While the queue drained, the window shrank in each round trip,
/// until it was next to nothing. It shrank more often on longer paths.
#[test]
fn a_long_way_through_a_narrow_line_brings_the_map_in_time() {
    let delay = Duration::from_millis(300);
    for (loss, seconds) in [(0.0, 50), (0.05, 75)] {
        let outcome = transfer(Direction { delay, loss, ..slow(192.0) });
        println!("600 ms, 192 kbit/s, {loss} lost: {outcome:?}");
        assert!(outcome.time < Duration::from_secs(seconds), "{outcome:?}");
        assert!(outcome.snapshots > 17.0, "{outcome:?}");
        assert!(outcome.delay < delay + Duration::from_millis(230), "{outcome:?}");
    }
}
