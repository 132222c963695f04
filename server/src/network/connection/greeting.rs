//! Leads a client from its hello to a seat: who the client is, whether it may join, and where.

use std::sync::Arc;
use std::time::Duration;

use obsp_game::PlayerInfo;
use obsp_proto::control::{MatchEvent, MatchName, PlayerName, RefusalReason, Ticket};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tracing::info;

use super::identity::Identity;
use super::{Player, PlayerConnection, person};
use crate::door::clients::steered::SteeredEntity;
use crate::door::clients::{Client, Removal};
use crate::door::names;
use crate::door::tickets::Presented;
use crate::matches::happening::Happening;
use crate::matches::match_handle::MatchHandle;
use crate::matches::seats::away::AwayPlayer;
use crate::matches::seats::{JoinRequest, Seat};
use crate::matches::telemetry::ConnectionState;
use crate::network::away;
use crate::network::end::End;
use crate::network::path::Path;

/// How long the tick thread may take to answer a request to join: many ticks.
const JOIN_TIMEOUT: Duration = Duration::from_secs(1);

/// How long the older of two connections of one player has to hand over its body to the newer one.
const HANDOVER: Duration = Duration::from_secs(1);

/// Time between two checks whether the older connection has handed over its body.
const HANDOVER_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The things that a player who comes back keeps besides the body.
struct Returned {
    ticket: Ticket,
    steered: Arc<SteeredEntity>,
}

impl<P: Path> PlayerConnection<'_, P> {
    /// Moves the connection to the match that its hello names.
    pub(super) fn enter_match(&mut self, name: &MatchName) -> Result<(), End> {
        let game = match self.games.find(name.as_str()) {
            Ok(game) => game,
            Err(matches) => return Err(self.refuse(RefusalReason::NoSuchMatch { matches })),
        };
        self.game = game;
        self.news = game.send_groups.subscribe();
        self.connected.moves(&game.telemetry.network.connections);
        self.feed.enter_match(game).map_err(|reason| End::from(&reason))
    }

    /// Answers a hello. It is the first of a connection, or it comes from a client that follows the
    /// match into another world.
    pub(super) async fn greet(
        &mut self,
        name: PlayerName,
        token: &[u8],
        ticket: Ticket,
    ) -> Result<(), End> {
        if self.registration.is_some() {
            return self.take_seat().await;
        }
        let outcome = self.admit(name, token, ticket).await;
        self.end_older_connections().await;
        outcome
    }

    /// Lets a client into the match. A player who comes back gets the body they left; others get a
    /// new one.
    async fn admit(&mut self, name: PlayerName, token: &[u8], ticket: Ticket) -> Result<(), End> {
        if self.game.has_failed() {
            return Err(self.refuse(RefusalReason::NotReady));
        }
        self.name = Some(name.clone());
        // The address may have been banned since the handshake, or the connection may have moved to
        // a banned one.
        if self.feed.is_banned() {
            return Err(self.refuse(RefusalReason::Banned));
        }
        self.feed.ask_datagrams()?;
        if let Some(away) = recognise(self.game, ticket).await
            && let Some(away) = self.unless_unwanted(away)?
        {
            return self.come_back(away).await;
        }
        if self.game.stop.draining().is_some() {
            return Err(self.refuse(RefusalReason::NotReady));
        }
        let identity = self.identify(token)?;
        let player_id = identity.player_id();
        if let Some(away) = self.take_over_from(self.game, player_id, |_| true).await
            && let Some(away) = self.unless_unwanted(away)?
        {
            return self.come_back(away).await;
        }
        let outcome = self.let_in(name, &identity).await;
        if let (Err(_), Identity::Token(token), Some(gate)) =
            (&outcome, &identity, &self.game.access.gate)
        {
            gate.give_back(token);
        }
        outcome
    }

    /// Returns the body that a player left, if the player may have it back. A banned player is
    /// refused. A player who was removed meanwhile gets `None`, and may join as a newcomer.
    fn unless_unwanted(&mut self, away: AwayPlayer) -> Result<Option<AwayPlayer>, End> {
        let address = self.feed.path.connection().remote_address().ip();
        let access = &self.game.access;
        let is_banned = access.bans.is_banned(address, away.player_id, access.clock.unix());
        if !is_banned && !away.registration.is_removed() {
            return Ok(Some(away));
        }
        away::release(away, self.game);
        if is_banned { Err(self.refuse(RefusalReason::Banned)) } else { Ok(None) }
    }

    /// Lets a newcomer in.
    async fn let_in(&mut self, name: PlayerName, identity: &Identity) -> Result<(), End> {
        // The player's name in the token or on the list takes precedence over the client's choice.
        let name = identity.name().cloned().unwrap_or(name);
        let player_id = identity.player_id();
        sleep(self.permit.rejoin_delay(std::time::Instant::now())).await;
        if let Err(limit) = self.permit.play(std::time::Instant::now()) {
            self.game.telemetry.network.limited(limit);
            return Err(self.refuse(RefusalReason::AddressLimit));
        }
        let limit = self.game.match_info().player_limit;
        let reserved = matches!(identity, Identity::Token(token) if token.claims.reserved);
        let open_to_it =
            if reserved { limit } else { limit - self.game.access.reserved_slots.min(limit) };
        if !self.register(name, player_id, open_to_it.into(), None) {
            let end = self.refuse(RefusalReason::Full { limit: open_to_it });
            let detail = format!(
                "{open_to_it} of {limit} places are open to this client, the others are reserved"
            );
            return Err(if open_to_it < limit { End { detail: Some(detail), ..end } } else { end });
        }
        let seated = self.take_seat().await;
        if seated.is_err() {
            self.registration = None;
            self.game.tickets.forget(self.ticket);
        } else {
            self.feed.greet();
        }
        seated
    }

    /// Ends the older connections of a player whom the backend knows by a number, in all matches.
    /// So nobody is in two matches at once, or in one match twice. They are ended only once the
    /// player is in this match, so a player who is refused here keeps the place in the other match.
    async fn end_older_connections(&self) {
        let Some(own) = &self.registration else { return };
        if self.game.has_failed() {
            own.remove(Removal::match_failed());
        }
        for game in self.games.iter() {
            let is_older = |other: &Client| other.came_before(own);
            if let Some(away) = self.take_over_from(game, own.player_id, is_older).await {
                away::leave(away, game);
            }
        }
    }

    /// Ends an older connection to the match of the player whom the backend knows by this number.
    /// Returns the body and the places that the connection leaves behind.
    async fn take_over_from(
        &self,
        game: &Arc<MatchHandle>,
        player_id: Option<u64>,
        which: impl Fn(&Client) -> bool,
    ) -> Option<AwayPlayer> {
        let player_id = player_id?;
        let clients = game.clients.list();
        let is_older = |client: &Arc<Client>| client.player_id == Some(player_id) && which(client);
        let older = clients.into_iter().find(is_older)?;
        if older.ticket() != Ticket::NONE {
            return recognise(game, older.ticket()).await;
        }
        older.remove(Removal::replaced());
        let ended = async {
            while game.clients.find(older.number).is_some() {
                sleep(HANDOVER_POLL_INTERVAL).await;
            }
        };
        // A connection that does not end in time is left to its own time-outs.
        let _ = timeout(HANDOVER, ended).await;
        None
    }

    /// Takes a place among the clients. Returns false if all of `limit` places are taken. A player
    /// who comes back keeps the ticket and the [`SteeredEntity`] of the old registration.
    fn register(
        &mut self,
        name: PlayerName,
        player_id: Option<u64>,
        limit: usize,
        returned: Option<Returned>,
    ) -> bool {
        let game = self.game;
        let others = game.clients.list();
        let names = others.iter().filter(|client| !client.spectates).map(|client| &client.name);
        let name = names::unlike(&name, names);
        let (number, address) =
            (self.connected.number(), self.feed.path.connection().remote_address());
        let mut client = Client::new(number, name.clone(), address, player_id, false);
        let (ticket, steered) =
            returned.map(|Returned { ticket, steered }| (ticket, steered)).unzip();
        client.steered = steered.unwrap_or_default();
        let Some(registration) = game.clients.enter(client, limit) else { return false };
        self.name = Some(name);
        self.ticket = match ticket.filter(|ticket| *ticket != Ticket::NONE) {
            Some(ticket) => {
                game.tickets.renew(ticket, &registration);
                ticket
            }
            None => game.tickets.draw(&registration),
        };
        registration.hold(self.ticket);
        // In seconds. A time too long for the wire format is cut.
        let keep = u16::try_from(game.tickets.keep().as_secs()).unwrap_or(u16::MAX);
        // If `--rejoin` is 0, the ticket only keeps bodies in fights, and the client does not get
        // it.
        let shown = if keep == 0 { Ticket::NONE } else { self.ticket };
        self.feed.session.set_ticket(shown, if shown == Ticket::NONE { 0 } else { keep });
        self.registration = Some(registration);
        true
    }

    /// Gives a player who comes back the old name, place and body.
    async fn come_back(&mut self, away: AwayPlayer) -> Result<(), End> {
        let AwayPlayer { name, player_id, registration, place, seat, .. } = away;
        let muted_until = registration.muted_until();
        let steered = Arc::clone(&registration.steered);
        let returned = Returned { ticket: registration.ticket(), steered };
        // Dropping the old registration frees the name and the place for the new one.
        drop(registration);
        // The address's share is for newcomers. This player has a place already.
        self.permit.resume(place, std::time::Instant::now());
        if !self.register(name, player_id, usize::MAX, Some(returned)) {
            return Err(self.refuse(RefusalReason::NotReady));
        }
        if let Some(client) = &self.registration {
            client.mute_until(muted_until);
        }
        self.game.telemetry.network.rejoined();
        match seat {
            Some(seat) if seat.level.number == self.game.level().number => {
                let tick = self.game.last_tick();
                seat.take_up();
                self.feed.enter(&seat.level);
                self.feed.session.accept(seat.player, tick);
                self.begin(seat, "player is back");
                Ok(())
            }
            _ => self.take_seat().await,
        }
    }

    /// Asks the tick thread for a seat in the current world, and sends the client the answer.
    async fn take_seat(&mut self) -> Result<(), End> {
        let Some(client) = &self.registration else {
            return Err(self.refuse(RefusalReason::NotReady));
        };
        let (request, answer) = oneshot::channel();
        let name = self.name.as_ref().map_or("", |name| name.as_str()).to_owned();
        let info = PlayerInfo { name, player_id: client.player_id };
        let request = JoinRequest { answer: request, info, steered: Arc::clone(&client.steered) };
        // If the queue is full, the request is dropped. Dropping it answers it at once.
        let _ = self.game.joins.try_send(request);
        let Ok(Ok(answer)) = timeout(JOIN_TIMEOUT, answer).await else {
            return Err(self.refuse(RefusalReason::NotReady));
        };
        let Ok(seat) = answer else {
            let limit = self.feed.level.match_info.player_limit;
            return Err(self.refuse(RefusalReason::Full { limit }));
        };
        let again = self.connected.is(ConnectionState::Playing);
        self.feed.enter(&seat.level);
        self.feed.session.accept(seat.player, seat.tick);
        // There must be no `await` between this and the introductions in `begin`. Otherwise a
        // player who joins in between could be announced twice, or not at all.
        let player = seat.player;
        if let Some(name) = self.name.clone() {
            let joined = MatchEvent::Joined { player, name: name.clone() };
            self.game.announce_in(&seat.level, joined);
            seat.level.roster.insert(player, name);
        }
        if !again {
            self.game.telemetry.network.joined(self.game.clients.players());
        }
        self.begin(seat, if again { "player is in the next world" } else { "player joined" });
        Ok(())
    }

    fn tell_join(&self) {
        let Some(client) = &self.registration else { return };
        let game = self.game;
        let join = Happening::Join { player: person(client), players: game.clients.players() };
        game.webhook.tell(Some(&game.name), &join);
    }

    /// Begins to send the client the events of the world in which it has a seat.
    fn begin(&mut self, mut seat: Seat, what: &str) {
        let events = self.feed.introduce(seat.events.take());
        let player = seat.player;
        info!(
            connection = self.connected.number(),
            address = %self.feed.path.connection().remote_address(),
            slot = player.slot,
            generation = player.generation,
            name = self.name.as_ref().map(PlayerName::as_str),
            players = self.game.clients.players(),
            max_players = self.feed.level.match_info.player_limit,
            "{what}",
        );
        if !self.connected.is(ConnectionState::Playing) {
            self.connected.is_now(ConnectionState::Playing);
            self.join = self.note_join(Ok(player.slot));
            self.tell_join();
        }
        self.player = Some(Player { seat, events });
    }
}

/// The body that the holder of a ticket left. An older connection that still seems open is closed
/// first.
async fn recognise(game: &Arc<MatchHandle>, ticket: Ticket) -> Option<AwayPlayer> {
    if ticket == Ticket::NONE {
        return None;
    }
    let handover = async {
        loop {
            match game.tickets.present(ticket, std::time::Instant::now()) {
                Presented::Back(away) => return Some(away),
                Presented::Unknown => return None,
                Presented::Here(older) => older.remove(Removal::replaced()),
            }
            sleep(HANDOVER_POLL_INTERVAL).await;
        }
    };
    timeout(HANDOVER, handover).await.ok().flatten()
}
