//! The client library: from an address to a player in a match.
//!
//! A [`Connector`] owns one UDP socket and reaches one server with it; each
//! [`Connector::join`] gives a [`Client`], one player. The caller drives the client in
//! a loop: [`Client::next`] returns when a snapshot arrived or a command is due, and
//! [`Client::command`] sends that command and predicts the own player at once.
//! [`Client::leave`] ends the session; after a lost connection [`Connector::rejoin`]
//! brings the player back.
//!
//! To render a frame at any time between two events: [`Client::view_position`] is where
//! to draw the own player ([`Client::motion`] is its predicted motion),
//! [`Client::others`] interpolates everything else at the render tick, and
//! [`Client::next_event`] returns the match events up to that tick.
//! `examples/smallest.rs` is a complete client.

mod backoff;
mod congestion;
mod connector;
mod map_fetch;
mod map_store;
mod playout;
mod prediction;
mod trust;
mod view;

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use glam::DVec3;
use obsp_proto::client::{Event, Session, SnapshotReceived};
use obsp_proto::control::{ChatLine, ClosingReason, MatchEvent, RefusalReason, Ticket};
use obsp_proto::snapshot::AuthoritativeMotion;
use obsp_proto::{Tick, Time};
use obsp_sim::{Command, EntityId, EntityState, PlayerMotion};
use quinn::{Connection, ConnectionError, ReadError, RecvStream, SendStream, VarInt};
use thiserror::Error;
use tokio::time::{Sleep, timeout};

pub use backoff::Backoff;
pub use connector::{ConnectError, Connector, Credentials, JoinError};
use map_fetch::PendingMap;
pub use map_store::{LoadedMap, MapError, MapStore};
pub use obsp_proto::client::Observed;
pub use playout::{Playout, interpolate};
pub use prediction::{Prediction, PredictionError, PredictionStats};
pub use trust::{Authority, Trust, TrustError};
use view::ViewSmoothing;

/// QUIC application error code of a connection that ends without an error.
const CLOSE_OK: VarInt = VarInt::from_u32(0);

/// How long to wait for the server to close the connection after a goodbye.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

/// How often a client with nothing to do checks whether the server is silent.
const IDLE_CHECK: Duration = Duration::from_millis(500);

/// Most bytes read from the control stream at a time.
const CHUNK: usize = 2048;

/// Radius, in units on each axis, of the obstacles that a replay of pending commands
/// takes into account: what the fastest body travels in a fifth of a second, and the
/// size of the largest one.
const OBSTACLE_RADIUS: f64 = 256.0;

/// Size of the largest body, in units, and the highest speed, in units a second: the
/// radius for a single tick is the first, and one tick's worth of the second.
const LARGEST_BODY: f64 = 64.0;
const MAX_SPEED: f64 = 3840.0;

/// One player in a match.
pub struct Client {
    connection: Connection,
    send: SendStream,
    receive: RecvStream,
    session: Session,
    /// Bytes of the control stream that QUIC has not accepted yet.
    unsent: Vec<u8>,
    /// The instant at which the session's [`Time`] is zero.
    epoch: Instant,
    /// The ticket to rejoin with if the connection is lost.
    ticket: Ticket,
    prediction: Option<Prediction>,
    /// The server's latest authoritative motion and its tick. Kept because the server
    /// does not repeat it while nothing moves, and the map may arrive after it.
    authoritative: Option<(Tick, AuthoritativeMotion)>,
    view: ViewSmoothing,
    playout: Playout,
    maps: Arc<MapStore>,
    /// The map of the world that the client has joined, while it is being loaded.
    pending_map: Option<PendingMap>,
    /// Reused for every wait: resetting a timer is cheaper than creating one.
    timer: Pin<Box<Sleep>>,
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (server, player) = (self.server(), self.session.player());
        let mut debug = formatter.debug_struct("Client");
        debug.field("server", &server).field("player", &player).finish_non_exhaustive()
    }
}

/// What [`Client::next`] reports to the caller.
#[expect(clippy::large_enum_variant, reason = "copied once a snapshot, never stored")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClientEvent {
    /// A snapshot arrived.
    Snapshot {
        /// What it contains.
        snapshot: SnapshotReceived,
        /// The prediction error, if the snapshot carries the own player's motion and
        /// that tick had been predicted.
        error: Option<PredictionError>,
        /// Whether its correction makes [`Client::view_position`] jump: by more than four
        /// units in a frame at 60 Hz besides the player's own motion.
        view_jumps: bool,
    },
    /// It is time to call [`Client::command`].
    CommandDue,
    /// The match continues in another world; the client has joined it and loaded its
    /// map, so [`Client::prediction`] is a new one. No entity or player keeps its id.
    NewWorld,
}

/// Why a client is no longer in the match.
#[derive(Clone, Debug, Error)]
pub enum Disconnected {
    /// The server ended the session.
    #[error("the server ended the session: {0}")]
    Closed(ClosingReason),
    /// The server refused the client's hello for the next world.
    #[error("the server went on without this client: {0}")]
    Refused(RefusalReason),
    /// The map of the next world could not be loaded.
    #[error(transparent)]
    Map(#[from] MapError),
    /// The server sent nothing for too long.
    #[error("the server was silent too long")]
    TimedOut,
    /// The connection broke.
    #[error("the connection was lost: {0}")]
    Connection(ConnectionError),
    /// The server broke the protocol, or this client misreads it.
    #[error("the server broke the protocol: {0}")]
    Protocol(obsp_proto::ProtocolError),
}

impl From<ConnectionError> for Disconnected {
    fn from(error: ConnectionError) -> Self {
        Self::Connection(error)
    }
}

impl From<obsp_proto::ProtocolError> for Disconnected {
    fn from(error: obsp_proto::ProtocolError) -> Self {
        Self::Protocol(error)
    }
}

impl Disconnected {
    /// Whether rejoining is pointless: the server does not want this client, or one
    /// of the two breaks the protocol.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Closed(reason) => {
                matches!(reason, ClosingReason::Removed(_) | ClosingReason::Replaced)
            }
            Self::Refused(reason) => connector::is_final(reason),
            Self::Protocol(_) => true,
            Self::TimedOut | Self::Connection(_) | Self::Map(_) => false,
        }
    }
}

/// Bytes of UDP payload that a connection has carried, QUIC's overhead included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// From the server.
    pub down: u64,
    /// To the server.
    pub up: u64,
}

impl Client {
    /// Waits for the next event. Cancelling the wait loses nothing.
    ///
    /// # Errors
    /// The client is no longer in the match; drop it, or rejoin by the connector.
    pub async fn next(&mut self) -> Result<ClientEvent, Disconnected> {
        let mut chunk = [0; CHUNK];
        loop {
            let due = self.session.next_command_at();
            let wake = match due {
                Some(time) => self.epoch + time.elapsed(),
                None => Instant::now() + IDLE_CHECK,
            };
            self.timer.as_mut().reset(wake.into());
            tokio::select! {
                datagram = self.connection.read_datagram() => {
                    let datagram = datagram?;
                    let received = self.session.receive_datagram(self.now(), &datagram);
                    if let Some(snapshot) = self.checked(received)? {
                        let (error, view_jumps) = self.on_snapshot(&snapshot).unzip();
                        let view_jumps = view_jumps.unwrap_or(false);
                        self.flush();
                        return Ok(ClientEvent::Snapshot { snapshot, error, view_jumps });
                    }
                }
                read = self.receive.read(&mut chunk) => {
                    let Some(length) = read.map_err(broken_stream)? else {
                        // The server closes the connection next, or is gone.
                        return Err(self.connection.closed().await.into());
                    };
                    let events = self.session.receive_stream(self.now(), &chunk[..length]);
                    for event in self.checked(events)? {
                        self.on_event(event)?;
                    }
                    self.flush();
                }
                map = map_fetch::wait(&mut self.pending_map) => {
                    self.pending_map = None;
                    self.start_prediction(map?);
                    return Ok(ClientEvent::NewWorld);
                }
                () = &mut self.timer => {
                    if let Some(event) = self.session.advance(self.now()) {
                        self.on_event(event)?;
                    }
                    if due.is_some() {
                        return Ok(ClientEvent::CommandDue);
                    }
                }
            }
        }
    }

    /// Sends the command of the tick that is due; returns whether one was due. The
    /// server judges a shot in it by what [`Client::others`] returns now.
    pub fn command(&mut self, command: Command) -> bool {
        let (now, render_tick) = (self.now(), self.render_tick());
        let Some(sent) = self.session.command(now, command, render_tick) else { return false };
        let others = match self.motion() {
            Some((_, motion)) => {
                let radius = LARGEST_BODY + MAX_SPEED / self.tick_rate();
                self.obstacles_near(&motion, radius.min(OBSTACLE_RADIUS))
            }
            None => Vec::new(),
        };
        if let Some(prediction) = &mut self.prediction {
            prediction.play(&sent, &others);
        }
        // A datagram that QUIC does not accept counts as lost: the next datagram
        // repeats its command. `next` reports a connection that has ended.
        let _ = self.connection.send_datagram(Bytes::from(sent.datagram));
        true
    }

    /// Sends a chat line to everybody; [`Client::next_event`] returns it to the sender
    /// too. The server drops lines beyond five in a row and one a second.
    pub fn say(&mut self, line: ChatLine) {
        self.session.say(line);
        self.flush();
    }

    /// The own player's predicted motion after the latest command, with that command's
    /// tick; `None` until the server has reported the motion for the first time.
    pub fn motion(&self) -> Option<(Tick, PlayerMotion)> {
        self.prediction.as_ref()?.motion()
    }

    /// Where to draw the own player: the position of [`Client::motion`] with
    /// corrections of the prediction spread over a tenth of a second.
    pub fn view_position(&self) -> Option<DVec3> {
        let (_, motion) = self.motion()?;
        Some(motion.position.as_dvec3() + self.view.offset(self.now()))
    }

    /// The prediction of the own player; `None` until the map is loaded.
    pub fn prediction(&self) -> Option<&Prediction> {
        self.prediction.as_ref()
    }

    /// The moment of the match to render now, in ticks; it advances evenly, behind
    /// the latest snapshot by [`Client::interpolation_delay`]. `None` before the first.
    pub fn render_tick(&self) -> Option<f64> {
        self.playout.render_tick(self.now())
    }

    /// By how many ticks the render tick is behind the latest snapshot.
    pub fn interpolation_delay(&self) -> f64 {
        self.playout.interpolation_delay()
    }

    /// All entities but the own player, interpolated at the render tick, within
    /// `reach` units of `position` on each axis.
    pub fn others(&self, position: DVec3, reach: f64) -> impl Iterator<Item = EntityState> {
        let (render_tick, own) = (self.render_tick(), self.session.player());
        let near = self.session.entities_near(position, reach);
        near.filter(move |(_, entity)| Some(entity.id) != own)
            .filter_map(move |(_, entity)| self.entity_at(entity.id, render_tick?))
    }

    /// One entity, interpolated at the render tick.
    pub fn entity(&self, id: EntityId) -> Option<EntityState> {
        self.entity_at(id, self.render_tick()?)
    }

    fn entity_at(&self, id: EntityId, render_tick: f64) -> Option<EntityState> {
        let (before, after) = self.session.states_around(id, Tick(render_tick as u32))?;
        Some(interpolate(render_tick, self.tick_rate(), before, after))
    }

    /// The next match event up to the render tick, with the tick in which it happened.
    pub fn next_event(&mut self) -> Option<(Tick, MatchEvent)> {
        let render_tick = self.render_tick()?;
        self.session.next_event(Tick(render_tick as u32))
    }

    /// Handles what the server sent besides snapshots and match events.
    fn on_event(&mut self, event: Event) -> Result<(), Disconnected> {
        match event {
            Event::Closed(reason) => return Err(Disconnected::Closed(reason)),
            Event::TimedOut => return Err(Disconnected::TimedOut),
            Event::Refused(reason) => return Err(Disconnected::Refused(reason)),
            Event::NewWorld { .. } => {
                // A map that is still being loaded belongs to the world before.
                (self.prediction, self.authoritative, self.pending_map) = (None, None, None);
                self.view = ViewSmoothing::default();
            }
            Event::Joined(hello) => {
                self.ticket = hello.ticket;
                self.playout = Playout::new(self.tick_rate());
                let maps = Arc::clone(&self.maps);
                self.pending_map = Some(map_fetch::start(maps, self.connection.clone(), hello));
            }
        }
        Ok(())
    }

    fn tick_rate(&self) -> f64 {
        self.session.hello().map_or(1.0, |hello| f64::from(hello.tick_rate.get()))
    }

    /// Uses a snapshot for interpolation and prediction; returns the prediction error, and
    /// whether its correction makes the view jump.
    fn on_snapshot(&mut self, snapshot: &SnapshotReceived) -> Option<(PredictionError, bool)> {
        self.playout.arrived(self.now(), snapshot.tick);
        if let Some(motion) = snapshot.own_motion {
            return self.reconcile(snapshot.tick, motion);
        }
        let in_world = self.session.player().and_then(|own| self.session.entity(own)).is_some();
        if !in_world {
            // Dead, or waiting for a place to spawn.
            self.authoritative = None;
            if let Some(prediction) = &mut self.prediction {
                prediction.reset();
            }
        }
        None
    }

    /// Reconciles the prediction with the server's motion of the own player.
    fn reconcile(
        &mut self,
        tick: Tick,
        motion: AuthoritativeMotion,
    ) -> Option<(PredictionError, bool)> {
        if self.authoritative.is_none_or(|(last, _)| tick > last) {
            self.authoritative = Some((tick, motion));
        }
        let (now, others) = (self.now(), self.obstacles_near(&motion.motion, OBSTACLE_RADIUS));
        let error = self.prediction.as_mut()?.reconcile(tick, motion, &others)?;
        let view_jumps = self.view.correct(now, error.correction);
        Some((error, view_jumps))
    }

    /// Starts to predict the own player on `map`, from the latest authoritative motion.
    fn start_prediction(&mut self, map: Arc<LoadedMap>) {
        self.prediction = Some(Prediction::new(map, 1.0 / self.tick_rate()));
        if let Some((tick, motion)) = self.authoritative {
            self.reconcile(tick, motion);
        }
    }

    /// The latest state of every entity that the own player may run into.
    fn obstacles_near(&self, motion: &PlayerMotion, radius: f64) -> Vec<Observed> {
        let own = self.session.player();
        let near = self.session.entities_near(motion.position.as_dvec3(), radius);
        near.filter(|(_, entity)| Some(entity.id) != own).collect()
    }

    /// Writes the session's control stream output to QUIC without waiting; what QUIC
    /// does not accept now, at most a few bytes, is kept for the next call.
    fn flush(&mut self) {
        self.unsent.extend(self.session.stream_output());
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

    /// Waits until the map of the world just joined is loaded, while the match goes on
    /// with idle commands; the own player is predicted from then on.
    pub(super) async fn wait_for_map(&mut self) -> Result<(), JoinError> {
        let Some(hello) = self.session.hello().cloned() else { return Ok(()) };
        let lost = |lost| match lost {
            Disconnected::Map(error) => JoinError::Map(error),
            lost => JoinError::Disconnected(Box::new(lost)),
        };
        self.on_event(Event::Joined(hello)).map_err(lost)?;
        loop {
            match self.next().await.map_err(lost)? {
                ClientEvent::NewWorld => return Ok(()),
                ClientEvent::CommandDue => {
                    self.command(Command::default());
                }
                ClientEvent::Snapshot { .. } => {}
            }
        }
    }

    /// The ticket to rejoin with if the connection is lost.
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// The protocol session: all that the client knows of the match.
    pub fn session(&self) -> &Session {
        &self.session
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
        self.session.leave();
        let mut output = std::mem::take(&mut self.unsent);
        output.extend(self.session.stream_output());
        let goodbye = async {
            if self.send.write_all(&output).await.is_ok() && self.send.finish().is_ok() {
                self.connection.closed().await;
            }
        };
        // The client leaves whether the server answers or not.
        let _ = timeout(LEAVE_TIMEOUT, goodbye).await;
        self.connection.close(CLOSE_OK, b"goodbye");
    }

    fn now(&self) -> Time {
        Time::since_start(self.epoch.elapsed())
    }

    /// Closes the connection with the error's code if the server broke the protocol.
    fn checked<T>(&self, result: Result<T, obsp_proto::ProtocolError>) -> Result<T, Disconnected> {
        result.map_err(|error| {
            self.connection.close(VarInt::from_u32(error.code()), error.to_string().as_bytes());
            error.into()
        })
    }
}

fn broken_stream(error: ReadError) -> Disconnected {
    match error {
        ReadError::ConnectionLost(error) => error.into(),
        // Reset by the server, which never does that to a player's control stream.
        _ => ConnectionError::Reset.into(),
    }
}
