//! Peers that mean harm, one kind a test: the match goes on for everybody else
//! as if nothing were there, and the offender is dropped and counted.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use client_bot::Client;
use client_bot::client::{Connector, Occasion, Trust};
use proto::Tick;
use proto::commands::{Acknowledgement, CommandBatch, CommandDatagram};
use proto::control::{ClientHello, ClientMessage, MapHash, PlayerName, encode_client_message};
use server::{Options, Running, Server};
use sim::Command;
use tests::harness::{self, Random, pages};
use tokio::time::timeout;

/// Far longer than anything here takes.
const HANG: Duration = Duration::from_secs(20);

/// How long the witness plays while somebody does harm.
const WATCH: Duration = Duration::from_secs(2);

/// These tests measure rates: one at a time.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

fn serve() -> Running {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let map = harness::own_map("arena.obsp").to_string_lossy().into_owned();
    Server::start(&Options { listen: any_port, http: any_port, ..Options::new(map) }).unwrap()
}

async fn end(running: Running) {
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

/// The value of one series now.
async fn metric(running: &Running, series: &str) -> f64 {
    pages::metric(&pages::get(running.http_addr(), "/metrics").await.body, series)
}

fn connector(running: &Running) -> Connector {
    Connector::new(running.local_addr(), Trust::Loopback).unwrap()
}

async fn witness(running: &Running) -> Client {
    let name = PlayerName::new("witness").unwrap();
    connector(running).join(&name, MapHash::ANY).await.unwrap()
}

/// Plays for a while; whoever sees the match limp fails the test.
async fn sees_nothing_amiss(client: &mut Client, running: &Running) {
    let ticks = metric(running, "game_ticks_total").await;
    let begin = Instant::now();
    let mut snapshots = 0;
    while begin.elapsed() < WATCH {
        match timeout(HANG, client.next()).await.unwrap().unwrap() {
            Occasion::Snapshot { snapshot, .. } => {
                assert_ne!(snapshot.digest_agrees, Some(false));
                snapshots += 1;
            }
            Occasion::CommandDue => {
                client.command(Command { forward: 127, ..Command::default() });
            }
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let ticks = metric(running, "game_ticks_total").await - ticks;
    let (ticks, snapshots) = (ticks / seconds, f64::from(snapshots) / seconds);
    assert!((57.0..64.0).contains(&ticks), "{ticks} ticks a second");
    assert!(snapshots > 50.0, "{snapshots} snapshots a second");
}

/// A player that speaks the protocol by hand.
struct Offender {
    connection: quinn::Connection,
    /// Kept open; the server would take its end for a goodbye.
    _send: quinn::SendStream,
    _receive: quinn::RecvStream,
}

impl Offender {
    async fn join(running: &Running) -> Self {
        let connection = connector(running).connect().await.unwrap();
        let (mut send, receive) = connection.open_bi().await.unwrap();
        let hello = ClientHello::new(MapHash::ANY, &PlayerName::new("offender").unwrap());
        send.write_all(&encode_client_message(&ClientMessage::Hello(hello))).await.unwrap();
        // The first snapshot tells that the offender is in.
        timeout(HANG, connection.read_datagram()).await.unwrap().unwrap();
        Self { connection, _send: send, _receive: receive }
    }

    async fn is_dropped(&self) {
        timeout(HANG, self.connection.closed()).await.unwrap();
    }
}

/// A datagram of a command for the tick, which acknowledges `latest`.
fn command(tick: u32, forward: i8, latest: Option<u32>) -> Vec<u8> {
    let command = Command { forward, ..Command::default() };
    let batch = CommandBatch::new(Tick(tick), vec![command]).unwrap();
    let acknowledgement = latest.map(|tick| Acknowledgement::of(Tick(tick)));
    CommandDatagram { acknowledgement, batch }.encode()
}

const MALFORMED: &str = "game_disconnects_total{reason=\"malformed\"}";

#[tokio::test]
async fn garbage_and_empty_datagrams_of_a_player_cost_only_their_sender() {
    let _turn = TURN.lock().await;
    let running = serve();
    let mut good = witness(&running).await;
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
    end(running).await;
}

#[tokio::test]
async fn garbage_from_strangers_is_no_more_than_noise() {
    let _turn = TURN.lock().await;
    let running = serve();
    let mut good = witness(&running).await;
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut random = Random::new(2);
    for _ in 0..5_000 {
        let length = (random.unit() * 1400.0) as usize;
        let bytes: Vec<u8> = (0..length).map(|_| (random.unit() * 256.0) as u8).collect();
        let _ = socket.send_to(&bytes, running.local_addr());
    }
    sees_nothing_amiss(&mut good, &running).await;
    assert_eq!(metric(&running, "game_players").await, 1.0);
    end(running).await;
}

#[tokio::test]
async fn oversized_truncated_and_late_messages_end_the_session() {
    let _turn = TURN.lock().await;
    let running = serve();
    let mut good = witness(&running).await;
    let oversized = vec![0xff, 0xff, 0];
    let empty = vec![0, 0];
    let nonsense = vec![1, 0, 99];
    let hello = ClientHello::new(MapHash::ANY, &PlayerName::new("twice").unwrap());
    let hello = encode_client_message(&ClientMessage::Hello(hello));
    let twice = [hello.clone(), hello].concat();
    for (bytes, player) in [(oversized, false), (empty, false), (nonsense, false), (twice, true)] {
        let before = metric(&running, "game_refusals_total{reason=\"malformed\"}").await;
        let connection = connector(&running).connect().await.unwrap();
        let (mut send, _receive) = connection.open_bi().await.unwrap();
        send.write_all(&bytes).await.unwrap();
        timeout(HANG, connection.closed()).await.unwrap();
        let after = metric(&running, "game_refusals_total{reason=\"malformed\"}").await;
        assert!(after > before || player, "{bytes:?}");
    }
    sees_nothing_amiss(&mut good, &running).await;
    end(running).await;
}

#[tokio::test]
async fn a_stream_that_never_finishes_is_cut_off() {
    let _turn = TURN.lock().await;
    let running = serve();
    let mut good = witness(&running).await;
    // Half a hello, and silence; and a connection without any stream.
    let half = connector(&running).connect().await.unwrap();
    let (mut send, _receive) = half.open_bi().await.unwrap();
    send.write_all(&[40, 0, 0]).await.unwrap();
    let mute = connector(&running).connect().await.unwrap();
    sees_nothing_amiss(&mut good, &running).await;
    timeout(HANG, async { tokio::join!(half.closed(), mute.closed()) }).await.unwrap();
    assert_eq!(metric(&running, "game_refusals_total{reason=\"no_hello\"}").await, 2.0);
    drop(good);
    end(running).await;
}

#[tokio::test]
async fn a_map_stream_that_asks_for_something_else_is_reset_and_the_session_goes_on() {
    let _turn = TURN.lock().await;
    let running = serve();
    let offender = Offender::join(&running).await;
    let (mut send, mut receive) = offender.connection.open_bi().await.unwrap();
    send.write_all(b"the keys").await.unwrap();
    send.finish().unwrap();
    let answer = timeout(HANG, receive.read_to_end(10)).await.unwrap();
    assert!(answer.is_err(), "{answer:?}");
    timeout(HANG, offender.connection.read_datagram()).await.unwrap().unwrap();
    assert_eq!(metric(&running, "game_maps_sent_total").await, 0.0);
    end(running).await;
}

#[tokio::test]
async fn who_acknowledges_the_future_is_out() {
    let _turn = TURN.lock().await;
    let running = serve();
    let mut good = witness(&running).await;
    let offender = Offender::join(&running).await;
    offender.connection.send_datagram(command(5, 0, Some(30_000)).into()).unwrap();
    offender.is_dropped().await;
    assert_eq!(metric(&running, MALFORMED).await, 1.0);
    sees_nothing_amiss(&mut good, &running).await;
    end(running).await;
}

#[tokio::test]
async fn who_never_acknowledges_gets_no_more_than_the_budget() {
    let _turn = TURN.lock().await;
    let running = serve();
    let mut good = witness(&running).await;
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
    // A budget of 16,000 bytes a second, and what was saved up.
    assert!(bytes < 25_000.0, "{bytes} bytes a second");
    end(running).await;
}

#[tokio::test]
async fn claiming_every_tick_twice_gains_nothing() {
    let _turn = TURN.lock().await;
    let running = serve();
    let mut good = witness(&running).await;
    let offender = Offender::join(&running).await;
    let cheating = async {
        let begin = Instant::now();
        let mut tick = metric(&running, "game_ticks_total").await as u32;
        while begin.elapsed() < WATCH {
            tick += 1;
            for forward in [127, -127, 64] {
                let _ = offender.connection.send_datagram(command(tick + 3, forward, None).into());
            }
            tokio::time::sleep(Duration::from_millis(16)).await;
        }
    };
    tokio::join!(cheating, sees_nothing_amiss(&mut good, &running));
    let conflicting = metric(&running, "game_commands_total{outcome=\"conflicting\"}").await;
    assert!(conflicting > 50.0, "{conflicting}");
    assert_eq!(metric(&running, "game_players").await, 2.0);
    end(running).await;
}

#[tokio::test]
async fn ten_thousand_half_open_attempts_are_asked_to_prove_their_address() {
    const ATTEMPTS: u32 = 10_000;
    let _turn = TURN.lock().await;
    let running = serve();
    let mut good = witness(&running).await;
    let server = running.local_addr();
    // On a thread of its own, so as not to slow the witness down itself.
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
    assert!(retries > f64::from(ATTEMPTS) * 0.9, "{retries} of {ATTEMPTS}");
    let mut open = 0.0;
    for state in ["opening", "playing", "watching", "closing"] {
        open += metric(&running, &format!("game_connections{{state=\"{state}\"}}")).await;
    }
    assert!(open <= 1.0 + 16.0, "{open} connections are held open");
    // Who can be reached still gets in.
    witness(&running).await.leave().await;
    end(running).await;
}

/// An address from which everything reaches the server and nothing comes back.
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
