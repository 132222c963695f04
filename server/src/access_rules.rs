use std::net::IpAddr;
use std::sync::atomic::AtomicU64;

use crate::bans::Bans;
use crate::origins::Origins;
use crate::token_gate::TokenGate;
use crate::unix_time::unix_time;

/// The rules by which clients may join and stay.
pub(crate) struct AccessRules {
    /// Checks connect tokens; without it, no client needs one.
    pub(crate) gate: Option<TokenGate>,
    /// Slots for players whose token says that they may take one.
    pub(crate) reserved_slots: u16,
    /// Seconds after which an idle player is removed; 0 for never.
    pub(crate) idle_seconds: AtomicU64,
    /// The players and addresses that may not join.
    pub(crate) bans: Bans,
    /// The web pages that may connect or ask.
    pub(crate) origins: Origins,
    /// Most spectators at a time.
    pub(crate) max_spectators: u16,
}

impl AccessRules {
    /// Whether this address is banned.
    pub(crate) fn is_banned(&self, address: IpAddr) -> bool {
        self.bans.is_banned(address, None, unix_time())
    }
}
