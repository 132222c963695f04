//! A player's chat lines: passed on to the game, which says who hears them, or counted as a vote.

use obsp_proto::control::{ChatLine, MatchEvent};

use super::{Player, PlayerConnection};
use crate::common::address_key::AddressKey;
use crate::door::clients::Registration;
use crate::matches::rounds::ChatVerdict;
use crate::network::path::Path;

impl<P: Path> PlayerConnection<'_, P> {
    /// Passes the player's line on, unless the player is muted or the budget of chat of the address
    /// or of the match is used up.
    pub(super) fn say(&mut self, line: ChatLine) {
        let access = &self.game.access;
        let is_muted = |client: &Registration| access.mutes.holds_for(client, access.clock.now());
        if self.registration.as_ref().is_some_and(is_muted) {
            return;
        }
        match self.permit.say(line.as_str().len(), std::time::Instant::now()) {
            Ok(()) if self.player.is_some() && self.vote(&line) => {}
            Ok(()) => {
                let Some(Player { seat, .. }) = &self.player else { return };
                self.game.telemetry.network.chat_lines.increment(1);
                // The queue is longer than the budget of chat ever lets it grow.
                let _ = seat.say(line);
            }
            Err(limit) => self.feed.limited(limit),
        }
    }

    /// Handles a line that is a vote. Returns false if it is an ordinary chat line.
    fn vote(&mut self, line: &ChatLine) -> bool {
        let Some(client) = &self.registration else { return false };
        if !line.as_str().starts_with('/') {
            return false;
        }
        let clients = self.game.clients.list();
        let players = clients.iter().filter(|client| !client.spectates);
        let players: Vec<_> =
            players.map(|client| (client.number, client.name.to_string())).collect();
        let caller = match client.player_id {
            Some(player) => format!("player {player}"),
            None => {
                format!("{:?}", AddressKey::from(self.feed.path.connection().remote_address().ip()))
            }
        };
        let by = (client.number, client.name.as_str(), caller.as_str());
        let announced =
            |text: &str| Some(MatchEvent::Announced { line: ChatLine::new(text).ok()? });
        match self.game.rounds.on_chat(by, line.as_str(), &players, self.game.now()) {
            ChatVerdict::Chat => return false,
            ChatVerdict::Counted => {}
            ChatVerdict::Called(text) => {
                announced(&text).into_iter().for_each(|event| self.game.announce(event));
            }
            ChatVerdict::Mistake(text) => {
                if let Some(event) = announced(&text) {
                    self.feed.session.send_event(self.game.next_tick(), &event);
                }
            }
        }
        true
    }
}
