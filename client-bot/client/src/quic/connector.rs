//! Opens connections: the UDP socket, TLS and QUIC configuration, and the handshake
//! of the protocol. Call [`Connector::new`] first, then [`Connector::join`] any number of
//! times. [`Connector::rejoin`] retries after a lost connection.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_proto::control::{MapHash, PlayerName, RefusalReason};
use obsp_proto::{ALPN, HANDSHAKE_TIMEOUT, IDLE_TIMEOUT};
use quinn::crypto::rustls::{NoInitialCipherSuite, QuicClientConfig};
use quinn::{
    AckFrequencyConfig, ClientConfig, ConnectionError, Endpoint, IdleTimeout, TransportConfig,
    VarInt,
};
use thiserror::Error;
use tokio::time::timeout;
use tracing::debug;

use super::congestion::ConstantWindow;
use super::trust::{Trust, Verifier};
use super::{Backoff, CLOSE_OK, Client, MapStore};
use crate::disconnected::is_final_refusal;
use crate::{Credentials, Disconnected, MapError};

/// How long to wait for the answer to the first packet: several round trips to the
/// other side of the world.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// How often to send a packet when there is nothing else to send: several times
/// within the idle time-out.
const KEEP_ALIVE: Duration = Duration::from_secs(3);

/// Bytes of received snapshots that may wait for the client: a second of large ones.
const DATAGRAM_RECEIVE_BUFFER: usize = 96 * 1024;

/// Bytes of commands that may wait for the network: a few ticks.
const DATAGRAM_SEND_BUFFER: usize = 2048;

/// After this many packets, or this time, the server acknowledges commands in a separate packet if
/// no snapshot has carried the acknowledgement. On a narrow line, where snapshots are few, more
/// frequent packets with only acknowledgements would take a sixth of the line.
const MAX_UNACKNOWLEDGED: u32 = 10;
const MAX_ACK_DELAY: Duration = Duration::from_millis(100);

/// The server name of the TLS handshake with [`Trust::Pin`] and [`Trust::Loopback`]: a name that
/// the server's self-signed certificate carries.
const SERVER_NAME: &str = "localhost";

/// One UDP socket, and the server that clients reach through it. Clones share the
/// socket.
#[derive(Clone, Debug)]
pub struct Connector {
    endpoint: Endpoint,
    server: SocketAddr,
    /// The server name of the TLS handshake.
    name: String,
    maps: Arc<MapStore>,
}

/// Why a connector cannot be created.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The system refuses a UDP socket.
    #[error("cannot open a UDP socket: {0}")]
    Socket(io::Error),
    /// TLS could not be configured.
    #[error("cannot set up TLS: {0}")]
    Tls(rustls::Error),
    /// TLS lacks a cipher suite that QUIC needs.
    #[error("cannot set up TLS for QUIC: {0}")]
    Cipher(NoInitialCipherSuite),
}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> Self {
        Self::Socket(error)
    }
}

impl From<rustls::Error> for ConnectError {
    fn from(error: rustls::Error) -> Self {
        Self::Tls(error)
    }
}

impl From<NoInitialCipherSuite> for ConnectError {
    fn from(error: NoInitialCipherSuite) -> Self {
        Self::Cipher(error)
    }
}

/// Why a client could not join.
#[derive(Clone, Debug, Error)]
pub enum JoinError {
    /// No server answers at the address.
    #[error(
        "no server answers at UDP {server}: there is none, a firewall drops UDP, or the line \
         carries no datagrams of 1200 bytes, the least that QUIC needs"
    )]
    NoAnswer {
        /// The server's address.
        server: SocketAddr,
    },
    /// The address cannot be reached at all.
    #[error("cannot connect to {server}: {reason}")]
    Unreachable {
        /// The server's address.
        server: SocketAddr,
        /// The reason as QUIC gives it.
        reason: quinn::ConnectError,
    },
    /// The server refused the client.
    #[error("the server refused this client: {0}")]
    Refused(RefusalReason),
    /// The connection broke during the handshake, or the server is not trusted.
    #[error("the connection failed: {0}")]
    Connection(ConnectionError),
    /// The server ended the control stream, or sent nothing on it in time.
    #[error("the server did not answer the hello")]
    NoHello,
    /// The server broke the protocol, or this client misreads it.
    #[error("the server broke the protocol, or this client misreads it: {0}")]
    Protocol(obsp_proto::ProtocolError),
    /// The map could not be loaded.
    #[error(transparent)]
    Map(#[from] MapError),
    /// The map did not arrive in time.
    #[error("the map did not arrive in time")]
    SlowMap,
    /// The client had joined, but lost the connection while the map was loading.
    #[error("the client was disconnected while the map was loading: {0}")]
    Disconnected(Box<Disconnected>),
}

impl From<ConnectionError> for JoinError {
    fn from(error: ConnectionError) -> Self {
        Self::Connection(error)
    }
}

impl From<obsp_proto::ProtocolError> for JoinError {
    fn from(error: obsp_proto::ProtocolError) -> Self {
        Self::Protocol(error)
    }
}

impl JoinError {
    /// Whether a retry is pointless.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Refused(reason) => is_final_refusal(reason),
            Self::Disconnected(lost) => lost.is_final(),
            Self::Protocol(_) | Self::Unreachable { .. } => true,
            Self::Map(_) | Self::SlowMap | Self::NoAnswer { .. } | Self::NoHello => false,
            Self::Connection(_) => false,
        }
    }
}

impl Connector {
    /// Opens a socket to reach `server` with. Call it within a tokio runtime.
    ///
    /// # Errors
    /// The system refuses a socket, or TLS cannot be configured.
    pub fn new(server: SocketAddr, trust: Trust) -> Result<Self, ConnectError> {
        let any = match server {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let mut endpoint = Endpoint::client(any)?;
        let name = match &trust {
            Trust::Authority(authority) => authority.name.clone(),
            Trust::Loopback | Trust::Pin(_) => SERVER_NAME.to_owned(),
        };
        endpoint.set_default_client_config(client_config(trust)?);
        Ok(Self { endpoint, server, name, maps: Arc::default() })
    }

    /// Shares `maps` with this connector, so that all clients of a process load a map
    /// once.
    pub fn with_maps(self, maps: Arc<MapStore>) -> Self {
        Self { maps, ..self }
    }

    /// Joins the match as `name` and waits until the map is loaded. `map` is the only map that
    /// this client accepts, or [`MapHash::ANY`]. A map that is not on disk is fetched from the
    /// server.
    ///
    /// # Errors
    /// No server answers, it refuses the client, or the map cannot be loaded.
    pub async fn join(&self, name: &PlayerName, map: MapHash) -> Result<Client, JoinError> {
        self.join_with(name, map, &Credentials::default()).await
    }

    /// Joins with a connect token, or with the ticket of a lost connection.
    ///
    /// # Errors
    /// The errors are those of [`Connector::join`].
    pub async fn join_with(
        &self,
        name: &PlayerName,
        map: MapHash,
        credentials: &Credentials,
    ) -> Result<Client, JoinError> {
        let connection = self.connect().await?;
        let handshake = self.handshake(connection, name, map, credentials);
        let mut client =
            timeout(HANDSHAKE_TIMEOUT, handshake).await.unwrap_or(Err(JoinError::NoHello))?;
        client.wait_for_map().await?;
        Ok(client)
    }

    /// Joins again after the connection was lost: retries with `backoff` until it
    /// succeeds, the refusal is final, or `max_wait` has passed. With the ticket of the lost client
    /// in `credentials`, the server gives back the same player if it still keeps it.
    ///
    /// # Errors
    /// The error is that of the last attempt, as [`Connector::join`] returns it.
    pub async fn rejoin(
        &self,
        name: &PlayerName,
        map: MapHash,
        credentials: &Credentials,
        mut backoff: Backoff,
        max_wait: Duration,
    ) -> Result<Client, JoinError> {
        let begin = Instant::now();
        loop {
            tokio::time::sleep(backoff.next_wait()).await;
            match self.join_with(name, map, credentials).await {
                Err(error) if !error.is_final() && begin.elapsed() < max_wait => {
                    debug!("{name} has not rejoined yet: {error}");
                }
                joined => return joined,
            }
        }
    }

    /// Opens a QUIC connection without a session, for callers that speak the protocol
    /// themselves.
    ///
    /// # Errors
    /// No server answers, or its certificate is not trusted.
    pub async fn connect(&self) -> Result<quinn::Connection, JoinError> {
        let server = self.server;
        let connecting = self
            .endpoint
            .connect(server, &self.name)
            .map_err(|reason| JoinError::Unreachable { server, reason })?;
        match timeout(ANSWER_TIMEOUT, connecting).await {
            Ok(Err(ConnectionError::TimedOut)) | Err(_) => Err(JoinError::NoAnswer { server }),
            Ok(connection) => Ok(connection?),
        }
    }

    /// The server's address.
    pub fn server(&self) -> SocketAddr {
        self.server
    }

    /// Closes the socket after all connections have sent their last packets.
    pub async fn close(self) {
        self.endpoint.close(CLOSE_OK, b"goodbye");
        self.endpoint.wait_idle().await;
    }

    async fn handshake(
        &self,
        connection: quinn::Connection,
        name: &PlayerName,
        map: MapHash,
        credentials: &Credentials,
    ) -> Result<Client, JoinError> {
        let (send, receive) = connection.open_bi().await?;
        let mut client = Client::new(connection, (send, receive), Arc::clone(&self.maps), |now| {
            crate::Client::new(name, map, credentials, now)
        });
        client.say_hello().await?;
        Ok(client)
    }
}

fn client_config(trust: Trust) -> Result<ClientConfig, ConnectError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])?;
    let verifier = |pin| Arc::new(Verifier { pin, provider });
    let tls = match trust {
        Trust::Authority(authority) => tls.with_root_certificates(authority.roots),
        Trust::Pin(pin) => tls.dangerous().with_custom_certificate_verifier(verifier(Some(pin))),
        Trust::Loopback => tls.dangerous().with_custom_certificate_verifier(verifier(None)),
    };
    let mut tls = tls.with_no_client_auth();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));

    let idle_timeout = VarInt::from_u32(IDLE_TIMEOUT.as_millis() as u32);
    let mut acknowledgements = AckFrequencyConfig::default();
    acknowledgements
        .ack_eliciting_threshold(VarInt::from_u32(MAX_UNACKNOWLEDGED))
        .max_ack_delay(Some(MAX_ACK_DELAY));
    let mut transport = TransportConfig::default();
    transport
        .ack_frequency_config(Some(acknowledgements))
        .max_idle_timeout(Some(IdleTimeout::from(idle_timeout)))
        .keep_alive_interval(Some(KEEP_ALIVE))
        .congestion_controller_factory(Arc::new(ConstantWindow))
        // The server opens no streams.
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .datagram_receive_buffer_size(Some(DATAGRAM_RECEIVE_BUFFER))
        .datagram_send_buffer_size(DATAGRAM_SEND_BUFFER);
    config.transport_config(Arc::new(transport));
    Ok(config)
}
