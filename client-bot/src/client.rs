//! The client library: from an address to a player in a match.
//!
//! A [`Connector`] owns one UDP socket and reaches one server with it; each
//! [`Connector::join`] gives a [`Client`], one player. A client is driven by
//! its owner: [`Client::next`] says when a snapshot came or a command is due,
//! [`Client::command`] sends one and moves the own player at once.
//!
//! What there is to be drawn: [`Client::motion`] is the own player as
//! predicted, [`Client::others`] is everything else as it was a moment ago,
//! [`Client::next_event`] tells what happened until that moment. A game loop
//! that draws faster than the server ticks asks as often as it likes.
//! `examples/smallest.rs` is a whole client.

mod connector;
mod map_store;
mod playout;
mod prediction;
mod trust;

use std::future::Future;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use glam::DVec3;
use proto::client::{Event, Session, SnapshotReceived};
use proto::control::{ChatLine, ClosingReason, MatchEvent};
use proto::map_transfer::{MapReceiver, REQUEST};
use proto::{Tick, Time};
use quinn::{Connection, ConnectionError, ReadError, RecvStream, SendStream, VarInt};
use sim::{Command, EntityId, EntityState, PlayerMotion};
use thiserror::Error;
use tokio::time::{Sleep, timeout};

pub use connector::{ConnectError, Connector, JoinError};
pub use map_store::{LoadedMap, MapError, MapStore};
pub use playout::{Playout, interpolate};
pub use prediction::{Prediction, PredictionError, PredictionStats, Told};
pub use trust::{Authority, NoTrust, Trust};

/// Application error code of a connection that ends as it should.
const DONE: VarInt = VarInt::from_u32(0);

/// How long the server has to answer a goodbye.
const FAREWELL: Duration = Duration::from_secs(2);

/// How often a client with nothing to do looks whether the server is silent.
const IDLE_CHECK: Duration = Duration::from_millis(500);

/// Most bytes read from the control stream at a time.
const CHUNK: usize = 2048;

/// Bytes of a map read at a time.
const MAP_CHUNK: usize = 16 * 1024;

/// How long fetching the map may take.
const MAP_TIMEOUT: Duration = Duration::from_secs(120);

/// How far, in units, from the own player something can be and yet be run into
/// while the player is predicted: the fastest way of a fifth of a second, and
/// the size of the largest body.
const IN_THE_WAY: f64 = 256.0;

/// The same for one tick: the size of the largest body, and how far the fastest
/// gets in a second.
const NEXT_TO: (f64, f64) = (64.0, 3840.0);

/// One player in a match.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
    send: SendStream,
    receive: RecvStream,
    session: Session,
    /// Bytes of the control stream that QUIC has not taken yet.
    unsent: Vec<u8>,
    /// The beginning of the session's [`Time`].
    epoch: Instant,
    prediction: Option<Prediction>,
    playout: Playout,
    /// Kept from one wait to the next: a timer that is only moved is cheap.
    timer: Pin<Box<Sleep>>,
}

/// What a client's owner may want to react to.
#[expect(clippy::large_enum_variant, reason = "copied once a snapshot, never stored")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Occasion {
    /// News of the match came.
    Snapshot {
        /// Which.
        snapshot: SnapshotReceived,
        /// How far the own player was from where it had been predicted to be,
        /// if the news tell.
        error: Option<PredictionError>,
    },
    /// It is time to call [`Client::command`].
    CommandDue,
}

/// Why a client is no longer in the match.
#[derive(Clone, Debug, Error)]
pub enum Lost {
    /// The server ended it.
    #[error("the server ended the session: {0}")]
    Closed(ClosingReason),
    /// Nothing was heard from the server.
    #[error("the server was silent too long")]
    TimedOut,
    /// The connection broke.
    #[error("the connection was lost: {0}")]
    Connection(#[from] ConnectionError),
    /// The server broke the protocol, or this client misreads it.
    #[error("the server broke the protocol: {0}")]
    Protocol(#[from] proto::ProtocolError),
}

/// Bytes of UDP payload that a connection has carried, QUIC's own included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// From the server.
    pub down: u64,
    /// To the server.
    pub up: u64,
}

impl Client {
    /// Waits for the next occasion. Giving up waiting loses nothing.
    ///
    /// # Errors
    /// The client is out of the match, and can only be dropped.
    pub async fn next(&mut self) -> Result<Occasion, Lost> {
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
                        let error = self.take_in(&snapshot);
                        self.flush();
                        return Ok(Occasion::Snapshot { snapshot, error });
                    }
                }
                read = self.receive.read(&mut chunk) => {
                    let Some(length) = read.map_err(broken_stream)? else {
                        // Whoever ends the stream is about to close, or is gone.
                        return Err(self.connection.closed().await.into());
                    };
                    let events = self.session.receive_stream(self.now(), &chunk[..length]);
                    for event in self.checked(events)? {
                        lost(event)?;
                    }
                }
                () = &mut self.timer => {
                    if let Some(event) = self.session.advance(self.now()) {
                        lost(event)?;
                    }
                    if due.is_some() {
                        return Ok(Occasion::CommandDue);
                    }
                }
            }
        }
    }

    /// Sends the command of the tick that is due, and says whether one was. A
    /// shot in it is judged by what [`Client::others`] gives now.
    pub fn command(&mut self, command: Command) -> bool {
        let (now, shown) = (self.now(), self.shown());
        let Some(sent) = self.session.command(now, command, shown) else { return false };
        let others = match self.motion() {
            Some((_, motion)) => {
                let reach = NEXT_TO.0 + NEXT_TO.1 / self.tick_rate();
                self.in_the_way_of(&motion, reach.min(IN_THE_WAY))
            }
            None => Vec::new(),
        };
        if let Some(prediction) = &mut self.prediction {
            prediction.play(&sent, &others);
        }
        // A datagram that the path does not take is one that was lost, and the
        // next carries its command too; a connection that has ended is told by
        // `next`.
        let _ = self.connection.send_datagram(Bytes::from(sent.datagram));
        true
    }

    /// Says something to everybody, who hear it by [`Client::next_event`], the
    /// speaker too. The server drops what is more than a line a second.
    pub fn say(&mut self, line: ChatLine) {
        self.session.say(line);
        self.flush();
    }

    /// How the own player moves: after the last command as predicted, with the
    /// tick of that; `None` until the server has told for the first time.
    pub fn motion(&self) -> Option<(Tick, PlayerMotion)> {
        self.prediction.as_ref()?.motion()
    }

    /// The prediction of the own player, unless the client does without.
    pub fn prediction(&self) -> Option<&Prediction> {
        self.prediction.as_ref()
    }

    /// The moment of the match that is to be shown now, in ticks; it runs
    /// evenly, a little behind the news.
    pub fn shown(&self) -> Option<f64> {
        self.playout.shown(self.now())
    }

    /// By how many ticks the shown moment is behind the freshest news.
    pub fn delay(&self) -> f64 {
        self.playout.delay()
    }

    /// Everything but the own player as it was at the shown moment, as far as
    /// it is within `reach` units of `position` on each axis.
    pub fn others(&self, position: DVec3, reach: f64) -> impl Iterator<Item = EntityState> {
        let (shown, own) = (self.shown(), self.session.player());
        let near = self.session.told_near(position, reach);
        near.filter(move |(_, entity)| Some(entity.id) != own)
            .filter_map(move |(_, entity)| self.entity_at(entity.id, shown?))
    }

    /// One entity as it was at the shown moment.
    pub fn entity(&self, id: EntityId) -> Option<EntityState> {
        self.entity_at(id, self.shown()?)
    }

    fn entity_at(&self, id: EntityId, shown: f64) -> Option<EntityState> {
        let (before, after) = self.session.around(id, Tick(shown as u32))?;
        Some(interpolate(shown, self.tick_rate(), before, after))
    }

    /// The next thing that happened in the match until the shown moment.
    pub fn next_event(&mut self) -> Option<(Tick, MatchEvent)> {
        let shown = self.shown()?;
        self.session.next_event(Tick(shown as u32))
    }

    fn tick_rate(&self) -> f64 {
        self.session.hello().map_or(1.0, |hello| f64::from(hello.tick_rate.get()))
    }

    /// Uses a snapshot for what is shown and predicted.
    fn take_in(&mut self, snapshot: &SnapshotReceived) -> Option<PredictionError> {
        self.playout.arrived(self.now(), snapshot.tick);
        let others = match snapshot.answer {
            Some(answer) => self.in_the_way_of(&answer.motion, IN_THE_WAY),
            None => Vec::new(),
        };
        let here = self.session.player().and_then(|own| self.session.entity(own)).is_some();
        let prediction = self.prediction.as_mut()?;
        match snapshot.answer {
            Some(answer) => return prediction.reconcile(snapshot.tick, answer, &others),
            // Dead, or waiting for a place.
            None if !here => prediction.lose(),
            None => {}
        }
        None
    }

    /// What the own player may run into, as it was last heard of.
    fn in_the_way_of(&self, motion: &PlayerMotion, reach: f64) -> Vec<Told> {
        let own = self.session.player();
        let near = self.session.told_near(motion.position.as_dvec3(), reach);
        near.filter(|(_, entity)| Some(entity.id) != own).collect()
    }

    /// Hands what the session has to say on the control stream to QUIC, as much
    /// as it takes; it is never more than a few bytes.
    fn flush(&mut self) {
        self.unsent.extend(self.session.stream_output());
        if self.unsent.is_empty() {
            return;
        }
        let mut context = Context::from_waker(Waker::noop());
        let written = match pin!(self.send.write(&self.unsent)).poll(&mut context) {
            Poll::Ready(Ok(written)) => written,
            // What ended the stream is told by the next read of it.
            Poll::Ready(Err(_)) | Poll::Pending => 0,
        };
        self.unsent.drain(..written);
    }

    /// Gets the map, from a file or from the server, while the match goes on;
    /// from then on the own player is predicted.
    async fn get_map(&mut self, maps: &MapStore) -> Result<(), JoinError> {
        let Some(hello) = self.session.hello().cloned() else { return Ok(()) };
        let fetch = fetch_map(self.connection.clone());
        let mut got = pin!(timeout(MAP_TIMEOUT, maps.get(hello.map, &hello.map_name, fetch)));
        let map = loop {
            tokio::select! {
                got = &mut got => break got.map_err(|_| JoinError::SlowMap)??,
                occasion = self.next() => {
                    if let Occasion::CommandDue = occasion.map_err(|lost| JoinError::Lost(Box::new(lost)))? {
                        self.command(Command::default());
                    }
                }
            }
        };
        self.prediction = Some(Prediction::new(map, 1.0 / self.tick_rate()));
        Ok(())
    }

    /// What the client knows of the match.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// How long a packet takes to the server and back, smoothed.
    pub fn rtt(&self) -> Duration {
        self.connection.rtt()
    }

    /// What the connection has carried so far.
    pub fn traffic(&self) -> Traffic {
        let stats = self.connection.stats();
        Traffic { down: stats.udp_rx.bytes, up: stats.udp_tx.bytes }
    }

    /// Where the server is.
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
        // Whether the server answers or not, we are off.
        let _ = timeout(FAREWELL, goodbye).await;
        self.connection.close(DONE, b"goodbye");
    }

    fn now(&self) -> Time {
        Time::since_start(self.epoch.elapsed())
    }

    /// Tells the server too if it broke the protocol.
    fn checked<T>(&self, result: Result<T, proto::ProtocolError>) -> Result<T, Lost> {
        result.map_err(|error| {
            self.connection.close(VarInt::from_u32(error.code()), error.to_string().as_bytes());
            error.into()
        })
    }
}

/// Asks for the map on a stream of its own.
async fn fetch_map(connection: Connection) -> Result<Vec<u8>, MapError> {
    let failed = |error: &dyn std::fmt::Display| MapError::Fetch(error.to_string());
    let (mut send, mut receive) = connection.open_bi().await.map_err(|error| failed(&error))?;
    send.write_all(REQUEST).await.map_err(|error| failed(&error))?;
    send.finish().map_err(|error| failed(&error))?;
    let mut map = MapReceiver::new();
    let mut chunk = vec![0; MAP_CHUNK];
    while let Some(length) = receive.read(&mut chunk).await.map_err(|error| failed(&error))? {
        map.receive(&chunk[..length])?;
    }
    Ok(map.finish()?)
}

/// What an event means to a client that has joined.
fn lost(event: Event) -> Result<(), Lost> {
    match event {
        Event::Closed(reason) => Err(Lost::Closed(reason)),
        Event::TimedOut => Err(Lost::TimedOut),
        // Hello and refusal are for those who have not joined; the session
        // lets neither through a second time.
        Event::Joined(_) | Event::Refused(_) => Ok(()),
    }
}

fn broken_stream(error: ReadError) -> Lost {
    match error {
        ReadError::ConnectionLost(error) => error.into(),
        // Reset by the server, which never does that to a player.
        _ => ConnectionError::Reset.into(),
    }
}
