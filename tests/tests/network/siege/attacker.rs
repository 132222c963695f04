//! An attacker at one address, who speaks the protocol by hand and may stop anywhere.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use obsp_proto::Tick;
use obsp_proto::commands::{CommandBatch, CommandDatagram};
use obsp_proto::control::{
    ChatLine, ClientHello, ClientMessage, Framer, MAX_SERVER_FRAME, MapHash, PlayerName,
    RefusalReason, ServerMessage, decode_server_message, encode_client_message,
};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, Endpoint, RecvStream, SendStream, TransportConfig};
use tests::raw_quic::credulous;
use tokio::time::timeout;
use web_transport_quinn::Session as WebSession;
use web_transport_quinn::proto::{ConnectError, ConnectRequest, ConnectResponse, Settings};

/// A time longer than a server takes to answer, if it answers at all.
pub(crate) const ANSWER: Duration = Duration::from_secs(10);

/// The application protocols of a player's connection and of a browser's.
pub(crate) const GAME: &[u8] = b"obsp/1";
pub(crate) const HTTP3: &[u8] = b"h3";

/// An attacker at an address of this machine, who keeps connections alive by PINGs.
#[derive(Clone)]
pub(crate) struct Attacker {
    endpoint: Endpoint,
    server: SocketAddr,
    /// Size in bytes of the largest datagram that the attacker claims to accept.
    largest_datagram: usize,
}

/// A player that an attacker has in the match.
pub(crate) struct Intruder {
    pub(crate) connection: Connection,
    pub(crate) send: SendStream,
    receive: RecvStream,
    /// The tick at which the player joined.
    pub(crate) tick: Tick,
}

impl Attacker {
    /// An attacker at `source` against `server`. This must be called within a tokio runtime.
    pub(crate) fn new(source: Ipv4Addr, server: SocketAddr) -> Self {
        let endpoint = Endpoint::client((source, 0).into()).unwrap();
        Self { endpoint, server, largest_datagram: 65_535 }
    }

    /// The same attacker, who claims to accept no datagram of more than this many bytes.
    pub(crate) fn with_largest_datagram(self, largest_datagram: usize) -> Self {
        Self { largest_datagram, ..self }
    }

    /// Opens a connection, and sends nothing on it.
    pub(crate) async fn connect(&self, protocol: &[u8]) -> Option<Connection> {
        let config = client_config(protocol, self.largest_datagram);
        let connecting = self.endpoint.connect_with(config, self.server, "localhost").unwrap();
        timeout(ANSWER, connecting).await.ok()?.ok()
    }

    /// Begins a handshake and breaks it off at once.
    pub(crate) async fn abort(&self) {
        let config = client_config(GAME, self.largest_datagram);
        let connecting = self.endpoint.connect_with(config, self.server, "localhost").unwrap();
        // The first packet leaves meanwhile.
        tokio::task::yield_now().await;
        drop(connecting);
    }

    /// Joins as a player, or returns the reason of the refusal; `None` without a connection.
    pub(crate) async fn join(&self) -> Option<Result<Intruder, RefusalReason>> {
        let connection = self.connect(GAME).await?;
        let (mut send, mut receive) = connection.open_bi().await.ok()?;
        send.write_all(&hello()).await.ok()?;
        let answer = timeout(ANSWER, answer(&mut receive)).await.ok()??;
        Some(match answer {
            ServerMessage::Hello(hello) => {
                Ok(Intruder { connection, send, receive, tick: hello.tick })
            }
            ServerMessage::Refused(reason) => Err(reason),
            other => panic!("{other:?}"),
        })
    }

    /// Opens a WebTransport session, and sends nothing in it.
    pub(crate) async fn web(&self) -> Option<WebSession> {
        let connection = self.connect(HTTP3).await?;
        let url: url::Url = format!("https://{}/", self.server).parse().unwrap();
        timeout(ANSWER, WebSession::connect(connection, url)).await.ok()?.ok()
    }

    /// Joins as a spectator, or returns the reason of the refusal; `None` without a session.
    pub(crate) async fn spectate(&self) -> Option<Result<WebSession, RefusalReason>> {
        let web = self.web().await?;
        let (mut send, mut receive) = web.open_bi().await.ok()?;
        send.write_all(&hello()).await.ok()?;
        let (mut framer, mut bytes) = (Framer::new(MAX_SERVER_FRAME), [0; 2048]);
        loop {
            let length = timeout(ANSWER, receive.read(&mut bytes)).await.ok()?.ok()??;
            let Some(content) = framer.next_frame(&mut &bytes[..length]).ok()? else { continue };
            return Some(match decode_server_message(&content).ok()? {
                ServerMessage::Refused(reason) => Err(reason),
                _ => {
                    // Dropping the streams would finish them.
                    std::mem::forget((send, receive));
                    Ok(web)
                }
            });
        }
    }

    /// Speaks HTTP/3 by hand until the session is accepted. Returns the connection, the stream of
    /// its capsules and the status.
    pub(crate) async fn web_by_hand(
        &self,
        origin: Option<&str>,
    ) -> Option<(Connection, SendStream, u16)> {
        let connection = self.connect(HTTP3).await?;
        let mut control = connection.open_uni().await.ok()?;
        let mut settings = Settings::default();
        settings.enable_webtransport(1);
        settings.write(&mut control).await.ok()?;
        // The end of the control stream would end the connection.
        std::mem::forget(control);
        let (mut send, mut receive) = connection.open_bi().await.ok()?;
        let url: url::Url = format!("https://{}/", self.server).parse().unwrap();
        let mut request = ConnectRequest::new(url);
        if let Some(origin) = origin {
            request = request.with_header("origin".parse().unwrap(), origin.parse().unwrap());
        }
        request.write(&mut send).await.ok()?;
        let answer = timeout(ANSWER, ConnectResponse::read(&mut receive)).await.ok()?;
        let status = match answer {
            Ok(accepted) => accepted.status,
            Err(ConnectError::WrongStatus(refused)) => refused?,
            Err(_) => return None,
        };
        let status = status.as_u16();
        std::mem::forget(receive);
        Some((connection, send, status))
    }
}

impl Intruder {
    /// Sends a chat line; false if the connection is dead.
    pub(crate) async fn say(&mut self, line: &str) -> bool {
        let message = ClientMessage::Say(ChatLine::new(line).unwrap());
        self.send.write_all(&encode_client_message(&message)).await.is_ok()
    }

    /// Sends another hello, for this map.
    pub(crate) async fn hello_again(&mut self, map: MapHash) {
        let hello = ClientHello::new(map, &PlayerName::new("stranger").unwrap());
        let hello = encode_client_message(&ClientMessage::Hello(hello));
        self.send.write_all(&hello).await.unwrap();
    }

    /// Claims that the tick's digest did not agree; false if the connection is dead.
    pub(crate) async fn claim_mismatch(&mut self, tick: u32) -> bool {
        let message = ClientMessage::Mismatch { tick };
        self.send.write_all(&encode_client_message(&message)).await.is_ok()
    }

    /// Says goodbye, and waits a moment for the end of the connection.
    pub(crate) async fn leave(mut self) {
        let _ = self.send.write_all(&encode_client_message(&ClientMessage::Leave)).await;
        let _ = timeout(Duration::from_secs(1), self.connection.closed()).await;
    }

    /// Asks for the map on a stream of its own, reads all of it, and returns the number of bytes.
    pub(crate) async fn download(&self) -> Option<usize> {
        let (mut send, mut receive) = self.connection.open_bi().await.ok()?;
        send.write_all(obsp_proto::download::Download::Map.request()).await.ok()?;
        send.finish().ok()?;
        Some(receive.read_to_end(64 << 20).await.ok()?.len())
    }

    /// The next message of the server.
    pub(crate) async fn next_message(&mut self, framer: &mut Framer) -> Option<ServerMessage> {
        loop {
            let mut bytes = [0; 1];
            receive_exact(&mut self.receive, &mut bytes).await?;
            if let Some(content) = framer.next_frame(&mut &bytes[..]).ok()? {
                return decode_server_message(&content).ok();
            }
        }
    }
}

async fn receive_exact(receive: &mut RecvStream, bytes: &mut [u8]) -> Option<()> {
    receive.read_exact(bytes).await.ok()
}

async fn answer(receive: &mut RecvStream) -> Option<ServerMessage> {
    let (mut framer, mut byte) = (Framer::new(MAX_SERVER_FRAME), [0]);
    loop {
        receive_exact(receive, &mut byte).await?;
        if let Some(content) = framer.next_frame(&mut &byte[..]).ok()? {
            return decode_server_message(&content).ok();
        }
    }
}

/// The hello of a client that accepts any map.
pub(crate) fn hello() -> Vec<u8> {
    let hello = ClientHello::new(MapHash::ANY, &PlayerName::new("stranger").unwrap());
    encode_client_message(&ClientMessage::Hello(hello))
}

/// A datagram with a command for this tick.
pub(crate) fn command(tick: Tick) -> Vec<u8> {
    let batch = CommandBatch::new(tick, vec![obsp_sim::Command::default()]).unwrap();
    CommandDatagram { acknowledgement: None, batch }.encode()
}

/// An HTTP/3 frame with a capsule of an unknown type.
pub(crate) fn unknown_capsule() -> Vec<u8> {
    // A DATA frame of seven bytes: type 0x1234, a length, and four bytes.
    vec![0x00, 0x07, 0x52, 0x34, 0x04, 1, 2, 3, 4]
}

fn client_config(protocol: &[u8], largest_datagram: usize) -> ClientConfig {
    let mut transport = TransportConfig::default();
    transport
        .keep_alive_interval(Some(Duration::from_secs(1)))
        .datagram_receive_buffer_size(Some(largest_datagram));
    let tls = QuicClientConfig::try_from(credulous(protocol)).unwrap();
    let mut config = ClientConfig::new(Arc::new(tls));
    config.transport_config(Arc::new(transport));
    config
}
