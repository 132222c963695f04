use std::net::IpAddr;

use crate::address_key::AddressKey;
use crate::match_handle::MatchHandle;

/// Somebody who asks to see something of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Viewer {
    /// An operator of the server, by the listener of `--http`.
    Operator,
    /// Anybody else, at this address.
    Stranger(IpAddr),
}

impl MatchHandle {
    /// Whether `viewer` may see the match: where its bodies are, what is shot, who plays. Every
    /// path that tells of a running match asks this.
    ///
    /// Operators may, and everybody may if anybody may watch. If nobody may (`--max-spectators 0`),
    /// or not without a password (`--password`), the match is closed. Then only those may see it
    /// whose address has a client in it, because every client is told of every entity anyway. An exempt
    /// address (`--address-exempt`) stands for many people, so a client there opens nothing to the
    /// others.
    pub(crate) fn may_be_seen_by(&self, viewer: Viewer) -> bool {
        match viewer {
            Viewer::Operator => true,
            Viewer::Stranger(_) if self.is_open() => true,
            Viewer::Stranger(address) => {
                !self.outgoing.is_exempt(address) && self.has_client_at(address)
            }
        }
    }

    /// Whether the match takes spectators, be it with a password.
    pub(crate) fn takes_spectators(&self) -> bool {
        self.access.max_spectators > 0
    }

    /// Whether anybody may watch, and needs nothing for it.
    fn is_open(&self) -> bool {
        self.takes_spectators() && !self.access.admittance.asks()
    }

    /// Whether anybody at this address was let in. Where nobody may watch, that is a player.
    fn has_client_at(&self, address: IpAddr) -> bool {
        let address = AddressKey::from(address);
        let is_there = |client: &std::sync::Arc<crate::clients::Client>| {
            AddressKey::from(client.address().ip()) == address
        };
        self.clients.list().iter().any(is_there)
    }
}
