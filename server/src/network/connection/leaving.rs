//! Takes a player out of the match when the connection has ended, or keeps the body for a while.

use std::sync::Arc;

use obsp_proto::control::Reason;
use tracing::info;

use super::{PlayerConnection, person};
use crate::door::clients;
use crate::door::clients::Registration;
use crate::matches::happening::Happening;
use crate::matches::seats::away::AwayPlayer;
use crate::network::away;
use crate::network::end::End;
use crate::network::path::Path;

impl<P: Path> PlayerConnection<'_, P> {
    /// Takes a player out of the match, or keeps the place if the player may come back. The reason
    /// is logged and counted.
    pub(super) fn note_leaving(&mut self, registration: Registration, end: &End) {
        self.permit.note_left(std::time::Instant::now());
        let seat = self.player.take().map(|player| player.seat);
        let game = self.game;
        let stay = away::stay(game, seat.as_ref(), end.reason);
        if let Some(seat) = &seat {
            let silence = game.now().since(self.feed.session.last_received());
            seat.leave_behind(game.leaving.protected_from(game, silence));
        }
        let player = seat.as_ref().map(|seat| seat.player);
        let client = Arc::clone(&registration);
        let (name, player_id) = (registration.name.clone(), registration.player_id);
        let place = self.permit.keep_place(std::time::Instant::now());
        let has_left = !away::may_come_back(end.reason) || game.tickets.keep().is_zero();
        let away = AwayPlayer { name, player_id, registration, place, seat, has_left };
        let left = if !stay.is_zero() {
            away.registration.goes_away();
            if has_left {
                let seconds = stay.as_secs_f64();
                info!(
                    connection = away.registration.number,
                    name = away.name.as_str(),
                    "left in a fight: the body stays for {seconds:.1} s"
                );
                game.telemetry.network.left_fighting();
            }
            game.tickets.lose(self.ticket, away, std::time::Instant::now() + stay)
        } else {
            self.game.tickets.forget(self.ticket);
            Some(away)
        };
        if let Some(away) = left {
            away::release(away, self.game);
        }
        let players = self.game.clients.players();
        self.game.telemetry.network.left(players, end.reason);
        self.tell_leave(&client, end.reason, players);
        self.log_end(Some("player"), player, end, players);
    }

    /// Tells the webhook that a player has left.
    fn tell_leave(&self, client: &clients::Client, reason: Reason, players: usize) {
        let (player, reason) = (person(client), reason.code());
        let seconds = client.seconds();
        let leave = Happening::Leave { player, reason, seconds, players };
        self.game.webhook.tell(Some(&self.game.name), &leave);
    }
}
