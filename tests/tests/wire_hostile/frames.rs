//! Floods of frames below the game: QUIC itself answers them, so no message of the game's protocol
//! is ever wrong.

use std::net::Ipv4Addr;

use obsp_proto::ALPN;
use tests::raw_quic::frame::{
    PING, data_blocked, new_connection_id, path_challenge, reset_stream, retire_connection_id,
    stop_sending, stream,
};
use tests::raw_quic::{Closed, RawConnection, Received};

use super::*;

/// Longest time for which a flood may last. The server looks ten times a second.
const ENDED: Duration = Duration::from_secs(5);

/// Bytes of a packet that is full of frames.
const FULL: usize = 1100;

const FLOODING: &str = "game_disconnects_total{reason=\"flooding\"}";

/// What came of a flood.
#[derive(Debug)]
struct Flooded {
    /// Packets that were sent.
    packets: u64,
    closed: Option<Closed>,
    received: Received,
    lasted: Duration,
}

/// A connection that has asked to be let in as a player, and has been.
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

/// Sends packets as fast as it can, until the server has enough of it. `packet` makes the frames of
/// the packet with a number that counts from 1.
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

/// Floods a server while an honest player plays. Asserts that the flooder is thrown out for it and
/// that the player notices nothing.
async fn costs_only_its_sender(name: &str, packet: impl Fn(u64) -> Vec<u8> + Send + 'static) {
    let _turn = TURN.lock().await;
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
    let closed = closed.expect("the flooder is thrown out");
    assert!(lasted < ENDED);
    // A flood may also break a rule of QUIC, for which QUIC itself closes the connection at once.
    if closed.by_application {
        assert!(packets > 100, "so few packets are no flood");
        assert_eq!(metric(&running, FLOODING).await, 1.0, "{closed:?}");
    }
    end(running).await;
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
        // The control stream's two directions stay as they are: these are of a stream for maps.
        2 => reset_stream(4, 0),
        _ => stop_sending(4),
    };
    costs_only_its_sender("in turn", mixed).await;
}

#[tokio::test]
async fn ids_beyond_the_limit_end_the_connection() {
    let _turn = TURN.lock().await;
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
    end(running).await;
}
