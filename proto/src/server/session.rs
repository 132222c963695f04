use std::num::NonZeroU16;
use std::sync::Arc;

use sim::EntityId;

use super::baselines::Baselines;
use super::chat_allowance::{ChatAllowance, Said};
use super::own_motion::OwnPlayer;
use crate::commands::{CommandBatch, CommandDatagram};
use crate::control::{
    ChatLine, ClientHello, ClientMessage, ClosingReason, Framer, MapHash, MapName, MatchEvent,
    PlayerName, RefusalReason, ServerHello, ServerMessage, decode_client_message,
    encode_server_message, hello_version,
};
use crate::quantise::{Quantised, WorldBounds};
use crate::snapshot::SnapshotCodec;
use crate::{HANDSHAKE_TIMEOUT, IDLE_TIMEOUT, PROTOCOL_VERSION, ProtocolError, Tick, Time};

/// What a server offers to all its clients.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Ticks a second.
    pub tick_rate: NonZeroU16,
    /// Snapshots a second.
    pub snapshot_rate: NonZeroU16,
    /// Which map is played.
    pub map: MapHash,
    /// What that map is called.
    pub map_name: MapName,
    /// The lattice that positions are rounded to.
    pub bounds: WorldBounds,
    /// How many players are taken.
    pub player_limit: u16,
}

/// What a session tells its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A client that fits would like to join: answer with
    /// [`Session::accept`] or [`Session::refuse`].
    Hello {
        /// What it wants to be called.
        name: PlayerName,
    },
    /// The client did not fit and has been told why: write
    /// [`Session::stream_output`], finish the stream and forget the session.
    Refused(RefusalReason),
    /// What the client decoded at this tick is not what the server meant: a
    /// defect of either, to be counted.
    Mismatch(Tick),
    /// The client says something to everybody: tell them all.
    Said(ChatLine),
    /// The client said goodbye: close the connection without an error.
    Left,
    /// The client was silent too long, or its hello took too long: write [`Session::stream_output`] and
    /// close the connection.
    TimedOut,
}

/// What a session has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionStats {
    /// Snapshots encoded.
    pub snapshots: u64,
    /// Their bytes.
    pub snapshot_bytes: u64,
    /// Snapshots the client has acknowledged.
    pub acknowledged: u64,
    /// Entity records written, removals included.
    pub records: u64,
    /// Records that had no place in their snapshot and had to wait.
    pub postponed: u64,
    /// Command datagrams received.
    pub command_datagrams: u64,
    /// Digest mismatches that the client reported.
    pub mismatches: u64,
    /// Lines that the client said, and that were too many to be heard.
    pub surplus_lines: u64,
}

/// One client as the server sees it: bytes and a time in, bytes and events out.
#[derive(Debug)]
pub struct Session {
    terms: Arc<Terms>,
    phase: Phase,
    framer: Framer,
    output: Vec<u8>,
    started: Time,
    last_heard: Time,
    /// The tick of the last event that the client was told of.
    last_told: Tick,
    chat: ChatAllowance,
    stats: SessionStats,
}

#[derive(Debug)]
enum Phase {
    /// Nothing whole has been said.
    AwaitingHello,
    /// The caller has to decide.
    AwaitingAnswer,
    /// In the match.
    Joined { player: Option<EntityId>, baselines: Box<Baselines> },
    /// Ended, one way or another.
    Over,
}

impl Session {
    /// A session for a connection just made.
    pub fn new(terms: Arc<Terms>, now: Time) -> Self {
        Self {
            terms,
            phase: Phase::AwaitingHello,
            framer: Framer::new(),
            output: Vec::new(),
            started: now,
            last_heard: now,
            last_told: Tick(0),
            chat: ChatAllowance::new(now),
            stats: SessionStats::default(),
        }
    }

    /// Takes in what came on the control stream.
    ///
    /// # Errors
    /// The client broke the protocol: the session is over, and the caller
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
        // A hello of another version need not be decodable to be answered.
        if let (Phase::AwaitingHello, Some(version)) = (&self.phase, hello_version(&content))
            && version != PROTOCOL_VERSION
        {
            let reason = RefusalReason::WrongVersion { server: PROTOCOL_VERSION };
            return Ok(Some(Some(self.refuse_with(reason))));
        }
        let message = decode_client_message(&content)?;
        let event = match (message, &self.phase) {
            (ClientMessage::Hello(hello), Phase::AwaitingHello) => self.judge(&hello),
            (ClientMessage::Hello(_), phase) => {
                return Err(ProtocolError::Unexpected { message: "hello", state: phase.name() });
            }
            (ClientMessage::Mismatch { tick }, Phase::Joined { .. })
                // Nobody has seen more of them than snapshots.
                if self.stats.mismatches < self.stats.snapshots =>
            {
                self.stats.mismatches += 1;
                Event::Mismatch(Tick(tick))
            }
            (ClientMessage::Mismatch { .. }, phase) => {
                return Err(ProtocolError::Unexpected { message: "mismatch", state: phase.name() });
            }
            (ClientMessage::Say(line), Phase::Joined { .. }) => match self.chat.take(now) {
                Said::Heard => Event::Said(line),
                Said::Surplus => {
                    self.stats.surplus_lines += 1;
                    return Ok(Some(None));
                }
                Said::Flood => {
                    let state = "flooding";
                    return Err(ProtocolError::Unexpected { message: "chat", state });
                }
            },
            (ClientMessage::Say(_), phase) => {
                return Err(ProtocolError::Unexpected { message: "chat", state: phase.name() });
            }
            (ClientMessage::Leave, _) => {
                self.phase = Phase::Over;
                Event::Left
            }
        };
        Ok(Some(Some(event)))
    }

    /// What a hello of the right version comes to.
    fn judge(&mut self, hello: &ClientHello) -> Event {
        let Terms { map, map_name, .. } = &*self.terms;
        if hello.map() != MapHash::ANY && hello.map() != *map {
            let reason = RefusalReason::WrongMap { server: *map, name: map_name.clone() };
            return self.refuse_with(reason);
        }
        let Ok(name) = PlayerName::new(hello.name()) else {
            return self.refuse_with(RefusalReason::BadName);
        };
        self.phase = Phase::AwaitingAnswer;
        Event::Hello { name }
    }

    fn refuse_with(&mut self, reason: RefusalReason) -> Event {
        self.say(&ServerMessage::Refused(reason.clone()));
        self.phase = Phase::Over;
        Event::Refused(reason)
    }

    /// Takes in a datagram and gives the commands in it; `None` while the
    /// client has not joined.
    ///
    /// # Errors
    /// As [`Session::receive_stream`].
    pub fn receive_datagram(
        &mut self,
        now: Time,
        bytes: &[u8],
    ) -> Result<Option<CommandBatch>, ProtocolError> {
        let Phase::Joined { baselines, .. } = &mut self.phase else { return Ok(None) };
        let decoded =
            CommandDatagram::decode(bytes, baselines.latest_tick()).and_then(|datagram| {
                let acknowledged = match datagram.acknowledgement {
                    Some(acknowledgement) => baselines.acknowledge(acknowledgement)?,
                    None => 0,
                };
                Ok((acknowledged, datagram.batch))
            });
        match decoded {
            Ok((acknowledged, batch)) => {
                self.last_heard = now;
                self.stats.acknowledged += acknowledged as u64;
                self.stats.command_datagrams += 1;
                Ok(Some(batch))
            }
            Err(error) => {
                self.phase = Phase::Over;
                Err(error.into())
            }
        }
    }

    /// Lets time pass; call it at [`Session::next_timeout`] at the latest, or
    /// as often as convenient.
    pub fn advance(&mut self, now: Time) -> Option<Event> {
        if self.next_timeout().is_none_or(|timeout| now < timeout) {
            return None;
        }
        self.close(ClosingReason::TimedOut);
        Some(Event::TimedOut)
    }

    /// When silence ends the session; `None` if it is over, or if the caller
    /// has yet to answer a hello.
    pub fn next_timeout(&self) -> Option<Time> {
        match self.phase {
            // Not since last heard: else a byte now and then holds the place.
            Phase::AwaitingHello => Some(self.started + HANDSHAKE_TIMEOUT),
            Phase::Joined { .. } => Some(self.last_heard + IDLE_TIMEOUT),
            Phase::AwaitingAnswer | Phase::Over => None,
        }
    }

    /// Bytes to be written to the control stream; ask after each other call.
    pub fn stream_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Lets the client in who said hello, as `player`; `tick` is the last one
    /// simulated. Does nothing unless an [`Event::Hello`] waits for its answer.
    pub fn accept(&mut self, player: EntityId, tick: Tick) {
        self.admit(Some(player), tick);
    }

    /// Lets the client in who said hello, to look on; as [`Session::accept`].
    pub fn accept_spectator(&mut self, tick: Tick) {
        self.admit(None, tick);
    }

    fn admit(&mut self, player: Option<EntityId>, tick: Tick) {
        if !matches!(self.phase, Phase::AwaitingAnswer) {
            return;
        }
        let Terms { tick_rate, snapshot_rate, map, ref map_name, bounds, player_limit } =
            *self.terms;
        let map_name = map_name.clone();
        self.say(&ServerMessage::Hello(ServerHello {
            player,
            tick_rate,
            snapshot_rate,
            tick,
            map,
            map_name,
            bounds,
            player_limit,
        }));
        let codec = SnapshotCodec { bounds, tick_rate };
        let baselines = Box::new(Baselines::new(codec, player, tick));
        self.phase = Phase::Joined { player, baselines };
    }

    /// Turns the client away who said hello; the session is over then. Does
    /// nothing unless an [`Event::Hello`] waits for its answer.
    pub fn refuse(&mut self, reason: RefusalReason) {
        if matches!(self.phase, Phase::AwaitingAnswer) {
            self.refuse_with(reason);
        }
    }

    /// Ends the session and tells the client why.
    pub fn close(&mut self, reason: ClosingReason) {
        if !self.is_over() {
            self.say(&ServerMessage::Closing(reason));
            self.phase = Phase::Over;
        }
    }

    /// The entity the client steers, while it has joined; a spectator steers
    /// none.
    pub fn player(&self) -> Option<EntityId> {
        match self.phase {
            Phase::Joined { player, .. } => player,
            _ => None,
        }
    }

    /// Whether the session has ended, one way or another.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// Tells the client of something that happened, reliably and in order;
    /// `tick` is the one in whose state it shows first. Does nothing unless
    /// the client has joined.
    pub fn tell(&mut self, tick: Tick, event: &MatchEvent) {
        if matches!(self.phase, Phase::Joined { .. }) {
            // Events of two threads may pass one another by a tick.
            self.last_told = self.last_told.max(tick);
            let tick = self.last_told;
            self.say(&ServerMessage::Event { tick, event: event.clone() });
        }
    }

    /// Works out what the snapshot of `state` is to tell this client of: the
    /// first half of [`Session::encode_snapshot`], for callers who want to know
    /// what each half takes. Nobody needs to call it.
    pub fn choose_news(&mut self, state: &Quantised) {
        if let Phase::Joined { baselines, .. } = &mut self.phase {
            baselines.choose(state);
        }
    }

    /// The snapshot of `state` for this client, at most `limit` bytes: the
    /// size that the path carries now, or less to save bandwidth. `None` if
    /// the client has not joined, the state is no later than the last one
    /// encoded, or the limit is below [`crate::snapshot::MIN_SNAPSHOT`].
    ///
    /// A snapshot once encoded may be dropped instead of sent: to the session
    /// it is one that the line lost.
    pub fn encode_snapshot(
        &mut self,
        state: &Arc<Quantised>,
        own: &OwnPlayer,
        limit: usize,
    ) -> Option<Vec<u8>> {
        let Phase::Joined { baselines, .. } = &mut self.phase else { return None };
        let encoded = baselines.encode(state, own, limit)?;
        self.stats.snapshots += 1;
        self.stats.snapshot_bytes += encoded.datagram.len() as u64;
        self.stats.records += encoded.records as u64;
        self.stats.postponed += encoded.postponed as u64;
        Some(encoded.datagram)
    }

    /// What has been counted.
    pub fn stats(&self) -> &SessionStats {
        &self.stats
    }

    fn say(&mut self, message: &ServerMessage) {
        self.output.extend(encode_server_message(message));
    }
}

impl Phase {
    fn name(&self) -> &'static str {
        match self {
            Self::AwaitingHello => "waiting for the hello",
            Self::AwaitingAnswer => "answering the hello",
            Self::Joined { .. } => "in the match",
            Self::Over => "over",
        }
    }
}
