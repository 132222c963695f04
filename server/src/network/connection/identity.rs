//! Finds out who a client is, by its connect token, the password of the match, or the client's own
//! word.

use obsp_proto::control::{PlayerName, RefusalReason};
use obsp_proto::token::OpenedToken;

use super::PlayerConnection;
use crate::door::admittance::Known;
use crate::network::end::End;
use crate::network::path::Path;

/// The identity of a client.
pub(super) enum Identity {
    /// A player whom the backend knows.
    Token(OpenedToken),
    /// A player on the list of players.
    Known(Known),
    /// A client that may play and that neither a token nor the list identifies.
    Unknown,
}

impl Identity {
    pub(super) fn player_id(&self) -> Option<u64> {
        match self {
            Self::Token(token) => Some(token.claims.player),
            Self::Known(known) => Some(known.player),
            Self::Unknown => None,
        }
    }

    /// The player's name in the token or on the list. It replaces the name that the client asks
    /// for.
    pub(super) fn name(&self) -> Option<&PlayerName> {
        match self {
            Self::Token(token) => Some(&token.claims.name),
            Self::Known(known) => known.name.as_ref(),
            Self::Unknown => None,
        }
    }
}

impl<P: Path> PlayerConnection<'_, P> {
    /// Finds out who the client is, by its connect token, its password or its own word, and whether
    /// it may play.
    pub(super) fn identify(&mut self, credential: &[u8]) -> Result<Identity, End> {
        let token = self.judge_token(credential)?;
        let access = &self.game.access;
        let player = token.as_ref().map(|token| token.claims.player);
        let address = self.feed.path.connection().remote_address().ip();
        let now = std::time::Instant::now();
        match (access.admittance.judge(address, player, credential, now), token) {
            (Ok(None), Some(token)) => Ok(Identity::Token(token)),
            (Ok(None), None) => Ok(Identity::Unknown),
            (Ok(Some(known)), _) => {
                let player = Some(known.player);
                if access.bans.is_banned(address, player, access.clock.unix()) {
                    return Err(self.refuse(RefusalReason::Banned));
                }
                Ok(Identity::Known(known))
            }
            (Err(denied), token) => {
                if let (Some(token), Some(gate)) = (token, &access.gate) {
                    gate.give_back(&token);
                }
                Err(self.feed.deny(denied))
            }
        }
    }

    /// Checks the client's connect token, if the server asks for tokens.
    fn judge_token(&mut self, token: &[u8]) -> Result<Option<OpenedToken>, End> {
        let Some(gate) = &self.game.access.gate else { return Ok(None) };
        if token.is_empty() {
            return Err(self.refuse(RefusalReason::TokenRequired));
        }
        let now = self.game.access.clock.now();
        match gate.redeem(token, &self.game.endpoint.names(), now) {
            Ok(opened) => {
                let player = Some(opened.claims.player);
                let address = self.feed.path.connection().remote_address().ip();
                if self.game.access.bans.is_banned(address, player, now.unix()) {
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
}
