//! Opens connections: the UDP socket, TLS and QUIC configuration, and the handshake
//! of the protocol. Call [`Connector::new`] first, then [`Connector::join`] any number of
//! times. [`Connector::rejoin`] retries after a lost connection.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_proto::control::{MapHash, PlayerName};
use obsp_proto::{ALPN, HANDSHAKE_TIMEOUT, IDLE_TIMEOUT};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{
    AckFrequencyConfig, ClientConfig, ConnectionError, Endpoint, IdleTimeout, TransportConfig,
    VarInt,
};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tracing::debug;

use super::congestion::ConstantWindow;
use super::join_error::{ConnectError, JoinError, Tried};
use super::race;
use super::server_address::{Resolver, ServerAddress};
use super::trust::{Trust, TrustError, Verifier};
use super::{Backoff, CLOSE_OK, Client, MapStore};
use crate::Credentials;

/// Time to wait for the answer to the first packet: several round trips to the other side of the
/// world.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// The longest time for a lookup. By default the system's resolver tries two servers in this time.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// Time for which the addresses of a name are remembered. All clients of a swarm join within that
/// time.
const REMEMBERED: Duration = Duration::from_secs(30);

/// Interval at which a packet is sent if there is nothing else to send. Several such intervals fit
/// into the idle time-out.
const KEEP_ALIVE: Duration = Duration::from_secs(3);

/// Bytes of received snapshots that may wait for the client: a second of large ones.
const DATAGRAM_RECEIVE_BUFFER: usize = 96 * 1024;

/// Bytes of commands that may wait for the network: a few ticks.
const DATAGRAM_SEND_BUFFER: usize = 2048;

/// After this many packets, or this time, the server acknowledges commands in a separate packet if
/// no snapshot has carried the acknowledgement so far. On a narrow line, where snapshots are few,
/// more frequent packets with only acknowledgements would take a sixth of the line.
const MAX_UNACKNOWLEDGED: u32 = 10;
const MAX_ACK_DELAY: Duration = Duration::from_millis(100);

/// The server name of the TLS handshake with [`Trust::Pin`] and [`Trust::Loopback`]: a name that
/// the server's self-signed certificate carries.
const SERVER_NAME: &str = "localhost";

/// A UDP socket, and the server that clients reach through it. A server that is given by its name
/// may have addresses of both families, and the connector has a socket for each of them. Clones
/// share the sockets.
#[derive(Clone, Debug)]
pub struct Connector {
    endpoints: Endpoints,
    server: ServerAddress,
    resolver: Resolver,
    /// The addresses of the server. The one that answered last comes first.
    known: Arc<Mutex<Option<Known>>>,
    /// Whether only servers on this machine are accepted, with any certificate.
    only_loopback: bool,
    /// The server name of the TLS handshake.
    name: String,
    maps: Arc<MapStore>,
}

/// The sockets of a connector, one for each family.
#[derive(Clone, Debug)]
struct Endpoints {
    v4: Option<Endpoint>,
    v6: Option<Endpoint>,
}

/// Addresses that were looked up.
#[derive(Debug)]
struct Known {
    addresses: Vec<SocketAddr>,
    until: Instant,
}

impl Endpoints {
    /// Opens the sockets for a server. For a name, one socket is enough.
    fn open(server: &ServerAddress, config: &ClientConfig) -> io::Result<Self> {
        let open = |any: SocketAddr| {
            let mut endpoint = Endpoint::client(any)?;
            endpoint.set_default_client_config(config.clone());
            Ok(endpoint)
        };
        let v4 = || open((Ipv4Addr::UNSPECIFIED, 0).into());
        let v6 = || open((Ipv6Addr::UNSPECIFIED, 0).into());
        match server.address() {
            Some(SocketAddr::V4(_)) => Ok(Self { v4: Some(v4()?), v6: None }),
            Some(SocketAddr::V6(_)) => Ok(Self { v4: None, v6: Some(v6()?) }),
            None => match (v4(), v6()) {
                (Err(error), Err(_)) => Err(error),
                (v4, v6) => Ok(Self { v4: v4.ok(), v6: v6.ok() }),
            },
        }
    }

    fn of_family(&self, server: SocketAddr) -> Option<&Endpoint> {
        if server.is_ipv4() { self.v4.as_ref() } else { self.v6.as_ref() }
    }

    fn iter(&self) -> impl Iterator<Item = &Endpoint> {
        self.v4.iter().chain(&self.v6)
    }
}

impl Connector {
    /// Opens a socket to reach `server`, which is an address, or a name with any number of
    /// addresses. Call this within a tokio runtime.
    ///
    /// # Errors
    /// The system refuses a socket, or TLS cannot be configured.
    pub fn new(server: impl Into<ServerAddress>, trust: Trust) -> Result<Self, ConnectError> {
        let server = server.into();
        let only_loopback = matches!(trust, Trust::Loopback);
        let name = match &trust {
            Trust::Authority(authority) => authority.name.clone(),
            Trust::Loopback | Trust::Pin(_) => SERVER_NAME.to_owned(),
        };
        let endpoints = Endpoints::open(&server, &client_config(trust)?)?;
        let (resolver, known, maps) = Default::default();
        Ok(Self { endpoints, server, resolver, known, only_loopback, name, maps })
    }

    /// Uses `resolver` to look names up, not the system's resolver.
    pub fn with_resolver(self, resolver: Resolver) -> Self {
        Self { resolver, known: Arc::default(), ..self }
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

    /// Joins again after the connection was lost. It retries with `backoff` until it succeeds, the
    /// refusal is final, or `max_wait` has passed. With the ticket of the lost client in
    /// `credentials`, the server gives back the same player if it still keeps that player.
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

    /// Opens a QUIC connection without a session, for callers that speak the protocol themselves.
    /// The addresses of a name are tried one after another, a little apart, in alternating
    /// families. The first address that answers is taken (RFC 8305).
    ///
    /// # Errors
    /// No server answers, or its certificate is not trusted.
    pub async fn connect(&self) -> Result<quinn::Connection, JoinError> {
        let addresses = self.addresses().await?;
        let attempt = |address| self.clone().connect_to(address);
        match race::first(&addresses, attempt).await {
            Ok((address, connection)) => {
                self.remember(addresses, address).await;
                Ok(connection)
            }
            Err(mut tried) => {
                *self.known.lock().await = None;
                let server = self.server.clone();
                match tried.pop() {
                    Some((_, error)) if addresses.len() == 1 => Err(error),
                    last => {
                        tried.extend(last);
                        Err(JoinError::NoneOf { server, tried: Tried(tried) })
                    }
                }
            }
        }
    }

    /// The addresses of the server in the order in which they are tried.
    async fn addresses(&self) -> Result<Vec<SocketAddr>, JoinError> {
        if let Some(address) = self.server.address() {
            return Ok(vec![address]);
        }
        // Clients that join meanwhile wait here for the same answer.
        let mut known = self.known.lock().await;
        if let Some(known) = known.as_ref().filter(|known| Instant::now() < known.until) {
            return Ok(known.addresses.clone());
        }
        let (resolver, server) = (self.resolver.clone(), self.server.clone());
        let looked_up =
            timeout(LOOKUP_TIMEOUT, spawn_blocking(move || resolver.addresses(&server)));
        let unresolved = |reason: &dyn fmt::Display| JoinError::Unresolved {
            server: self.server.clone(),
            reason: reason.to_string(),
        };
        let addresses = looked_up
            .await
            .map_err(|_| unresolved(&"the name server does not answer"))?
            .map_err(|error| unresolved(&error))?
            .map_err(|error| unresolved(&error))?;
        let until = Instant::now() + REMEMBERED;
        *known = Some(Known { addresses: addresses.clone(), until });
        Ok(addresses)
    }

    /// Lets the next connection try this address first.
    async fn remember(&self, mut addresses: Vec<SocketAddr>, won: SocketAddr) {
        addresses.sort_by_key(|address| *address != won);
        if let Some(known) = self.known.lock().await.as_mut() {
            known.addresses = addresses;
        }
    }

    /// Connects to one address.
    async fn connect_to(self, server: SocketAddr) -> Result<quinn::Connection, JoinError> {
        if self.only_loopback && !server.ip().is_loopback() {
            return Err(JoinError::Unverifiable(TrustError::Unverifiable { server: server.ip() }));
        }
        let no_route = |reason: &dyn fmt::Display| {
            let reason = reason.to_string();
            JoinError::NoRoute { server, reason }
        };
        let endpoint = self.endpoints.of_family(server);
        let endpoint = endpoint.ok_or_else(|| no_route(&"no socket of its family is open"))?;
        has_route(server).map_err(|error| no_route(&error))?;
        let connecting = endpoint
            .connect(server, &self.name)
            .map_err(|reason| JoinError::Unreachable { server, reason })?;
        match timeout(ANSWER_TIMEOUT, connecting).await {
            Ok(Err(ConnectionError::TimedOut)) | Err(_) => {
                Err(JoinError::NoAnswer { server: server.into() })
            }
            Ok(connection) => Ok(connection?),
        }
    }

    /// The server's name or address.
    pub fn server(&self) -> &ServerAddress {
        &self.server
    }

    /// Closes the sockets after all connections have sent their last packets.
    pub async fn close(self) {
        for endpoint in self.endpoints.iter() {
            endpoint.close(CLOSE_OK, b"goodbye");
        }
        for endpoint in self.endpoints.iter() {
            endpoint.wait_idle().await;
        }
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

/// Whether the system has a route to this address. The check sends nothing. Without this check,
/// QUIC would wait in vain for an answer.
fn has_route(server: SocketAddr) -> io::Result<()> {
    let any: SocketAddr = match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    UdpSocket::bind(any)?.connect(server)
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
