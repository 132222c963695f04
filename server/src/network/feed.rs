//! The sending half that players and spectators share: session, path, budget, and the
//! snapshots and events that a client is sent.
//!
//! Chat waits in a queue that the listener's budget pays for ([`chat_queue`]). Messages wait in a
//! bounded [`outbox`]. Maps go on streams of their own ([`map_stream`]), and effects go beside
//! snapshots ([`effects`]).

pub(crate) mod chat_queue;
mod effects;
pub(crate) mod map_stream;
pub(crate) mod outbox;
pub(crate) mod path_stats;

use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_proto::control::{MatchEvent, Reason, RefusalReason};
use obsp_proto::server::{Budget, Event, MatchInfo, OwnPlayer, Session};
use obsp_proto::snapshot::MIN_SNAPSHOT;
use obsp_proto::{ProtocolError, Tick, Time};
use tokio::sync::broadcast::error::RecvError;
use tracing::warn;

use super::end::End;
use super::path::Path;
use super::rate::congestion::GameCongestion;
use super::rate::snapshot_rate::{PathSample, SnapshotRate};
use crate::door::admission::Permit;
use crate::door::admission::limit::Limit;
use crate::door::admittance::Denied;
use crate::door::clients::{Client, ConnectionStats};
use crate::matches::level::Events;
use crate::matches::level::{Level, News};
use crate::matches::match_handle::MatchHandle;
use crate::matches::telemetry::{DroppedDatagram, Part};
use crate::matches::tick_thread::send_groups::SnapshotJob;
use chat_queue::ChatQueue;
use outbox::Outbox;
use path_stats::PathStats;

/// Maximum number of bytes read from a control stream at a time.
pub(super) const CHUNK: usize = 2048;

/// Time between two log lines on mismatches of one client.
const MISMATCH_LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Time between two updates of the connection's statistics for operators.
const STATS_INTERVAL: Duration = Duration::from_millis(500);

/// The part that connections of players and spectators share: a session, the path to the client,
/// and a budget for everything that the client is sent.
pub(super) struct Feed<'a, P: Path> {
    pub(super) path: P,
    pub(super) session: Session,
    /// The control stream.
    pub(super) outbox: Outbox<P::Stream>,
    pub(super) game: &'a MatchHandle,
    /// The level that the client is in, or will be in if its hello is accepted.
    pub(super) level: Arc<Level>,
    /// Whether the client is a spectator.
    spectates: bool,
    /// Bytes that the send buffer for datagrams has free while no datagram waits in it.
    empty: usize,
    pub(super) budget: Budget,
    /// Chat lines that the client has not been sent.
    chat: ChatQueue,
    /// When a mismatch was logged last.
    mismatch_logged: Option<Instant>,
    /// When the statistics for operators were last updated.
    stats_noted: Option<Instant>,
    /// How often one of the client's limits was hit.
    limits_hit: u64,
    snapshot_rate: SnapshotRate,
    path_stats: PathStats,
}

/// Why a feed can no longer serve its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The path carries no datagrams into which a snapshot fits.
    NoDatagrams,
    /// The client sent nothing for too long.
    Silent,
    /// The client read nothing from its control stream for too long.
    Unread,
    /// More messages wait for the client than are kept.
    FellBehind,
}

impl<'a, P: Path> Feed<'a, P> {
    /// A feed to a player, or to a spectator.
    pub(super) fn new(
        (path, stream): (P, P::Stream),
        spectates: bool,
        game: &'a MatchHandle,
    ) -> Self {
        let level = game.level();
        let session = Session::new(match_info(&level, spectates), game.now());
        let budget = if spectates { game.spectators.budget } else { game.client_budget };
        let chat = ChatQueue::new(budget, Instant::now());
        let (empty, budget) = (path.room(), Budget::new(budget, game.now()));
        let snapshot_rate = SnapshotRate::new(game.snapshot_limit);
        let outbox = Outbox::new(stream);
        let (mismatch_logged, path_stats) = (None, PathStats::default());
        Self {
            path,
            session,
            outbox,
            game,
            level,
            spectates,
            empty,
            budget,
            chat,
            mismatch_logged,
            stats_noted: None,
            limits_hit: 0,
            snapshot_rate,
            path_stats,
        }
    }

    /// Enters the match of `game`, which the client's hello names.
    ///
    /// # Errors
    /// The client has another map, and has been refused.
    pub(super) fn enter_match(&mut self, game: &'a MatchHandle) -> Result<(), RefusalReason> {
        self.game = game;
        self.level = game.level();
        self.session.enter_match(match_info(&self.level, self.spectates))
    }

    /// Enters another level, in which the match goes on. A client in the match is asked to say
    /// hello again.
    pub(super) fn enter(&mut self, level: &Arc<Level>) {
        if level.number != self.level.number {
            self.level = Arc::clone(level);
            self.session.change_world(self.game.now(), match_info(level, self.spectates));
        }
    }

    /// Updates the connection's statistics for operators, now and then.
    pub(super) fn note_stats(&mut self, client: &Client, slot: Option<u16>) {
        let now = Instant::now();
        if self.stats_noted.is_some_and(|noted| now - noted < STATS_INTERVAL) {
            return;
        }
        self.stats_noted = Some(now);
        let connection = self.path.connection();
        let quic = connection.stats();
        client.note(
            connection.remote_address(),
            ConnectionStats {
                slot,
                rtt_ms: quic.path.rtt.as_secs_f64() * 1000.0,
                packets_sent: quic.path.sent_packets,
                packets_lost: quic.path.lost_packets,
                bytes_sent: quic.udp_tx.bytes,
                bytes_received: quic.udp_rx.bytes,
                budget_bytes: self.budget.available(self.game.now()) as u64,
                limits_hit: self.limits_hit,
            },
        );
    }

    /// Counts that one of the client's limits was hit, for metrics and for operators.
    pub(super) fn limited(&mut self, limit: Limit) {
        self.game.telemetry.network.limited(limit);
        self.limits_hit += 1;
    }

    /// Charges bytes of the control stream to the client's address.
    ///
    /// # Errors
    /// The client sends more than it may.
    pub(super) fn charge_control(&mut self, permit: &mut Permit, bytes: &[u8]) -> Result<(), End> {
        permit.charge_control(bytes.len(), Instant::now()).map_err(|limit| {
            self.limited(limit);
            End::flooding(limit)
        })
    }

    /// Decodes bytes of the control stream, and returns their events.
    ///
    /// # Errors
    /// The bytes break the protocol.
    pub(super) fn receive_stream(
        &mut self,
        now: Time,
        bytes: &[u8],
    ) -> Result<Vec<Event>, ProtocolError> {
        let before = *self.session.stats();
        let events = self.session.receive_stream(now, bytes);
        let after = *self.session.stats();
        for _ in before.excess_mismatches..after.excess_mismatches {
            self.limited(Limit::Mismatches);
        }
        for _ in before.excess_lines..after.excess_lines {
            self.limited(Limit::Lines);
        }
        events
    }

    /// Handles an event of the match. Chat waits in a queue until the client can take it; other
    /// events are passed to the session at once.
    pub(super) fn note(&mut self, News { tick, event, to }: News) {
        let own = self.session.player();
        if to.is_some_and(|to| !own.is_some_and(|own| to.contains(&own))) {
            return;
        }
        let shed = match event {
            MatchEvent::Said { .. } => usize::from(self.chat.push(tick, event)),
            event => {
                self.session.send_event(tick, &event);
                match event {
                    MatchEvent::Left { player } => self.chat.forget(player),
                    _ => 0,
                }
            }
        };
        for _ in 0..shed {
            self.limited(Limit::ListenerChat);
        }
    }

    /// Decodes a datagram of commands. `None` if its sender has not joined.
    ///
    /// # Errors
    /// The datagram breaks the protocol.
    pub(super) fn take(
        &mut self,
        datagram: &[u8],
    ) -> Result<Option<obsp_proto::commands::CommandDatagram>, ProtocolError> {
        let network = &self.game.telemetry.network;
        let taken = self.session.receive_datagram(self.game.now(), datagram);
        match &taken {
            Ok(Some(_)) => network.received_commands(),
            Ok(None) => network.dropped(DroppedDatagram::Unready),
            Err(_) => network.dropped(DroppedDatagram::Malformed),
        }
        taken
    }

    /// Checks on the client: measures its path, adapts the rate of snapshots, and finds out whether
    /// it is still there.
    ///
    /// # Errors
    /// [`Broken::Silent`], [`Broken::Unread`].
    pub(super) fn check(&mut self) -> Result<(), Broken> {
        let now = self.game.now();
        self.path_stats.observe(self.path.connection(), now, &self.game.telemetry.network.path);
        if self.outbox.is_stalled(Instant::now()) {
            return Err(Broken::Unread);
        }
        let connection = self.path.connection();
        let sample = || PathSample::new(&connection.stats(), &GameCongestion::path(connection));
        if let Some(rate) = self.snapshot_rate.adapt(now, sample) {
            self.game.telemetry.network.path.snapshot_rate(rate);
        }
        self.session.advance(now).map_or(Ok(()), |_| Err(Broken::Silent))
    }

    /// Sends a snapshot, unless the last one still waits for the path or the budget is spent.
    /// Nothing is queued; the next snapshot makes up for one that was not sent.
    ///
    /// # Errors
    /// [`Broken::NoDatagrams`].
    pub(super) fn tell(&mut self, update: &SnapshotJob, own: &OwnPlayer) -> Result<(), Broken> {
        let network = &self.game.telemetry.network;
        // A state of another world must not be sent: the client would decode it by the bounds of
        // this one.
        if update.published.level.number != self.level.number {
            return Ok(());
        }
        let tick = update.published.state.tick;
        let Some(most) = self.most_bytes(tick)? else {
            // The watchdog judges this thread. It is not this thread's fault if a client takes
            // nothing.
            network.answers.attended(Instant::now());
            return Ok(());
        };
        let effects = self.encode_effects(update, most);
        let records = self.session.stats().records;
        let begin = Instant::now();
        self.session.prioritize(&update.state);
        let begin = network.round.spent(Part::Interest, begin);
        let most = most - effects.as_deref().map_or(0, effects::space);
        let snapshot = self.session.encode_snapshot(&update.state, own, most);
        let begin = network.round.spent(Part::Encode, begin);
        let Some(snapshot) = snapshot else { return Ok(()) };
        network.answers.attended(begin);
        let length = snapshot.len();
        let both = length + effects.as_ref().map_or(0, Vec::len);
        self.budget.spend(both);
        self.snapshot_rate.sent(tick, both);
        // A datagram that the path does not take counts as lost on the way. If the connection has
        // ended, the next read reports it.
        if self.path.send(snapshot.into()) {
            network.sent_snapshot(length, self.session.stats().records - records);
        } else {
            network.dropped(DroppedDatagram::Unsent);
        }
        if let Some(effects) = effects {
            self.send_effects(effects);
        }
        network.round.spent(Part::Send, begin);
        Ok(())
    }

    /// Bytes that the snapshot of `tick` may have. `None` if no snapshot is to be sent, because of
    /// the path, its rate or the client's budget.
    ///
    /// # Errors
    /// [`Broken::NoDatagrams`].
    fn most_bytes(&mut self, tick: u64) -> Result<Option<usize>, Broken> {
        let network = &self.game.telemetry.network;
        if self.path.room() < self.empty {
            network.snapshots_skipped.increment(1);
            return Ok(None);
        }
        let path = GameCongestion::path(self.path.connection());
        let Some(allowed) = self.snapshot_rate.allows(tick, Instant::now(), &path) else {
            return Ok(None);
        };
        let largest = self.largest_snapshot().ok_or(Broken::NoDatagrams)?.min(allowed);
        let affordable = self.budget.available(self.game.now());
        if affordable < MIN_SNAPSHOT {
            network.snapshots_unaffordable.increment(1);
            return Ok(None);
        }
        Ok(Some(largest.min(affordable)))
    }

    /// Bytes of the largest snapshot that fits into a datagram of the path. `None` if the path
    /// takes no datagrams, or if no snapshot fits into them.
    fn largest_snapshot(&self) -> Option<usize> {
        self.path.largest_datagram().filter(|largest| *largest >= MIN_SNAPSHOT)
    }

    /// Refuses a client to which snapshots cannot be sent, because it would see nothing. The
    /// handshake has shown which datagrams its path carries.
    ///
    /// # Errors
    /// The datagrams are too small, or the path carries none.
    pub(super) fn ask_datagrams(&self) -> Result<(), End> {
        if self.largest_snapshot().is_some() {
            return Ok(());
        }
        let largest = self.path.largest_datagram().unwrap_or(0);
        let why = format!(
            "the largest datagram that the client takes has room for {largest} bytes, and a \
             snapshot needs {MIN_SNAPSHOT}"
        );
        Err(End::with_detail(Reason::NoDatagrams, why))
    }

    /// Moves the session's output for the control stream to the outbox.
    ///
    /// # Errors
    /// [`Broken::FellBehind`].
    pub(super) fn collect(&mut self) -> Result<(), Broken> {
        let now = Instant::now();
        // Chat is sent once the client has taken everything else.
        while self.outbox.is_empty()
            && let Some((tick, said)) = self.chat.pop(now)
        {
            self.session.send_event(tick, &said);
        }
        let output = self.session.stream_output();
        // Messages are charged to the budget first. Snapshots get the rest.
        self.budget.spend(output.len());
        self.outbox.push(now, &output).map_err(|_| Broken::FellBehind)
    }

    /// Writes the last messages and ends the control stream; false if the client
    /// does not take them.
    pub(super) async fn finish(&mut self) -> bool {
        self.collect().is_ok() && self.outbox.finish().await
    }

    /// Notes a digest mismatch that the client reports.
    pub(super) fn note_mismatch(&mut self, tick: Tick) {
        self.game.telemetry.network.digest_mismatches.increment(1);
        let now = Instant::now();
        let since = |logged| now.saturating_duration_since(logged);
        if self.mismatch_logged.is_some_and(|logged| since(logged) < MISMATCH_LOG_INTERVAL) {
            return;
        }
        self.mismatch_logged = Some(now);
        let player = self.session.player();
        warn!(
            address = %self.path.connection().remote_address(),
            slot = player.map(|player| player.slot),
            generation = player.map(|player| player.generation),
            tick = tick.0,
            mismatches = self.session.stats().mismatches,
            "the client decoded the snapshot of this tick to another digest; please report it",
        );
    }

    /// Refuses a client that may not play or watch, because of a password or a list.
    pub(super) fn deny(&mut self, denied: Denied) -> End {
        let reason = match denied {
            Denied::Missing => RefusalReason::TokenRequired,
            Denied::Wrong => RefusalReason::BadToken,
            Denied::NotAllowed => RefusalReason::NotAllowed,
            Denied::TooMany => {
                self.game.telemetry.network.limited(Limit::Guesses);
                RefusalReason::AddressLimit
            }
        };
        let end = End::with_detail(Reason::from(&reason), denied);
        self.session.refuse(reason);
        end
    }

    /// Whether the client's address is banned.
    pub(super) fn is_banned(&self) -> bool {
        self.game.access.is_banned(self.path.connection().remote_address().ip())
    }

    /// Greets a newcomer with the name of the server and the message of the day.
    pub(super) fn greet(&mut self) {
        let game = self.game;
        for line in game.introduction.greeting() {
            self.session.send_event(game.next_tick(), &MatchEvent::Announced { line });
        }
    }

    /// Sends a newcomer the roster, and returns the receiver of all events from now on. A player
    /// who has just joined is also sent the game's messages that came in on `since`.
    pub(super) fn introduce(&mut self, since: Option<Events>) -> Events {
        let mut events = since.unwrap_or_else(|| self.level.events.subscribe());
        let mut said = Vec::new();
        while let Ok(news) = events.try_recv() {
            // Other events that came in are already part of the roster.
            if let MatchEvent::Game(_) | MatchEvent::Announced { .. } = news.event {
                said.push(news);
            }
        }
        for event in self.level.roster.introductions().into_iter().chain(self.level.phase()) {
            self.session.send_event(self.game.next_tick(), &event);
        }
        said.into_iter().for_each(|news| self.note(news));
        events
    }
}

/// The description of the match that a player, or a spectator, is welcomed with.
fn match_info(level: &Level, spectates: bool) -> Arc<MatchInfo> {
    Arc::clone(if spectates { &level.spectator_match_info } else { &level.match_info })
}

/// The next event of the match. Waits forever if the client has not been let in.
pub(super) async fn next_event(events: Option<&mut Events>) -> Result<News, RecvError> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}
