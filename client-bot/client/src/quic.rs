//! The client over QUIC, for programs that run on tokio (feature `quinn`).
//!
//! A [`Connector`] owns a UDP socket and reaches one server with it, by address or name. Each
//! [`Connector::join`] gives a [`Client`], one player. The caller drives the client in a loop:
//! [`Client::next`] returns when a snapshot arrived or a command is due, and [`Client::command`]
//! sends that command and predicts the client's own player at once. [`Client::leave`] ends the
//! session; after a lost connection [`Connector::rejoin`] brings the player back. Frames may be
//! drawn at any time between two events, from [`Client::view`] and [`Client::next_event`].
//!
//! Engines with a frame loop of their own take a [`crate::Client`] and a [`SocketThread`]
//! instead.

mod backoff;
mod congestion;
mod connector;
mod join_error;
mod map_fetch;
mod map_store;
mod race;
mod server_address;
mod socket_thread;
mod trust;

use std::fmt;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use obsp_proto::client::{Session, SnapshotReceived};
use obsp_proto::control::{ChatLine, MatchEvent, Ticket};
use obsp_proto::effects::Effect;
use obsp_proto::{Tick, Time};
use obsp_sim::{Buttons, Command, PlayerMotion};
use quinn::{Connection, ConnectionError, ReadError, RecvStream, SendStream, VarInt};
use tokio::time::{Sleep, timeout};

use crate::{ConnectionEvent, Disconnected, Prediction, PredictionError, Snapshot, Transmit, View};

pub use backoff::Backoff;
pub use connector::Connector;
pub use join_error::{ConnectError, JoinError, Tried};
use map_fetch::PendingMap;
pub use map_store::MapStore;
pub use server_address::{Resolver, ServerAddress, ServerAddressSyntax};
pub use socket_thread::SocketThread;
pub use trust::{Authority, Trust, TrustError, pinned};

/// QUIC application error code of a connection that ends without an error.
const CLOSE_OK: VarInt = VarInt::from_u32(0);

/// How long to wait for the server to close the connection after a goodbye.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

/// The interval at which a client with nothing to do checks whether the server is silent.
const IDLE_CHECK: Duration = Duration::from_millis(500);

/// Maximum number of bytes read from the control stream at a time.
const CHUNK: usize = 2048;

/// One player in a match: a [`crate::Client`] with its connection and clock.
pub struct Client {
    client: crate::Client,
    connection: Connection,
    send: SendStream,
    receive: RecvStream,
    /// Bytes of the control stream that QUIC has not accepted yet.
    unsent: Vec<u8>,
    /// The instant at which the client's [`Time`] is zero.
    epoch: Instant,
    maps: Arc<MapStore>,
    /// The map of the world that the client has joined, while it is being loaded.
    pending_map: Option<PendingMap>,
    /// The timer is reused for every wait, because resetting a timer is cheaper than creating one.
    timer: Pin<Box<Sleep>>,
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (server, player) = (self.server(), self.session().player());
        let mut debug = formatter.debug_struct("Client");
        debug.field("server", &server).field("player", &player).finish_non_exhaustive()
    }
}

/// An event that [`Client::next`] returns.
#[expect(
    clippy::large_enum_variant,
    reason = "a value is copied once a snapshot, and never stored"
)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClientEvent {
    /// A snapshot arrived.
    Snapshot {
        /// Content of the snapshot.
        snapshot: SnapshotReceived,
        /// The prediction error. There is one only if the snapshot carries the motion of the
        /// client's own player and that tick had been predicted.
        error: Option<PredictionError>,
        /// Whether the correction of that error makes [`View::position`] jump: the view moves by
        /// more than four units in a frame at 60 Hz, besides the player's own motion.
        view_jumps: bool,
    },
    /// It is time to call [`Client::command`].
    CommandDue,
    /// The match continues in another world. The client has joined it and loaded its map, so
    /// [`Client::prediction`] is a new one. No entity or player keeps its id.
    NewWorld,
}

/// Bytes of UDP payload that a connection has carried, QUIC's overhead included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes from the server.
    pub down: u64,
    /// Bytes to the server.
    pub up: u64,
}

impl Client {
    /// A client on a new connection and its control stream. `start` makes the sans-I/O client at
    /// the time that it is given.
    fn new(
        connection: Connection,
        (send, receive): (SendStream, RecvStream),
        maps: Arc<MapStore>,
        start: impl FnOnce(Time) -> crate::Client,
    ) -> Self {
        let epoch = Instant::now();
        Self {
            client: start(Time::since_start(epoch.elapsed())),
            connection,
            send,
            receive,
            unsent: Vec::new(),
            epoch,
            maps,
            pending_map: None,
            timer: Box::pin(tokio::time::sleep(Duration::ZERO)),
        }
    }

    /// Sends the hello and waits for the server's hello.
    async fn say_hello(&mut self) -> Result<(), JoinError> {
        self.transmit();
        // A server may refuse without reading the hello. The write then fails, but only the
        // server's answer counts, because it says more.
        let rest = std::mem::take(&mut self.unsent);
        let _ = self.send.write_all(&rest).await;
        let mut chunk = [0; CHUNK];
        while self.session().hello().is_none() {
            let length = match self.receive.read(&mut chunk).await {
                Ok(Some(length)) => length,
                Err(ReadError::ConnectionLost(error)) => return Err(error.into()),
                Ok(None) | Err(_) => return Err(JoinError::NoHello),
            };
            let now = self.now();
            self.client.handle_stream(&chunk[..length], now);
            self.transmit();
            self.handle_events().map_err(|lost| match lost {
                Disconnected::Refused(reason) => JoinError::Refused(reason),
                Disconnected::Protocol(error) => JoinError::Protocol(error),
                _ => JoinError::NoHello,
            })?;
        }
        Ok(())
    }

    /// Waits until the map of the newly joined world is loaded. Meanwhile the match goes on with
    /// idle commands. After that the client's own player is predicted.
    async fn wait_for_map(&mut self) -> Result<(), JoinError> {
        loop {
            let event = self.next().await.map_err(|lost| match lost {
                Disconnected::Map(error) => JoinError::Map(error),
                lost => JoinError::Disconnected(Box::new(lost)),
            })?;
            match event {
                ClientEvent::NewWorld => return Ok(()),
                ClientEvent::CommandDue => {
                    self.command(Command::default());
                }
                ClientEvent::Snapshot { .. } => {}
            }
        }
    }

    /// Waits for the next event. Cancelling the wait loses nothing.
    ///
    /// # Errors
    /// The client is no longer in the match. Drop it, or call [`Connector::rejoin`].
    pub async fn next(&mut self) -> Result<ClientEvent, Disconnected> {
        let mut chunk = [0; CHUNK];
        loop {
            self.handle_events()?;
            let due = self.client.next_tick_at();
            let wake = match due {
                Some(time) => self.epoch + time.elapsed(),
                None => Instant::now() + IDLE_CHECK,
            };
            self.timer.as_mut().reset(wake.into());
            tokio::select! {
                datagram = self.connection.read_datagram() => {
                    let (datagram, now) = (datagram.map_err(lost)?, self.now());
                    let snapshot = self.client.handle_datagram(&datagram, now);
                    self.transmit();
                    if let Some(Snapshot { received, error, view_jumps }) = snapshot {
                        return Ok(ClientEvent::Snapshot { snapshot: received, error, view_jumps });
                    }
                }
                read = self.receive.read(&mut chunk) => {
                    let Some(length) = read.map_err(broken_stream)? else {
                        // The server closes the connection next, or has already closed it.
                        return Err(lost(self.connection.closed().await));
                    };
                    let now = self.now();
                    self.client.handle_stream(&chunk[..length], now);
                    self.transmit();
                }
                map = map_fetch::wait(&mut self.pending_map) => {
                    self.pending_map = None;
                    let now = self.now();
                    self.client.use_map(map?, now)?;
                    return Ok(ClientEvent::NewWorld);
                }
                () = &mut self.timer => {
                    if due.is_some() {
                        return Ok(ClientEvent::CommandDue);
                    }
                    // The client is not in the match, so no tick is sent. The call notices a
                    // silent server.
                    self.command(Command::default());
                }
            }
        }
    }

    /// Sends the command of the tick that is due, and returns whether a tick was due. The server
    /// judges a shot of this command by the picture that [`Client::view`] shows now.
    pub fn command(&mut self, command: Command) -> bool {
        let now = self.now();
        let sent = self.client.tick(command, now);
        self.transmit();
        sent.is_some()
    }

    /// Sends a chat line to everybody; [`Client::next_event`] also returns it to the sender. The
    /// server accepts five lines in a row, then one a second, and drops others.
    pub fn say(&mut self, line: ChatLine) {
        self.client.say(line);
        self.transmit();
    }

    /// The next match event up to the render tick, with the tick in which it happened.
    pub fn next_event(&mut self) -> Option<(Tick, MatchEvent)> {
        let now = self.now();
        self.client.next_match_event(now)
    }

    /// The next effect with its tick: see [`crate::Client::next_effect`].
    pub fn next_effect(&mut self) -> Option<(Tick, Effect)> {
        self.client.next_effect()
    }

    /// The match as it is to be drawn now.
    pub fn view(&self) -> View<'_> {
        self.client.view(self.now())
    }

    /// The predicted motion of the client's own player: see [`crate::Client::motion`].
    pub fn motion(&self) -> Option<(Tick, PlayerMotion)> {
        self.client.motion()
    }

    /// The prediction of the client's own player: see [`crate::Client::prediction`].
    pub fn prediction(&self) -> Option<&Prediction> {
        self.client.prediction()
    }

    /// The ticket to rejoin with if the connection is lost.
    pub fn ticket(&self) -> Ticket {
        self.client.ticket()
    }

    /// The button of the game's action of this name, as
    /// [`Client::action`](crate::Client::action) returns it.
    pub fn action(&self, name: &str) -> Option<Buttons> {
        self.client.action(name)
    }

    /// The protocol session, with all that the client knows of the match.
    pub fn session(&self) -> &Session {
        self.client.session()
    }

    /// Smoothed round-trip time of the connection.
    pub fn rtt(&self) -> Duration {
        self.connection.rtt()
    }

    /// Bytes that the connection has carried so far.
    pub fn traffic(&self) -> Traffic {
        let stats = self.connection.stats();
        Traffic { down: stats.udp_rx.bytes, up: stats.udp_tx.bytes }
    }

    /// The server's address.
    pub fn server(&self) -> SocketAddr {
        self.connection.remote_address()
    }

    /// Says goodbye and closes the connection.
    pub async fn leave(mut self) {
        self.client.leave();
        self.transmit();
        let goodbye = async {
            let written = self.send.write_all(&self.unsent).await;
            if written.is_ok() && self.send.finish().is_ok() {
                self.connection.closed().await;
            }
        };
        // The client leaves whether the server answers or not.
        let _ = timeout(LEAVE_TIMEOUT, goodbye).await;
        self.connection.close(CLOSE_OK, b"goodbye");
    }

    /// Starts to load the map of a world that the client has joined. Fails if the client is no
    /// longer in the match.
    fn handle_events(&mut self) -> Result<(), Disconnected> {
        while let Some(event) = self.client.poll_event() {
            match event {
                ConnectionEvent::Joined(hello) => {
                    let (maps, connection) = (Arc::clone(&self.maps), self.connection.clone());
                    self.pending_map = Some(map_fetch::start(maps, connection, hello));
                }
                // A map that is still being loaded belongs to the previous world.
                ConnectionEvent::NewWorld { .. } => self.pending_map = None,
                ConnectionEvent::Disconnected(cause) => return Err(cause),
            }
        }
        Ok(())
    }

    /// Sends all output of the client, without waiting. Bytes of the control stream that QUIC does
    /// not accept now wait for the next call. They are few.
    fn transmit(&mut self) {
        while let Some(transmit) = self.client.poll_transmit() {
            match transmit {
                Transmit::Stream(bytes) => self.unsent.extend(bytes),
                // A datagram that QUIC does not accept counts as lost, and the next datagram
                // repeats its command. `next` reports a connection that has ended.
                Transmit::Datagram(bytes) => {
                    let _ = self.connection.send_datagram(Bytes::from(bytes));
                }
                // `leave` finishes the stream after the last bytes.
                Transmit::Finish => {}
                Transmit::Close { code, reason } => {
                    self.connection.close(VarInt::from_u32(code), reason.as_bytes());
                }
            }
        }
        if self.unsent.is_empty() {
            return;
        }
        let mut context = Context::from_waker(Waker::noop());
        let written = match pin!(self.send.write(&self.unsent)).poll(&mut context) {
            Poll::Ready(Ok(written)) => written,
            // The next read of the stream reports why it ended.
            Poll::Ready(Err(_)) | Poll::Pending => 0,
        };
        self.unsent.drain(..written);
    }

    fn now(&self) -> Time {
        Time::since_start(self.epoch.elapsed())
    }
}

fn lost(error: ConnectionError) -> Disconnected {
    Disconnected::Connection(error.to_string())
}

fn broken_stream(error: ReadError) -> Disconnected {
    match error {
        ReadError::ConnectionLost(error) => lost(error),
        // The server has reset the stream, which it never does to a player's control stream.
        _ => lost(ConnectionError::Reset),
    }
}
