//! The server's end of one connection. [`hello`] checks a client's hello, [`phase`] has the
//! phases of a session, [`state_datagrams`] encodes what a client is sent of a state.

mod hello;
mod phase;
mod state_datagrams;

use std::num::NonZeroU16;
use std::sync::Arc;

use obsp_sim::EntityId;

use super::baselines::Baselines;
use super::effect_schedule::EffectSchedule;
use super::rate_limit::{ChatLimit, MismatchLimit, Verdict};
use crate::commands::CommandDatagram;
use crate::control::{
    ChatLine, ClientMessage, ClosingReason, Framer, GameHash, MAX_CLIENT_FRAME, MapHash, MapName,
    MatchEvent, MatchName, PlayerName, RefusalReason, ServerHello, ServerMessage, Ticket,
    decode_client_message, encode_server_message, hello_version,
};
use crate::quantise::WorldBounds;
use crate::schema::Schema;
use crate::snapshot::SnapshotCodec;
use crate::{HANDSHAKE_TIMEOUT, IDLE_TIMEOUT, PROTOCOL_VERSION, ProtocolError, Tick, Time};
use phase::Phase;

/// The match that a server offers to its clients.
#[derive(Clone, Debug)]
pub struct MatchInfo {
    /// Ticks per second.
    pub tick_rate: NonZeroU16,
    /// Snapshots per second.
    pub snapshot_rate: NonZeroU16,
    /// The map that is played.
    pub map: MapHash,
    /// The name of that map.
    pub map_name: MapName,
    /// The lattice that positions are rounded to.
    pub bounds: WorldBounds,
    /// Maximum number of players that the server accepts.
    pub player_limit: u16,
    /// The models, fields and events of the game that is played.
    pub schema: Arc<Schema>,
    /// The hash of the game's data; `None` for a game with the default movement parameters and
    /// the shipped models only.
    pub game: Option<GameHash>,
}

/// An event that a session reports to its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A client with a valid hello asks to join: call [`Session::accept`],
    /// [`Session::accept_spectator`] or [`Session::refuse`].
    Hello {
        /// The name that the client asks for.
        name: PlayerName,
        /// The client's connect token; empty if it has none.
        token: Vec<u8>,
        /// The ticket of an earlier connection, or [`Ticket::NONE`].
        ticket: Ticket,
        /// The match that the client asks for, if it names one. In that case call
        /// [`Session::enter_match`] or [`Session::refuse`] before anything else.
        match_name: Option<MatchName>,
    },
    /// The client's hello was invalid, and the answer gives the reason. Write
    /// [`Session::stream_output`], finish the stream and drop the session.
    Refused(RefusalReason),
    /// The client reports that the digest of the snapshot of this tick did not match. One of the
    /// two ends has a defect, so count these events.
    Mismatch(Tick),
    /// The client sends a chat line to everybody.
    Said(ChatLine),
    /// The client said goodbye. The caller closes the connection without an error.
    Left,
    /// The client was silent too long, or its hello took too long. Write [`Session::stream_output`]
    /// and close the connection.
    TimedOut,
}

/// Counters of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionStats {
    /// Snapshots encoded.
    pub snapshots: u64,
    /// Bytes of the snapshots encoded.
    pub snapshot_bytes: u64,
    /// Snapshots that the client has acknowledged.
    pub acknowledged: u64,
    /// Entity records written, removals included.
    pub records: u64,
    /// Records that did not fit into their snapshot and had to wait.
    pub postponed: u64,
    /// Command datagrams received.
    pub command_datagrams: u64,
    /// Digest mismatches that the client reported.
    pub mismatches: u64,
    /// Reports beyond the limit, which were dropped.
    pub excess_mismatches: u64,
    /// Chat lines beyond the limit, which were dropped.
    pub excess_lines: u64,
    /// Datagrams of effects encoded.
    pub effect_datagrams: u64,
    /// Effects that were sent for the first time.
    pub effects: u64,
    /// Effects beyond the limits of a tick or of a datagram, which were dropped.
    pub excess_effects: u64,
}

/// The server's end of one connection. It takes bytes and the time, and returns bytes and events.
///
/// Pass on arriving bytes by [`Session::receive_stream`] and [`Session::receive_datagram`]. Answer
/// [`Event::Hello`] by [`Session::accept`], [`Session::accept_spectator`] or [`Session::refuse`].
/// From then on send [`Session::encode_snapshot`] for every state and [`Session::send_event`] for
/// every match event. Let time pass by [`Session::advance`], and write [`Session::stream_output`]
/// after any of these. [`Session::close`] ends the session.
#[derive(Debug)]
pub struct Session {
    match_info: Arc<MatchInfo>,
    phase: Phase,
    framer: Framer,
    output: Vec<u8>,
    started: Time,
    /// Whether the client's last hello asks for effects.
    wants_effects: bool,
    /// The map of the client, while its hello waits for [`Session::enter_match`].
    asked_map: Option<MapHash>,
    /// When the unfinished frame began.
    unfinished_since: Option<Time>,
    last_received: Time,
    /// The tick of the last event sent.
    last_event: Tick,
    chat_limit: ChatLimit,
    /// The ticket that the answer to the next hello carries, and the seconds for which it is valid.
    ticket: (Ticket, u16),
    mismatch_limit: MismatchLimit,
    stats: SessionStats,
}

impl Session {
    /// A session for a new connection.
    pub fn new(match_info: Arc<MatchInfo>, now: Time) -> Self {
        Self {
            match_info,
            phase: Phase::AwaitingHello,
            framer: Framer::new(MAX_CLIENT_FRAME),
            output: Vec::new(),
            started: now,
            wants_effects: false,
            asked_map: None,
            unfinished_since: None,
            last_received: now,
            last_event: Tick(0),
            chat_limit: ChatLimit::new(now),
            ticket: (Ticket::NONE, 0),
            mismatch_limit: MismatchLimit::default(),
            stats: SessionStats::default(),
        }
    }

    /// Handles bytes that arrived on the control stream.
    ///
    /// # Errors
    /// The client broke the protocol. The session is over, and the caller closes the connection
    /// with the error's code.
    pub fn receive_stream(
        &mut self,
        now: Time,
        mut bytes: &[u8],
    ) -> Result<Vec<Event>, ProtocolError> {
        let mut events = Vec::new();
        while !self.is_over() {
            match self.receive_frame(now, &mut bytes) {
                Ok(Some(event)) => {
                    // The bytes of a frame that is not complete do not count.
                    self.last_received = now;
                    self.unfinished_since = None;
                    events.extend(event);
                }
                Ok(None) => {
                    if self.framer.is_unfinished() {
                        self.unfinished_since.get_or_insert(now);
                    }
                    break;
                }
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
        // A hello of another version is answered even if it cannot be decoded.
        if let (true, Some(version)) = (self.phase.awaits_hello(), hello_version(&content))
            && version != PROTOCOL_VERSION
        {
            let reason = RefusalReason::WrongVersion { server: PROTOCOL_VERSION };
            return Ok(Some(Some(self.refuse_with(reason))));
        }
        let message = decode_client_message(&content)?;
        let event = match (message, &self.phase) {
            // A client that is in a match may not ask for another one.
            (ClientMessage::Hello(hello), Phase::AwaitingHelloAgain(_))
                if hello.match_name().is_some() =>
            {
                return Err(unexpected("hello to a match", "in another match"));
            }
            (ClientMessage::Hello(hello), phase) if phase.awaits_hello() => self.check_hello(hello),
            // The message was sent before the client learned that the world changed.
            (
                ClientMessage::Mismatch { .. } | ClientMessage::Say(_),
                Phase::AwaitingHelloAgain(_),
            ) => return Ok(Some(None)),
            (ClientMessage::Hello(_), phase) => return Err(unexpected("hello", phase.name())),
            (ClientMessage::Mismatch { tick }, Phase::Joined { .. }) => {
                match self.mismatch_limit.check(self.stats.snapshots) {
                    Verdict::Accepted => {
                        self.stats.mismatches += 1;
                        Event::Mismatch(Tick(tick))
                    }
                    Verdict::Excess => {
                        self.stats.excess_mismatches += 1;
                        return Ok(Some(None));
                    }
                    Verdict::Flooding => return Err(unexpected("mismatch", "flooding")),
                }
            }
            (ClientMessage::Mismatch { .. }, phase) => {
                return Err(unexpected("mismatch", phase.name()));
            }
            (ClientMessage::Say(line), Phase::Joined { .. }) => match self.chat_limit.check(now) {
                Verdict::Accepted => Event::Said(line),
                Verdict::Excess => {
                    self.stats.excess_lines += 1;
                    return Ok(Some(None));
                }
                Verdict::Flooding => return Err(unexpected("chat", "flooding")),
            },
            (ClientMessage::Say(_), phase) => return Err(unexpected("chat", phase.name())),
            (ClientMessage::Leave, _) => {
                self.phase = Phase::Over;
                Event::Left
            }
        };
        Ok(Some(Some(event)))
    }

    fn refuse_with(&mut self, reason: RefusalReason) -> Event {
        self.send(&ServerMessage::Refused(reason.clone()));
        self.phase = Phase::Over;
        Event::Refused(reason)
    }

    /// Handles a datagram and returns its commands; `None` while the client has not
    /// joined.
    ///
    /// # Errors
    /// The errors are those of [`Session::receive_stream`].
    pub fn receive_datagram(
        &mut self,
        now: Time,
        bytes: &[u8],
    ) -> Result<Option<CommandDatagram>, ProtocolError> {
        let Phase::Joined { baselines, .. } = &mut self.phase else { return Ok(None) };
        let decoded =
            CommandDatagram::decode(bytes, baselines.latest_tick()).and_then(|datagram| {
                let acknowledged = match datagram.acknowledgement {
                    Some(acknowledgement) => baselines.acknowledge(acknowledgement)?,
                    None => 0,
                };
                Ok((acknowledged, datagram))
            });
        match decoded {
            Ok((acknowledged, datagram)) => {
                self.last_received = now;
                self.stats.acknowledged += acknowledged as u64;
                self.stats.command_datagrams += 1;
                Ok(Some(datagram))
            }
            Err(error) => {
                self.phase = Phase::Over;
                Err(error.into())
            }
        }
    }

    /// Checks for time-outs at `now`. Call it at [`Session::next_timeout`] at the latest, or as
    /// often as convenient.
    pub fn advance(&mut self, now: Time) -> Option<Event> {
        if self.next_timeout().is_none_or(|timeout| now < timeout) {
            return None;
        }
        self.close(ClosingReason::TimedOut);
        Some(Event::TimedOut)
    }

    /// The time at which the session ends because of silence or of an unfinished frame. `None` if
    /// it is over, or if the caller has to answer a hello.
    pub fn next_timeout(&self) -> Option<Time> {
        match self.phase {
            // The time runs from the start, not from the last byte. Otherwise a client could hold
            // its place by sending a byte now and then.
            Phase::AwaitingHello => Some(self.started + HANDSHAKE_TIMEOUT),
            // The limit is longer than for the first hello, because the network may have an outage.
            Phase::AwaitingHelloAgain(since) => Some(since + IDLE_TIMEOUT),
            Phase::Joined { .. } => {
                let since = self.unfinished_since.unwrap_or(self.last_received);
                Some(since.min(self.last_received) + IDLE_TIMEOUT)
            }
            Phase::AwaitingAnswer | Phase::Over => None,
        }
    }

    /// When the last valid message or datagram of the client was received.
    pub fn last_received(&self) -> Time {
        self.last_received
    }

    /// Takes the bytes to be written to the control stream. Call it after any other method.
    pub fn stream_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Sets the ticket that the answer to the next accepted hello carries. If the connection is
    /// lost, the client can rejoin with it within `seconds`.
    pub fn set_ticket(&mut self, ticket: Ticket, seconds: u16) {
        self.ticket = (ticket, seconds);
    }

    /// Continues in another world, with this `match_info`. A client that has joined is notified,
    /// and [`Event::Hello`] follows after the client has answered. A client whose hello has not
    /// arrived, or has not been answered yet, joins that world instead.
    pub fn change_world(&mut self, now: Time, match_info: Arc<MatchInfo>) {
        if let Phase::Joined { .. } = self.phase {
            let (map, name) = (match_info.map, match_info.map_name.clone());
            self.send(&ServerMessage::NewWorld { map, name });
            self.phase = Phase::AwaitingHelloAgain(now);
        }
        self.match_info = match_info;
    }

    /// Accepts the client as `player`. `tick` is the last tick that was simulated. Does nothing
    /// unless an [`Event::Hello`] waits for its answer.
    pub fn accept(&mut self, player: EntityId, tick: Tick) {
        self.admit(Some(player), tick);
    }

    /// Accepts the client as a spectator, who has no player. In all else it is like
    /// [`Session::accept`].
    pub fn accept_spectator(&mut self, tick: Tick) {
        self.admit(None, tick);
    }

    fn admit(&mut self, player: Option<EntityId>, tick: Tick) {
        if !matches!(self.phase, Phase::AwaitingAnswer) {
            return;
        }
        let info = (*self.match_info).clone();
        let MatchInfo { tick_rate, snapshot_rate, map, map_name, bounds, .. } = info;
        let MatchInfo { player_limit, schema, game, .. } = info;
        let (ticket, rejoin_seconds) = self.ticket;
        self.send(&ServerMessage::Hello(ServerHello {
            player,
            tick_rate,
            snapshot_rate,
            tick,
            map,
            map_name,
            bounds,
            player_limit,
            ticket,
            rejoin_seconds,
            schema: Arc::clone(&schema),
            game,
        }));
        let codec = SnapshotCodec { bounds, tick_rate, schema };
        let baselines = Box::new(Baselines::new(codec, player, tick));
        let schedule = || EffectSchedule::new(bounds, player.map(|player| player.slot), tick);
        let effects = self.wants_effects.then(schedule);
        self.phase = Phase::Joined { player, baselines, effects };
    }

    /// Refuses the client, which ends the session. Does nothing unless an
    /// [`Event::Hello`] waits for its answer.
    pub fn refuse(&mut self, reason: RefusalReason) {
        if matches!(self.phase, Phase::AwaitingAnswer) {
            self.refuse_with(reason);
        }
    }

    /// Ends the session and sends the client the reason.
    pub fn close(&mut self, reason: ClosingReason) {
        if !self.is_over() {
            self.send(&ServerMessage::Closing(reason));
            self.phase = Phase::Over;
        }
    }

    /// The entity that the client controls, while the client has joined. A spectator controls none.
    pub fn player(&self) -> Option<EntityId> {
        match self.phase {
            Phase::Joined { player, .. } => player,
            _ => None,
        }
    }

    /// The latest snapshot known to have arrived.
    pub fn acknowledged_tick(&self) -> Option<Tick> {
        match &self.phase {
            Phase::Joined { baselines, .. } => baselines.acknowledged_tick(),
            _ => None,
        }
    }

    /// Ticks between the last two snapshots sent.
    pub fn snapshot_interval(&self) -> Option<u32> {
        match &self.phase {
            Phase::Joined { baselines, .. } => baselines.interval(),
            _ => None,
        }
    }

    /// Whether the session has ended, for any reason.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// Sends a match event, reliably and in order. `tick` is the first tick whose state shows the
    /// event. Does nothing unless the client has joined.
    pub fn send_event(&mut self, tick: Tick, event: &MatchEvent) {
        if matches!(self.phase, Phase::Joined { .. }) {
            // Events of two threads may be out of order by a tick.
            self.last_event = self.last_event.max(tick);
            let tick = self.last_event;
            self.send(&ServerMessage::Event { tick, event: event.clone() });
        }
    }

    /// The session's counters.
    pub fn stats(&self) -> &SessionStats {
        &self.stats
    }

    fn send(&mut self, message: &ServerMessage) {
        self.output.extend(encode_server_message(message));
    }
}

fn unexpected(message: &'static str, state: &'static str) -> ProtocolError {
    ProtocolError::Unexpected { message, state }
}
