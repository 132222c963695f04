//! A QUIC client of its own, for tests that send what no QUIC library would send: any frames, in
//! any number, from any socket. It shares only TLS with the server's QUIC.
//!
//! The client does what a server demands of it (RFC 9000 and 9001): the handshake with a Retry,
//! packet numbers, acknowledgements and updates of keys. It has no congestion control, and resends
//! nothing but its handshake.

pub mod frame;
mod level;
mod packet;
mod reader;
mod tls;

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::quic::{ClientConnection, KeyChange, Version};

use frame::Frame;
use level::Level;
use packet::{Opened, Protection, Sealed};
pub use tls::credulous;

/// Longest time that a handshake may take, and the time after which its last packets are sent again.
const HANDSHAKE: Duration = Duration::from_secs(10);
const RESEND: Duration = Duration::from_millis(300);

/// Bytes of a connection id that this client issues.
const ID_LENGTH: usize = 8;

/// Minimum number of bytes of a datagram with an Initial packet.
const INITIAL_SIZE: usize = 1200;

/// The levels of encryption, as indices of a connection's levels. Each has its own kind of packets.
const INITIAL: usize = 0;
const HANDSHAKE_LEVEL: usize = 1;
const DATA: usize = 2;

/// A connection to a QUIC server. The socket does not block once the handshake is done.
pub struct RawConnection {
    socket: UdpSocket,
    tls: ClientConnection,
    levels: [Level; 3],
    own_id: [u8; ID_LENGTH],
    server_id: Vec<u8>,
    /// The token of a Retry.
    token: Vec<u8>,
    is_confirmed: bool,
    acknowledges: bool,
    closed: Option<Closed>,
    received: Received,
}

/// Counts of what a server has sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received {
    /// UDP datagrams.
    pub packets: u64,
    /// PATH_RESPONSE frames.
    pub path_responses: u64,
    /// RETIRE_CONNECTION_ID frames.
    pub retired_ids: u64,
    /// DATAGRAM frames, as snapshots are.
    pub datagrams: u64,
}

/// The reason with which a server closed a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Whether the application closed the connection; otherwise QUIC did.
    pub by_application: bool,
    /// The error code.
    pub code: u64,
    /// The reason in words.
    pub reason: String,
}

impl RawConnection {
    /// Shakes hands with a server, from any port of the address `from`.
    ///
    /// # Errors
    /// The socket fails, or the handshake does not end in time.
    pub fn open(from: Ipv4Addr, server: SocketAddr, protocol: &[u8]) -> io::Result<Self> {
        let socket = UdpSocket::bind((from, 0))?;
        socket.connect(server)?;
        socket.set_read_timeout(Some(RESEND))?;
        let own_id = random().to_be_bytes();
        let server_id = random().to_be_bytes().to_vec();
        let name = "localhost".try_into().map_err(io::Error::other)?;
        let parameters = tls::transport_parameters(&own_id);
        let config = Arc::new(credulous(protocol));
        let tls = ClientConnection::new(config, Version::V1, name, parameters)
            .map_err(io::Error::other)?;
        let mut this = Self {
            socket,
            tls,
            levels: [Level::default(), Level::default(), Level::default()],
            own_id,
            server_id,
            token: Vec::new(),
            is_confirmed: false,
            acknowledges: true,
            closed: None,
            received: Received::default(),
        };
        this.levels[INITIAL].protection = Some(Protection::initial(&this.server_id));
        this.shake_hands()?;
        this.socket.set_read_timeout(None)?;
        this.socket.set_nonblocking(true)?;
        Ok(this)
    }

    /// Counts of what was received so far.
    pub fn received(&self) -> Received {
        self.received
    }

    /// The reason with which the server closed the connection, once [`RawConnection::receive`] has
    /// read it.
    pub fn closed(&self) -> Option<&Closed> {
        self.closed.as_ref()
    }

    /// Stops all acknowledgements from now on, so that the server considers its packets lost.
    pub fn acknowledge_nothing(&mut self) {
        self.acknowledges = false;
    }

    /// Sends one packet with these frames, and an acknowledgement if one is due.
    pub fn send(&mut self, frames: &[u8]) {
        let packet = self.data_packet(frames);
        // A full buffer loses the packet, as the network might.
        let _ = self.socket.send(&packet);
    }

    /// Sends one packet with these frames from another socket, as if the client's address had
    /// changed.
    ///
    /// # Errors
    /// The socket fails.
    pub fn send_from(&mut self, socket: &UdpSocket, frames: &[u8]) -> io::Result<()> {
        let packet = self.data_packet(frames);
        socket.send_to(&packet, self.socket.peer_addr()?).map(|_| ())
    }

    /// Reads all datagrams that have arrived, and acknowledges them.
    pub fn receive(&mut self) {
        let mut buffer = [0; 2048];
        while let Ok(length) = self.socket.recv(&mut buffer) {
            self.take(&mut buffer[..length]);
        }
        if self.levels[DATA].is_owed && self.acknowledges && self.closed.is_none() {
            self.send(&[]);
        }
    }

    fn data_packet(&mut self, frames: &[u8]) -> Vec<u8> {
        self.seal(DATA, frames, 0)
    }

    fn shake_hands(&mut self) -> io::Result<()> {
        self.continue_handshake();
        let (begin, mut buffer) = (Instant::now(), [0; 2048]);
        while !self.is_confirmed {
            if begin.elapsed() > HANDSHAKE {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if let Some(closed) = &self.closed {
                return Err(io::Error::other(format!("the server closed: {closed:?}")));
            }
            match self.socket.recv(&mut buffer) {
                Ok(length) => self.take(&mut buffer[..length]),
                Err(_) => (0..DATA).for_each(|level| self.send_handshake(level, 0)),
            }
            self.continue_handshake();
        }
        Ok(())
    }

    /// Sends the next handshake messages of TLS.
    fn continue_handshake(&mut self) {
        loop {
            let mut said = Vec::new();
            let level = self.levels.iter().rposition(|level| level.protection.is_some());
            let level = level.expect("the first level has keys from the start");
            let change = self.tls.write_hs(&mut said);
            let is_over = change.is_none() && said.is_empty();
            let sent = self.levels[level].said.len();
            self.levels[level].said.extend(said);
            if self.levels[level].said.len() > sent {
                self.send_handshake(level, sent);
            }
            match change {
                Some(KeyChange::Handshake { keys }) => {
                    self.levels[HANDSHAKE_LEVEL].protection = Some(Protection::new(keys, None));
                }
                Some(KeyChange::OneRtt { keys, next }) => {
                    self.levels[DATA].protection = Some(Protection::new(keys, Some(next)));
                }
                None => {}
            }
            if is_over {
                return;
            }
        }
    }

    /// Sends the bytes of TLS at this level, from this offset on.
    fn send_handshake(&mut self, level: usize, offset: usize) {
        let said = &self.levels[level].said[offset..];
        if said.is_empty() || self.levels[level].protection.is_none() {
            return;
        }
        let frames = frame::crypto(offset as u64, said);
        let least = if level == INITIAL { INITIAL_SIZE } else { 0 };
        let packet = self.seal(level, &frames, least);
        let _ = self.socket.send(&packet);
    }

    /// A packet of this level with these frames, of `least` bytes or more.
    fn seal(&mut self, level: usize, frames: &[u8], least: usize) -> Vec<u8> {
        let number = self.levels[level].next_number;
        self.levels[level].next_number += 1;
        let acknowledgement = self.levels[level].acknowledgement();
        let mut payload = acknowledgement.filter(|_| self.acknowledges).unwrap_or_default();
        payload.extend_from_slice(frames);
        let sealed = Sealed {
            level,
            to: &self.server_id,
            from: &self.own_id,
            token: &self.token,
            number,
            least,
        };
        let protection = self.levels[level].protection.as_ref();
        sealed.bytes(payload, protection.expect("packets are sent at levels with keys"))
    }

    /// Reads a UDP datagram of the server.
    fn take(&mut self, mut datagram: &mut [u8]) {
        self.received.packets += 1;
        while let Some(packet) = packet::split_first(&mut datagram, ID_LENGTH) {
            if let Some(token) = packet.retry_token() {
                // The first packet is sent once more, with the token and with other keys.
                if self.token.is_empty() {
                    self.token = token.to_vec();
                    self.server_id = packet.from.clone();
                    self.levels[INITIAL].protection = Some(Protection::initial(&self.server_id));
                    self.send_handshake(INITIAL, 0);
                }
                return;
            }
            let level = packet.level;
            if packet.level != DATA {
                self.server_id = packet.from.clone();
            }
            let Some(protection) = &mut self.levels[level].protection else { continue };
            let expected = self.levels[level].received.last().map_or(0, |last| last + 1);
            let Some(Opened { number, payload }) = packet.open(protection, expected) else {
                continue;
            };
            self.levels[level].note(number);
            for frame in frame::parse(&payload) {
                self.hear(level, frame);
            }
        }
    }

    fn hear(&mut self, level: usize, frame: Frame) {
        self.levels[level].is_owed |= frame.wants_acknowledgement();
        match frame {
            Frame::Crypto { offset, bytes } => {
                let heard = self.levels[level].hear(offset, bytes);
                if !heard.is_empty() {
                    self.tls.read_hs(&heard).expect("the server speaks TLS");
                }
            }
            Frame::HandshakeDone => self.is_confirmed = true,
            Frame::PathResponse => self.received.path_responses += 1,
            Frame::RetireConnectionId => self.received.retired_ids += 1,
            Frame::Datagram => self.received.datagrams += 1,
            Frame::Close(closed) => self.closed = Some(closed),
            Frame::Acknowledgement | Frame::Other => {}
        }
    }
}

/// An unpredictable number.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}
