//! Detects floods: QUIC's own counters show a client that sends more than any client needs.

use std::time::{Duration, Instant};

use quinn::{Connection, ConnectionStats};

use crate::common::token_bucket::{Rate, TokenBucket};
use crate::door::admission::limit::Limit;

/// Time between two checks of a connection. A flood is stopped within this time once its burst is
/// used up.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Datagrams of commands that a client may send for each tick. Clients send one.
const COMMANDS_PER_TICK: f64 = 4.0;

/// A slower tick rate counts as this one, because clients do not send fewer acknowledgements at a
/// slower rate.
const LEAST_RATE: u16 = 30;

/// A client may send the commands of this many seconds at [`COMMANDS_PER_TICK`] at once. After a
/// stall of the server or of the line, all commands since the stall began arrive together. They
/// cover the idle time-out at most.
const BURST: f64 = 5.0;

/// UDP datagrams that a client may send in addition to one acknowledgement for each datagram of the
/// server.
const PACKETS: Rate = Rate { per_second: 512.0, burst: 2048.0 };

/// Bytes of UDP datagrams that a client may send in addition to [`ACKNOWLEDGEMENT`] for each of the
/// server's datagrams.
const BYTES: Rate = Rate { per_second: 64.0 * 1024.0, burst: 256.0 * 1024.0 };

/// Bytes of a datagram that acknowledges one of the server's.
const ACKNOWLEDGEMENT: f64 = 64.0;

/// QUIC stream frames that a client may send. Most of what a client sends on its streams, HTTP/3
/// included, fits into a few stream frames. Capsules and empty HTTP/3 frames travel in stream
/// frames, so this limit covers them too.
const STREAM_FRAMES: Rate = Rate { per_second: 10.0, burst: 256.0 };

/// Frames by which a client may change its connection: its ids, its paths and its streams. Each
/// makes the server answer, so the limit of packets does not cover them. The answer to a challenge
/// from a forged address even goes to the owner of that address. An honest client sends a dozen
/// when it joins, and some more when its address changes.
const CONTROL_FRAMES: Rate = Rate { per_second: 8.0, burst: 128.0 };

/// Counts of everything that a client has sent so far.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    packets: u64,
    bytes: u64,
    datagrams: u64,
    stream_frames: u64,
    control_frames: u64,
    /// Packets that the server has sent to the client.
    received: u64,
}

impl From<ConnectionStats> for Sent {
    fn from(stats: ConnectionStats) -> Self {
        let frames = stats.frame_rx;
        let of_ids = frames.new_connection_id + frames.retire_connection_id;
        let of_streams = frames.reset_stream + frames.stop_sending;
        let blocked = frames.data_blocked
            + frames.stream_data_blocked
            + frames.streams_blocked_bidi
            + frames.streams_blocked_uni;
        Self {
            packets: stats.udp_rx.datagrams,
            bytes: stats.udp_rx.bytes,
            datagrams: frames.datagram,
            stream_frames: frames.stream,
            control_frames: frames.path_challenge + of_ids + of_streams + blocked,
            received: stats.udp_tx.datagrams,
        }
    }
}

/// Detects a client that sends more than any client needs. Even a valid flood costs the server the
/// time to read it.
struct FloodMeter {
    commands: Rate,
    last: Sent,
    packets: TokenBucket,
    bytes: TokenBucket,
    datagrams: TokenBucket,
    stream_frames: TokenBucket,
    control_frames: TokenBucket,
}

impl FloodMeter {
    fn new(tick_rate: u16, now: Instant) -> Self {
        let full = TokenBucket::full(now);
        let per_second = f64::from(tick_rate.max(LEAST_RATE)) * COMMANDS_PER_TICK;
        Self {
            commands: Rate { per_second, burst: per_second * BURST },
            last: Sent::default(),
            packets: full,
            bytes: full,
            datagrams: full,
            stream_frames: full,
            control_frames: full,
        }
    }

    /// The limit that the client exceeds, if any.
    fn note(&mut self, sent: Sent, now: Instant) -> Option<Limit> {
        let last = std::mem::replace(&mut self.last, sent);
        let since = |sent: u64, last: u64| sent.saturating_sub(last) as f64;
        let answers = since(sent.received, last.received);
        let packets = (since(sent.packets, last.packets) - answers).max(0.0);
        let bytes = (since(sent.bytes, last.bytes) - answers * ACKNOWLEDGEMENT).max(0.0);
        let datagrams = since(sent.datagrams, last.datagrams);
        let stream_frames = since(sent.stream_frames, last.stream_frames);
        let control_frames = since(sent.control_frames, last.control_frames);
        let is_within = [
            (Limit::Datagrams, self.datagrams.take(self.commands, datagrams, now)),
            (Limit::StreamFrames, self.stream_frames.take(STREAM_FRAMES, stream_frames, now)),
            (Limit::ControlFrames, self.control_frames.take(CONTROL_FRAMES, control_frames, now)),
            (Limit::Packets, self.packets.take(PACKETS, packets, now)),
            (Limit::Bytes, self.bytes.take(BYTES, bytes, now)),
        ];
        is_within.into_iter().find_map(|(limit, is_within)| (!is_within).then_some(limit))
    }
}

/// Waits until the client floods, and returns the limit that it exceeds.
pub(super) async fn detect(connection: &Connection, tick_rate: u16) -> Limit {
    let mut meter = FloodMeter::new(tick_rate, Instant::now());
    // Earlier packets do not count, because a second meter watches the connection during its
    // farewell.
    meter.last = connection.stats().into();
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        if let Some(limit) = meter.note(connection.stats().into(), Instant::now()) {
            return limit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit found within a minute for a client that sends this much a second.
    fn found(each_second: Sent) -> Option<Limit> {
        let begin = Instant::now();
        let mut meter = FloodMeter::new(60, begin);
        (1..600).find_map(|look| {
            let scaled = |amount: u64| amount * look / 10;
            let sent = Sent {
                packets: scaled(each_second.packets),
                bytes: scaled(each_second.bytes),
                datagrams: scaled(each_second.datagrams),
                stream_frames: scaled(each_second.stream_frames),
                control_frames: scaled(each_second.control_frames),
                received: scaled(each_second.received),
            };
            meter.note(sent, begin + POLL_INTERVAL * look as u32)
        })
    }

    #[test]
    fn playing_and_downloading_stay_within_the_limits_and_a_flood_is_named() {
        let player = Sent {
            packets: 130,
            bytes: 13_000,
            datagrams: 60,
            stream_frames: 2,
            control_frames: 2,
            received: 70,
        };
        assert_eq!(found(player), None);
        let download = Sent { packets: 4000, bytes: 200_000, received: 4000, ..player };
        assert_eq!(found(download), None);
        assert_eq!(found(Sent { datagrams: 300, ..player }), Some(Limit::Datagrams));
        assert_eq!(found(Sent { stream_frames: 50, ..player }), Some(Limit::StreamFrames));
        let challenges = Sent { packets: 230, control_frames: 100, received: 170, ..player };
        assert_eq!(found(challenges), Some(Limit::ControlFrames));
        assert_eq!(found(Sent { packets: 1000, ..player }), Some(Limit::Packets));
        assert_eq!(found(Sent { bytes: 100_000, ..player }), Some(Limit::Bytes));
    }

    #[test]
    fn packets_a_line_held_back_may_come_at_once() {
        let begin = Instant::now();
        let mut meter = FloodMeter::new(60, begin);
        // One command a tick for as long as the idle time-out.
        let held = 60 * obsp_proto::IDLE_TIMEOUT.as_secs();
        let held = Sent { packets: held, bytes: held * 90, datagrams: held, ..Sent::default() };
        assert_eq!(meter.note(held, begin + Duration::from_secs(15)), None);
        let more = Sent { packets: 1500, datagrams: 1500, ..held };
        assert_eq!(meter.note(more, begin + Duration::from_secs(15)), Some(Limit::Datagrams));
    }
}
