use std::net::IpAddr;

use super::MatchHandle;
use crate::common::address_key::AddressKey;

/// Somebody who asks to see a part of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Viewer {
    /// An operator of the server, who comes by the listener of `--http`.
    Operator,
    /// Anybody else, at this address.
    Stranger(IpAddr),
}

impl MatchHandle {
    /// Whether `viewer` may see the match: its bodies, its shots and its players. Every path that
    /// shows something of a running match asks this.
    ///
    /// Operators may always see it. Everybody may see it if spectators need no password. The match
    /// is closed if it takes no spectators (`--max-spectators 0`) or if spectators need a password
    /// (`--password`). A stranger may see a closed match only from an address that has a client in
    /// it, because every client knows all entities anyway. An exempt address (`--address-exempt`)
    /// stands for many people, so a client there does not let the others see the match.
    pub(crate) fn may_be_seen_by(&self, viewer: Viewer) -> bool {
        match viewer {
            Viewer::Operator => true,
            Viewer::Stranger(_) if self.is_open() => true,
            Viewer::Stranger(address) => {
                !self.outgoing.is_exempt(address) && self.has_client_at(address)
            }
        }
    }

    /// Whether the match takes spectators, with a password or without.
    pub(crate) fn takes_spectators(&self) -> bool {
        self.access.max_spectators > 0
    }

    /// Whether anybody may watch without a password.
    fn is_open(&self) -> bool {
        self.takes_spectators() && !self.access.admittance.asks()
    }

    /// Whether a client at this address is in the match. If the match takes no spectators, the
    /// client is a player.
    fn has_client_at(&self, address: IpAddr) -> bool {
        let address = AddressKey::from(address);
        let is_there = |client: &std::sync::Arc<crate::door::clients::Client>| {
            AddressKey::from(client.address().ip()) == address
        };
        self.clients.list().iter().any(is_there)
    }
}
