//! The harm that one attacker can do. In each test an attacker demands too much; the server must
//! limit them, and everybody else must not notice. `--bench siege` measures the same attackers
//! against a release server under load.
//!
//! Attackers come from 127.0.0.2 and its neighbours, to which the limits of any address apply.
//! Honest players come from 127.0.0.1, to which no limit of players applies. The attackers send
//! little, so these tests run beside the floods of `wire_hostile`.

mod attacker;
mod health;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use attacker::{ANSWER, Attacker, GAME, HTTP3, command, hello, unknown_capsule};
use obsp_client::quic::{Connector, Trust};
use obsp_proto::IDLE_TIMEOUT;
use obsp_proto::control::{
    Framer, MAX_SERVER_FRAME, MapHash, MatchEvent, PlayerName, RefusalReason, ServerMessage,
};
use obsp_proto::snapshot::MIN_SNAPSHOT;
use server::{Options, PageOptions, RoundOptions, Server};
use tests::harness::own_map;
use tests::harness::pages::{get, metric};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A time far longer than anything in these tests takes, so only a hang lasts as long.
const HANG: Duration = Duration::from_secs(20);

/// Longest time for which a connection that never becomes a player's may stay open: the limits for
/// the handshake and the hello, and a reserve for a busy machine.
const LONGEST_OPENING: Duration = Duration::from_secs(15);

/// Longest time for which a silent player may stay in the match.
const LONGEST_SILENCE: Duration = IDLE_TIMEOUT.saturating_add(Duration::from_secs(10));

const STRANGER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

fn serve(options: Options) -> Server {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    Server::start(&Options { listen: vec![any_port], pages: PageOptions::at(any_port), ..options })
        .unwrap()
}

fn options() -> Options {
    Options::new(own_map("arena.obsp").to_string_lossy())
}

fn stranger(running: &Server) -> Attacker {
    Attacker::new(STRANGER, running.local_addr())
}

async fn end(running: Server) {
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

async fn read(running: &Server, series: &str) -> f64 {
    metric(&get(running.http_addr(), "/metrics").await.body, series)
}

async fn limited(running: &Server, limit: &str) -> f64 {
    read(running, &format!("game_limits_hit_total{{limit=\"{limit}\"}}")).await
}

async fn refused(running: &Server, reason: &str) -> f64 {
    read(running, &format!("game_refusals_total{{reason=\"{reason}\"}}")).await
}

/// Whether an honest player at 127.0.0.1 can join.
async fn honest_join(running: &Server) -> bool {
    let connector = Connector::new(running.local_addr(), Trust::Loopback).unwrap();
    let name = PlayerName::new("honest").unwrap();
    let joined = timeout(HANG, connector.join(&name, MapHash::ANY)).await;
    let Ok(Ok(client)) = joined else { return false };
    client.leave().await;
    true
}

#[tokio::test]
async fn a_connection_that_stops_at_any_stage_is_closed_and_counted_in_time() {
    let running = serve(options());
    let begin = Instant::now();
    // Each connection has an address of its own, so that no limit per address is reached.
    let at = |host: u8| Attacker::new(Ipv4Addr::new(127, 0, 0, host), running.local_addr());
    let tls = at(10).connect(GAME).await.unwrap();
    let http3 = at(11).connect(HTTP3).await.unwrap();
    let (accepted, _capsules, status) = at(12).web_by_hand(None).await.unwrap();
    assert_eq!(status, 200);
    let session = at(13).web().await.unwrap();
    let half = at(14).connect(GAME).await.unwrap();
    let (mut half_hello, _receive) = half.open_bi().await.unwrap();
    half_hello.write_all(&hello()[..5]).await.unwrap();
    let web = at(15).web().await.unwrap();
    let (mut web_half_hello, _receive) = web.open_bi().await.unwrap();
    web_half_hello.write_all(&hello()[..5]).await.unwrap();
    let silent = at(16).join().await.unwrap().unwrap();
    let mut dawdling = at(17).join().await.unwrap().unwrap();
    let dawdling_connection = dawdling.connection.clone();
    // This player sends one byte a second of a frame that never ends.
    let dawdle = async {
        for byte in [0xe8, 0x03].into_iter().chain([0; 1000]) {
            if dawdling.send.write_all(&[byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let stages = [
        ("TLS is done", &tls),
        ("TLS is done, for HTTP/3", &http3),
        ("the session is accepted", &accepted),
        ("the session is accepted, and no control stream comes", &session),
        ("half a hello", &half),
        ("half a hello of a spectator", &web),
    ];
    for (stage, connection) in stages {
        let left = LONGEST_OPENING.saturating_sub(begin.elapsed());
        assert!(
            timeout(left, connection.closed()).await.is_ok(),
            "{stage}: the connection is still open"
        );
    }
    // The server may still count the last connections.
    while read(&running, "game_connections{state=\"opening\"}").await > 0.0 {
        assert!(begin.elapsed() < LONGEST_OPENING);
    }
    let (no_hello, failed) =
        (refused(&running, "no_hello").await, refused(&running, "handshake_failed").await);
    assert_eq!([no_hello, failed], [3.0, 3.0]);

    let both_silent = async {
        silent.connection.closed().await;
        tokio::select! {
            _ = dawdling_connection.closed() => {}
            () = dawdle => {}
        }
    };
    let left = LONGEST_SILENCE.saturating_sub(begin.elapsed());
    assert!(
        timeout(left, both_silent).await.is_ok(),
        "a hello and then silence: a connection is still open"
    );
    while read(&running, "game_disconnects_total{reason=\"timed_out\"}").await < 2.0 {
        assert!(begin.elapsed() < LONGEST_SILENCE);
    }
    end(running).await;
}

#[tokio::test]
async fn occupied_connections_keep_nobody_out() {
    let running = serve(options());
    let attacker = stranger(&running);
    let mut held = Vec::new();
    // This is the number of connections that an address may open at once.
    for _ in 0..28 {
        held.extend(attacker.connect(GAME).await);
    }
    assert!(honest_join(&running).await, "an honest player is kept out");
    let same_address = attacker.join().await.expect("the connection is accepted");
    assert!(same_address.is_ok(), "a player of the same address is kept out");
    assert!(limited(&running, "unfinished").await >= 12.0);
    let closed = held.iter().filter(|connection| connection.close_reason().is_some()).count();
    assert!(closed >= 12, "{closed}");
    // The server does not even begin more handshakes.
    for _ in 0..10 {
        let _ = attacker.connect(GAME).await;
    }
    assert!(limited(&running, "handshakes").await > 0.0);
    end(running).await;
}

#[tokio::test]
async fn an_address_has_its_share_of_players_and_spectators() {
    let running = serve(options());
    let attacker = stranger(&running);
    let mut players = Vec::new();
    let mut refusals = Vec::new();
    for _ in 0..6 {
        match attacker.join().await.expect("the connection is accepted") {
            Ok(player) => players.push(player),
            Err(reason) => refusals.push(reason),
        }
    }
    assert_eq!((players.len(), refusals), (4, vec![RefusalReason::AddressLimit; 2]));
    let mut spectators = Vec::new();
    for _ in 0..5 {
        spectators.push(attacker.spectate().await.expect("the session is accepted"));
    }
    let are_in: Vec<_> = spectators.iter().map(Result::is_ok).collect();
    assert_eq!(are_in, [true, true, true, true, false]);
    assert_eq!(limited(&running, "players").await, 2.0);
    assert_eq!(limited(&running, "spectators").await, 1.0);
    assert_eq!(refused(&running, "address_limit").await, 3.0);
    assert!(honest_join(&running).await);
    end(running).await;
}

#[tokio::test]
async fn a_client_that_floods_is_dropped_and_counted() {
    let running = serve(options());
    let attacker = stranger(&running);

    let player = attacker.join().await.unwrap().unwrap();
    let flood = async {
        while player.connection.close_reason().is_none() {
            for _ in 0..50 {
                let _ = player.connection.send_datagram(command(player.tick.after(10)).into());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(HANG, flood).await.expect("a client that floods commands is dropped");
    assert_eq!(limited(&running, "datagrams").await, 1.0);
    assert_eq!(read(&running, "game_disconnects_total{reason=\"flooding\"}").await, 1.0);

    let (connection, mut capsules, status) = attacker.web_by_hand(None).await.unwrap();
    assert_eq!(status, 200);
    let flood = async {
        while capsules.write_all(&unknown_capsule()).await.is_ok() {
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
    };
    timeout(HANG, flood).await.expect("a client that floods capsules is dropped");
    connection.closed().await;
    let counted = async { while refused(&running, "flooding").await < 1.0 {} };
    timeout(HANG, counted).await.expect("the refusal is counted");
    assert!(limited(&running, "stream_frames").await + limited(&running, "packets").await >= 1.0);
    end(running).await;
}

#[tokio::test]
async fn leaving_and_joining_refills_no_speech() {
    let running = serve(options());
    let mut listener = Attacker::new(Ipv4Addr::new(127, 0, 0, 9), running.local_addr())
        .join()
        .await
        .unwrap()
        .unwrap();
    let attacker = stranger(&running);
    let line = "x".repeat(150);
    let mut speakers = Vec::new();
    for _ in 0..4 {
        let mut speaker = attacker.join().await.unwrap().unwrap();
        for _ in 0..5 {
            assert!(speaker.say(&line).await);
        }
        speakers.push(speaker);
    }
    // One player leaves and joins again, which takes a second, and gains no new allowance.
    speakers.pop().unwrap().leave().await;
    let begin = Instant::now();
    let mut again = attacker.join().await.unwrap().unwrap();
    assert!(begin.elapsed() > Duration::from_secs(1), "{:?}", begin.elapsed());
    for _ in 0..5 {
        assert!(again.say(&line).await);
    }
    let (mut framer, mut heard) = (Framer::new(MAX_SERVER_FRAME), 0);
    let hear = async {
        loop {
            let Some(message) = listener.next_message(&mut framer).await else { return };
            if let ServerMessage::Event { event: MatchEvent::Said { line, .. }, .. } = message {
                heard += line.as_str().len();
            }
        }
    };
    let _ = timeout(Duration::from_secs(2), hear).await;
    // 25 lines of 150 bytes were sent. An address may send 1000 bytes at once, and 100 a second.
    assert!((900..2500).contains(&heard), "{heard} bytes");
    assert!(limited(&running, "chat").await >= 8.0);
    end(running).await;
}

#[tokio::test]
async fn a_map_download_arrives_whole_and_a_fifth_is_not_begun() {
    let running = serve(options());
    let player = stranger(&running).join().await.unwrap().unwrap();
    let size = std::fs::metadata(own_map("arena.obsp")).unwrap().len() as usize;
    // A client needs at most four downloads: the map and the game's data, each twice.
    for _ in 0..4 {
        let loaded = timeout(HANG, player.download()).await.unwrap().unwrap();
        assert!((size..size + 100).contains(&loaded), "{loaded} of {size}");
    }
    assert!(timeout(Duration::from_secs(1), player.download()).await.is_err());
    assert_eq!(read(&running, "game_maps_sent_total").await, 4.0);
    let sent =
        async |kind| read(&running, &format!("game_outgoing_bytes_total{{kind=\"{kind}\"}}")).await;
    assert!(sent("downloads").await >= 4.0 * size as f64, "the downloads are not counted");
    // These pages of metrics are counted, too.
    assert!(sent("pages").await > 10_000.0 && sent("queries").await == 0.0);
    end(running).await;
}

#[tokio::test]
async fn reports_of_mismatches_that_were_saved_up_count_little() {
    let running = serve(options());
    let mut liar = stranger(&running).join().await.unwrap().unwrap();
    let mut claims = 0;
    for tick in 0..60 {
        claims += u32::from(liar.claim_mismatch(tick).await);
    }
    assert_eq!(claims, 60);
    let counted = async {
        while limited(&running, "mismatches").await < 30.0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(HANG, counted).await.expect("reports beyond the limit are counted");
    assert!(read(&running, "game_digest_mismatches_total").await <= 20.0);
    end(running).await;
}

#[tokio::test]
async fn a_page_elsewhere_is_refused_and_no_page_is_awaited_where_none_may_look_on() {
    let running = serve(options());
    let attacker = stranger(&running);
    let (_, _, status) = attacker.web_by_hand(Some("https://evil.example")).await.unwrap();
    assert_eq!(status, 403);
    assert_eq!(limited(&running, "origin").await, 1.0);
    let own = format!("http://{}", running.http_addr());
    let (_, _, status) = attacker.web_by_hand(Some(&own)).await.unwrap();
    assert_eq!(status, 200);
    end(running).await;

    let allow = vec!["https://evil.example".parse().unwrap()];
    let running = serve(Options { allow_origin: allow, ..options() });
    let (_, _, status) =
        stranger(&running).web_by_hand(Some("https://evil.example")).await.unwrap();
    assert_eq!(status, 200);
    end(running).await;

    // A server without spectators still accepts browsers, because their pages may play.
    let running = serve(Options { max_spectators: 0, ..options() });
    assert!(
        stranger(&running).connect(HTTP3).await.is_some(),
        "the server refuses browsers, so no page could play"
    );
    assert!(stranger(&running).spectate().await.is_none_or(|met| met.is_err()));
    assert!(stranger(&running).connect(GAME).await.is_some());
    end(running).await;
}

#[tokio::test]
async fn slow_connections_to_the_pages_keep_no_probe_out() {
    let running = serve(options());
    let mut slow = Vec::new();
    for _ in 0..300 {
        let mut stream = TcpStream::connect(running.http_addr()).await.unwrap();
        stream.write_all(b"GET /met").await.unwrap();
        slow.push(stream);
    }
    let mut times = Vec::new();
    for _ in 0..5 {
        let begin = Instant::now();
        assert_eq!(get(running.http_addr(), "/healthz").await.status, 200);
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    // The limit is ten times the bench's limit, because the machine may be busy.
    assert!(times[2] < Duration::from_millis(500), "{times:?}");
    end(running).await;
}

#[tokio::test]
async fn handshakes_that_are_broken_off_keep_nobody_out() {
    // This is the smallest limit of connections that a server can have.
    let running = serve(Options { max_players: 2, max_spectators: 0, ..options() });
    for host in 20..24 {
        let attacker = Attacker::new(Ipv4Addr::new(127, 0, 0, host), running.local_addr());
        for _ in 0..150 {
            attacker.abort().await;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    assert!(honest_join(&running).await, "an honest player is kept out");
    assert_eq!(limited(&running, "connections").await, 0.0);
    assert!(read(&running, "game_retries_total").await > 100.0);
    end(running).await;
}

#[tokio::test]
async fn a_wrong_hello_in_the_next_world_is_refused_and_counted() {
    let rounds = RoundOptions {
        round_time: Some(Duration::from_millis(500)),
        intermission: Duration::ZERO,
        ..RoundOptions::default()
    };
    let running = serve(Options { rounds, ..options() });
    let mut player = stranger(&running).join().await.unwrap().unwrap();
    let mut framer = Framer::new(MAX_SERVER_FRAME);
    let mut refused = None;
    let hearing = async {
        while let Some(message) = player.next_message(&mut framer).await {
            match message {
                ServerMessage::NewWorld { .. } => player.hello_again(MapHash([1; 32])).await,
                ServerMessage::Refused(reason) => refused = Some(reason),
                _ => {}
            }
        }
    };
    timeout(HANG, hearing).await.expect("the match goes on");
    assert!(matches!(refused, Some(RefusalReason::WrongMap { .. })), "{refused:?}");
    let counted = async {
        while read(&running, "game_disconnects_total{reason=\"wrong_map\"}").await < 1.0 {}
    };
    timeout(HANG, counted).await.expect("the refusal is counted");
    assert!(honest_join(&running).await);
    end(running).await;
}

/// Symptom: a client that accepts only datagrams of up to 100 bytes could join, although no
/// snapshot fits into them. The server sent it no snapshot, so the watchdog ended the server after
/// 31 s.
#[tokio::test]
async fn a_client_whose_datagrams_hold_no_snapshot_is_not_let_in() {
    let running = serve(options());
    // Quinn leaves nine bytes for the frame around a datagram.
    for (largest, refusals) in [(100, 1.0), (MIN_SNAPSHOT + 8, 2.0)] {
        let attacker = stranger(&running).with_largest_datagram(largest);
        assert!(attacker.join().await.is_none(), "{largest}");
        assert_eq!(refused(&running, "no_datagrams").await, refusals, "{largest}");
    }
    let narrow = stranger(&running).with_largest_datagram(MIN_SNAPSHOT + 9);
    let player = narrow.join().await.unwrap().ok().unwrap();
    timeout(ANSWER, player.connection.read_datagram()).await.unwrap().unwrap();
    player.leave().await;
    // A spectator in a browser needs a few bytes more for the session's number.
    let browser = stranger(&running).with_largest_datagram(MIN_SNAPSHOT + 9);
    let _ = browser.spectate().await;
    assert_eq!(refused(&running, "no_datagrams").await, 3.0);
    end(running).await;
}
