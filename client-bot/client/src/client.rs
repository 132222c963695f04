//! One player in a match, without sockets or clocks. The client takes bytes and the time, and
//! returns bytes and a [`View`] of the match.

mod reconciliation;

use std::collections::VecDeque;
use std::sync::Arc;

use obsp_proto::client::{self, Session, SnapshotReceived};
use obsp_proto::control::{
    ChatLine, ClientHello, MapHash, MapName, MatchEvent, MatchName, PlayerName, ServerHello, Ticket,
};
use obsp_proto::effects::Effect;
use obsp_proto::snapshot::AuthoritativeMotion;
use obsp_proto::{ProtocolError, Tick, Time};
use obsp_sim::{Buttons, Command, PlayerMotion};
use reconciliation::{LARGEST_BODY, MAX_SPEED, OBSTACLE_RADIUS};

use crate::smoothing::Smoothing;
use crate::stall::Stall;
use crate::{
    Disconnected, LoadedMap, MapError, Playout, Prediction, PredictionError, Roster, View,
};

/// Maximum number of datagrams that wait for [`Client::poll_transmit`]. Each datagram repeats the
/// commands of the datagrams before it, so the oldest ones are dropped.
const MAX_DATAGRAMS: usize = 4;

/// Code of a connection that is closed without an error.
const CLOSE_OK: u32 = 0;

/// The credentials of a joining client, and its wishes.
///
/// ```
/// use obsp_client::Credentials;
/// use obsp_proto::control::Ticket;
///
/// let anonymous = Credentials::default();
/// assert!(anonymous.token.is_empty() && anonymous.ticket == Ticket::NONE);
///
/// let duel = Credentials { match_name: Some("duel".parse()?), ..anonymous };
/// assert_eq!(duel.match_name.unwrap().as_str(), "duel");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// A connect token, valid for one connection; empty if there is none.
    pub token: Vec<u8>,
    /// [`Client::ticket`] of a connection that was lost, or [`Ticket::NONE`].
    pub ticket: Ticket,
    /// The name of the match to join on a server with several matches; `None` for the server's
    /// first match. A ticket is valid only in the match that it comes from.
    pub match_name: Option<MatchName>,
    /// Whether the server sends rays, explosions and hits ([`Client::next_effect`]), which cost
    /// some bytes. A client that draws nothing needs none of them.
    pub effects: bool,
}

impl Default for Credentials {
    fn default() -> Self {
        Self { token: Vec::new(), ticket: Ticket::NONE, match_name: None, effects: false }
    }
}

/// An event of the connection, as [`Client::poll_event`] returns it.
#[derive(Clone, Debug)]
pub enum ConnectionEvent {
    /// The server accepted the client, which is in the match from now on. Load the map and the
    /// game's data that the hello names, and pass them to [`Client::use_map`]. After that the
    /// client's own player is predicted.
    Joined(ServerHello),
    /// The match continues in another world. Everything known of the old world is void, and no
    /// entity or player keeps its id. [`ConnectionEvent::Joined`] follows.
    NewWorld {
        /// The map of the new world. It may be the map of the old one.
        map: MapHash,
        /// The name of that map.
        name: MapName,
    },
    /// The client is no longer in the match. No event follows.
    Disconnected(Disconnected),
}

/// A task for the caller's transport, as [`Client::poll_transmit`] returns it.
///
/// ```
/// use obsp_client::{Client, Credentials, Transmit};
/// use obsp_proto::Time;
/// use obsp_proto::control::{MapHash, PlayerName};
///
/// let name = PlayerName::new("Ann")?;
/// let mut client = Client::new(&name, MapHash::ANY, &Credentials::default(), Time::ZERO);
/// client.leave();
/// // The hello and the goodbye come first, then the end of the stream.
/// assert!(matches!(client.poll_transmit(), Some(Transmit::Stream(bytes)) if !bytes.is_empty()));
/// assert_eq!(client.poll_transmit(), Some(Transmit::Finish));
/// assert_eq!(client.poll_transmit(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transmit {
    /// Write these bytes to the control stream, in order.
    Stream(Vec<u8>),
    /// Send this datagram, or drop it if it cannot be sent at once.
    Datagram(Vec<u8>),
    /// Finish the control stream, and wait a little for the server to close the connection.
    Finish,
    /// Close the connection.
    Close {
        /// QUIC's application error code.
        code: u32,
        /// The reason, for the log of the server.
        reason: String,
    },
}

/// A snapshot that has arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// Content of the snapshot.
    pub received: SnapshotReceived,
    /// The prediction error. There is one only if the snapshot carries the motion of the client's
    /// own player and that tick had been predicted.
    pub error: Option<PredictionError>,
    /// Whether the correction of that error makes [`View::position`] jump: the view moves by more
    /// than four units in a frame at 60 Hz, besides the player's own motion.
    pub view_jumps: bool,
}

/// One player in a match.
///
/// Pass on arriving bytes by [`Client::handle_stream`] and [`Client::handle_datagram`]. Call
/// [`Client::tick`] with the player's input at [`Client::next_tick_at`] or every frame. After any
/// of these calls, take everything that [`Client::poll_event`] and [`Client::poll_transmit`]
/// return. Draw the [`View`] that [`Client::view`] returns.
#[derive(Debug)]
pub struct Client {
    session: Session,
    /// The ticket to rejoin with if the connection is lost.
    ticket: Ticket,
    prediction: Option<Prediction>,
    /// The server's latest authoritative motion and its tick. It is kept because the server does
    /// not repeat it while nothing moves. The map may arrive after it.
    authoritative: Option<(Tick, AuthoritativeMotion)>,
    smoothing: Smoothing,
    playout: Playout,
    stall: Stall,
    roster: Roster,
    events: VecDeque<ConnectionEvent>,
    datagrams: VecDeque<Vec<u8>>,
    /// The end of the connection, as a task that follows after all queued output.
    end: Option<Transmit>,
}

impl Client {
    /// A client that asks to join as `name`. `map` is the only map that it accepts, or
    /// [`MapHash::ANY`]. The hello to the server waits in [`Client::poll_transmit`].
    ///
    /// ```
    /// use obsp_client::{Client, Credentials, Transmit};
    /// use obsp_proto::Time;
    /// use obsp_proto::control::{MapHash, PlayerName};
    ///
    /// let name = PlayerName::new("Ann")?;
    /// let mut client = Client::new(&name, MapHash::ANY, &Credentials::default(), Time::ZERO);
    /// assert!(matches!(client.poll_transmit(), Some(Transmit::Stream(_))));
    /// assert!(client.poll_event().is_none(), "the server has not answered yet");
    /// assert_eq!(client.next_tick_at(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(name: &PlayerName, map: MapHash, credentials: &Credentials, now: Time) -> Self {
        let Credentials { token, ticket, match_name, effects } = credentials;
        let hello = ClientHello::new(map, name)
            .with_token(token)
            .with_ticket(*ticket)
            .with_match(match_name.clone())
            .with_effects(*effects);
        Self {
            session: Session::with_hello(hello, now),
            ticket: *ticket,
            prediction: None,
            authoritative: None,
            smoothing: Smoothing::default(),
            playout: Playout::new(1.0),
            stall: Stall::default(),
            roster: Roster::default(),
            events: VecDeque::new(),
            datagrams: VecDeque::new(),
            end: None,
        }
    }

    /// Handles bytes that arrived on the control stream, in pieces of any length.
    pub fn handle_stream(&mut self, bytes: &[u8], now: Time) {
        match self.session.receive_stream(now, bytes) {
            Ok(events) => events.into_iter().for_each(|event| self.on_event(event)),
            Err(error) => self.on_violation(error),
        }
    }

    /// Handles a datagram. Returns `None` if the datagram has effects, is a duplicate, is stale, or
    /// arrived before the server's hello.
    pub fn handle_datagram(&mut self, bytes: &[u8], now: Time) -> Option<Snapshot> {
        match self.session.receive_datagram(now, bytes) {
            Ok(received) => Some(self.on_snapshot(received?, now)),
            Err(error) => {
                self.on_violation(error);
                None
            }
        }
    }

    /// Tells the client that the connection has ended, or could not be made. `reason` is the reason
    /// that the transport gives.
    ///
    /// ```
    /// use obsp_client::{Client, ConnectionEvent, Credentials, Disconnected};
    /// use obsp_proto::Time;
    /// use obsp_proto::control::{MapHash, PlayerName};
    ///
    /// let name = PlayerName::new("Ann")?;
    /// let mut client = Client::new(&name, MapHash::ANY, &Credentials::default(), Time::ZERO);
    /// client.handle_closed("reset by peer");
    /// let Some(ConnectionEvent::Disconnected(cause)) = client.poll_event() else {
    ///     panic!("no event")
    /// };
    /// assert!(matches!(&cause, Disconnected::Connection(reason) if reason == "reset by peer"));
    /// assert!(!cause.is_final(), "the client may rejoin");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn handle_closed(&mut self, reason: &str) {
        self.handle_failure(Disconnected::Connection(reason.to_owned()));
    }

    /// Tells the client that the map of the match cannot be loaded. This ends the session.
    pub fn handle_no_map(&mut self, error: MapError) {
        self.handle_failure(error.into());
    }

    /// Ends the session for a cause on the client's own side.
    fn handle_failure(&mut self, cause: Disconnected) {
        if !self.session.is_over() {
            self.session.leave();
            // The goodbye is discarded, because the connection has ended or is closed at once.
            self.session.stream_output();
            self.disconnect(cause, CLOSE_OK, "no longer needed");
        }
    }

    /// The server's hello, if the client still waits for a call of [`Client::use_map`] with the
    /// hello's map.
    pub fn needs_map(&self) -> Option<&ServerHello> {
        self.session.hello().filter(|_| self.prediction.is_none())
    }

    /// Uses the map and the game that [`ConnectionEvent::Joined`] has asked for. The client's own
    /// player is predicted from now on.
    ///
    /// # Errors
    /// The map or the game is not that of the match, which may have changed in the meantime. Or the
    /// client has not joined.
    pub fn use_map(&mut self, map: Arc<LoadedMap>, now: Time) -> Result<(), MapError> {
        map.check(self.session.hello().ok_or(MapError::Other)?)?;
        self.prediction = Some(Prediction::new(map, 1.0 / self.tick_rate()));
        if let Some((tick, motion)) = self.authoritative {
            self.reconcile(tick, motion, now);
        }
        self.reconcile_vehicle(now);
        Ok(())
    }

    /// If a tick is due, sends `command`, predicts the client's own player, and returns that tick.
    /// The server judges a shot of this command by the picture that [`Client::view`] shows now. The
    /// call also notices a silent server. So call it at least twice a second, in the match or not.
    ///
    /// A caller with more frames than ticks remembers a key press until a tick is sent. A caller
    /// with fewer frames loses nothing. In ticks without a command, client and server play the last
    /// command once more.
    ///
    /// ```
    /// use obsp_client::{Client, ConnectionEvent, Credentials, Disconnected};
    /// use obsp_proto::control::{MapHash, PlayerName};
    /// use obsp_proto::{IDLE_TIMEOUT, Time};
    /// use obsp_sim::Command;
    ///
    /// let name = PlayerName::new("Ann")?;
    /// let mut client = Client::new(&name, MapHash::ANY, &Credentials::default(), Time::ZERO);
    /// let mut now = Time::ZERO;
    /// // No tick is due before the client has joined. A server that never answers is noticed.
    /// while now.since(Time::ZERO) <= 2 * IDLE_TIMEOUT {
    ///     assert_eq!(client.tick(Command::default(), now), None);
    ///     now = now + std::time::Duration::from_millis(500);
    /// }
    /// let event = client.poll_event();
    /// assert!(matches!(event, Some(ConnectionEvent::Disconnected(Disconnected::TimedOut))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tick(&mut self, command: Command, now: Time) -> Option<Tick> {
        if let Some(event) = self.session.advance(now) {
            self.on_event(event);
        }
        let render_tick = self.playout.render_tick(now);
        let due = self.session.next_command_at();
        let sent = self.session.command(now, command, render_tick)?;
        self.stall.ended(due.unwrap_or(now), now);
        let others = match self.prediction.as_ref().map(|own| (own.position(), own.motion())) {
            Some((Some(position), Some(_))) => {
                let radius = LARGEST_BODY + MAX_SPEED / self.tick_rate();
                self.obstacles_near(position, radius.min(OBSTACLE_RADIUS))
            }
            // Everything within the full radius counts, because a vehicle may get anywhere in it
            // before its next report.
            Some((Some(position), None)) => self.obstacles_near(position, OBSTACLE_RADIUS),
            _ => Vec::new(),
        };
        let layers = self.own_layers();
        if let Some(prediction) = &mut self.prediction {
            prediction.set_layers(layers);
            prediction.play(&sent, &others);
        }
        if self.datagrams.len() == MAX_DATAGRAMS {
            self.datagrams.pop_front();
        }
        self.datagrams.push_back(sent.datagram);
        Some(sent.tick)
    }

    /// When the next tick is due; `None` while the client has not joined.
    pub fn next_tick_at(&self) -> Option<Time> {
        self.session.next_command_at()
    }

    /// Takes the next task for the transport; `None` if nothing is to be sent.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        let bytes = self.session.stream_output();
        if !bytes.is_empty() {
            return Some(Transmit::Stream(bytes));
        }
        let datagram = self.datagrams.pop_front().map(Transmit::Datagram);
        datagram.or_else(|| self.end.take())
    }

    /// Takes the next event of the connection.
    pub fn poll_event(&mut self) -> Option<ConnectionEvent> {
        self.events.pop_front()
    }

    /// Takes the next match event up to the render tick of `now`, with the tick in which it
    /// happened. So events are shown together with the motion of their tick. The call updates
    /// [`View::roster`].
    pub fn next_match_event(&mut self, now: Time) -> Option<(Tick, MatchEvent)> {
        let render_tick = self.playout.render_tick(now)?;
        let (tick, event) = self.session.next_event(Tick(render_tick as u32))?;
        self.roster.apply(&event);
        Some((tick, event))
    }

    /// Takes the next effect with its tick: a ray, an explosion or a hit. A client has effects only
    /// if its [`Credentials`] ask for them. An effect that the player may have predicted, such as
    /// their own shot, can be shown at once. Show all others when [`View::render_tick`] has reached
    /// their tick. Each effect comes once. Effects do not always come in the order of their ticks.
    pub fn next_effect(&mut self) -> Option<(Tick, Effect)> {
        self.session.next_effect()
    }

    /// Sends a chat line to everybody; [`Client::next_match_event`] also returns it to the sender.
    /// The server accepts five lines in a row, then one a second, and drops others.
    pub fn say(&mut self, line: ChatLine) {
        self.session.say(line);
    }

    /// Says goodbye, which ends the session.
    pub fn leave(&mut self) {
        if !self.session.is_over() {
            self.session.leave();
            self.end = Some(Transmit::Finish);
        }
    }

    /// The match as it is to be drawn at `now`.
    pub fn view(&self, now: Time) -> View<'_> {
        View::new(self, now)
    }

    /// The predicted motion of the client's own player after the latest command, with that
    /// command's tick. `None` until the map is loaded and the server has reported the motion for
    /// the first time.
    pub fn motion(&self) -> Option<(Tick, PlayerMotion)> {
        self.prediction.as_ref()?.motion()
    }

    /// The prediction of the client's own player; `None` until the map is loaded.
    pub fn prediction(&self) -> Option<&Prediction> {
        self.prediction.as_ref()
    }

    /// The ticket to rejoin with if the connection is lost: the ticket in the server's hello.
    /// Before the hello it is the ticket of the credentials, so a failed attempt to join loses
    /// nothing.
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// The button of the game's action of this name, to be held in a command. `None` if the game
    /// declares no such action, and before the server's hello has come.
    pub fn action(&self, name: &str) -> Option<Buttons> {
        self.session.hello()?.schema.button(name)
    }

    /// The protocol session, with all that the client knows of the match.
    pub fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn playout(&self) -> &Playout {
        &self.playout
    }

    pub(crate) fn smoothing(&self) -> &Smoothing {
        &self.smoothing
    }

    pub(crate) fn roster(&self) -> &Roster {
        &self.roster
    }

    /// Ticks per second.
    pub(crate) fn tick_rate(&self) -> f64 {
        self.session.hello().map_or(1.0, |hello| f64::from(hello.tick_rate.get()))
    }

    fn on_event(&mut self, event: client::Event) {
        match event {
            client::Event::Joined(hello) => {
                self.ticket = hello.ticket;
                self.playout = Playout::new(self.tick_rate());
                self.events.push_back(ConnectionEvent::Joined(hello));
            }
            client::Event::NewWorld { map, name } => {
                (self.prediction, self.authoritative) = (None, None);
                (self.smoothing, self.roster) = Default::default();
                // Events of earlier worlds are void, and must not pile up in the queue.
                self.events.clear();
                self.events.push_back(ConnectionEvent::NewWorld { map, name });
            }
            client::Event::Refused(reason) => {
                self.disconnect(Disconnected::Refused(reason), CLOSE_OK, "refused");
            }
            client::Event::Closed(reason) => {
                self.disconnect(Disconnected::Closed(reason), CLOSE_OK, "closed");
            }
            client::Event::TimedOut => {
                self.disconnect(Disconnected::TimedOut, CLOSE_OK, "timed out");
            }
        }
    }

    /// Ends the session because the server broke the protocol.
    fn on_violation(&mut self, error: ProtocolError) {
        let (code, reason) = (error.code(), error.to_string());
        self.disconnect(error.into(), code, &reason);
    }

    fn disconnect(&mut self, cause: Disconnected, code: u32, reason: &str) {
        self.events.push_back(ConnectionEvent::Disconnected(cause));
        self.end = Some(Transmit::Close { code, reason: reason.to_owned() });
    }

    /// Uses a snapshot for interpolation and prediction.
    fn on_snapshot(&mut self, received: SnapshotReceived, now: Time) -> Snapshot {
        let waited = self.stall.waited(self.session.next_command_at(), now);
        if !self.playout.arrived(now, received.tick, waited) {
            self.stall.caught_up();
        }
        let (own, layers) = (received.own_motion, self.own_layers());
        if let Some(prediction) = &mut self.prediction {
            prediction.set_layers(layers);
        }
        let corrected = match own {
            Some(motion) => self.reconcile(received.tick, motion, now),
            None => self.reconcile_vehicle(now),
        };
        if self.has_left_the_world() {
            self.authoritative = None;
            if let Some(prediction) = &mut self.prediction {
                prediction.reset();
            }
        }
        let (error, view_jumps) = corrected.unzip();
        Snapshot { received, error, view_jumps: view_jumps.unwrap_or(false) }
    }
}
