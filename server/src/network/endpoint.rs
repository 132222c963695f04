//! The QUIC endpoint of a server, with its sockets and its certificate.
//!
//! The sockets answer from the address that was asked ([`udp_port`]). They take out everything that
//! is not QUIC: server queries ([`queries`]) and the headers of proxies ([`proxy_protocol`]). The
//! certificate is read or made ([`certificate`]) and renewed in time ([`renewal`]). With the
//! [`reset_key`], the server can end the connections of an earlier run after a restart.

pub(crate) mod certificate;
pub(crate) mod game_socket;
pub(crate) mod proxy_protocol;
pub(crate) mod queries;
pub(crate) mod renewal;
pub(crate) mod reset_key;
pub(crate) mod udp_port;

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use obsp_proto::{ALPN, IDLE_TIMEOUT};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{IdleTimeout, ServerConfig, TransportConfig, VarInt};
use socket2::Socket;
use tracing::warn;

use super::rate::background;
use super::rate::congestion::GameCongestionConfig;
use super::web;
use crate::common::address_prefix::AddressPrefix;
use crate::common::bind;
use crate::common::error::StartError;
use crate::door::admission::UNFINISHED;
use certificate::Certificate;
use game_socket::GameSocket;
use queries::Queries;
use reset_key::ResetKey;

/// Number of snapshots of the largest size that may wait in a connection until the path takes them:
/// those of three ticks. A longer queue would only delay newer snapshots.
const SNAPSHOTS_IN_FLIGHT: usize = 3;

/// Maximum bytes of a datagram on a usual path: Ethernet carries packets of 1500.
const LARGEST_DATAGRAM: usize = 1500;

/// Bytes of the send buffer for datagrams of one connection.
const DATAGRAM_SEND_BUFFER: usize = SNAPSHOTS_IN_FLIGHT * LARGEST_DATAGRAM;

/// Bytes of commands that may wait for the connection's task: about a hundred datagrams, which a
/// client sends in more than a second.
const DATAGRAM_RECEIVE_BUFFER: usize = 16 * 1024;

/// Bytes of the control stream that may wait unread. It carries a hello and a
/// few small messages.
const STREAM_WINDOW: u32 = 16 * 1024;

/// Unidirectional streams that a client may open. HTTP/3 has three, and Chromium gives up on a
/// server that does not offer them from the first packet on. Native clients do not need these
/// streams. If one sends bytes on them, the bytes are not read, and only fill the client's own
/// window.
const HTTP_STREAMS: VarInt = VarInt::from_u32(3);

/// Bytes of streams that may be in flight to a client. The transfer of a map has at most half of
/// these bytes in flight; the other half is for messages.
const SEND_WINDOW: u64 = 2 * background::MOST as u64;

/// Bytes of a connection that may wait until it is accepted: several times a client's first flight.
/// Quinn's own limit would let strangers hold 100 MiB.
const INCOMING_BUFFER: u64 = 16 * 1024;

/// Memory that the kernel charges for one waiting datagram of any size (the buffer and its
/// bookkeeping, on Linux).
const KERNEL_COST_OF_A_DATAGRAM: usize = 2304;

/// Datagrams of each player that the socket must be able to hold while the
/// network thread is busy: four ticks.
const SOCKET_TICKS: usize = 4;

/// The limits that the endpoint's connections are configured for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Players that the match holds.
    pub(crate) players: u16,
    /// Maximum bytes of snapshots per second for each client.
    pub(crate) budget: u32,
    /// Maximum number of snapshots per second for each client.
    pub(crate) snapshot_rate: u32,
}

/// How many connections may be open at once for `clients` players and spectators.
pub(crate) fn connection_limit(clients: usize) -> usize {
    clients + UNFINISHED
}

/// A UDP socket for each of these addresses.
pub(crate) fn bind(addresses: &[SocketAddr]) -> Result<Vec<UdpSocket>, StartError> {
    let bind = |&address: &SocketAddr| match bind::udp(address, addresses) {
        Ok(socket) => Ok(socket.into()),
        Err(source) => Err(StartError::Listen { address, source }),
    };
    addresses.iter().map(bind).collect()
}

/// Asks for `bytes` of buffer in each direction, and warns if the system grants less.
fn raise_buffers(socket: &Socket, bytes: usize) {
    let granted = |size: io::Result<usize>| size.unwrap_or(0);
    if granted(socket.recv_buffer_size()) < bytes {
        // The answer is read back below: Linux grants less without an error.
        let _ = socket.set_recv_buffer_size(bytes);
    }
    if granted(socket.send_buffer_size()) < bytes {
        let _ = socket.set_send_buffer_size(bytes);
    }
    let least = granted(socket.recv_buffer_size()).min(granted(socket.send_buffer_size()));
    if least < bytes {
        warn!(
            "the system grants {least} bytes of UDP buffer instead of {bytes}; datagrams may be \
             lost when the match is full. On Linux: sysctl -w net.core.rmem_max={bytes} \
             net.core.wmem_max={bytes}"
        );
    }
}

/// The UDP sockets of a server before QUIC runs on them.
pub(crate) struct Sockets {
    /// One socket for each address at which the server listens, one at least.
    pub(crate) sockets: Vec<UdpSocket>,
    /// The queue for queries of server browsers that come to the game's port.
    pub(crate) queries: Queries,
    /// Proxies whose headers are believed.
    pub(crate) proxies: Vec<AddressPrefix>,
    /// Counts datagrams of proxies that are dropped.
    pub(crate) proxy_drops: Arc<AtomicU64>,
}

/// The QUIC endpoints of a server, one for each address at which it listens. A connection belongs
/// to the endpoint at which it was opened.
#[derive(Clone, Debug)]
pub(crate) struct Endpoints(Arc<[quinn::Endpoint]>);

impl Endpoints {
    /// The endpoints on `sockets`, with buffers for the players of `limits`. It must be called
    /// within a tokio runtime.
    pub(crate) fn open(
        sockets: Sockets,
        certificate: Certificate,
        reset_key: &ResetKey,
        limits: Limits,
    ) -> Result<Self, StartError> {
        let Sockets { sockets, queries, proxies, proxy_drops } = sockets;
        let config = server_config(certificate, limits)?;
        let buffer = usize::from(limits.players) * SOCKET_TICKS * KERNEL_COST_OF_A_DATAGRAM;
        let open = |socket: UdpSocket| {
            let socket = Socket::from(socket);
            raise_buffers(&socket, buffer);
            let socket = GameSocket::new(socket.into(), queries.clone(), &proxies, &proxy_drops)?;
            let (own, config) = (reset_key.endpoint_config(), Some(config.clone()));
            let runtime = Arc::new(quinn::TokioRuntime);
            quinn::Endpoint::new_with_abstract_socket(own, config, Arc::new(socket), runtime)
        };
        let opened: io::Result<_> = sockets.into_iter().map(open).collect();
        opened.map(Self).map_err(StartError::Endpoint)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &quinn::Endpoint> {
        self.0.iter()
    }

    /// Connections that are open at all endpoints together.
    pub(crate) fn open_connections(&self) -> usize {
        self.iter().map(quinn::Endpoint::open_connections).sum()
    }

    /// Replaces the configuration of new connections. With `None`, no connection is accepted.
    pub(crate) fn set_server_config(&self, config: Option<ServerConfig>) {
        for endpoint in self.iter() {
            endpoint.set_server_config(config.clone());
        }
    }

    /// The addresses of the endpoints, in order.
    pub(crate) fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        self.iter().map(quinn::Endpoint::local_addr).collect()
    }
}

pub(super) fn server_config(
    certificate: Certificate,
    limits: Limits,
) -> Result<ServerConfig, StartError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(certificate.chain, certificate.key)?;
    // Browsers are always welcome, because they also play, even if no spectators are allowed.
    tls.alpn_protocols = [ALPN].into_iter().chain(web::ALPN).map(<[u8]>::to_vec).collect();
    let crypto = QuicServerConfig::try_from(tls)?;

    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    let limit = connection_limit(limits.players.into());
    config
        .max_incoming(limit)
        .incoming_buffer_size(INCOMING_BUFFER)
        .incoming_buffer_size_total(INCOMING_BUFFER * limit as u64);
    config.transport_config(Arc::new(transport(limits)));
    Ok(config)
}

/// A packet counts as lost once a packet that was sent this many packets later is acknowledged (RFC
/// 9002, 6.1, has 3). On a line with 40 ms of jitter, snapshots overtake one another by more than
/// 3, and packets that are not lost must not slow down the others.
const REORDERED_PACKETS: u32 = 32;
/// A packet also counts as lost this many round trips after it was sent, once a later one is
/// acknowledged (RFC 9002, 6.1, has 9/8). The retransmission of a lost event waits for a third of a
/// round trip more than with 9/8.
const REORDERED_TIME: f32 = 1.5;

pub(super) fn transport(limits: Limits) -> TransportConfig {
    let Limits { budget, snapshot_rate, .. } = limits;
    let congestion = GameCongestionConfig::new(budget, snapshot_rate, SEND_WINDOW);
    let idle_timeout = VarInt::from_u32(IDLE_TIMEOUT.as_millis() as u32);
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(Some(IdleTimeout::from(idle_timeout)))
        .congestion_controller_factory(Arc::new(congestion))
        .packet_threshold(REORDERED_PACKETS)
        .time_threshold(REORDERED_TIME)
        // The control stream, and one for the map.
        .max_concurrent_bidi_streams(VarInt::from_u32(2))
        .max_concurrent_uni_streams(HTTP_STREAMS)
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
        .receive_window(VarInt::from_u32(STREAM_WINDOW))
        .send_window(SEND_WINDOW)
        .datagram_receive_buffer_size(Some(DATAGRAM_RECEIVE_BUFFER))
        .datagram_send_buffer_size(DATAGRAM_SEND_BUFFER);
    transport
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::server::options::Options;

    #[test]
    fn a_port_in_use_is_named_with_the_way_out() {
        let taken = bind(&[(Ipv4Addr::LOCALHOST, 0).into()]).unwrap();
        let address = taken[0].local_addr().unwrap();
        let message = bind(&[address]).unwrap_err().to_string();
        assert!(message.contains(&address.to_string()), "{message}");
        assert!(message.contains("--listen"), "{message}");
    }

    #[test]
    fn an_endpoint_opens_with_a_fresh_certificate() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _context = runtime.enter();
        let sockets = bind(&[(Ipv4Addr::LOCALHOST, 0).into()]).unwrap();
        let (queries, _asked) = Queries::queue();
        let sockets =
            Sockets { sockets, queries, proxies: Vec::new(), proxy_drops: Arc::default() };
        let certificate = Certificate::self_signed(std::time::SystemTime::now()).unwrap();
        let limits = Limits::from(&Options::new("arena"));
        let reset_key = ResetKey::kept_in(None);
        let endpoints = Endpoints::open(sockets, certificate, &reset_key, limits).unwrap();
        assert_eq!(endpoints.addresses().unwrap().len(), 1);
    }
}
