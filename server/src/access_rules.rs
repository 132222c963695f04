use std::net::IpAddr;
use std::sync::atomic::AtomicU64;

use crate::bans::Bans;
use crate::origins::Origins;
use crate::token_gate::TokenGate;
use crate::unix_time::unix_time;

/// The rules that decide who may join and who may stay.
pub(crate) struct AccessRules {
    /// Checks connect tokens. `None` if clients need no token.
    pub(crate) gate: Option<TokenGate>,
    /// Player slots that only players with a connect token for a reserved slot may take.
    pub(crate) reserved_slots: u16,
    /// Idle players are removed after this many seconds; 0 for never.
    pub(crate) idle_seconds: AtomicU64,
    /// The players and addresses that may not join.
    pub(crate) bans: Bans,
    /// The hosts and origins of web pages that may use the server.
    pub(crate) origins: Origins,
    /// How many spectators may be connected at a time.
    pub(crate) max_spectators: u16,
}

impl AccessRules {
    /// Whether this address is banned.
    pub(crate) fn is_banned(&self, address: IpAddr) -> bool {
        self.bans.is_banned(address, None, unix_time())
    }
}
