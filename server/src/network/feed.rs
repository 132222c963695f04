use std::time::{Duration, Instant};

use bytes::Bytes;
use proto::control::MatchEvent;
use proto::server::{Budget, OwnPlayer, Session};
use proto::snapshot::MIN_SNAPSHOT;
use proto::{ProtocolError, Tick};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;
use tracing::warn;

use super::line::Line;
use super::waves::Update;
use super::{Events, Lobby};
use crate::telemetry::{DroppedDatagram, Part};

/// How long a client may refuse to take a control message, or to hear why it is
/// seen off.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// Most bytes read from a control stream at a time.
pub(super) const CHUNK: usize = 2048;

/// What datagrams travel on: a player's QUIC connection, or a browser's session
/// within one.
pub(super) trait Path {
    /// The connection beneath.
    fn connection(&self) -> &quinn::Connection;
    /// Bytes of the largest datagram that fits; none if the other end takes none.
    fn largest_datagram(&self) -> Option<usize>;
    /// Room for datagrams that wait to be sent.
    fn room(&self) -> usize;
    /// Hands a datagram over; false if it was not taken.
    fn send(&self, datagram: Bytes) -> bool;
}

impl Path for quinn::Connection {
    fn connection(&self) -> &quinn::Connection {
        self
    }

    fn largest_datagram(&self) -> Option<usize> {
        self.max_datagram_size()
    }

    fn room(&self) -> usize {
        self.datagram_send_buffer_space()
    }

    fn send(&self, datagram: Bytes) -> bool {
        self.send_datagram(datagram).is_ok()
    }
}

impl Path for web_transport_quinn::Session {
    fn connection(&self) -> &quinn::Connection {
        self
    }

    fn largest_datagram(&self) -> Option<usize> {
        Some(self.max_datagram_size()).filter(|&size| size > 0)
    }

    fn room(&self) -> usize {
        self.datagram_send_buffer_space()
    }

    fn send(&self, datagram: Bytes) -> bool {
        self.send_datagram(datagram).is_ok()
    }
}

/// What players and spectators have in common: a `proto` session, the path to
/// its other end, and a budget for what it is told.
pub(super) struct Feed<'a, P> {
    pub(super) path: P,
    pub(super) session: Session,
    pub(super) lobby: &'a Lobby,
    /// Room for datagrams while none waits to be sent.
    empty: usize,
    budget: Budget,
    line: Line,
}

/// The other end of a feed takes no datagrams any longer, or nothing at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The path carries no datagrams.
    NoDatagrams,
    /// The client said nothing for too long.
    Silent,
}

impl<'a, P: Path> Feed<'a, P> {
    /// A feed of so many bytes of snapshots a second at most.
    pub(super) fn new(path: P, session: Session, budget: u32, lobby: &'a Lobby) -> Self {
        let (empty, budget) = (path.room(), Budget::new(budget, lobby.now()));
        Self { path, session, lobby, empty, budget, line: Line::default() }
    }

    /// Takes in a datagram of commands, and gives what there is for a player.
    ///
    /// # Errors
    /// It breaks the protocol.
    pub(super) fn take(
        &mut self,
        datagram: &[u8],
    ) -> Result<Option<proto::commands::CommandBatch>, ProtocolError> {
        let network = &self.lobby.telemetry.network;
        let taken = self.session.receive_datagram(self.lobby.now(), datagram);
        match &taken {
            Ok(Some(_)) => network.command_datagrams.increment(1),
            Ok(None) => network.dropped(DroppedDatagram::Unready),
            Err(_) => network.dropped(DroppedDatagram::Malformed),
        }
        taken
    }

    /// Looks how the client does: how its line is, and whether it is still there.
    ///
    /// # Errors
    /// [`Broken::Silent`].
    pub(super) fn look(&mut self) -> Result<(), Broken> {
        let now = self.lobby.now();
        self.line.observe(self.path.connection(), now, &self.lobby.telemetry.network.line);
        self.session.advance(now).map_or(Ok(()), |_| Err(Broken::Silent))
    }

    /// Sends the news, unless the last ones still wait for the path or the budget
    /// is spent: nothing is queued, the next news tell what these would have.
    ///
    /// # Errors
    /// [`Broken::NoDatagrams`].
    pub(super) fn tell(&mut self, update: &Update, own: &OwnPlayer) -> Result<(), Broken> {
        let network = &self.lobby.telemetry.network;
        if self.path.room() < self.empty {
            network.snapshots_skipped.increment(1);
            return Ok(());
        }
        let largest = self.path.largest_datagram().ok_or(Broken::NoDatagrams)?;
        let affordable = self.budget.available(self.lobby.now());
        if affordable < MIN_SNAPSHOT {
            network.snapshots_unaffordable.increment(1);
            return Ok(());
        }
        let records = self.session.stats().records;
        let begin = Instant::now();
        self.session.choose_news(&update.state);
        let begin = network.round.spent(Part::Interest, begin);
        let snapshot = self.session.encode_snapshot(&update.state, own, largest.min(affordable));
        let begin = network.round.spent(Part::Encode, begin);
        let Some(snapshot) = snapshot else { return Ok(()) };
        let length = snapshot.len();
        self.budget.spend(length);
        // What the path no longer takes is like lost on the way; what ended the
        // connection is told by the next read.
        if self.path.send(snapshot.into()) {
            network.sent_snapshot(length, self.session.stats().records - records);
        } else {
            network.dropped(DroppedDatagram::Unsent);
        }
        network.round.spent(Part::Send, begin);
        Ok(())
    }

    /// Writes what the session has to say on its control stream; false if the
    /// client does not take it.
    pub(super) async fn flush(&mut self, stream: &mut (impl AsyncWrite + Unpin)) -> bool {
        let output = self.session.stream_output();
        output.is_empty()
            || matches!(timeout(PATIENCE, stream.write_all(&output)).await, Ok(Ok(())))
    }

    /// Notes that the client decoded a tick otherwise than it was meant.
    pub(super) fn note_mismatch(&self, tick: Tick) {
        self.lobby.telemetry.network.digest_mismatches.increment(1);
        let address = self.path.connection().remote_address();
        warn!("{address} did not decode tick {tick} as it was meant, please report it");
    }

    /// Whether the operator does not want who is at the other end.
    pub(super) fn is_banned(&self) -> bool {
        let address = self.path.connection().remote_address().ip().to_canonical();
        self.lobby.banned.contains(&address)
    }

    /// Tells a newcomer who is there, and lets it hear of all that happens from
    /// now on.
    pub(super) fn introduce(&mut self) -> Events {
        let events = self.lobby.events.subscribe();
        for event in self.lobby.sessions.roster() {
            self.session.tell(self.lobby.next_tick(), &event);
        }
        events
    }
}

/// The next thing that happened in the match; never comes before the client has
/// been let in.
pub(super) async fn next_event(
    events: Option<&mut Events>,
) -> Result<(Tick, MatchEvent), RecvError> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}
