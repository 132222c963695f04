//! Floods of frames below the game: QUIC itself answers them, so no message of the game's protocol
//! is ever wrong.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use obsp_proto::ALPN;
use tests::raw_quic::frame::{
    PING, data_blocked, new_connection_id, path_challenge, reset_stream, retire_connection_id,
    stop_sending, stream,
};
use tests::raw_quic::{Closed, RawConnection, Received};

use super::*;

/// Longest time for which a flood may last. The server looks for floods ten times a second.
const ENDED: Duration = Duration::from_secs(5);

/// Bytes of a packet that is full of frames.
const FULL: usize = 1100;

const FLOODING: &str = "game_disconnects_total{reason=\"flooding\"}";

/// The limit that ends these floods. The limit of packets would also end these floods, but not
/// slower ones.
const LIMIT: &str = "game_limits_hit_total{limit=\"control_frames\"}";

/// The outcome of a flood.
#[derive(Debug)]
struct Flooded {
    /// Packets that were sent.
    packets: u64,
    closed: Option<Closed>,
    received: Received,
    lasted: Duration,
}

/// A connection that has joined as a player.
fn joined(server: SocketAddr) -> RawConnection {
    let mut connection = RawConnection::open(Ipv4Addr::LOCALHOST, server, ALPN).unwrap();
    let hello = ClientHello::new(MapHash::ANY, &PlayerName::new("flooder").unwrap());
    let hello = encode_client_message(&ClientMessage::Hello(hello));
    connection.send(&stream(0, 0, &hello));
    let begin = Instant::now();
    while connection.received().datagrams == 0 {
        assert!(begin.elapsed() < HANG, "no snapshot comes: {:?}", connection.closed());
        connection.receive();
        std::thread::sleep(Duration::from_millis(1));
    }
    connection
}

/// Sends packets as fast as it can, until the server closes the connection or `ENDED` has passed.
/// `packet` makes the frames of a packet from the packet's number, which counts from 1.
fn flood(server: SocketAddr, packet: impl Fn(u64) -> Vec<u8>) -> Flooded {
    let mut connection = joined(server);
    let (begin, mut packets) = (Instant::now(), 0);
    while connection.closed().is_none() && begin.elapsed() < ENDED {
        for _ in 0..8 {
            packets += 1;
            connection.send(&packet(packets));
        }
        connection.receive();
    }
    let (closed, received) = (connection.closed().cloned(), connection.received());
    Flooded { packets, closed, received, lasted: begin.elapsed() }
}

/// Floods a server while an honest player plays. Asserts that the server drops the flooder and that
/// the player notices nothing.
async fn costs_only_its_sender(name: &str, packet: impl Fn(u64) -> Vec<u8> + Send + 'static) {
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    let server = running.udp();
    let flooding = std::thread::spawn(move || flood(server, packet));
    sees_nothing_amiss(&mut good, &running).await;
    while !flooding.is_finished() {
        sees_nothing_amiss(&mut good, &running).await;
    }
    let flooded = flooding.join().unwrap();
    let Flooded { packets, closed, received, lasted } = flooded;
    println!("{name}: {packets} packets in {lasted:?}; {closed:?}; {received:?}");
    let closed = closed.expect("the server drops the flooder");
    assert!(lasted < ENDED);
    // A flood may also break a rule of QUIC, for which QUIC itself closes the connection at once.
    if closed.by_application {
        assert!(packets > 100, "{packets} packets are not a flood");
        assert_eq!(metric(&running, FLOODING).await, 1.0, "{closed:?}");
        assert_eq!(metric(&running, LIMIT).await, 1.0, "another limit was hit");
    }
    end(running, good).await;
}

#[tokio::test]
async fn a_flood_of_path_challenges_costs_only_its_sender() {
    costs_only_its_sender("one a packet", path_challenge).await;
}

#[tokio::test]
async fn packets_full_of_path_challenges_cost_only_their_sender() {
    let full = |number: u64| path_challenge(number).repeat(FULL / 9);
    costs_only_its_sender("full packets", full).await;
}

#[tokio::test]
async fn a_flood_of_new_connection_ids_costs_only_its_sender() {
    // Each id replaces all before it, so their number never passes the limit.
    costs_only_its_sender("one a packet", |number| new_connection_id(number, number)).await;
}

#[tokio::test]
async fn packets_full_of_new_connection_ids_cost_only_their_sender() {
    const IDS: u64 = FULL as u64 / 40;
    let full = |packet: u64| {
        let numbers = (packet - 1) * IDS + 1..=packet * IDS;
        numbers.flat_map(|number| new_connection_id(number, number)).collect()
    };
    costs_only_its_sender("full packets", full).await;
}

#[tokio::test]
async fn a_flood_of_small_frames_of_each_kind_costs_only_its_sender() {
    let mixed = |number: u64| match number % 4 {
        0 => PING.to_vec(),
        1 => data_blocked(number),
        // These frames are for a stream for maps, so the control stream stays open.
        2 => reset_stream(4, 0),
        _ => stop_sending(4),
    };
    costs_only_its_sender("in turn", mixed).await;
}

#[tokio::test]
async fn ids_beyond_the_limit_end_the_connection() {
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    let flooded = flood(running.udp(), |number| new_connection_id(number, 0));
    // RFC 9000, section 20.1: CONNECTION_ID_LIMIT_ERROR.
    let closed = flooded.closed.expect("the server has a limit");
    assert!(!closed.by_application && closed.code == 0x09, "{closed:?}");
    let flooded = flood(running.udp(), |number| retire_connection_id(number + 1000));
    // PROTOCOL_VIOLATION: the server has not issued such ids.
    let closed = flooded.closed.expect("the server knows its own ids");
    assert!(!closed.by_application && closed.code == 0x0a, "{closed:?}");
    sees_nothing_amiss(&mut good, &running).await;
    end(running, good).await;
}

/// Sends challenges without pause from a socket that is not the client's, until `is_over`. A packet
/// with an acknowledgement moves the client to that address, as far as the server can know. A
/// packet with only a challenge does not (RFC 9000, section 9.1). Returns the number of packets.
fn flood_from(forged: &UdpSocket, server: SocketAddr, moves: bool, is_over: &AtomicBool) -> u64 {
    let mut connection = joined(server);
    if !moves {
        connection.acknowledge_nothing();
    }
    let mut packets = 0;
    while !is_over.load(Ordering::Relaxed) {
        packets += 1;
        connection.send_from(forged, &path_challenge(packets)).unwrap();
        connection.receive();
    }
    packets
}

/// QUIC answers a challenge at the address that it came from, with a datagram of 1200 bytes. A
/// client that forges the address of a stranger makes the server send that stranger bytes.
async fn a_stranger_is_sent_little(moves: bool) {
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    let server = running.udp();
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    let forged = stranger.try_clone().unwrap();
    stranger.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let hit = std::thread::spawn(move || {
        let (mut buffer, mut bytes) = ([0; 2048], 0);
        while !over.load(Ordering::Relaxed) {
            bytes += stranger.recv(&mut buffer).unwrap_or(0);
        }
        bytes
    });
    let over = Arc::clone(&is_over);
    let flooding = std::thread::spawn(move || flood_from(&forged, server, moves, &over));
    // The flooder may never learn that it was dropped, because the server may take the stranger's
    // address for the flooder's. So the test reads the server's metric.
    let (begin, mut thrown_out) = (Instant::now(), None);
    while begin.elapsed() < ENDED {
        sees_nothing_amiss(&mut good, &running).await;
        if thrown_out.is_none() && metric(&running, FLOODING).await == 1.0 {
            thrown_out = Some(begin.elapsed());
        }
    }
    is_over.store(true, Ordering::Relaxed);
    let (packets, bytes) = (flooding.join().unwrap(), hit.join().unwrap());
    println!("{packets} challenges sent a stranger {bytes} bytes; dropped after {thrown_out:?}");
    assert!(packets > 1000, "{packets} packets are not a flood");
    assert!(bytes > 0, "no challenge was answered, so nothing was tested");
    assert!(thrown_out.is_some(), "the server did not drop the flooder");
    assert_eq!(metric(&running, LIMIT).await, 1.0, "another limit was hit");
    assert!(bytes < 1 << 20, "a stranger was sent {bytes} bytes");
    end(running, good).await;
}

#[tokio::test]
async fn challenges_from_a_strangers_address_send_that_stranger_little() {
    a_stranger_is_sent_little(false).await;
}

#[tokio::test]
async fn a_move_to_a_strangers_address_sends_that_stranger_little() {
    a_stranger_is_sent_little(true).await;
}
