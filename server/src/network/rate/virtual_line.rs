//! Two QUIC endpoints and the line between them, in virtual time. Tests measure the effect of a
//! blackout, or of a narrow or lossy line, on a connection of this server. They take milliseconds
//! of CPU time and need no sockets.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::{Bytes, BytesMut};
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, Event,
    ServerConfig, TransportConfig,
};

use super::path_estimate::IP_OVERHEAD;
use crate::network::endpoint::certificate::Certificate;

/// How one direction of the line treats packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Direction {
    /// Time that a packet takes.
    pub(crate) delay: Duration,
    /// Longest time that a packet may take beyond `delay`. It is random for each packet, so packets
    /// overtake one another.
    pub(crate) jitter: Duration,
    /// Bytes a second, headers of IP and UDP included. `None` means any number.
    pub(crate) rate: Option<f64>,
    /// Longest time that a packet waits for its turn. A packet that would wait longer is lost.
    pub(crate) queue: Duration,
    /// Share of packets that are lost, at random.
    pub(crate) loss: f64,
    /// The time in which nothing passes, from the beginning of the connection.
    pub(crate) blackout: Range<Duration>,
}

/// The state of one direction.
struct Wire {
    habits: Direction,
    /// When the last packet will have left the queue.
    free_at: Instant,
    random: u64,
}

/// One end of the line.
struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    address: SocketAddr,
    /// The direction towards the other end.
    wire: Wire,
    /// Datagrams that arrived, and when.
    received: Vec<(Instant, Bytes)>,
    is_lost: bool,
}

/// A packet on its way: the time of its arrival, its number, the end that receives it, and its
/// bytes.
type UnderWay = (Instant, u64, usize, Vec<u8>);

/// A server and one client.
pub(crate) struct VirtualLine {
    began: Instant,
    now: Instant,
    /// The server's end and the client's.
    ends: [End; 2],
    under_way: BinaryHeap<Reverse<UnderWay>>,
    packets: u64,
}

const SERVER: usize = 0;
const CLIENT: usize = 1;

/// Time that a handshake may take, on any line of these tests.
const HANDSHAKE: Duration = Duration::from_secs(3);

impl VirtualLine {
    /// Connects a client to a server over a line whose directions are `down`, to the client, and
    /// `up`, to the server.
    pub(crate) fn connect(
        [down, up]: [Direction; 2],
        server: TransportConfig,
        client: TransportConfig,
        seed: u64,
    ) -> Self {
        let began = Instant::now();
        let (server_config, client_config) = configs(server, client);
        let wire = |habits: Direction, random| Wire { habits, free_at: began, random };
        let end = |port, config, wire| End {
            endpoint: Endpoint::new(
                Arc::new(EndpointConfig::default()),
                config,
                true,
                Some([seed as u8; 32]),
            ),
            connection: None,
            address: (Ipv4Addr::LOCALHOST, port).into(),
            wire,
            received: Vec::new(),
            is_lost: false,
        };
        let mut line = Self {
            began,
            now: began,
            ends: [
                end(1, Some(Arc::new(server_config)), wire(down, 2 * seed + 1)),
                end(2, None, wire(up, 2 * seed + 2)),
            ],
            under_way: BinaryHeap::new(),
            packets: 0,
        };
        let server = line.ends[SERVER].address;
        let endpoint = &mut line.ends[CLIENT].endpoint;
        line.ends[CLIENT].connection =
            Some(endpoint.connect(began, client_config, server, "localhost").unwrap());
        while line.ends.iter().any(|end| !end.is_established()) {
            assert!(line.elapsed() < HANDSHAKE, "no handshake");
            line.pass(Duration::from_millis(1));
        }
        line
    }

    /// The server's end of the connection. [`VirtualLine::pass`] sends what was handed to it.
    pub(crate) fn server(&mut self) -> &mut Connection {
        self.ends[SERVER].connection()
    }

    /// The client's end.
    pub(crate) fn client(&mut self) -> &mut Connection {
        self.ends[CLIENT].connection()
    }

    /// Time since the client began to connect.
    pub(crate) fn elapsed(&self) -> Duration {
        self.now - self.began
    }

    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    /// Whether either end has given the connection up.
    pub(crate) fn is_lost(&self) -> bool {
        self.ends.iter().any(|end| end.is_lost)
    }

    /// Datagrams that the client has received since the last call, and when.
    pub(crate) fn take_received(&mut self) -> Vec<(Duration, Bytes)> {
        let began = self.began;
        let received = std::mem::take(&mut self.ends[CLIENT].received);
        received.into_iter().map(|(at, datagram)| (at - began, datagram)).collect()
    }

    /// Lets this much time pass.
    pub(crate) fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        self.transmit();
        loop {
            let arrival = self.under_way.peek().map(|Reverse((at, ..))| *at);
            let timeouts = self.ends.iter_mut().filter_map(|end| {
                end.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout())
            });
            let Some(next) = timeouts.chain(arrival).min().filter(|&next| next <= until) else {
                break;
            };
            self.now = self.now.max(next);
            while let Some(Reverse((at, ..))) = self.under_way.peek()
                && *at <= self.now
                && let Some(Reverse((_, _, to, packet))) = self.under_way.pop()
            {
                self.deliver(to, &packet);
            }
            for end in &mut self.ends {
                if let Some((_, connection)) = &mut end.connection {
                    connection.handle_timeout(self.now);
                }
            }
            self.transmit();
        }
        self.now = until;
    }

    fn deliver(&mut self, to: usize, packet: &[u8]) {
        let from = self.ends[1 - to].address;
        let end = &mut self.ends[to];
        let mut answer = Vec::new();
        match end.endpoint.handle(self.now, from, None, None, BytesMut::from(packet), &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = end.endpoint.accept(incoming, self.now, &mut answer, None);
                end.connection = Some(accepted.ok().unwrap());
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => end.connection().handle_event(event),
            Some(DatagramEvent::Response(_)) | None => {}
        }
        end.take_events(self.now);
    }

    fn transmit(&mut self) {
        for from in [SERVER, CLIENT] {
            self.ends[from].take_events(self.now);
            let mut packet = Vec::new();
            while let Some((_, connection)) = &mut self.ends[from].connection
                && connection.poll_transmit(self.now, 1, &mut packet).is_some()
            {
                let packet = std::mem::take(&mut packet);
                let at = self.ends[from].wire.arrival(self.now, self.began, packet.len());
                self.packets += 1;
                let Some(at) = at else { continue };
                self.under_way.push(Reverse((at, self.packets, 1 - from, packet)));
            }
        }
    }
}

impl Wire {
    /// When a packet that is sent now arrives. `None` if it is lost.
    fn arrival(&mut self, now: Instant, began: Instant, bytes: usize) -> Option<Instant> {
        let Direction { delay, jitter, rate, queue, loss, blackout } = self.habits.clone();
        let is_lost = self.draw() < loss;
        let delay = delay + jitter.mul_f64(self.draw());
        if is_lost || blackout.contains(&(now - began)) {
            return None;
        }
        let mut left = now;
        if let Some(rate) = rate {
            self.free_at = self.free_at.max(now);
            if self.free_at - now > queue {
                return None;
            }
            let bytes = bytes as f64 + IP_OVERHEAD as f64;
            self.free_at += Duration::from_secs_f64(bytes / rate);
            left = self.free_at;
        }
        Some(left + delay)
    }

    /// A number from zero up to one.
    fn draw(&mut self) -> f64 {
        // Knuth's generator for MMIX. Only its higher bits are random enough.
        self.random =
            self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.random >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl End {
    fn connection(&mut self) -> &mut Connection {
        &mut self.connection.as_mut().unwrap().1
    }

    fn is_established(&self) -> bool {
        self.connection.as_ref().is_some_and(|(_, connection)| !connection.is_handshaking())
    }

    /// Passes events between the connection and its endpoint, and keeps the datagrams that arrived.
    fn take_events(&mut self, now: Instant) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            self.is_lost |= matches!(event, Event::ConnectionLost { .. });
        }
        while let Some(datagram) = connection.datagrams().recv() {
            self.received.push((now, datagram));
        }
    }
}

/// A server with a certificate of its own, and a client that trusts it.
fn configs(server: TransportConfig, client: TransportConfig) -> (ServerConfig, ClientConfig) {
    let certificate = Certificate::self_signed(SystemTime::now()).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.chain[0].clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut client_config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).unwrap()));
    client_config.transport_config(Arc::new(client));
    let tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(certificate.chain, certificate.key)
        .unwrap();
    let crypto = quinn_proto::crypto::rustls::QuicServerConfig::try_from(tls).unwrap();
    let mut server_config = ServerConfig::with_crypto(Arc::new(crypto));
    server_config.transport_config(Arc::new(server));
    (server_config, client_config)
}
