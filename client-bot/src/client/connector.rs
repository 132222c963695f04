use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::client::{Event, Session};
use proto::control::{MapHash, PlayerName, RefusalReason};
use proto::{ALPN, HANDSHAKE_TIMEOUT, IDLE_TIMEOUT, Time};
use quinn::crypto::rustls::{NoInitialCipherSuite, QuicClientConfig};
use quinn::{ClientConfig, ConnectionError, Endpoint, IdleTimeout, TransportConfig, VarInt};
use thiserror::Error;
use tokio::time::timeout;

use super::trust::{Trust, Verifier};
use super::{CHUNK, Client, DONE, Lost, MapError, MapStore, Playout};

/// How long to wait for the answer to the first packet. A server on the other
/// side of the world answers several times within it.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// How often to show life when there is nothing to send: several times within
/// the idle timeout.
const KEEP_ALIVE: Duration = Duration::from_secs(3);

/// Bytes of snapshots that may wait for the client: a second of large ones.
const DATAGRAM_RECEIVE_BUFFER: usize = 96 * 1024;

/// Bytes of commands that may wait for the path: a few ticks.
const DATAGRAM_SEND_BUFFER: usize = 2048;

/// The name asked for in the TLS handshake where trust goes by pin or address:
/// it only has to be one that the server's own certificate carries.
const SERVER_NAME: &str = "localhost";

/// One UDP socket, and the server that clients reach through it.
#[derive(Clone, Debug)]
pub struct Connector {
    endpoint: Endpoint,
    server: SocketAddr,
    /// The name asked for in the TLS handshake.
    name: String,
    maps: Arc<MapStore>,
}

/// Why there is no way to any server.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// No UDP socket could be had.
    #[error("cannot open a UDP socket: {0}")]
    Socket(#[from] io::Error),
    /// TLS could not be set up.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// TLS lacks a cipher that QUIC needs.
    #[error("cannot set up TLS for QUIC: {0}")]
    Cipher(#[from] NoInitialCipherSuite),
}

/// Why a client is not in the match.
#[derive(Clone, Debug, Error)]
pub enum JoinError {
    /// Nobody answers.
    #[error("no server answers at UDP {server}")]
    NoAnswer {
        /// Where it was looked for.
        server: SocketAddr,
    },
    /// The address cannot be reached at all.
    #[error("cannot connect to {server}: {reason}")]
    Unreachable {
        /// Where it was looked for.
        server: SocketAddr,
        /// What QUIC says.
        reason: quinn::ConnectError,
    },
    /// The server said no.
    #[error("refused: {0}")]
    Refused(RefusalReason),
    /// Somebody answered, but the connection broke or could not be trusted.
    #[error("the connection failed: {0}")]
    Connection(#[from] ConnectionError),
    /// The server ended the control stream, or said nothing on it.
    #[error("the server did not answer the hello")]
    NoHello,
    /// The server broke the protocol, or this client misreads it.
    #[error("the server broke the protocol: {0}")]
    Protocol(#[from] proto::ProtocolError),
    /// The client has not got the map.
    #[error(transparent)]
    Map(#[from] MapError),
    /// The map took too long to come.
    #[error("the map took too long to come")]
    SlowMap,
    /// The client was in the match, but lost it while the map was coming.
    #[error("lost while the map was coming: {0}")]
    Lost(Box<Lost>),
}

impl Connector {
    /// A socket to reach `server` with. Needs a tokio runtime around it.
    ///
    /// # Errors
    /// The system refuses a socket, or TLS cannot be set up.
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

    /// The same with these maps, to be shared by all clients of a process.
    pub fn with_maps(self, maps: Arc<MapStore>) -> Self {
        Self { maps, ..self }
    }

    /// Joins the match as `name`, with the map this client insists on or
    /// [`MapHash::ANY`]; a map that it lacks it gets from the server.
    ///
    /// # Errors
    /// Nobody answers, or the server does not let the client in.
    pub async fn join(&self, name: &PlayerName, map: MapHash) -> Result<Client, JoinError> {
        let connection = self.connect().await?;
        let said_hello = self.say_hello(connection, name, map);
        let mut client =
            timeout(HANDSHAKE_TIMEOUT, said_hello).await.unwrap_or(Err(JoinError::NoHello))?;
        client.get_map(&self.maps).await?;
        Ok(client)
    }

    /// A bare connection, for those who speak the protocol themselves.
    ///
    /// # Errors
    /// Nobody answers, or not the one who is trusted.
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

    /// Where the server is.
    pub fn server(&self) -> SocketAddr {
        self.server
    }

    /// Waits until the last goodbyes have left.
    pub async fn close(self) {
        self.endpoint.close(DONE, b"goodbye");
        self.endpoint.wait_idle().await;
    }

    async fn say_hello(
        &self,
        connection: quinn::Connection,
        name: &PlayerName,
        map: MapHash,
    ) -> Result<Client, JoinError> {
        let epoch = Instant::now();
        let now = || Time::since_start(epoch.elapsed());
        let (mut send, mut receive) = connection.open_bi().await?;
        let mut session = Session::new(name, map, now());
        // A server may refuse without having read the hello: what it says then
        // tells more than a failed write.
        let _ = send.write_all(&session.stream_output()).await;
        let mut chunk = [0; CHUNK];
        while session.hello().is_none() {
            let length = match receive.read(&mut chunk).await {
                Ok(Some(length)) => length,
                Err(quinn::ReadError::ConnectionLost(error)) => return Err(error.into()),
                Ok(None) | Err(_) => return Err(JoinError::NoHello),
            };
            for event in session.receive_stream(now(), &chunk[..length])? {
                match event {
                    Event::Joined(_) => {}
                    Event::Refused(reason) => {
                        connection.close(DONE, b"refused");
                        return Err(JoinError::Refused(reason));
                    }
                    Event::Closed(_) | Event::TimedOut => return Err(JoinError::NoHello),
                }
            }
        }
        let tick_rate = session.hello().map_or(1.0, |hello| f64::from(hello.tick_rate.get()));
        let timer = Box::pin(tokio::time::sleep(Duration::ZERO));
        Ok(Client {
            connection,
            send,
            receive,
            session,
            unsent: Vec::new(),
            prediction: None,
            playout: Playout::new(tick_rate),
            epoch,
            timer,
        })
    }
}

fn client_config(trust: Trust) -> Result<ClientConfig, ConnectError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])?;
    let pinned = |pin| Arc::new(Verifier { pin, provider });
    let tls = match trust {
        Trust::Authority(authority) => tls.with_root_certificates(authority.roots),
        Trust::Pin(pin) => tls.dangerous().with_custom_certificate_verifier(pinned(Some(pin))),
        Trust::Loopback => tls.dangerous().with_custom_certificate_verifier(pinned(None)),
    };
    let mut tls = tls.with_no_client_auth();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));

    let idle_timeout = VarInt::from_u32(IDLE_TIMEOUT.as_millis() as u32);
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(Some(IdleTimeout::from(idle_timeout)))
        .keep_alive_interval(Some(KEEP_ALIVE))
        // The server opens no streams.
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .datagram_receive_buffer_size(Some(DATAGRAM_RECEIVE_BUFFER))
        .datagram_send_buffer_size(DATAGRAM_SEND_BUFFER);
    config.transport_config(Arc::new(transport));
    Ok(config)
}
