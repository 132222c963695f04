//! From a hello to a seat: who a client is, whether it may join, and where.

use std::time::Duration;

use obsp_proto::control::{MatchEvent, PlayerName, Reason, RefusalReason, Ticket};
use obsp_proto::token::OpenedToken;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tracing::info;

use super::{Player, PlayerConnection};
use crate::clients::{Client, Removal};
use crate::names;
use crate::network::away::{self, Away};
use crate::network::end::End;
use crate::network::path::Path;
use crate::seats::Seat;
use crate::telemetry::ConnectionState;
use crate::tickets::Presented;
use crate::unix_time::unix_time;

/// How long the tick thread may take to answer a wish to join: many ticks.
const JOIN_TIMEOUT: Duration = Duration::from_secs(1);

/// How long the older of two connections of one player has to leave its body to the
/// newer one.
const HANDOVER: Duration = Duration::from_secs(1);

/// Time between two looks at whether it has.
const HANDOVER_LOOK: Duration = Duration::from_millis(10);

impl<P: Path> PlayerConnection<'_, P> {
    /// Answers a hello: the first of a connection, or that of a client which follows
    /// the match into another world.
    pub(super) async fn greet(
        &mut self,
        name: PlayerName,
        token: &[u8],
        ticket: Ticket,
    ) -> Result<(), End> {
        if self.registration.is_some() {
            return self.take_seat().await;
        }
        self.name = Some(name.clone());
        // Banned since the handshake, or come here from another address.
        if self.feed.is_banned() {
            return Err(self.refuse(RefusalReason::Banned));
        }
        // Known since the handshake; a player without them would see nothing.
        if self.feed.path.largest_datagram().is_none() {
            return Err(Reason::NoDatagrams.into());
        }
        if let Some(away) = self.recognise(ticket).await
            && let Some(away) = self.unless_unwanted(away)?
        {
            return self.come_back(away).await;
        }
        if self.lobby.game.stop.draining().is_some() {
            return Err(self.refuse(RefusalReason::NotReady));
        }
        let token = self.judge_token(token)?;
        let player_id = token.as_ref().map(|token| token.claims.player);
        if let Some(away) = self.take_over_from(player_id).await
            && let Some(away) = self.unless_unwanted(away)?
        {
            return self.come_back(away).await;
        }
        let outcome = self.let_in(name, token.as_ref()).await;
        if let (Err(_), Some(token), Some(gate)) = (&outcome, &token, &self.lobby.game.access.gate)
        {
            gate.give_back(token);
        }
        outcome
    }

    /// The body that a player left, unless the player is banned, and refused, or was removed
    /// meanwhile, who may come as newcomers do.
    fn unless_unwanted(&mut self, away: Away) -> Result<Option<Away>, End> {
        let address = self.feed.path.connection().remote_address().ip();
        let is_banned = self.lobby.game.access.bans.is_banned(address, away.player_id, unix_time());
        if !is_banned && !away.registration.is_removed() {
            return Ok(Some(away));
        }
        away::release(away, self.lobby);
        if is_banned { Err(self.refuse(RefusalReason::Banned)) } else { Ok(None) }
    }

    /// The body that the holder of a ticket left. If an older connection seems to be open
    /// still, it is closed first.
    async fn recognise(&self, ticket: Ticket) -> Option<Away> {
        if ticket == Ticket::NONE {
            return None;
        }
        let handover = async {
            loop {
                match self.lobby.tickets.present(ticket, std::time::Instant::now()) {
                    Presented::Back(away) => return Some(away),
                    Presented::Unknown => return None,
                    Presented::Here(older) => older.remove(Removal::replaced()),
                }
                sleep(HANDOVER_LOOK).await;
            }
        };
        timeout(HANDOVER, handover).await.ok().flatten()
    }

    /// Opens the client's connect token, where tokens are asked for.
    fn judge_token(&mut self, token: &[u8]) -> Result<Option<OpenedToken>, End> {
        let Some(gate) = &self.lobby.game.access.gate else { return Ok(None) };
        if token.is_empty() {
            return Err(self.refuse(RefusalReason::TokenRequired));
        }
        let now = unix_time();
        match gate.redeem(token, &self.lobby.game.endpoint.names(), now) {
            Ok(opened) => {
                let player = Some(opened.claims.player);
                let address = self.feed.path.connection().remote_address().ip();
                if self.lobby.game.access.bans.is_banned(address, player, now) {
                    return Err(self.refuse(RefusalReason::Banned));
                }
                Ok(Some(opened))
            }
            Err(rejected) => {
                let end = self.refuse(RefusalReason::BadToken);
                Err(End { detail: Some(rejected.to_string()), ..end })
            }
        }
    }

    /// Lets a newcomer in.
    async fn let_in(&mut self, name: PlayerName, token: Option<&OpenedToken>) -> Result<(), End> {
        let claims = token.map(|token| &token.claims);
        // The backend's name for a player takes precedence over the client's.
        let name = claims.map_or(name, |claims| claims.name.clone());
        let player_id = claims.map(|claims| claims.player);
        sleep(self.permit.rejoin_delay(std::time::Instant::now())).await;
        if let Err(limit) = self.permit.play(std::time::Instant::now()) {
            self.lobby.game.telemetry.network.limited(limit);
            return Err(self.refuse(RefusalReason::AddressLimit));
        }
        let limit = self.lobby.game.match_info().player_limit;
        let reserved = claims.is_some_and(|claims| claims.reserved);
        let open_to_it =
            if reserved { limit } else { limit - self.lobby.game.access.reserved_slots.min(limit) };
        if !self.register(name, player_id, open_to_it.into()) {
            let end = self.refuse(RefusalReason::Full { limit: open_to_it });
            let detail = format!(
                "{open_to_it} of {limit} places are open to this client, the others are reserved"
            );
            return Err(if open_to_it < limit { End { detail: Some(detail), ..end } } else { end });
        }
        let seated = self.take_seat().await;
        if seated.is_err() {
            self.registration = None;
            self.lobby.tickets.forget(self.ticket);
        }
        seated
    }

    /// Ends an older connection of the player whom tokens know by this number, and gives
    /// what it leaves behind.
    async fn take_over_from(&self, player_id: Option<u64>) -> Option<Away> {
        let player_id = player_id?;
        let clients = self.lobby.game.clients.list();
        let older = clients.into_iter().find(|client| client.player_id == Some(player_id))?;
        if older.ticket() != Ticket::NONE {
            return self.recognise(older.ticket()).await;
        }
        older.remove(Removal::replaced());
        let ended = async {
            while self.lobby.game.clients.find(older.number).is_some() {
                sleep(HANDOVER_LOOK).await;
            }
        };
        // One that does not end is left to its own time-outs.
        let _ = timeout(HANDOVER, ended).await;
        None
    }

    /// Takes a place among the clients; false if none of so many is left.
    fn register(&mut self, name: PlayerName, player_id: Option<u64>, limit: usize) -> bool {
        let lobby = self.lobby;
        let others = lobby.game.clients.list();
        let names = others.iter().filter(|client| !client.spectates).map(|client| &client.name);
        let name = names::unlike(&name, names);
        let (number, address) =
            (self.connected.number(), self.feed.path.connection().remote_address());
        let client = Client::new(number, name.clone(), address, player_id, false);
        let Some(registration) = lobby.game.clients.enter(client, limit) else { return false };
        self.name = Some(name);
        self.ticket = lobby.tickets.draw(&registration);
        registration.hold(self.ticket);
        // Seconds; what is longer than the wire can say is cut there.
        let keep = u16::try_from(lobby.tickets.keep().as_secs()).unwrap_or(u16::MAX);
        self.feed
            .session
            .set_ticket(self.ticket, if self.ticket == Ticket::NONE { 0 } else { keep });
        self.registration = Some(registration);
        true
    }

    /// Gives a player back what it has left behind.
    async fn come_back(&mut self, away: Away) -> Result<(), End> {
        let Away { name, player_id, registration, place, seat } = away;
        let was_muted = registration.is_muted();
        // Its own old place is free for it.
        drop(registration);
        // Shares are for newcomers: this player has its place already.
        self.permit.resume(place, std::time::Instant::now());
        if !self.register(name, player_id, usize::MAX) {
            return Err(self.refuse(RefusalReason::NotReady));
        }
        if let Some(client) = &self.registration {
            client.mute(was_muted);
        }
        self.lobby.game.telemetry.network.rejoined();
        match seat {
            Some(seat) if seat.level.number == self.lobby.game.level().number => {
                let tick = self.lobby.game.last_tick();
                seat.protect(false);
                self.feed.enter(&seat.level);
                self.feed.session.accept(seat.player, tick);
                self.begin(seat, "player is back");
                Ok(())
            }
            _ => self.take_seat().await,
        }
    }

    /// Asks the tick thread for a seat in the world that is played, and tells the client
    /// the answer.
    async fn take_seat(&mut self) -> Result<(), End> {
        let (request, answer) = oneshot::channel();
        // A request that finds no room is dropped, and so answered at once.
        let _ = self.lobby.joins.try_send(request);
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
        // Without a wait in between: whoever is not in the roster that is told
        // now is announced later, and nobody twice.
        let player = seat.player;
        if let Some(name) = self.name.clone() {
            let joined = MatchEvent::Joined { player, name: name.clone() };
            self.lobby.game.announce_in(&seat.level, joined);
            seat.level.roster.insert(player, name);
        }
        if !again {
            self.lobby.game.telemetry.network.joined(self.lobby.game.clients.players());
        }
        self.begin(seat, if again { "player is in the next world" } else { "player joined" });
        Ok(())
    }

    /// Lets the client hear of the world in which it has a seat.
    fn begin(&mut self, seat: Seat, what: &str) {
        let events = self.feed.introduce();
        let player = seat.player;
        info!(
            connection = self.connected.number(),
            address = %self.feed.path.connection().remote_address(),
            slot = player.slot,
            generation = player.generation,
            name = self.name.as_ref().map(PlayerName::as_str),
            players = self.lobby.game.clients.players(),
            max_players = self.feed.level.match_info.player_limit,
            "{what}",
        );
        if !self.connected.is(ConnectionState::Playing) {
            self.connected.is_now(ConnectionState::Playing);
            self.join = self.note_join(Ok(player.slot));
        }
        self.player = Some(Player { seat, events });
    }
}
