//! The door of a server: who may come in, as whom, and what one visitor may use.
//!
//! A connection is first checked by its address ([`admission`], [`bans`]), and all bytes that it is
//! sent besides the match are charged to the budget of its address ([`outgoing`]). A player
//! presents a connect token ([`token_gate`]), or a password or a word of the list ([`admittance`]),
//! gets a name of their own ([`names`]), and may come back by a ticket ([`tickets`]). The table of
//! [`clients`] has everybody who is connected; operators and [`votes`] find them there. The
//! [`public_endpoint`] and the [`introduction`] are shown to everybody, also before they join.

pub(crate) mod admission;
pub(crate) mod admittance;
pub(crate) mod bans;
pub(crate) mod clients;
pub(crate) mod introduction;
pub(crate) mod mutes;
pub(crate) mod names;
pub(crate) mod outgoing;
pub(crate) mod public_endpoint;
pub(crate) mod tickets;
pub(crate) mod token_gate;
pub(crate) mod votes;

use std::net::IpAddr;
use std::sync::atomic::AtomicU64;

use crate::common::clock::Clock;
use admittance::Admittance;
use bans::Bans;
use mutes::Mutes;
use public_endpoint::origins::Origins;
use token_gate::TokenGate;

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
