//! A player's connection from its first packet to its last: the handshake ([`opening`]), the hello
//! and the seat ([`greeting`]), then commands, snapshots, events and chat ([`chat`]) until it ends
//! ([`leaving`]).

mod chat;
mod greeting;
mod identity;
pub(crate) mod idleness;
mod leaving;
mod opening;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use obsp_proto::HANDSHAKE_TIMEOUT;
use obsp_proto::control::{
    ChatLine, ClosingReason, MatchEvent, PlayerName, Reason, RefusalReason, Ticket,
};
use obsp_proto::server::Event;
use obsp_sim::EntityId;
use quinn::Incoming;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::end::{Client, End};
use super::feed::map_stream::DOWNLOADS_A_CONNECTION;
use super::feed::{CHUNK, Feed, map_stream, next_event};
use super::path::Path;
use super::web;
use crate::door::admission::Permit;
use crate::door::clients;
use crate::door::clients::{Registration, Removal};
use crate::door::outgoing::Purpose;
use crate::matches::MatchHandles;
use crate::matches::happening::Person;
use crate::matches::level::Events;
use crate::matches::match_handle::MatchHandle;
use crate::matches::seats::Seat;
use crate::matches::seats::view_limit::{ClientTiming, ViewLimit};
use crate::matches::telemetry::{Connected, ConnectionState, DroppedDatagram, JoinSpan};
use crate::matches::tick_thread::send_groups::SnapshotJob;
use idleness::{Idleness, Verdict};
pub(super) use opening::interruption;
use opening::{ClosesWhenDropped, Opened, open, shake_hands};

/// How long a client has to read a last message and close the connection itself. An immediate close
/// could overtake the message.
pub(super) const FAREWELL: Duration = Duration::from_secs(2);

/// A client that has taken a seat.
struct Player {
    seat: Seat,
    events: Events,
}

/// One connection from its first packet to its last.
pub(super) async fn serve(incoming: Incoming, mut permit: Permit, games: Arc<MatchHandles>) {
    // Until the hello names another match, a connection belongs to the first.
    let game = games.first();
    let network = &game.telemetry.network;
    let address = incoming.remote_address();
    let connected = network.connections.open();
    let eviction = permit.eviction();
    let deadline = Instant::now() + HANDSHAKE_TIMEOUT;
    let opened = match shake_hands(incoming, deadline, &eviction, game).await {
        Ok(connection) => {
            permit.prove(std::time::Instant::now());
            // Closes the connection when this task ends.
            let closes = ClosesWhenDropped(connection.clone());
            Ok((closes, open(connection, deadline, &eviction, game).await))
        }
        Err(end) => Err(end),
    };
    let end = match opened {
        Ok((_closes, Ok(Opened::Browser(connection)))) => {
            web::serve(connection, deadline, permit, connected, &games).await;
            return;
        }
        Ok((_closes, Ok(Opened::Client(connection, send, receive)))) => {
            play((connection, send, receive), permit, connected, &games).await;
            return;
        }
        Ok((_closes, Err(end))) => end,
        Err(end) => end,
    };
    network.refused(end.reason);
    let (number, time) = (connected.number(), connected.age());
    game.telemetry.spans.join(number, address, [time; 2], Err(end.reason.code()));
    end.log_without_session(&connected, address);
}

/// Serves a client, whose path and control stream are open, until its last packet.
pub(super) async fn play<P: Path>(
    (path, send, receive): (P, P::Stream, P::Incoming),
    permit: Permit,
    connected: Connected,
    games: &MatchHandles,
) {
    let feed = Feed::new((path, send), false, games.first());
    PlayerConnection::new(feed, games, permit, connected).run(receive).await;
}

/// Waits until somebody asks for the client's removal. Without a client, waits forever.
pub(super) async fn removed(client: Option<&clients::Client>) -> Removal {
    match client {
        Some(client) => client.removed().await,
        None => std::future::pending().await,
    }
}

/// A player, for the webhook.
fn person(client: &clients::Client) -> Person {
    Person {
        connection: client.number,
        name: client.name.to_string(),
        player: client.player_id,
        address: client.address(),
    }
}

/// The conversation with one client.
struct PlayerConnection<'a, P: Path> {
    feed: Feed<'a, P>,
    games: &'a MatchHandles,
    /// The match: the first until the client names another.
    game: &'a Arc<MatchHandle>,
    /// The states of the client's match.
    news: watch::Receiver<Option<SnapshotJob>>,
    /// The connection's place in the table of addresses.
    permit: Permit,
    /// The client's name. Until the client is let in, the name that its hello asks for.
    name: Option<PlayerName>,
    /// The client's place among the players, once it is let in. The client keeps the place between
    /// two worlds.
    registration: Option<Registration>,
    /// The ticket with which the client can come back.
    ticket: Ticket,
    /// The client's seat and the events that it receives, while it is in a world.
    player: Option<Player>,
    idleness: Idleness,
    /// How long the handshake took.
    handshake: Duration,
    /// The tracing span of the client's join.
    join: Option<JoinSpan>,
    /// The connection's place in the statistics.
    connected: Connected,
}

impl<'a, P: Path> PlayerConnection<'a, P> {
    fn new(
        feed: Feed<'a, P>,
        games: &'a MatchHandles,
        permit: Permit,
        connected: Connected,
    ) -> Self {
        let game = games.first();
        Self {
            feed,
            games,
            game,
            news: game.send_groups.subscribe(),
            permit,
            name: None,
            registration: None,
            ticket: Ticket::NONE,
            player: None,
            idleness: Idleness::new(std::time::Instant::now()),
            handshake: connected.age(),
            join: None,
            connected,
        }
    }

    async fn run(mut self, receive: P::Incoming) {
        let end = match self.converse(receive).await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        self.connected.is_now(ConnectionState::Closing);
        self.permit.leave(std::time::Instant::now());
        // The client's place is free from here on, even during a long farewell.
        let end = match self.registration.take() {
            Some(registration) => {
                self.note_leaving(registration, &end);
                end
            }
            None => self.note_refusal(end),
        };
        self.farewell(&end).await;
    }

    /// Serves the client until there is a reason to end the connection.
    async fn converse(
        &mut self,
        mut receive: P::Incoming,
    ) -> Result<std::convert::Infallible, End> {
        let game = self.game;
        let mut stopped = pin!(game.stop.requested());
        let mut too_late = pin!(tokio::time::sleep(HANDSHAKE_TIMEOUT));
        let path = self.feed.path.clone();
        let connection = path.connection();
        let eviction = self.permit.eviction();
        let mut interrupted = pin!(interruption(connection, &eviction, game));
        let mut chunk = [0; CHUNK];
        // Dropping the set stops the downloads when the conversation ends.
        let mut downloads = JoinSet::new();
        let mut downloads_left = DOWNLOADS_A_CONNECTION;
        loop {
            let joined = self.registration.is_some();
            let client = self.registration.as_deref().cloned();
            tokio::select! {
                event = next_event(self.player.as_mut().map(|player| &mut player.events)) => {
                    // A client that missed events would have a wrong view of the match from
                    // then on.
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
                opened = path.map_stream(), if joined && downloads_left > 0 => {
                    let streams = opened?;
                    downloads_left -= 1;
                    let address = connection.remote_address().ip();
                    let payer = self.game.outgoing.payer(address, Purpose::Downloads);
                    let connection = connection.clone();
                    let (level, join) = (Arc::clone(&self.feed.level), self.join.clone());
                    let game = Arc::clone(self.game);
                    let serving = map_stream::serve(connection, streams, payer, level, game, join);
                    downloads.spawn(serving);
                }
                Some(_) = downloads.join_next() => {}
                written = self.feed.outbox.write() => {
                    written.map_err(|_| End::of(connection, Reason::Unread.into()))?;
                }
                read = path.read(&mut receive, &mut chunk) => {
                    let Some(length) = read? else { return Err(Reason::Closed.into()) };
                    self.on_stream(&chunk[..length]).await?;
                }
                datagram = path.datagram() => self.take_commands(&datagram?)?,
                changed = self.news.changed(), if joined => {
                    if changed.is_err() {
                        return Err(Reason::Shutdown.into());
                    }
                    let update = self.news.borrow_and_update().clone();
                    if self.tell(update)? {
                        downloads_left = DOWNLOADS_A_CONNECTION;
                    }
                }
                () = &mut too_late, if !joined => {
                    return Err(Reason::NoHello.into());
                }
                () = &mut stopped => {
                    self.feed.session.close(ClosingReason::ShuttingDown);
                    return Err(Reason::Shutdown.into());
                }
            }
            self.feed.collect()?;
        }
    }

    /// Handles bytes of the control stream.
    async fn on_stream(&mut self, bytes: &[u8]) -> Result<(), End> {
        let now = self.game.now();
        self.feed.charge_control(&mut self.permit, bytes)?;
        if self.registration.is_none() {
            self.feed.enter(&self.game.level());
        }
        for event in self.feed.receive_stream(now, bytes)? {
            self.on_event(event).await?;
        }
        Ok(())
    }

    async fn on_event(&mut self, event: Event) -> Result<(), End> {
        match event {
            Event::Hello { name, token, ticket, match_name } => {
                if let Some(match_name) = match_name {
                    self.enter_match(&match_name)?;
                }
                self.greet(name, &token, ticket).await
            }
            Event::Refused(reason) => Err(End::from(&reason)),
            Event::Mismatch(tick) => {
                self.feed.note_mismatch(tick);
                Ok(())
            }
            Event::Said(line) => {
                self.say(line);
                Ok(())
            }
            Event::Left => Err(Reason::Left.into()),
            Event::TimedOut => Err(Reason::TimedOut.into()),
        }
    }

    fn refuse(&mut self, reason: RefusalReason) -> End {
        let end = End::from(&reason);
        self.feed.session.refuse(reason);
        end
    }

    /// Passes a datagram's commands on to the tick thread.
    fn take_commands(&mut self, datagram: &[u8]) -> Result<(), End> {
        let commands = self.feed.take(datagram)?;
        if let Some(commands) = &commands {
            let newest = commands.batch.commands().last().copied().unwrap_or_default();
            self.idleness.note(newest, std::time::Instant::now());
        }
        if let (Some(commands), Some(player)) = (commands, &self.player)
            && player.seat.send(commands, self.game.now(), self.view_limit()).is_err()
        {
            self.game.telemetry.network.dropped(DroppedDatagram::Surplus);
        }
        Ok(())
    }

    /// The limit on the age of the view by which the shots of commands that arrive now are judged.
    fn view_limit(&self) -> ViewLimit {
        let timing = ClientTiming {
            tick: self.game.last_tick(),
            acknowledged: self.feed.session.acknowledged_tick(),
            interval: self.feed.session.snapshot_interval(),
            round_trip: self.feed.path.connection().rtt(),
        };
        ViewLimit::new(self.feed.level.match_info.tick_rate, &timing)
    }

    /// Sends the latest state. Returns true if the match has moved on to another world.
    fn tell(&mut self, update: Option<SnapshotJob>) -> Result<bool, End> {
        self.feed.check()?;
        let slot = self.player.as_ref().map(|player| player.seat.player.slot);
        if let Some(client) = self.registration.as_deref() {
            self.feed.note_stats(client, slot);
        }
        self.judge_idleness();
        let Some(update) = update else { return Ok(false) };
        if update.published.level.number > self.feed.level.number {
            self.player = None;
            self.feed.enter(&update.published.level);
            return Ok(true);
        }
        let Some(Player { seat, .. }) = &self.player else { return Ok(false) };
        let own = update.published.own(seat.player);
        self.feed.tell(&update, &own)?;
        Ok(false)
    }

    /// Warns an idle client. Asks for its removal if it stays idle.
    fn judge_idleness(&mut self) {
        let limit = Duration::from_secs(self.game.access.idle_seconds.load(Ordering::Relaxed));
        let Some(client) = &self.registration else { return };
        match self.idleness.judge(limit, std::time::Instant::now()) {
            Verdict::Active => {}
            Verdict::Warn(left) => {
                let line = format!("You will be removed in {} s unless you move", left.as_secs());
                if let Ok(line) = ChatLine::new(&line) {
                    let warning = MatchEvent::Announced { line };
                    self.feed.session.send_event(self.game.next_tick(), &warning);
                }
            }
            Verdict::Remove => {
                let why = format!("idle for {} s", limit.as_secs());
                client.remove(Removal::new(Reason::Idle, &why));
            }
        }
    }

    /// Closes the connection once the client has had time to read the reason.
    async fn farewell(&mut self, end: &End) {
        let path = self.feed.path.clone();
        let eviction = self.permit.eviction();
        let goodbye = async {
            if end.is_heard && self.feed.finish().await {
                // If the client does not close the connection, the server does so below.
                let _ = timeout(FAREWELL, path.closed()).await;
            }
        };
        tokio::select! {
            () = goodbye => {}
            _ = interruption(path.connection(), &eviction, self.game) => {}
        }
        path.close(end.code, end.phrase().as_bytes());
        // A page closes the connection once it has read the close. A native client has nothing left
        // to read.
        let _ = timeout(FAREWELL, path.closed()).await;
    }

    /// Logs and counts why a client did not become a player.
    fn note_refusal(&mut self, end: End) -> End {
        let end = end.before_joining();
        self.game.telemetry.network.refused(end.reason);
        self.note_join(Err(end.reason.code()));
        self.log_end(None, None, &end, self.game.clients.players());
        end
    }

    /// Records the span of the joining.
    fn note_join(&self, outcome: Result<u16, &'static str>) -> Option<JoinSpan> {
        let (number, address) =
            (self.connected.number(), self.feed.path.connection().remote_address());
        let times = [self.handshake, self.connected.age()];
        self.game.telemetry.spans.join(number, address, times, outcome)
    }

    fn log_end(
        &mut self,
        role: Option<&'static str>,
        player: Option<EntityId>,
        end: &End,
        players: usize,
    ) {
        let name = self.name.as_ref();
        let client = Client { role, player, name, connected: &self.connected };
        self.feed.log_end(&client, end, players);
    }
}
