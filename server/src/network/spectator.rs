use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use proto::control::{ClosingReason, RefusalReason};
use proto::server::{Event, OwnPlayer, Session};
use proto::{HANDSHAKE_TIMEOUT, ProtocolError};
use quinn::VarInt;
use quinn::crypto::rustls::HandshakeData;
use tokio::time::timeout;
use tracing::{debug, info};
use web_transport_quinn::{RecvStream, Request, SendStream, ServerError, Session as WebSession};

use super::feed::{CHUNK, Feed, PATIENCE, next_event};
use super::waves::{Cadence, Update};
use super::{Events, Lobby};
use crate::telemetry::{Connected, ConnectionState, Refusal};

/// Streams that HTTP/3 takes for itself in each direction: its control stream
/// and the two of header compression, and as many to spare.
const HTTP_STREAMS: VarInt = VarInt::from_u32(6);

/// The session's own stream and the control stream, and one to spare.
const SESSION_STREAMS: VarInt = VarInt::from_u32(3);

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
    let spectators = &lobby.spectators;
    let session = Session::new(Arc::clone(&spectators.terms), lobby.now());
    let feed = Feed::new(web, session, spectators.budget, &lobby);
    let show = Show { feed, send, cadence: spectators.cadence, events: None };
    show.run(receive, &mut connected).await;
}

/// Why a show is over.
enum End {
    /// The spectator went, or was told to.
    Over,
    /// It was not let in.
    Refused(Refusal),
    /// It broke the protocol.
    Broke(ProtocolError),
}

/// The conversation with one spectator.
struct Show<'a> {
    feed: Feed<'a, WebSession>,
    send: SendStream,
    cadence: Cadence,
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
        let (lobby, web) = (self.feed.lobby, self.feed.path.clone());
        match &end {
            End::Over => {}
            End::Refused(reason) => lobby.telemetry.network.refused(*reason),
            End::Broke(error) => {
                lobby.telemetry.network.refused(Refusal::Malformed);
                info!("the spectator at {} broke the protocol: {error}", web.remote_address());
                return web.close(error.code(), error.to_string().as_bytes());
            }
        }
        if self.feed.flush(&mut self.send).await {
            let _ = self.send.finish();
            let _ = timeout(PATIENCE, web.closed()).await;
        }
        web.close(0, b"goodbye");
    }

    async fn watch(
        &mut self,
        mut receive: RecvStream,
        connected: &mut Connected,
    ) -> Result<Infallible, End> {
        let lobby = self.feed.lobby;
        let mut news = lobby.waves.subscribe();
        let mut stopped = pin!(lobby.stop.requested());
        let mut too_late = pin!(tokio::time::sleep(HANDSHAKE_TIMEOUT));
        let web = self.feed.path.clone();
        let mut chunk = [0; CHUNK];
        loop {
            let joined = self.events.is_some();
            tokio::select! {
                event = next_event(self.events.as_mut()) => {
                    // Who missed some would have a wrong idea of the match.
                    let (tick, event) = event.map_err(|_| End::Over)?;
                    self.feed.session.tell(tick, &event);
                }
                read = receive.read(&mut chunk) => match read {
                    Ok(Some(length)) => self.hear(&chunk[..length], connected)?,
                    Ok(None) | Err(_) => return Err(End::Over),
                },
                datagram = web.read_datagram() => {
                    let datagram = datagram.map_err(|_| End::Over)?;
                    self.feed.take(&datagram).map_err(End::Broke)?;
                }
                changed = news.changed(), if joined => {
                    changed.map_err(|_| End::Over)?;
                    let update = news.borrow_and_update().clone();
                    self.tell(update)?;
                }
                () = &mut too_late, if !joined => return Err(End::Refused(Refusal::NoHello)),
                () = &mut stopped => {
                    self.feed.session.close(ClosingReason::ShuttingDown);
                    return Err(End::Over);
                }
            }
            if !self.feed.flush(&mut self.send).await {
                return Err(End::Over);
            }
        }
    }

    fn hear(&mut self, bytes: &[u8], connected: &mut Connected) -> Result<(), End> {
        let events = self.feed.session.receive_stream(self.feed.lobby.now(), bytes);
        for event in events.map_err(End::Broke)? {
            match event {
                Event::Hello { .. } => self.let_in(connected)?,
                Event::Refused(reason) => return Err(End::Refused(Refusal::from(&reason))),
                Event::Mismatch(tick) => self.feed.note_mismatch(tick),
                // Who does not play has no voice in the match.
                Event::Said(_) => {}
                Event::Left | Event::TimedOut => return Err(End::Over),
            }
        }
        Ok(())
    }

    fn let_in(&mut self, connected: &mut Connected) -> Result<(), End> {
        if self.feed.is_banned() {
            self.feed.session.refuse(RefusalReason::Banned);
            return Err(End::Refused(Refusal::Banned));
        }
        let limit = self.feed.lobby.spectators.limit;
        if connected.others_watching() >= usize::from(limit) {
            self.feed.session.refuse(RefusalReason::Full { limit });
            return Err(End::Refused(Refusal::Full));
        }
        connected.is_now(ConnectionState::Watching);
        self.feed.session.accept_spectator(self.feed.lobby.last_tick());
        self.events = Some(self.feed.introduce());
        info!("a spectator came from {}", self.feed.path.remote_address());
        Ok(())
    }

    /// Sends the news, if some are due.
    fn tell(&mut self, update: Option<Update>) -> Result<(), End> {
        self.feed.look().map_err(|_| End::Over)?;
        let Some(update) = update else { return Ok(()) };
        if !self.cadence.is_due(update.frame.state.tick) {
            return Ok(());
        }
        self.feed.tell(&update, &OwnPlayer::default()).map_err(|_| End::Over)
    }
}
