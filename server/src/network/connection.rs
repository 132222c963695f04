use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use proto::control::{ClosingReason, MatchEvent, PlayerName, RefusalReason};
use proto::server::{Budget, Event, Session};
use proto::snapshot::MIN_SNAPSHOT;
use proto::{HANDSHAKE_TIMEOUT, ProtocolError, Tick};
use quinn::{ConnectionError, Incoming, ReadError, RecvStream, SendStream, VarInt};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::{debug, info, warn};

use super::line::Line;
use super::map_stream::{self, MAPS_A_CONNECTION};
use super::waves::Update;
use super::{Events, Lobby, spectator};
use crate::seats::Seat;
use crate::telemetry::{Connected, ConnectionState, Disconnect, Part, Refusal};

/// Application error code of a connection that ends by the rules; why, the
/// control stream says.
pub(super) const DONE: VarInt = VarInt::from_u32(0);

/// How long a client has to read a last message and close the connection
/// itself. Closing at once could overtake the message.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long a client may refuse to take a control message.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the tick thread may take to answer a wish to join: many ticks.
const JOIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Most bytes read from the control stream at a time.
const CHUNK: usize = 2048;

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
            let talk = Talk {
                empty_buffer: connection.datagram_send_buffer_space(),
                connection,
                send,
                session,
                budget: Budget::new(lobby.client_budget, lobby.now()),
                lobby: &lobby,
                player: None,
                connected,
                line: Line::default(),
            };
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
    connection: quinn::Connection,
    /// Room for datagrams while none waits to be sent.
    empty_buffer: usize,
    send: SendStream,
    session: Session,
    budget: Budget,
    lobby: &'a Arc<Lobby>,
    player: Option<Player>,
    /// The connection's place in the statistics.
    connected: Connected,
    line: Line,
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
        let connection = self.connection.clone();
        let mut chunk = [0; CHUNK];
        // Ends with the conversation, and what is being sent with it.
        let mut map_streams = JoinSet::new();
        let mut maps_left = MAPS_A_CONNECTION;
        loop {
            let joined = self.player.is_some();
            tokio::select! {
                event = next_event(&mut self.player) => {
                    let (tick, event) = event?;
                    self.session.tell(tick, &event);
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
                    self.tell(&mut news)?;
                }
                () = &mut too_late, if !joined => {
                    return Err(End::Refused(Refusal::NoHello, "it said no hello".into()));
                }
                () = &mut stopped => {
                    self.session.close(ClosingReason::ShuttingDown);
                    return Err(End::Gone(Disconnect::Shutdown));
                }
            }
            self.flush().await?;
        }
    }

    /// Takes in bytes of the control stream.
    async fn hear(&mut self, bytes: &[u8]) -> Result<(), End> {
        let now = self.lobby.now();
        for event in self.session.receive_stream(now, bytes).map_err(End::Broke)? {
            self.heed(event).await?;
        }
        Ok(())
    }

    async fn heed(&mut self, event: Event) -> Result<(), End> {
        match event {
            Event::Hello { name } => self.let_in(name).await,
            Event::Refused(reason) => Err(refused(&reason)),
            Event::Mismatch(tick) => {
                self.lobby.telemetry.network.digest_mismatches.increment(1);
                warn!(
                    "{} did not decode tick {tick} as it was meant, please report it",
                    self.connection.remote_address()
                );
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
        let address = self.connection.remote_address().ip().to_canonical();
        if self.lobby.banned.contains(&address) {
            return Err(self.refuse(RefusalReason::Banned));
        }
        // Known since the handshake; a player without them would see nothing.
        if self.connection.max_datagram_size().is_none() {
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
        self.session.accept(seat.player, seat.tick);
        // Without a wait in between: whoever is not in the roster that is told
        // now is announced later, and nobody twice.
        let player = seat.player;
        self.lobby.announce(MatchEvent::Joined { player, name: name.clone() });
        self.lobby.sessions.insert(player, name.clone());
        let events = self.lobby.events.subscribe();
        for event in self.lobby.sessions.roster() {
            self.session.tell(self.lobby.next_tick(), &event);
        }
        let players = self.lobby.sessions.len();
        self.lobby.telemetry.network.joined(players);
        info!(
            "{name} joined from {} as entity {}; {players} of {} players",
            self.connection.remote_address(),
            seat.player.slot,
            self.lobby.terms.player_limit,
        );
        self.connected.is_now(ConnectionState::Playing);
        self.player = Some(Player { name, seat, events });
        Ok(())
    }

    fn refuse(&mut self, reason: RefusalReason) -> End {
        let end = refused(&reason);
        self.session.refuse(reason);
        end
    }

    /// Passes a datagram's commands on to the tick thread.
    fn take_commands(&mut self, datagram: &[u8]) -> Result<(), End> {
        let now = self.lobby.now();
        let batch = self.session.receive_datagram(now, datagram).map_err(End::Broke)?;
        let network = &self.lobby.telemetry.network;
        if let (Some(batch), Some(player)) = (batch, &self.player) {
            network.command_datagrams.increment(1);
            if player.seat.send(batch, now).is_err() {
                network.surplus_datagrams.increment(1);
            }
        }
        Ok(())
    }

    /// Sends the news, unless the last ones still wait for the path.
    fn tell(&mut self, news: &mut watch::Receiver<Option<Update>>) -> Result<(), End> {
        if let Some(Event::TimedOut) = self.session.advance(self.lobby.now()) {
            return Err(End::Gone(Disconnect::TimedOut));
        }
        let Some(update) = news.borrow_and_update().clone() else { return Ok(()) };
        let Some(player) = &self.player else { return Ok(()) };
        let network = &self.lobby.telemetry.network;
        self.line.observe(&self.connection, self.lobby.now(), &network.line);
        if self.connection.datagram_send_buffer_space() < self.empty_buffer {
            network.snapshots_skipped.increment(1);
            return Ok(());
        }
        let Some(limit) = self.connection.max_datagram_size() else {
            return Err(End::Gone(Disconnect::Malformed));
        };
        let affordable = self.budget.available(self.lobby.now());
        if affordable < MIN_SNAPSHOT {
            network.snapshots_unaffordable.increment(1);
            return Ok(());
        }
        let lead = self.lobby.sessions.lead(player.seat.player);
        let own = update.frame.own(player.seat.player, lead);
        let limit = limit.min(affordable);
        let entities = self.session.stats().records;
        let begin = Instant::now();
        self.session.choose_news(&update.state);
        let begin = network.round.spent(Part::Interest, begin);
        let snapshot = self.session.encode_snapshot(&update.state, &own, limit);
        let begin = network.round.spent(Part::Encode, begin);
        if let Some(snapshot) = snapshot {
            network.sent_snapshot(snapshot.len(), self.session.stats().records - entities);
            self.budget.spend(snapshot.len());
            // What the path no longer takes is like lost on the way; what
            // ended the connection is told by the next read.
            let _ = self.connection.send_datagram(Bytes::from(snapshot));
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
            _ => Err(End::Gone(Disconnect::Lost)),
        }
    }

    /// Closes the connection, once the client has had time to read why.
    async fn farewell(&mut self, end: &End) {
        let reason = match end {
            End::Broke(error) => {
                return self
                    .connection
                    .close(VarInt::from_u32(error.code()), error.to_string().as_bytes());
            }
            End::Gone(Disconnect::Left | Disconnect::Closed | Disconnect::Lost) => {
                return self.connection.close(DONE, b"goodbye");
            }
            End::Gone(_) => "goodbye",
            End::Refused(_, reason) => reason.as_str(),
        };
        if self.flush().await.is_ok() && self.send.finish().is_ok() {
            // Whether the client closes or not, we do next.
            let _ = timeout(FAREWELL, self.connection.closed()).await;
        }
        self.connection.close(DONE, reason.as_bytes());
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
        info!("{} was not let in: {why}", self.connection.remote_address());
    }
}

/// The next thing that happened in the match; never comes before the client
/// has joined.
async fn next_event(player: &mut Option<Player>) -> Result<(Tick, MatchEvent), End> {
    match player {
        // Who missed some would have a wrong idea of the match from then on.
        Some(player) => player.events.recv().await.map_err(|error| match error {
            RecvError::Lagged(_) => End::Gone(Disconnect::Lost),
            RecvError::Closed => End::Gone(Disconnect::Shutdown),
        }),
        None => std::future::pending().await,
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
