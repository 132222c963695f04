//! A spectator's session over WebTransport, from its hello to its last packet.

use std::convert::Infallible;
use std::pin::pin;

use obsp_proto::HANDSHAKE_TIMEOUT;
use obsp_proto::control::{ClosingReason, MatchName, PlayerName, Reason, RefusalReason};
use obsp_proto::server::{Event, OwnPlayer};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::info;
use web_transport_quinn::{RecvStream, SendStream, Session as WebSession};

use super::connection::{FAREWELL, interruption, removed};
use super::end::{Client, End};
use super::feed::{CHUNK, Feed, next_event};
use crate::door::admission::Permit;
use crate::door::clients;
use crate::door::clients::Registration;
use crate::matches::MatchHandles;
use crate::matches::level::Events;
use crate::matches::telemetry::{Connected, ConnectionState};
use crate::matches::tick_thread::send_groups::{Cadence, SnapshotJob};

/// Shows the match to a browser whose session is open, until the session's last packet. A spectator
/// takes no player's place and steers nothing. It gets fewer snapshots, and its own budget bounds
/// what it costs.
pub(super) async fn serve(
    (web, send, receive): (WebSession, SendStream, RecvStream),
    permit: Permit,
    connected: Connected,
    games: &MatchHandles,
) {
    let game = games.first();
    let feed = Feed::new((web, send), true, game);
    let (cadence, news) = (game.spectators.cadence, game.send_groups.subscribe());
    let (name, events, registration) = (None, None, None);
    let show = Show { games, feed, news, permit, cadence, name, registration, events, connected };
    show.run(receive).await;
}

/// The QUIC connection that carries a session.
fn path(web: &WebSession) -> &quinn::Connection {
    web
}

/// The conversation with one spectator.
struct Show<'a> {
    games: &'a MatchHandles,
    feed: Feed<'a, WebSession>,
    /// The states of the match.
    news: watch::Receiver<Option<SnapshotJob>>,
    /// The connection's place in the table of addresses.
    permit: Permit,
    cadence: Cadence,
    /// The name in the spectator's hello, once it has come.
    name: Option<PlayerName>,
    /// The spectator's place among the clients, once it is let in.
    registration: Option<Registration>,
    /// The events of the match, while the spectator is in it.
    events: Option<Events>,
    /// The connection's place in the statistics.
    connected: Connected,
}

impl Show<'_> {
    async fn run(mut self, receive: RecvStream) {
        let end = match self.watch(receive).await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        self.connected.is_now(ConnectionState::Closing);
        self.permit.leave(std::time::Instant::now());
        let end = self.note_end(end);
        let web = self.feed.path.clone();
        let eviction = self.permit.eviction();
        let game = self.feed.game;
        let goodbye = async {
            if end.is_heard && self.feed.finish().await {
                let _ = timeout(FAREWELL, web.closed()).await;
            }
            // Pages get the same codes as native clients. All of them fit 32 bits.
            let code = u32::try_from(end.code.into_inner()).unwrap_or_default();
            web.close(code, end.phrase().as_bytes());
            // The page closes the connection once it has read the close.
            let _ = timeout(FAREWELL, path(&web).closed()).await;
        };
        tokio::select! {
            () = goodbye => {}
            _ = interruption(path(&web), &eviction, game) => {}
        }
    }

    /// Logs why the connection ended. Counts it if the spectator was not let in or broke the
    /// protocol.
    fn note_end(&mut self, end: End) -> End {
        let watched = self.registration.take().is_some();
        let end = if watched { end } else { end.before_joining() };
        let game = self.feed.game;
        if !watched || end.reason == Reason::Malformed {
            game.telemetry.network.refused(end.reason);
        }
        let role = watched.then_some("spectator");
        let (name, connected) = (self.name.as_ref(), &self.connected);
        let client = Client { role, player: None, name, connected };
        self.feed.log_end(&client, &end, game.clients.players());
        end
    }

    async fn watch(&mut self, mut receive: RecvStream) -> Result<Infallible, End> {
        let game = self.feed.game;
        let mut stopped = pin!(game.stop.requested());
        let mut too_late = pin!(tokio::time::sleep(HANDSHAKE_TIMEOUT));
        let web = self.feed.path.clone();
        let eviction = self.permit.eviction();
        let mut interrupted = pin!(interruption(path(&web), &eviction, game));
        let mut chunk = [0; CHUNK];
        loop {
            let joined = self.registration.is_some();
            let client = self.registration.as_deref().cloned();
            tokio::select! {
                event = next_event(self.events.as_mut()) => {
                    // A spectator that missed events would have a wrong view of the match.
                    let news = event.map_err(|error| match error {
                        RecvError::Lagged(_) => End::from(Reason::FellBehind),
                        RecvError::Closed => End::from(Reason::Shutdown),
                    })?;
                    self.feed.note(news);
                }
                end = &mut interrupted => return Err(end),
                removal = removed(client.as_deref()) => {
                    self.feed.session.close(removal.closing);
                    return Err(removal.reason.into());
                }
                read = receive.read(&mut chunk) => match read {
                    Ok(Some(length)) => self.on_stream(&chunk[..length])?,
                    Ok(None) => return Err(Reason::Closed.into()),
                    Err(error) => return Err(self.broken(error)),
                },
                datagram = web.read_datagram() => {
                    let datagram = datagram.map_err(|error| self.broken(error))?;
                    self.feed.take(&datagram)?;
                }
                written = self.feed.outbox.write() => {
                    written.map_err(|_| End::of(&web, Reason::Unread.into()))?;
                }
                changed = self.news.changed(), if joined => {
                    changed.map_err(|_| End::from(Reason::Shutdown))?;
                    let update = self.news.borrow_and_update().clone();
                    self.tell(update)?;
                }
                () = &mut too_late, if !joined => return Err(Reason::NoHello.into()),
                () = &mut stopped => {
                    self.feed.session.close(ClosingReason::ShuttingDown);
                    return Err(Reason::Shutdown.into());
                }
            }
            self.feed.collect()?;
        }
    }

    /// The end of a session on which reading failed.
    fn broken(&self, error: impl ToString) -> End {
        End::of(&self.feed.path, End::with_detail(Reason::Closed, error))
    }

    fn on_stream(&mut self, bytes: &[u8]) -> Result<(), End> {
        self.feed.charge_control(&mut self.permit, bytes)?;
        if self.registration.is_none() {
            self.feed.enter(&self.feed.game.level());
        }
        let events = self.feed.receive_stream(self.feed.game.now(), bytes)?;
        for event in events {
            match event {
                Event::Hello { name, token, match_name, .. } => {
                    if let Some(match_name) = match_name {
                        self.enter_match(&match_name)?;
                    }
                    self.let_in(name, &token)?;
                }
                Event::Refused(reason) => return Err(End::from(&reason)),
                Event::Mismatch(tick) => self.feed.note_mismatch(tick),
                // Spectators do not chat.
                Event::Said(_) => {}
                Event::Left => return Err(Reason::Left.into()),
                Event::TimedOut => return Err(Reason::TimedOut.into()),
            }
        }
        Ok(())
    }

    /// Moves the connection to the match that its hello names.
    fn enter_match(&mut self, name: &MatchName) -> Result<(), End> {
        let game = match self.games.find(name.as_str()) {
            Ok(game) => game,
            Err(matches) => return Err(self.refuse(RefusalReason::NoSuchMatch { matches })),
        };
        self.news = game.send_groups.subscribe();
        self.cadence = game.spectators.cadence;
        self.connected.moves(&game.telemetry.network.connections);
        self.feed.enter_match(game).map_err(|reason| End::from(&reason))
    }

    fn let_in(&mut self, name: PlayerName, password: &[u8]) -> Result<(), End> {
        if self.registration.is_some() {
            self.look_on();
            return Ok(());
        }
        if self.feed.game.has_failed() {
            return Err(self.refuse(RefusalReason::NotReady));
        }
        self.name = Some(name.clone());
        if self.feed.is_banned() {
            return Err(self.refuse(RefusalReason::Banned));
        }
        self.feed.ask_datagrams()?;
        if !self.feed.game.takes_spectators() {
            return Err(self.refuse(RefusalReason::Full { limit: 0 }));
        }
        self.ask_password(password)?;
        if let Err(limit) = self.permit.watch(std::time::Instant::now()) {
            self.feed.game.telemetry.network.limited(limit);
            return Err(self.refuse(RefusalReason::AddressLimit));
        }
        let limit = self.feed.game.access.max_spectators;
        let address = self.feed.path.remote_address();
        let client = clients::Client::new(self.connected.number(), name, address, None, true);
        self.registration = self.feed.game.clients.enter(client, limit.into());
        if self.registration.is_none() {
            return Err(self.refuse(RefusalReason::Full { limit }));
        }
        self.connected.is_now(ConnectionState::Watching);
        self.look_on();
        self.feed.greet();
        info!(
            connection = self.connected.number(),
            address = %self.feed.path.remote_address(),
            name = self.name.as_ref().map(PlayerName::as_str),
            "spectator joined",
        );
        Ok(())
    }

    /// Checks the password: a match that needs a password to play also needs it to watch. Connect
    /// tokens and lists of players do not concern spectators.
    fn ask_password(&mut self, password: &[u8]) -> Result<(), End> {
        let access = &self.feed.game.access;
        if access.gate.is_some() || !access.admittance.asks() {
            return Ok(());
        }
        let address = self.feed.path.remote_address().ip();
        let judged = access.admittance.judge(address, None, password, std::time::Instant::now());
        judged.map(|_| ()).map_err(|denied| self.feed.deny(denied))
    }

    /// Begins to show the spectator the current level.
    fn look_on(&mut self) {
        self.feed.session.accept_spectator(self.feed.game.last_tick());
        self.events = Some(self.feed.introduce(None));
    }

    fn refuse(&mut self, reason: RefusalReason) -> End {
        let end = End::from(&reason);
        self.feed.session.refuse(reason);
        end
    }

    /// Sends a snapshot of the latest state, if one is due.
    fn tell(&mut self, update: Option<SnapshotJob>) -> Result<(), End> {
        self.feed.check()?;
        let Some(update) = update else { return Ok(()) };
        if update.published.level.number > self.feed.level.number {
            self.events = None;
            self.feed.enter(&update.published.level);
        }
        if let Some(client) = self.registration.as_deref() {
            self.feed.note_stats(client, None);
        }
        if !self.cadence.is_due(update.published.state.tick) {
            return Ok(());
        }
        Ok(self.feed.tell(&update, &OwnPlayer::default())?)
    }
}
