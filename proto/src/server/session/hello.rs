//! Checks a client's hello: the client's identity, and whether it can play the match that it asks
//! for.

use std::sync::Arc;

use super::{Event, MatchInfo, Phase, Session};
use crate::control::{ClientHello, MapHash, PlayerName, RefusalReason};

impl Session {
    /// Checks a hello of the right version.
    pub(super) fn check_hello(&mut self, hello: ClientHello) -> Event {
        let match_name = hello.match_name().cloned();
        self.wants_effects = hello.effects();
        self.asked_map = match_name.is_some().then(|| hello.map());
        if let (None, Err(reason)) = (&match_name, self.check_map(hello.map())) {
            return self.refuse_with(reason);
        }
        let Ok(name) = PlayerName::new(hello.name()) else {
            return self.refuse_with(RefusalReason::BadName);
        };
        self.phase = Phase::AwaitingAnswer;
        Event::Hello { name, token: hello.token().to_owned(), ticket: hello.ticket(), match_name }
    }

    /// Whether a client with this map can play.
    fn check_map(&self, client: MapHash) -> Result<(), RefusalReason> {
        let MatchInfo { map, map_name, .. } = &*self.match_info;
        if client != MapHash::ANY && client != *map {
            return Err(RefusalReason::WrongMap { server: *map, name: map_name.clone() });
        }
        Ok(())
    }

    /// Takes the client, whose hello waits for its answer, into the match that it named.
    ///
    /// # Errors
    /// The client has another map. It has already been refused, as [`Session::refuse`] does.
    pub fn enter_match(&mut self, match_info: Arc<MatchInfo>) -> Result<(), RefusalReason> {
        self.match_info = match_info;
        let checked = self.asked_map.take().map_or(Ok(()), |map| self.check_map(map));
        if let Err(reason) = &checked {
            self.refuse(reason.clone());
        }
        checked
    }
}
