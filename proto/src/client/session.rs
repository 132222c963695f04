//! A client's end of one connection.

use std::time::Duration;

use glam::DVec3;
use obsp_sim::{Command, EntityId, EntityState};

use super::joined::{CommandSent, Joined, SessionStats, SnapshotReceived};
use crate::control::{
    ChatLine, ClientHello, ClientMessage, ClosingReason, Framer, MAX_SERVER_FRAME, MapHash,
    MapName, MatchEvent, PlayerName, RefusalReason, ServerHello, ServerMessage,
    decode_server_message, encode_client_message,
};
use crate::effects::Effect;
use crate::quantise::QuantisedEntity;
use crate::schema::FieldValues;
use crate::{IDLE_TIMEOUT, ProtocolError, Tick, Time};

/// An event that a session reports to its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The server accepted the client.
    Joined(ServerHello),
    /// The server refused the client. The caller closes the connection.
    Refused(RefusalReason),
    /// The server ended the session. The caller closes the connection.
    Closed(ClosingReason),
    /// The match continues in another world. Everything known so far is void. The session has
    /// said hello again, and [`Event::Joined`] follows.
    NewWorld {
        /// The map of the new world, which may be that of the old one.
        map: MapHash,
        /// The name of that map.
        name: MapName,
    },
    /// The server was silent too long. The caller closes the connection.
    TimedOut,
}

/// Chat is dropped while this many bytes of the control stream, or more, wait to be written.
const MAX_UNWRITTEN: usize = 16 * 1024;

/// A state of an entity that the client received, with its tick.
pub type Observed = (Tick, EntityState);

/// A client's end of one connection. It takes bytes and the time, and returns bytes and events.
///
/// Pass on arriving bytes by [`Session::receive_stream`] and [`Session::receive_datagram`], send a
/// [`Session::command`] at [`Session::next_command_at`], let time pass by [`Session::advance`], and
/// write [`Session::stream_output`] after any of these. [`Session::leave`] ends the session.
#[derive(Debug)]
pub struct Session {
    phase: Phase,
    framer: Framer,
    output: Vec<u8>,
    started: Time,
    last_received: Time,
    /// The hello that the client says when the match continues in another world.
    hello_again: ClientHello,
    stats: SessionStats,
}

#[derive(Debug)]
enum Phase {
    /// The server has not answered yet.
    Joining,
    /// In the match.
    Joined(Box<Joined>),
    /// Ended, for any reason.
    Over,
}

impl Session {
    /// A session that asks to join as `name`. `map` is the map that the client already has, or
    /// [`MapHash::ANY`].
    pub fn new(name: &PlayerName, map: MapHash, now: Time) -> Self {
        Self::with_hello(ClientHello::new(map, name), now)
    }

    /// A session that says this hello, which may also name a match, a connect token or the ticket
    /// of an earlier connection, and may ask for effects.
    pub fn with_hello(hello: ClientHello, now: Time) -> Self {
        Self {
            phase: Phase::Joining,
            framer: Framer::new(MAX_SERVER_FRAME),
            hello_again: hello.again(),
            output: encode_client_message(&ClientMessage::Hello(hello)),
            started: now,
            last_received: now,
            stats: SessionStats::default(),
        }
    }

    /// Handles bytes that arrived on the control stream.
    ///
    /// # Errors
    /// The server broke the protocol. The session is over, and the caller closes the connection
    /// with the error's code.
    pub fn receive_stream(
        &mut self,
        now: Time,
        mut bytes: &[u8],
    ) -> Result<Vec<Event>, ProtocolError> {
        self.last_received = now;
        let mut events = Vec::new();
        while !self.is_over() {
            match self.receive_frame(now, &mut bytes) {
                Ok(Some(event)) => events.extend(event),
                Ok(None) => break,
                Err(error) => {
                    self.phase = Phase::Over;
                    return Err(error);
                }
            }
        }
        Ok(events)
    }

    /// Handles the next frame. The outer `None` means that no whole frame has arrived. The inner
    /// `None` means that the frame has no event.
    fn receive_frame(
        &mut self,
        now: Time,
        bytes: &mut &[u8],
    ) -> Result<Option<Option<Event>>, ProtocolError> {
        let Some(content) = self.framer.next_frame(bytes)? else { return Ok(None) };
        let event = match (decode_server_message(&content)?, &mut self.phase) {
            (ServerMessage::Event { tick, event }, Phase::Joined(joined)) => {
                if let MatchEvent::Game(event) = &event
                    && usize::from(event.kind()) >= joined.hello.schema.events().len()
                {
                    return Err(unexpected("event of an unknown kind"));
                }
                joined.events.push(tick, event)?;
                return Ok(Some(None));
            }
            (ServerMessage::Event { .. }, _) => return Err(unexpected("event")),
            (ServerMessage::Hello(hello), Phase::Joining) => {
                self.phase = Phase::Joined(Box::new(Joined::new(hello.clone(), self.started, now)));
                Event::Joined(hello)
            }
            (ServerMessage::Refused(reason), Phase::Joining) => {
                self.phase = Phase::Over;
                Event::Refused(reason)
            }
            (ServerMessage::Closing(reason), _) => {
                self.phase = Phase::Over;
                Event::Closed(reason)
            }
            (ServerMessage::NewWorld { map, name }, Phase::Joined(_)) => {
                self.phase = Phase::Joining;
                self.started = now;
                let hello = ClientMessage::Hello(self.hello_again.clone());
                self.output.extend(encode_client_message(&hello));
                Event::NewWorld { map, name }
            }
            (ServerMessage::NewWorld { .. }, _) => return Err(unexpected("new world")),
            (ServerMessage::Hello(_), _) => return Err(unexpected("hello")),
            (ServerMessage::Refused(_), _) => return Err(unexpected("refusal")),
        };
        Ok(Some(Some(event)))
    }

    /// Handles a datagram; `None` if it has effects, was a duplicate, stale, or arrived before the
    /// server's hello.
    ///
    /// # Errors
    /// The errors are those of [`Session::receive_stream`].
    pub fn receive_datagram(
        &mut self,
        now: Time,
        bytes: &[u8],
    ) -> Result<Option<SnapshotReceived>, ProtocolError> {
        // A datagram that overtakes the server's hello is dropped, because its content is sent
        // again.
        let Phase::Joined(joined) = &mut self.phase else { return Ok(None) };
        let received = joined.receive(now, bytes, &mut self.stats);
        match &received {
            Ok(received) => {
                self.last_received = now;
                if let Some(SnapshotReceived { tick, digest_agrees: Some(false), .. }) = received {
                    let mismatch = ClientMessage::Mismatch { tick: tick.0 };
                    self.output.extend(encode_client_message(&mismatch));
                }
            }
            Err(_) => self.phase = Phase::Over,
        }
        received.map_err(ProtocolError::from)
    }

    /// Takes the next match event of a tick up to `render_tick`. Pass the tick that you render, or
    /// [`Session::latest_tick`] if you render nothing.
    pub fn next_event(&mut self, render_tick: Tick) -> Option<(Tick, MatchEvent)> {
        match &mut self.phase {
            Phase::Joined(joined) => joined.events.pop(render_tick),
            _ => None,
        }
    }

    /// Takes the next effect, with its tick, in the order of arrival. Effects come only to a client
    /// whose hello asks for them ([`ClientHello::with_effects`]), and come at most once. An effect
    /// belongs to the state of its tick: show it when you render that tick. Effects of your own
    /// player, which you may have predicted, can be shown at once.
    pub fn next_effect(&mut self) -> Option<(Tick, Effect)> {
        match &mut self.phase {
            Phase::Joined(joined) => joined.effects.pop(),
            _ => None,
        }
    }

    /// Checks for time-outs at `now`. Call it as often as convenient.
    pub fn advance(&mut self, now: Time) -> Option<Event> {
        if self.is_over() || now.since(self.last_received) < IDLE_TIMEOUT {
            return None;
        }
        self.phase = Phase::Over;
        Some(Event::TimedOut)
    }

    /// Takes the bytes to be written to the control stream. Call it after any other method.
    pub fn stream_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Says goodbye: write [`Session::stream_output`], finish the stream, and let the
    /// server close the connection.
    pub fn leave(&mut self) {
        if !self.is_over() {
            self.output.extend(encode_client_message(&ClientMessage::Leave));
            self.phase = Phase::Over;
        }
    }

    /// Sends a chat line to everybody; write [`Session::stream_output`] next. The server
    /// accepts five lines in a row, then one a second. The line is dropped while 16 KiB wait
    /// to be written.
    pub fn say(&mut self, line: ChatLine) {
        if self.joined().is_some() && self.output.len() < MAX_UNWRITTEN {
            self.output.extend(encode_client_message(&ClientMessage::Say(line)));
        }
    }

    /// When the next command is due; `None` while the client has not joined.
    pub fn next_command_at(&self) -> Option<Time> {
        self.joined().map(|joined| joined.clock.next_at())
    }

    /// Sends the command for the tick that is due; `None` if none is due yet. Fields that cannot be
    /// encoded, such as a movement of -128 or a view beyond the vertical, are clamped.
    /// `render_tick` is the moment of the match, in ticks, that the player saw when deciding. The
    /// server judges a shot by that moment. Without a `render_tick`, or without a shot, the
    /// command's [`Command::view_age`] is 0.
    pub fn command(
        &mut self,
        now: Time,
        command: Command,
        render_tick: Option<f64>,
    ) -> Option<CommandSent> {
        let Phase::Joined(joined) = &mut self.phase else { return None };
        let sent = joined.command(now, command, render_tick)?;
        self.stats.command_datagrams += 1;
        self.stats.command_bytes += sent.datagram.len() as u64;
        Some(sent)
    }

    /// The server's hello, while joined.
    pub fn hello(&self) -> Option<&ServerHello> {
        self.joined().map(|joined| &joined.hello)
    }

    /// The entity that this client controls, while the client has joined. A spectator controls
    /// none.
    pub fn player(&self) -> Option<EntityId> {
        self.hello().and_then(|hello| hello.player)
    }

    /// Whether the session has ended, for any reason.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// The tick of the latest snapshot.
    pub fn latest_tick(&self) -> Option<Tick> {
        self.joined()?.received.map(|received| received.latest)
    }

    /// The round trip of the line, to within a tick. It is the sum of two times: the longest time
    /// that a command of the latest half second took, as the server reports it, and the shortest
    /// time that a snapshot of the latest seconds took. The caller's own lateness is left out.
    /// Before the first report, the round trip is the time that the answer to the hello took.
    /// `None` while the client has not joined.
    pub fn round_trip(&self) -> Option<Duration> {
        self.joined().map(|joined| joined.round_trip.get())
    }

    /// The latest states of all entities, in ascending order of slot.
    pub fn entities(&self) -> impl Iterator<Item = EntityState> {
        self.joined().into_iter().flat_map(|joined| joined.view.entities(&joined.hello.bounds))
    }

    /// The latest states of all entities with their ticks, in ascending order of slot.
    pub fn observed_entities(&self) -> impl Iterator<Item = Observed> {
        self.joined().into_iter().flat_map(|joined| joined.view.observed(&joined.hello.bounds))
    }

    /// The latest state of one entity.
    pub fn entity(&self, id: EntityId) -> Option<EntityState> {
        let joined = self.joined()?;
        let entity = joined.view.latest(id.slot).filter(|e| e.generation == id.generation)?;
        Some(entity.dequantise(id.slot, &joined.hello.bounds))
    }

    /// The tick since which an entity is known to be out of the world. `None` while the entity is
    /// in the world, and before a snapshot has contained its slot.
    pub fn gone_since(&self, id: EntityId) -> Option<Tick> {
        self.joined()?.view.gone_since(id)
    }

    /// The latest states, with their ticks, of all entities within `reach` units of
    /// `position` on each axis, in ascending order of slot.
    pub fn entities_near(&self, position: DVec3, reach: f64) -> impl Iterator<Item = Observed> {
        let joined = self.joined().into_iter();
        joined.flat_map(move |joined| joined.view.near(position, reach, &joined.hello.bounds))
    }

    /// The latest content of a slot, in the integers that were sent.
    pub fn quantised(&self, slot: u16) -> Option<&QuantisedEntity> {
        self.joined()?.view.latest(slot)
    }

    /// The latest states of one entity, the oldest first. Between two of them it did not
    /// change, or the states in between were lost.
    pub fn history(&self, id: EntityId) -> impl Iterator<Item = (Tick, EntityState)> {
        let joined = self.joined().into_iter();
        joined.flat_map(move |joined| joined.view.history(id, &joined.hello.bounds))
    }

    /// The state of an entity at `tick` or before, and the first state after it, for interpolation.
    /// If no state of that time is kept, the result is the oldest state that is kept, alone. `None`
    /// if the entity does not exist at that tick.
    pub fn states_around(&self, id: EntityId, tick: Tick) -> Option<(Observed, Option<Observed>)> {
        let joined = self.joined()?;
        joined.view.states_around(id, tick, &joined.hello.bounds)
    }

    /// The latest values of an entity's fields at `tick` or before; `None` if the client does not
    /// know such an entity. Its fields are those of its kind in the schema of the hello.
    pub fn values(&self, id: EntityId, tick: Tick) -> Option<FieldValues> {
        Some(self.joined()?.view.quantised_at(id, tick)?.values)
    }

    /// The latest values of the fields of the match. Every field has its least value until values
    /// arrive.
    pub fn match_values(&self) -> FieldValues {
        let latest = self.joined().and_then(|joined| joined.view.of_match.latest());
        latest.copied().unwrap_or_default()
    }

    /// The latest values of the fields of the client's own player, which the server sends to no
    /// other client. Every field has its least value until values arrive.
    pub fn own_values(&self) -> FieldValues {
        let latest = self.joined().and_then(|joined| joined.view.of_own_player.latest());
        latest.copied().unwrap_or_default()
    }

    /// The session's counters.
    pub fn stats(&self) -> &SessionStats {
        &self.stats
    }

    #[cfg(test)]
    pub(super) fn joined_mut(&mut self) -> &mut Joined {
        match &mut self.phase {
            Phase::Joined(joined) => joined,
            _ => panic!("not joined"),
        }
    }

    fn joined(&self) -> Option<&Joined> {
        match &self.phase {
            Phase::Joined(joined) => Some(joined),
            _ => None,
        }
    }
}

fn unexpected(message: &'static str) -> ProtocolError {
    ProtocolError::Unexpected { message, state: "the session does not allow it" }
}
