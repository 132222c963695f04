//! Floods of QUIC frames that QUIC itself answers, so no message of the game's protocol is wrong.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use tests::raw_quic::RawConnection;
use tests::raw_quic::frame::{
    PING, data_blocked, datagram, new_connection_id, path_challenge, reset_stream, stop_sending,
    stream,
};

use crate::attacker::{GAME, hello};

/// Maximum number of packets of one flood. If the packet with which the server closes the
/// connection is lost, the flooder does not learn that its connection is over.
const MOST: u64 = 100_000;

/// Packets that are sent between two looks at what the server sends.
const AT_ONCE: u64 = 8;

/// The frame that fills a flood.
#[derive(Clone, Copy)]
pub(crate) enum Frames {
    /// Challenges of the path. The server sends each answer in a datagram of 1200 bytes.
    PathChallenges,
    /// Challenges of the path from an address that is not the flooder's.
    ForgedChallenges,
    /// Connection ids, each of which replaces all before it.
    ConnectionIds,
    /// Empty DATAGRAM frames, pings, resets and frames of blocked streams, in turn.
    Small,
}

impl Frames {
    fn packet(self, number: u64) -> Vec<u8> {
        match self {
            Self::PathChallenges | Self::ForgedChallenges => path_challenge(number),
            Self::ConnectionIds => new_connection_id(number, number),
            Self::Small => match number % 5 {
                0 => datagram(&[]),
                1 => PING.to_vec(),
                2 => reset_stream(4, 0),
                3 => stop_sending(4),
                _ => data_blocked(number),
            },
        }
    }
}

/// Joins as a player, then floods as fast as one thread can, until the server ends the connection.
pub(crate) fn flood(frames: Frames, source: Ipv4Addr, server: SocketAddr) -> Option<()> {
    let mut connection = RawConnection::open(source, server, GAME).ok()?;
    connection.send(&stream(0, 0, &hello()));
    let elsewhere = match frames {
        Frames::ForgedChallenges => Some(UdpSocket::bind((source, 0)).ok()?),
        _ => None,
    };
    for number in 1..=MOST {
        let packet = frames.packet(number);
        match &elsewhere {
            Some(forged) => connection.send_from(forged, &packet).ok()?,
            None => connection.send(&packet),
        }
        if number % AT_ONCE == 0 {
            connection.receive();
        }
        if connection.closed().is_some() {
            break;
        }
    }
    Some(())
}
