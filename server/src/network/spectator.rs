use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use proto::HANDSHAKE_TIMEOUT;
use proto::control::{ClosingReason, MatchEvent, RefusalReason};
use proto::server::{Budget, Event, OwnPlayer, Session};
use proto::snapshot::MIN_SNAPSHOT;
use quinn::VarInt;
use quinn::crypto::rustls::HandshakeData;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::{debug, info, warn};
use web_transport_quinn::{RecvStream, Request, SendStream, ServerError, Session as WebSession};

use super::line::Line;
use super::waves::{Cadence, Update};
use super::{Events, Lobby};
use crate::telemetry::{Connected, ConnectionState, Part, Refusal};

/// Streams that HTTP/3 takes for itself in each direction: its control stream
/// and the two of header compression, and as many to spare.
const HTTP_STREAMS: VarInt = VarInt::from_u32(6);

/// The session's own stream and the control stream, and one to spare.
const SESSION_STREAMS: VarInt = VarInt::from_u32(3);

/// How long a spectator may refuse to take a control message, or to hear why
/// it is seen off.
const PATIENCE: Duration = Duration::from_secs(2);

/// Most bytes read from the control stream at a time.
const CHUNK: usize = 2048;

/// Whether a connection has come to speak WebTransport.
pub(super) fn is_web(connection: &quinn::Connection) -> bool {
    let data = connection.handshake_data().and_then(|data| data.downcast::<HandshakeData>().ok());
    data.is_some_and(|data| data.protocol.as_deref() == Some(web_transport_quinn::ALPN.as_bytes()))
}

/// Shows the match to a browser, from its request to its last packet. It takes
/// no place and steers nothing, is told less often, and what it costs is
/// bounded by its own budget.
pub(super) async fn serve(
    connection: quinn::Connection,
    mut connected: Connected,
    lobby: Arc<Lobby>,
) {
    let network = &lobby.telemetry.network;
    let address = connection.remote_address();
    connection.set_max_concurrent_uni_streams(HTTP_STREAMS);
    connection.set_max_concurrent_bi_streams(SESSION_STREAMS);
    let opened = async {
        let web = Request::accept(connection).await?.ok().await?;
        let (send, receive) = web.accept_bi().await.map_err(|_| ServerError::UnexpectedEnd)?;
        Ok::<_, ServerError>((web, send, receive))
    };
    let (web, send, receive) = match timeout(HANDSHAKE_TIMEOUT, opened).await {
        Ok(Ok(opened)) => opened,
        Ok(Err(error)) => {
            debug!("no session with the browser at {address}: {error}");
            return network.refused(Refusal::NoHello);
        }
        Err(_) => {
            debug!("no session with the browser at {address}: it took too long");
            return network.refused(Refusal::NoHello);
        }
    };
    let session = Session::new(Arc::clone(&lobby.spectators.terms), lobby.now());
    let show = Show {
        empty_buffer: web.datagram_send_buffer_space(),
        web,
        send,
        session,
        budget: Budget::new(lobby.spectators.budget, lobby.now()),
        cadence: lobby.spectators.cadence,
        line: Line::default(),
        lobby: &lobby,
        events: None,
    };
    show.run(receive, &mut connected).await;
}

/// Why a show is over.
enum End {
    /// The spectator went, or was told to.
    Over,
    /// It was not let in.
    Refused(Refusal),
    /// It broke the protocol.
    Broke(String),
}

/// The conversation with one spectator.
struct Show<'a> {
    web: WebSession,
    /// Room for datagrams while none waits to be sent.
    empty_buffer: usize,
    send: SendStream,
    session: Session,
    budget: Budget,
    cadence: Cadence,
    line: Line,
    lobby: &'a Arc<Lobby>,
    /// What happens in the match, once it was let in.
    events: Option<Events>,
}

impl Show<'_> {
    async fn run(mut self, receive: RecvStream, connected: &mut Connected) {
        let end = match self.watch(receive, connected).await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        connected.is_now(ConnectionState::Closing);
        let network = &self.lobby.telemetry.network;
        match &end {
            End::Over => {}
            End::Refused(reason) => network.refused(*reason),
            End::Broke(why) => {
                network.refused(Refusal::Malformed);
                info!("the spectator at {} broke the protocol: {why}", self.web.remote_address());
            }
        }
        if !matches!(end, End::Broke(_)) && self.flush().await.is_ok() {
            let _ = self.send.finish();
            let _ = timeout(PATIENCE, self.web.closed()).await;
        }
        self.web.close(0, b"goodbye");
    }

    async fn watch(
        &mut self,
        mut receive: RecvStream,
        connected: &mut Connected,
    ) -> Result<Infallible, End> {
        let lobby = self.lobby;
        let mut news = lobby.waves.subscribe();
        let mut stopped = pin!(lobby.stop.requested());
        let mut too_late = pin!(tokio::time::sleep(HANDSHAKE_TIMEOUT));
        let web = self.web.clone();
        let mut chunk = [0; CHUNK];
        loop {
            let joined = self.events.is_some();
            tokio::select! {
                event = next_event(&mut self.events) => {
                    // Who missed some would have a wrong idea of the match.
                    let (tick, event) = event.map_err(|_| End::Over)?;
                    self.session.tell(tick, &event);
                }
                read = receive.read(&mut chunk) => match read {
                    Ok(Some(length)) => self.hear(&chunk[..length], connected)?,
                    Ok(None) | Err(_) => return Err(End::Over),
                },
                datagram = web.read_datagram() => {
                    let datagram = datagram.map_err(|_| End::Over)?;
                    let heard = self.session.receive_datagram(lobby.now(), &datagram);
                    heard.map_err(|error| End::Broke(error.to_string()))?;
                }
                changed = news.changed(), if joined => {
                    changed.map_err(|_| End::Over)?;
                    self.tell(&mut news)?;
                }
                () = &mut too_late, if !joined => return Err(End::Refused(Refusal::NoHello)),
                () = &mut stopped => {
                    self.session.close(ClosingReason::ShuttingDown);
                    return Err(End::Over);
                }
            }
            self.flush().await?;
        }
    }

    fn hear(&mut self, bytes: &[u8], connected: &mut Connected) -> Result<(), End> {
        let events = self.session.receive_stream(self.lobby.now(), bytes);
        for event in events.map_err(|error| End::Broke(error.to_string()))? {
            match event {
                Event::Hello { .. } => self.let_in(connected)?,
                Event::Refused(reason) => return Err(End::Refused(Refusal::from(&reason))),
                Event::Mismatch(tick) => {
                    self.lobby.telemetry.network.digest_mismatches.increment(1);
                    warn!(
                        "a spectator did not decode tick {tick} as it was meant, please report it"
                    );
                }
                // Who does not play has no voice in the match.
                Event::Said(_) => {}
                Event::Left | Event::TimedOut => return Err(End::Over),
            }
        }
        Ok(())
    }

    fn let_in(&mut self, connected: &mut Connected) -> Result<(), End> {
        let lobby = self.lobby;
        let address = self.web.remote_address().ip().to_canonical();
        if lobby.banned.contains(&address) {
            self.session.refuse(RefusalReason::Banned);
            return Err(End::Refused(Refusal::Banned));
        }
        let limit = lobby.spectators.limit;
        if connected.others_watching() >= usize::from(limit) {
            self.session.refuse(RefusalReason::Full { limit });
            return Err(End::Refused(Refusal::Full));
        }
        connected.is_now(ConnectionState::Watching);
        self.session.accept_spectator(lobby.last_tick());
        self.events = Some(lobby.events.subscribe());
        for event in lobby.sessions.roster() {
            self.session.tell(lobby.next_tick(), &event);
        }
        info!("a spectator came from {}", self.web.remote_address());
        Ok(())
    }

    /// Sends the news, if some are due and the path and the budget take them.
    fn tell(&mut self, news: &mut watch::Receiver<Option<Update>>) -> Result<(), End> {
        let now = self.lobby.now();
        if self.session.advance(now).is_some() {
            return Err(End::Over);
        }
        let Some(update) = news.borrow_and_update().clone() else { return Ok(()) };
        let network = &self.lobby.telemetry.network;
        self.line.observe(&self.web, now, &network.line);
        if !self.cadence.is_due(update.frame.state.tick) {
            return Ok(());
        }
        if self.web.datagram_send_buffer_space() < self.empty_buffer {
            network.snapshots_skipped.increment(1);
            return Ok(());
        }
        let limit = self.web.max_datagram_size().min(self.budget.available(now));
        if limit < MIN_SNAPSHOT {
            network.snapshots_unaffordable.increment(1);
            return Ok(());
        }
        let nobody = OwnPlayer::default();
        let records = self.session.stats().records;
        let begin = Instant::now();
        self.session.choose_news(&update.state);
        let begin = network.round.spent(Part::Interest, begin);
        let snapshot = self.session.encode_snapshot(&update.state, &nobody, limit);
        let begin = network.round.spent(Part::Encode, begin);
        if let Some(snapshot) = snapshot {
            network.sent_snapshot(snapshot.len(), self.session.stats().records - records);
            self.budget.spend(snapshot.len());
            // What the path no longer takes is like lost on the way.
            let _ = self.web.send_datagram(Bytes::from(snapshot));
            network.round.spent(Part::Send, begin);
        }
        Ok(())
    }

    /// Writes what the session has to say on the control stream.
    async fn flush(&mut self) -> Result<(), End> {
        let output = self.session.stream_output();
        if output.is_empty() {
            return Ok(());
        }
        match timeout(PATIENCE, self.send.write_all(&output)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(End::Over),
        }
    }
}

/// The next thing that happened in the match; never comes before the spectator
/// was let in.
async fn next_event(events: &mut Option<Events>) -> Result<(proto::Tick, MatchEvent), RecvError> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}
