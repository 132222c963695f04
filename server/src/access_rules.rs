use std::net::IpAddr;
use std::sync::atomic::AtomicU64;

use crate::bans::Bans;
use crate::clock::Clock;
use crate::door::admittance::Admittance;
use crate::door::mutes::Mutes;
use crate::origins::Origins;
use crate::token_gate::TokenGate;

/// The rules that decide who may join and who may stay.
pub(crate) struct AccessRules {
    /// Checks connect tokens. `None` if clients need no token.
    pub(crate) gate: Option<TokenGate>,
    /// Asks for the password of the match, and knows who may play.
    pub(crate) admittance: Admittance,
    /// Player slots that only players with a connect token for a reserved slot may take.
    pub(crate) reserved_slots: u16,
    /// Idle players are removed after this many seconds; 0 for never.
    pub(crate) idle_seconds: AtomicU64,
    /// The players and addresses that may not join.
    pub(crate) bans: Bans,
    /// The players and addresses whose chat nobody receives.
    pub(crate) mutes: Mutes,
    /// The hosts and origins of web pages that may use the server.
    pub(crate) origins: Origins,
    /// The clocks by which tokens, bans and mutes are judged.
    pub(crate) clock: Clock,
    /// How many spectators may be connected at a time.
    pub(crate) max_spectators: u16,
}

impl AccessRules {
    /// Whether this address is banned.
    pub(crate) fn is_banned(&self, address: IpAddr) -> bool {
        self.bans.is_banned(address, None, self.clock.unix())
    }
}
