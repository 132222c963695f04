use glam::DVec3;
use sim::{Command, EntityId, EntityState};

use super::joined::{CommandSent, Joined, SessionStats, SnapshotReceived};
use crate::control::{
    ChatLine, ClientHello, ClientMessage, ClosingReason, Framer, MapHash, MatchEvent, PlayerName,
    RefusalReason, ServerHello, ServerMessage, decode_server_message, encode_client_message,
};
use crate::quantise::QuantisedEntity;
use crate::{IDLE_TIMEOUT, ProtocolError, Tick, Time};

/// What a session tells its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The server let the client in.
    Joined(ServerHello),
    /// The server did not: close the connection.
    Refused(RefusalReason),
    /// The server ended the session: close the connection.
    Closed(ClosingReason),
    /// The server was silent too long: close the connection.
    TimedOut,
}

/// What an entity was said to be at a tick.
pub type Told = (Tick, EntityState);

/// A client's end of one connection: bytes and a time in, bytes and events out.
#[derive(Debug)]
pub struct Session {
    phase: Phase,
    framer: Framer,
    output: Vec<u8>,
    last_heard: Time,
    stats: SessionStats,
}

#[derive(Debug)]
enum Phase {
    /// The server has not answered yet.
    Joining,
    /// In the match.
    Joined(Box<Joined>),
    /// Ended, one way or another.
    Over,
}

impl Session {
    /// A session that asks to join as `name` with the map it has, or
    /// [`MapHash::ANY`].
    pub fn new(name: &PlayerName, map: MapHash, now: Time) -> Self {
        Self {
            phase: Phase::Joining,
            framer: Framer::new(),
            output: encode_client_message(&ClientMessage::Hello(ClientHello::new(map, name))),
            last_heard: now,
            stats: SessionStats::default(),
        }
    }

    /// Takes in what came on the control stream.
    ///
    /// # Errors
    /// The server broke the protocol: the session is over, and the caller
    /// closes the connection with the error's code.
    pub fn receive_stream(
        &mut self,
        now: Time,
        mut bytes: &[u8],
    ) -> Result<Vec<Event>, ProtocolError> {
        self.last_heard = now;
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

    /// The next frame's event, if it makes one; `None` if there is no frame.
    fn receive_frame(
        &mut self,
        now: Time,
        bytes: &mut &[u8],
    ) -> Result<Option<Option<Event>>, ProtocolError> {
        let Some(content) = self.framer.next_frame(bytes)? else { return Ok(None) };
        let event = match (decode_server_message(&content)?, &mut self.phase) {
            (ServerMessage::Event { tick, event }, Phase::Joined(joined)) => {
                joined.events.push(tick, event)?;
                return Ok(Some(None));
            }
            (ServerMessage::Event { .. }, _) => return Err(unexpected("event")),
            (ServerMessage::Hello(hello), Phase::Joining) => {
                self.phase = Phase::Joined(Box::new(Joined::new(hello.clone(), now)));
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
            (ServerMessage::Hello(_), _) => return Err(unexpected("hello")),
            (ServerMessage::Refused(_), _) => return Err(unexpected("refusal")),
        };
        Ok(Some(Some(event)))
    }

    /// Takes in a datagram; `None` if it was a duplicate, stale, or came
    /// before the hello.
    ///
    /// # Errors
    /// As [`Session::receive_stream`].
    pub fn receive_datagram(
        &mut self,
        now: Time,
        bytes: &[u8],
    ) -> Result<Option<SnapshotReceived>, ProtocolError> {
        // Datagrams may overtake the hello; unacknowledged, they are sent anew.
        let Phase::Joined(joined) = &mut self.phase else { return Ok(None) };
        let received = joined.receive(now, bytes, &mut self.stats);
        match &received {
            Ok(received) => {
                self.last_heard = now;
                if let Some(SnapshotReceived { tick, digest_agrees: Some(false), .. }) = received {
                    let mismatch = ClientMessage::Mismatch { tick: tick.0 };
                    self.output.extend(encode_client_message(&mismatch));
                }
            }
            Err(_) => self.phase = Phase::Over,
        }
        received.map_err(ProtocolError::from)
    }

    /// Takes the next thing that happened in the match, if it shows at the tick
    /// `shown` (the one that the caller presents, or [`Session::latest_tick`])
    /// or showed before.
    pub fn next_event(&mut self, shown: Tick) -> Option<(Tick, MatchEvent)> {
        match &mut self.phase {
            Phase::Joined(joined) => joined.events.pop(shown),
            _ => None,
        }
    }

    /// Lets time pass; call it as often as convenient.
    pub fn advance(&mut self, now: Time) -> Option<Event> {
        if self.is_over() || now.since(self.last_heard) < IDLE_TIMEOUT {
            return None;
        }
        self.phase = Phase::Over;
        Some(Event::TimedOut)
    }

    /// Bytes to be written to the control stream; ask after each other call.
    pub fn stream_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Says goodbye: write [`Session::stream_output`], finish the stream, and
    /// let the server close the connection.
    pub fn leave(&mut self) {
        if !self.is_over() {
            self.output.extend(encode_client_message(&ClientMessage::Leave));
            self.phase = Phase::Over;
        }
    }

    /// Says something to everybody; ask for [`Session::stream_output`] next. The
    /// server lets through five lines in a row, then one a second.
    pub fn say(&mut self, line: ChatLine) {
        if self.joined().is_some() {
            self.output.extend(encode_client_message(&ClientMessage::Say(line)));
        }
    }

    /// When the next command is due; `None` while the client has not joined.
    pub fn next_command_at(&self) -> Option<Time> {
        self.joined().map(|joined| joined.clock.next_at())
    }

    /// Gives the command for the tick that is due; `None` if none is due yet.
    /// What a command cannot say (a movement of -128, a view beyond the
    /// vertical) is drawn to the nearest that it can. `shown` is the moment of
    /// the match, in ticks, that the player saw of the others when deciding: a
    /// shot is judged by that. Without it, and without a shot, nothing is said
    /// of it, whatever [`Command::view_age`] holds.
    pub fn command(
        &mut self,
        now: Time,
        command: Command,
        shown: Option<f64>,
    ) -> Option<CommandSent> {
        let Phase::Joined(joined) = &mut self.phase else { return None };
        let sent = joined.command(now, command, shown)?;
        self.stats.command_datagrams += 1;
        self.stats.command_bytes += sent.datagram.len() as u64;
        Some(sent)
    }

    /// The terms of the match, while joined.
    pub fn hello(&self) -> Option<&ServerHello> {
        self.joined().map(|joined| &joined.hello)
    }

    /// The entity this client steers, while joined; a spectator steers none.
    pub fn player(&self) -> Option<EntityId> {
        self.hello().and_then(|hello| hello.player)
    }

    /// Whether the session has ended, one way or another.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// The tick of the latest snapshot.
    pub fn latest_tick(&self) -> Option<Tick> {
        self.joined()?.received.map(|received| received.latest)
    }

    /// All entities as last heard of, in ascending order of slot.
    pub fn entities(&self) -> impl Iterator<Item = EntityState> {
        self.joined().into_iter().flat_map(|joined| joined.view.entities(&joined.hello.bounds))
    }

    /// All entities as last heard of, each with the tick of that, in ascending
    /// order of slot.
    pub fn told(&self) -> impl Iterator<Item = Told> {
        self.joined().into_iter().flat_map(|joined| joined.view.told(&joined.hello.bounds))
    }

    /// One entity as last heard of.
    pub fn entity(&self, id: EntityId) -> Option<EntityState> {
        let joined = self.joined()?;
        let entity = joined.view.latest(id.slot).filter(|e| e.generation == id.generation)?;
        Some(entity.dequantise(id.slot, &joined.hello.bounds))
    }

    /// All entities whose last known place is within `reach` units of
    /// `position` on each axis, each with the tick of that, in ascending order
    /// of slot.
    pub fn told_near(&self, position: DVec3, reach: f64) -> impl Iterator<Item = Told> {
        let joined = self.joined().into_iter();
        joined.flat_map(move |joined| joined.view.near(position, reach, &joined.hello.bounds))
    }

    /// What a slot holds, in the integers of the wire.
    pub fn quantised(&self, slot: u16) -> Option<&QuantisedEntity> {
        self.joined()?.view.latest(slot)
    }

    /// What was heard of one entity lately, the oldest first, for those who
    /// interpolate. It did not change between the ticks that are left out, or
    /// the news were lost.
    pub fn history(&self, id: EntityId) -> impl Iterator<Item = (Tick, EntityState)> {
        let joined = self.joined().into_iter();
        joined.flat_map(move |joined| joined.view.history(id, &joined.hello.bounds))
    }

    /// What was last told of an entity until `tick`, and what was told first
    /// after that, for those who interpolate: the former in front, if nothing
    /// that old is known the first that is. `None` if the entity is not there
    /// at that time.
    pub fn around(&self, id: EntityId, tick: Tick) -> Option<(Told, Option<Told>)> {
        let joined = self.joined()?;
        joined.view.around(id, tick, &joined.hello.bounds)
    }

    /// What has been counted.
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
    ProtocolError::Unexpected { message, state: "not expecting one" }
}
