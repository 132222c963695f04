//! Hostile peers, one kind in each test. The match goes on for everybody else undisturbed, and the
//! offender is dropped and counted.

mod frames;
mod header_compression;

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use obsp_client::quic::{Client, ClientEvent, Connector, Trust};
use obsp_proto::Tick;
use obsp_proto::commands::{Acknowledgement, CommandBatch, CommandDatagram};
use obsp_proto::control::{ClientHello, ClientMessage, MapHash, PlayerName, encode_client_message};
use obsp_sim::Command;
use tests::harness::{self, Lateness, Random, ServerProcess, pages};
use tokio::time::timeout;

use crate::{HOSTILE, PLACES};

/// A time far longer than anything in these tests takes, so only a hang lasts as long.
const HANG: Duration = Duration::from_secs(20);

/// Time for which the witness plays and measures.
const WATCH: Duration = Duration::from_secs(2);

/// Figures count only if the machine let threads wait no longer than `PROMPT`. Otherwise they are
/// measured again, at most `ATTEMPTS` times in all. `PROMPT` is half a tick, because the server
/// leaves out a state that waits for 12 ms, and several threads may wait one after another.
const PROMPT: Duration = Duration::from_millis(8);
const ATTEMPTS: u32 = 5;

/// Limit in bytes of the memory that any number of offenders may cost the server. It is twice the
/// highest measured value, and as much as forty players take, at about 200 KiB each.
const MOST_MEMORY: u64 = 8 << 20;

/// A server process, and its memory before any offence.
struct Server {
    process: ServerProcess,
    memory: Option<u64>,
}

impl Server {
    fn udp(&self) -> SocketAddr {
        self.process.udp
    }
}

fn serve() -> Server {
    let map = harness::own_map("arena.obsp").to_string_lossy().into_owned();
    Server { process: ServerProcess::start(&["--map", &map, "--drain", "0"]), memory: None }
}

/// Lets the honest player leave, asserts that the server's memory stayed within bounds, and ends
/// the server. If the player stayed, the server would wait for the player's answer to its goodbye.
async fn end(mut running: Server, good: Client) {
    good.leave().await;
    if cfg!(target_os = "linux") {
        let before = running.memory.expect("the memory before the offence is known");
        let [_, most] = running.process.memory().expect("the memory of the server can be read");
        let grown = most.saturating_sub(before);
        println!("memory grew by {} KiB from {} KiB", grown >> 10, before >> 10);
        assert!(grown < MOST_MEMORY, "the server's memory grew by {grown} bytes from {before}");
    }
    running.process.signal("TERM");
    let code = tokio::task::spawn_blocking(move || running.process.wait()).await.unwrap();
    assert_eq!(code, Some(0));
}

/// The current value of a series.
async fn metric(running: &Server, series: &str) -> f64 {
    pages::metric(&pages::get(running.process.http, "/metrics").await.body, series)
}

fn connector(running: &Server) -> Connector {
    Connector::new(running.udp(), Trust::Loopback).unwrap()
}

/// Lets an honest player join, then notes the server's memory.
async fn witness(running: &mut Server) -> Client {
    let name = PlayerName::new("witness").unwrap();
    let mut client = connector(running).join(&name, MapHash::ANY).await.unwrap();
    // After 60 snapshots, the memory for this player is allocated.
    while client.session().stats().snapshots < 60 {
        let occasion = timeout(HANG, client.next()).await.unwrap().unwrap();
        if matches!(occasion, ClientEvent::CommandDue) {
            client.command(Command::default());
        }
    }
    running.memory = running.process.memory().map(|[now, _]| now);
    client
}

/// Plays for a while, and asserts that ticks and snapshots come at their rates. If the machine lets
/// threads wait meanwhile, the measurement is repeated.
async fn sees_nothing_amiss(client: &mut Client, running: &Server) {
    let machine = Lateness::watch();
    for attempt in 1.. {
        machine.take();
        let (ticks, snapshots) = rates(client, running).await;
        let late = machine.take();
        if (57.0..64.0).contains(&ticks) && snapshots > 50.0 {
            return;
        }
        let excused = late > PROMPT && attempt < ATTEMPTS;
        assert!(excused, "{ticks} ticks, {snapshots} snapshots a second; threads waited {late:?}");
    }
}

/// Plays for a while, and returns the ticks and snapshots a second.
async fn rates(client: &mut Client, running: &Server) -> (f64, f64) {
    let ticks = metric(running, "game_ticks_total").await;
    let begin = Instant::now();
    let mut snapshots = 0;
    while begin.elapsed() < WATCH {
        match timeout(HANG, client.next()).await.unwrap().unwrap() {
            ClientEvent::Snapshot { snapshot, .. } => {
                assert_ne!(snapshot.digest_agrees, Some(false));
                snapshots += 1;
            }
            ClientEvent::CommandDue => {
                client.command(Command { forward: 127, ..Command::default() });
            }
            ClientEvent::NewWorld => unreachable!("the match has one world"),
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let ticks = metric(running, "game_ticks_total").await - ticks;
    (ticks / seconds, f64::from(snapshots) / seconds)
}

/// A player that speaks the protocol by hand.
struct Offender {
    connection: quinn::Connection,
    /// This stream is kept open, because the server would take its end for a goodbye.
    send: quinn::SendStream,
    _receive: quinn::RecvStream,
}

impl Offender {
    async fn join(running: &Server) -> Self {
        let connection = connector(running).connect().await.unwrap();
        let (mut send, receive) = connection.open_bi().await.unwrap();
        let hello = ClientHello::new(MapHash::ANY, &PlayerName::new("offender").unwrap());
        send.write_all(&encode_client_message(&ClientMessage::Hello(hello))).await.unwrap();
        // After the first snapshot the offender is in the match.
        timeout(HANG, connection.read_datagram()).await.unwrap().unwrap();
        Self { connection, send, _receive: receive }
    }

    async fn is_dropped(&self) {
        timeout(HANG, self.connection.closed()).await.unwrap();
    }
}

/// A datagram with a command for the tick, which acknowledges the snapshot of `latest`.
fn command(tick: u32, forward: i8, latest: Option<u32>) -> Vec<u8> {
    let command = Command { forward, ..Command::default() };
    let batch = CommandBatch::new(Tick(tick), vec![command]).unwrap();
    let acknowledgement = latest.map(|tick| Acknowledgement::of(Tick(tick)));
    CommandDatagram { acknowledgement, batch }.encode()
}

const MALFORMED: &str = "game_disconnects_total{reason=\"malformed\"}";
const ACCEPTED: &str = "game_commands_total{outcome=\"accepted\"}";

#[tokio::test]
async fn garbage_and_empty_datagrams_of_a_player_cost_only_their_sender() {
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    let mut random = Random::new(1);
    for count in 1..=4_u32 {
        let offender = Offender::join(&running).await;
        let garbage = match count {
            1 => vec![],
            2 => vec![0; 1100],
            3 => vec![0xff; 60],
            _ => (0..70).map(|_| (random.unit() * 256.0) as u8 | 2).collect(),
        };
        for _ in 0..200 {
            let _ = offender.connection.send_datagram(garbage.clone().into());
        }
        offender.is_dropped().await;
        assert_eq!(metric(&running, MALFORMED).await, f64::from(count));
    }
    sees_nothing_amiss(&mut good, &running).await;
    end(running, good).await;
}

#[tokio::test]
async fn garbage_from_strangers_is_no_more_than_noise() {
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut random = Random::new(2);
    for count in 0..10_000 {
        // Half of the datagrams are empty.
        let length = if count % 2 == 0 { 0 } else { (random.unit() * 1400.0) as usize };
        let bytes: Vec<u8> = (0..length).map(|_| (random.unit() * 256.0) as u8).collect();
        let _ = socket.send_to(&bytes, running.udp());
    }
    sees_nothing_amiss(&mut good, &running).await;
    assert_eq!(metric(&running, "game_players").await, 1.0);
    end(running, good).await;
}

#[tokio::test]
async fn oversized_truncated_and_late_messages_end_the_session() {
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    let oversized = vec![0xff, 0xff, 0];
    let empty = vec![0, 0];
    let nonsense = vec![1, 0, 99];
    let hello = ClientHello::new(MapHash::ANY, &PlayerName::new("twice").unwrap());
    let hello = encode_client_message(&ClientMessage::Hello(hello));
    for bytes in [oversized, empty, nonsense] {
        let before = metric(&running, "game_refusals_total{reason=\"malformed\"}").await;
        let connection = connector(&running).connect().await.unwrap();
        let (mut send, _receive) = connection.open_bi().await.unwrap();
        send.write_all(&bytes).await.unwrap();
        timeout(HANG, connection.closed()).await.unwrap();
        let after = metric(&running, "game_refusals_total{reason=\"malformed\"}").await;
        assert_eq!(after, before + 1.0, "{bytes:?}");
    }
    // A peer that is already a player is dropped instead of refused.
    let mut offender = Offender::join(&running).await;
    offender.send.write_all(&hello).await.unwrap();
    offender.is_dropped().await;
    assert_eq!(metric(&running, MALFORMED).await, 1.0);
    sees_nothing_amiss(&mut good, &running).await;
    end(running, good).await;
}

#[tokio::test]
async fn a_stream_that_never_finishes_is_cut_off() {
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    // One connection sends half a hello and falls silent, another opens no stream.
    let half = connector(&running).connect().await.unwrap();
    let (mut send, _receive) = half.open_bi().await.unwrap();
    send.write_all(&[40, 0, 0]).await.unwrap();
    let mute = connector(&running).connect().await.unwrap();
    sees_nothing_amiss(&mut good, &running).await;
    timeout(HANG, async { tokio::join!(half.closed(), mute.closed()) }).await.unwrap();
    assert_eq!(metric(&running, "game_refusals_total{reason=\"no_hello\"}").await, 2.0);
    end(running, good).await;
}

#[tokio::test]
async fn streams_that_are_filled_and_never_finished_hold_next_to_nothing() {
    const MEGABYTE: usize = 1 << 20;
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    let (mut offenders, mut taken) = (Vec::new(), 0);
    for _ in 0..8 {
        let offender = Offender::join(&running).await;
        let mut streams = Vec::new();
        // Streams are opened until the server allows no more.
        while let Ok(opened) =
            timeout(Duration::from_millis(300), offender.connection.open_bi()).await
        {
            let (mut send, receive) = opened.unwrap();
            let filled = vec![b'm'; MEGABYTE];
            let mut rest = filled.as_slice();
            while let Ok(Ok(length)) = timeout(Duration::from_millis(300), send.write(rest)).await {
                rest = &rest[length..];
            }
            taken += MEGABYTE - rest.len();
            streams.push((send, receive));
            assert!(streams.len() < 16, "the server does not limit the number of streams");
        }
        offenders.push((offender, streams));
    }
    println!("the server accepted {taken} bytes of 8 offenders");
    assert!(taken < 8 * MEGABYTE / 2, "{taken} bytes");
    sees_nothing_amiss(&mut good, &running).await;
    drop(offenders);
    end(running, good).await;
}

#[tokio::test]
async fn a_map_stream_that_asks_for_something_else_is_reset_and_the_session_goes_on() {
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let good = witness(&mut running).await;
    let offender = Offender::join(&running).await;
    let (mut send, mut receive) = offender.connection.open_bi().await.unwrap();
    let before = metric(&running, "game_maps_sent_total").await;
    send.write_all(b"the keys").await.unwrap();
    send.finish().unwrap();
    let answer = timeout(HANG, receive.read_to_end(10)).await.unwrap();
    assert!(answer.is_err(), "{answer:?}");
    timeout(HANG, offender.connection.read_datagram()).await.unwrap().unwrap();
    assert_eq!(metric(&running, "game_maps_sent_total").await, before);
    end(running, good).await;
}

#[tokio::test]
async fn a_client_that_acknowledges_the_future_is_dropped() {
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    let offender = Offender::join(&running).await;
    offender.connection.send_datagram(command(5, 0, Some(30_000)).into()).unwrap();
    offender.is_dropped().await;
    assert_eq!(metric(&running, MALFORMED).await, 1.0);
    sees_nothing_amiss(&mut good, &running).await;
    end(running, good).await;
}

#[tokio::test]
async fn a_client_that_never_acknowledges_gets_no_more_than_the_budget() {
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    let offender = Offender::join(&running).await;
    let bytes = async {
        let begin = Instant::now();
        let mut bytes = 0;
        while begin.elapsed() < WATCH {
            bytes +=
                timeout(HANG, offender.connection.read_datagram()).await.unwrap().unwrap().len();
        }
        bytes as f64 / begin.elapsed().as_secs_f64()
    };
    let (bytes, ()) = tokio::join!(bytes, sees_nothing_amiss(&mut good, &running));
    // The budget is 16,000 bytes a second, and some bytes were saved up.
    assert!(bytes < 25_000.0, "{bytes} bytes a second");
    // A client that sends nothing at all is dropped after the idle time-out.
    let plays = async {
        loop {
            if let ClientEvent::CommandDue = good.next().await.unwrap() {
                good.command(Command::default());
            }
        }
    };
    tokio::select! {
        () = offender.is_dropped() => {}
        () = plays => unreachable!("this player never stops"),
    }
    assert_eq!(metric(&running, "game_disconnects_total{reason=\"timed_out\"}").await, 1.0);
    end(running, good).await;
}

#[tokio::test]
async fn claiming_every_tick_twice_gains_nothing() {
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    let offender = Offender::join(&running).await;
    let (before, ticks) =
        (metric(&running, ACCEPTED).await, metric(&running, "game_ticks_total").await);
    let cheating = async {
        let mut due = tokio::time::interval(Duration::from_secs(1) / 60);
        let mut tick = metric(&running, "game_ticks_total").await as u32;
        loop {
            tick += 1;
            for forward in [127, -127, 64] {
                let _ = offender.connection.send_datagram(command(tick + 3, forward, None).into());
            }
            due.tick().await;
        }
    };
    tokio::select! {
        () = cheating => unreachable!("this player never stops"),
        () = sees_nothing_amiss(&mut good, &running) => {}
    }
    let conflicting = metric(&running, "game_commands_total{outcome=\"conflicting\"}").await;
    assert!(conflicting > 50.0, "{conflicting}");
    // Each of the two players got at most one command accepted for each tick, and for the ticks to
    // come.
    const TO_COME: f64 = 2.0 * 16.0;
    let accepted = metric(&running, ACCEPTED).await - before;
    let ticks = metric(&running, "game_ticks_total").await - ticks;
    assert!(
        accepted > ticks,
        "only {accepted} commands in {ticks} ticks, so none of the offender's were accepted"
    );
    assert!(accepted <= 2.0 * ticks + TO_COME, "{accepted} commands accepted in {ticks} ticks");
    assert_eq!(metric(&running, "game_players").await, 2.0);
    end(running, good).await;
}

#[tokio::test]
async fn ten_thousand_half_open_attempts_are_asked_to_prove_their_address() {
    const ATTEMPTS: u32 = 10_000;
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    let server = running.udp();
    // The flood has a thread of its own, so that it does not slow down the witness itself.
    let flood = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let connector = Connector::new(one_way(server).await, Trust::Loopback).unwrap();
            for attempt in 0..ATTEMPTS {
                let connector = connector.clone();
                tokio::spawn(async move { drop(connector.connect().await) });
                if attempt % 20 == 0 {
                    tokio::time::sleep(Duration::from_millis(8)).await;
                }
            }
        });
    });
    while !flood.is_finished() {
        sees_nothing_amiss(&mut good, &running).await;
    }
    flood.join().unwrap();
    let retries = metric(&running, "game_retries_total").await;
    assert!(
        retries > f64::from(ATTEMPTS) * 0.9,
        "only {retries} of {ATTEMPTS} attempts were asked to prove their address"
    );
    let mut open = 0.0;
    for state in ["opening", "playing", "watching", "closing"] {
        open += metric(&running, &format!("game_connections{{state=\"{state}\"}}")).await;
    }
    assert!(open <= 1.0 + 16.0, "{open} connections are held open");
    // A client that can be reached can still join.
    let late = PlayerName::new("late").unwrap();
    connector(&running).join(&late, MapHash::ANY).await.unwrap().leave().await;
    end(running, good).await;
}

/// An address that passes all datagrams on to the server, and from which no answer comes back.
async fn one_way(server: SocketAddr) -> SocketAddr {
    let front = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let back = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = front.local_addr().unwrap();
    tokio::spawn(async move {
        let mut bytes = [0; 2048];
        while let Ok((length, _)) = front.recv_from(&mut bytes).await {
            let _ = back.send_to(&bytes[..length], server).await;
        }
    });
    address
}
