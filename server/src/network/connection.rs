use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use proto::control::{ClosingReason, MatchEvent, PlayerName, RefusalReason};
use proto::server::{Event, Session};
use proto::{HANDSHAKE_TIMEOUT, ProtocolError};
use quinn::{ConnectionError, Incoming, ReadError, RecvStream, SendStream, VarInt};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::{debug, info};

use super::feed::{Broken, CHUNK, Feed, next_event};
use super::map_stream::{self, MAPS_A_CONNECTION};
use super::waves::Update;
use super::{Events, Lobby, spectator};
use crate::seats::Seat;
use crate::telemetry::{Connected, ConnectionState, Disconnect, DroppedDatagram, Refusal};

/// Application error code of a connection that ends by the rules; why, the
/// control stream says.
pub(super) const DONE: VarInt = VarInt::from_u32(0);

/// How long a client has to read a last message and close the connection
/// itself. Closing at once could overtake the message.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long the tick thread may take to answer a wish to join: many ticks.
const JOIN_TIMEOUT: Duration = Duration::from_secs(1);

/// How a connection ends.
enum End {
    /// The client never became a player.
    Refused(Refusal, String),
    /// The client was a player.
    Gone(Disconnect),
    /// The client broke the protocol, player or not.
    Broke(ProtocolError),
}

/// A client who has taken a seat.
struct Player {
    name: PlayerName,
    seat: Seat,
    events: Events,
}

/// One connection from its first packet to its last. It counts as a handshake
/// under way when it comes here.
pub(super) async fn serve(incoming: Incoming, lobby: Arc<Lobby>) {
    let network = &lobby.telemetry.network;
    let address = incoming.remote_address();
    let connected = network.connections.open();
    let opened = async {
        let connection = incoming.accept()?.await?;
        if spectator::is_web(&connection) {
            return Ok(Opened::Browser(connection));
        }
        let (send, receive) = connection.accept_bi().await?;
        Ok::<_, ConnectionError>(Opened::Client(connection, send, receive))
    };
    let opened = timeout(HANDSHAKE_TIMEOUT, opened).await;
    lobby.handshakes.fetch_sub(1, Ordering::Relaxed);
    match opened {
        Ok(Ok(Opened::Browser(connection))) => {
            let lobby = Arc::clone(&lobby);
            spectator::serve(connection, connected, lobby).await;
        }
        Ok(Ok(Opened::Client(connection, send, receive))) => {
            let session = Session::new(Arc::clone(&lobby.terms), lobby.now());
            let feed = Feed::new(connection, session, lobby.client_budget, &lobby);
            let talk = Talk { feed, send, lobby: &lobby, player: None, connected };
            talk.run(receive).await;
        }
        Ok(Err(error)) => {
            debug!("no handshake with {address}: {error}");
            network.refused(Refusal::NoHello);
        }
        Err(_) => {
            debug!("no handshake with {address}: it took too long");
            network.refused(Refusal::NoHello);
        }
    }
}

/// Who is at the other end of a new connection.
enum Opened {
    /// A client, with its control stream.
    Client(quinn::Connection, SendStream, RecvStream),
    /// A browser that speaks HTTP/3.
    Browser(quinn::Connection),
}

/// The conversation with one client.
struct Talk<'a> {
    feed: Feed<'a, quinn::Connection>,
    send: SendStream,
    lobby: &'a Arc<Lobby>,
    player: Option<Player>,
    /// The connection's place in the statistics.
    connected: Connected,
}

impl Talk<'_> {
    async fn run(mut self, receive: RecvStream) {
        let end = match self.converse(receive).await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        self.connected.is_now(ConnectionState::Closing);
        // The place is free from here on, however long the farewell takes.
        if let Some(player) = self.player.take() {
            self.note_leaving(&player, &end);
        } else {
            self.note_refusal(&end);
        }
        self.farewell(&end).await;
    }

    /// Talks until there is a reason to end.
    async fn converse(&mut self, mut receive: RecvStream) -> Result<std::convert::Infallible, End> {
        let lobby = self.lobby;
        let mut news = lobby.waves.subscribe();
        let mut stopped = pin!(lobby.stop.requested());
        let mut too_late = pin!(tokio::time::sleep(HANDSHAKE_TIMEOUT));
        let connection = self.feed.path.clone();
        let mut chunk = [0; CHUNK];
        // Ends with the conversation, and what is being sent with it.
        let mut map_streams = JoinSet::new();
        let mut maps_left = MAPS_A_CONNECTION;
        loop {
            let joined = self.player.is_some();
            tokio::select! {
                event = next_event(self.player.as_mut().map(|player| &mut player.events)) => {
                    // Who missed some would have a wrong idea of the match from then on.
                    let (tick, event) = event.map_err(|error| match error {
                        RecvError::Lagged(_) => End::Gone(Disconnect::Lost),
                        RecvError::Closed => End::Gone(Disconnect::Shutdown),
                    })?;
                    self.feed.session.tell(tick, &event);
                }
                opened = connection.accept_bi(), if joined && maps_left > 0 => {
                    let (send, receive) = opened.map_err(|error| lost(&error))?;
                    maps_left -= 1;
                    map_streams.spawn(map_stream::serve(send, receive, Arc::clone(lobby)));
                }
                Some(_) = map_streams.join_next() => {}
                read = receive.read(&mut chunk) => {
                    let length = read.map_err(|error| broken_stream(&error))?;
                    let Some(length) = length else { return Err(End::Gone(Disconnect::Closed)) };
                    self.hear(&chunk[..length]).await?;
                }
                datagram = connection.read_datagram() => {
                    let datagram = datagram.map_err(|error| lost(&error))?;
                    self.take_commands(&datagram)?;
                }
                changed = news.changed(), if joined => {
                    if changed.is_err() {
                        return Err(End::Gone(Disconnect::Shutdown));
                    }
                    let update = news.borrow_and_update().clone();
                    self.tell(update)?;
                }
                () = &mut too_late, if !joined => {
                    return Err(End::Refused(Refusal::NoHello, "it said no hello".into()));
                }
                () = &mut stopped => {
                    self.feed.session.close(ClosingReason::ShuttingDown);
                    return Err(End::Gone(Disconnect::Shutdown));
                }
            }
            self.flush().await?;
        }
    }

    /// Takes in bytes of the control stream.
    async fn hear(&mut self, bytes: &[u8]) -> Result<(), End> {
        let now = self.lobby.now();
        for event in self.feed.session.receive_stream(now, bytes).map_err(End::Broke)? {
            self.heed(event).await?;
        }
        Ok(())
    }

    async fn heed(&mut self, event: Event) -> Result<(), End> {
        match event {
            Event::Hello { name } => self.let_in(name).await,
            Event::Refused(reason) => Err(refused(&reason)),
            Event::Mismatch(tick) => {
                self.feed.note_mismatch(tick);
                Ok(())
            }
            Event::Said(line) => {
                if let Some(Player { seat, .. }) = &self.player {
                    self.lobby.telemetry.network.chat_lines.increment(1);
                    self.lobby.announce(MatchEvent::Said { player: seat.player, line });
                }
                Ok(())
            }
            Event::Left => Err(End::Gone(Disconnect::Left)),
            Event::TimedOut => Err(End::Gone(Disconnect::TimedOut)),
        }
    }

    /// Asks the tick thread for a seat, and tells the client the answer.
    async fn let_in(&mut self, name: PlayerName) -> Result<(), End> {
        if self.feed.is_banned() {
            return Err(self.refuse(RefusalReason::Banned));
        }
        // Known since the handshake; a player without them would see nothing.
        if self.feed.path.max_datagram_size().is_none() {
            let why = "it takes no QUIC datagrams, and those carry the snapshots";
            return Err(End::Refused(Refusal::Malformed, why.into()));
        }
        let (request, answer) = oneshot::channel();
        // A request that finds no room is dropped, and so answered at once.
        let _ = self.lobby.joins.try_send(request);
        let Ok(Ok(answer)) = timeout(JOIN_TIMEOUT, answer).await else {
            return Err(self.refuse(RefusalReason::NotReady));
        };
        let Ok(seat) = answer else {
            let limit = self.lobby.terms.player_limit;
            return Err(self.refuse(RefusalReason::Full { limit }));
        };
        self.feed.session.accept(seat.player, seat.tick);
        // Without a wait in between: whoever is not in the roster that is told
        // now is announced later, and nobody twice.
        let player = seat.player;
        self.lobby.announce(MatchEvent::Joined { player, name: name.clone() });
        self.lobby.sessions.insert(player, name.clone());
        let events = self.feed.introduce();
        let players = self.lobby.sessions.len();
        self.lobby.telemetry.network.joined(players);
        info!(
            "{name} joined from {} as entity {}; {players} of {} players",
            self.feed.path.remote_address(),
            seat.player.slot,
            self.lobby.terms.player_limit,
        );
        self.connected.is_now(ConnectionState::Playing);
        self.player = Some(Player { name, seat, events });
        Ok(())
    }

    fn refuse(&mut self, reason: RefusalReason) -> End {
        let end = refused(&reason);
        self.feed.session.refuse(reason);
        end
    }

    /// Passes a datagram's commands on to the tick thread.
    fn take_commands(&mut self, datagram: &[u8]) -> Result<(), End> {
        let batch = self.feed.take(datagram).map_err(End::Broke)?;
        if let (Some(batch), Some(player)) = (batch, &self.player)
            && player.seat.send(batch, self.lobby.now()).is_err()
        {
            self.lobby.telemetry.network.dropped(DroppedDatagram::Surplus);
        }
        Ok(())
    }

    /// Sends the news.
    fn tell(&mut self, update: Option<Update>) -> Result<(), End> {
        let broken = |broken| {
            End::Gone(match broken {
                Broken::Silent => Disconnect::TimedOut,
                Broken::NoDatagrams => Disconnect::Malformed,
            })
        };
        self.feed.look().map_err(broken)?;
        let (Some(update), Some(player)) = (update, &self.player) else { return Ok(()) };
        let lead = self.lobby.sessions.lead(player.seat.player);
        let own = update.frame.own(player.seat.player, lead);
        self.feed.tell(&update, &own).map_err(broken)
    }

    /// Writes what the session has to say on the control stream.
    async fn flush(&mut self) -> Result<(), End> {
        if self.feed.flush(&mut self.send).await {
            Ok(())
        } else {
            Err(End::Gone(Disconnect::Lost))
        }
    }

    /// Closes the connection, once the client has had time to read why.
    async fn farewell(&mut self, end: &End) {
        let reason = match end {
            End::Broke(error) => {
                return self
                    .feed
                    .path
                    .close(VarInt::from_u32(error.code()), error.to_string().as_bytes());
            }
            End::Gone(Disconnect::Left | Disconnect::Closed | Disconnect::Lost) => {
                return self.feed.path.close(DONE, b"goodbye");
            }
            End::Gone(_) => "goodbye",
            End::Refused(_, reason) => reason.as_str(),
        };
        if self.flush().await.is_ok() && self.send.finish().is_ok() {
            // Whether the client closes or not, we do next.
            let _ = timeout(FAREWELL, self.feed.path.closed()).await;
        }
        self.feed.path.close(DONE, reason.as_bytes());
    }

    fn note_leaving(&self, player: &Player, end: &End) {
        let reason = match end {
            End::Gone(reason) => *reason,
            End::Broke(_) | End::Refused(..) => Disconnect::Malformed,
        };
        self.lobby.sessions.remove(player.seat.player);
        self.lobby.announce(MatchEvent::Left { player: player.seat.player });
        let players = self.lobby.sessions.len();
        self.lobby.telemetry.network.left(players, reason);
        let why = match end {
            End::Broke(error) => format!("broke the protocol ({error})"),
            _ => reason.to_string(),
        };
        let name = &player.name;
        info!("{name} {why}; {players} of {} players", self.lobby.terms.player_limit);
    }

    fn note_refusal(&self, end: &End) {
        let (refusal, why) = match end {
            End::Refused(refusal, why) => (*refusal, why.clone()),
            End::Broke(error) => (Refusal::Malformed, error.to_string()),
            End::Gone(reason) => (Refusal::NoHello, format!("it {reason}")),
        };
        self.lobby.telemetry.network.refused(refusal);
        info!("{} was not let in: {why}", self.feed.path.remote_address());
    }
}

fn lost(error: &ConnectionError) -> End {
    End::Gone(match error {
        ConnectionError::ApplicationClosed(_) => Disconnect::Closed,
        ConnectionError::TimedOut => Disconnect::TimedOut,
        ConnectionError::LocallyClosed => Disconnect::Shutdown,
        _ => Disconnect::Lost,
    })
}

fn broken_stream(error: &ReadError) -> End {
    match error {
        ReadError::ConnectionLost(error) => lost(error),
        _ => End::Gone(Disconnect::Closed),
    }
}

fn refused(reason: &RefusalReason) -> End {
    End::Refused(Refusal::from(reason), reason.to_string())
}
