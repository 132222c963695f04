use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use super::options::AddressOptions;
use crate::common::token_bucket::Rate;

/// Connections that may be unfinished (opening, or saying goodbye) at a time: enough for every
/// player to come back at once, few enough to bound a flood.
pub(crate) const UNFINISHED: usize = 64;

/// Unfinished connections of one address: enough for several players behind one router who come
/// back at once.
pub(super) const UNFINISHED_PER_ADDRESS: usize = 16;

/// If at least this many connections are unfinished, newcomers must prove their address.
pub(super) const UNPROVEN: usize = 16;

/// If at least this many connections of one address are unfinished, its newcomers must prove the
/// address.
pub(super) const UNPROVEN_PER_ADDRESS: usize = 4;

/// Handshakes, of all addresses, that begin without a proof of the address. A handshake that is
/// broken off at once stays a connection for the 15 s of the idle time-out. So there are about 200
/// such connections at most: fewer than half of the connections that a server for a few players can
/// hold.
pub(super) const UNPROVEN_HANDSHAKES: Rate = Rate { per_second: 10.0, burst: 64.0 };

/// Handshakes of one address that begin without a proof of the address. The limit keeps one address
/// from using up the budget of all addresses.
pub(super) const UNPROVEN_HANDSHAKES_PER_ADDRESS: Rate = Rate { per_second: 2.0, burst: 32.0 };

/// Handshakes of one address. Each takes about a millisecond of the network thread.
pub(super) const HANDSHAKES: Rate = Rate { per_second: 1.0, burst: 30.0 };

/// Handshakes of an exempt address: a swarm of hundreds of clients may come at once.
pub(super) const EXEMPT_HANDSHAKES: Rate = Rate { per_second: 50.0, burst: 512.0 };

/// Answers to connection attempts that become no connection (QUIC Retries and refusals), to all
/// addresses. An answer takes about 12 µs of the network thread, so all answers together take a
/// tenth of its time. A flood of more attempts from forged addresses delays newcomers, but not
/// players.
pub(super) const ANSWERS: Rate = Rate { per_second: 8000.0, burst: 8192.0 };

/// Answers to one address that is not exempt: more than its handshakes can need.
pub(super) const ANSWERS_PER_ADDRESS: Rate = Rate { per_second: 32.0, burst: 256.0 };

/// Joins of one address, as a player or spectator: twelve a minute.
pub(super) const JOINS: Rate = Rate { per_second: 0.2, burst: 12.0 };

/// Bytes of control streams from one address. A client sends a hello, a chat line now and then, and
/// a goodbye.
pub(super) const CONTROL: Rate = Rate { per_second: 2048.0, burst: 16384.0 };

/// The part of [`CONTROL`] that each connection has for itself, however much others of its address
/// send.
pub(super) const CONTROL_PART: Rate = Rate { per_second: 512.0, burst: 4096.0 };

/// Bytes of chat of one address: a short line a second. They go to every client of the match.
pub(super) const CHAT: Rate = Rate { per_second: 100.0, burst: 1000.0 };

/// Bytes of chat of a whole match: a sixteenth of the default of `--client-budget`, and more than
/// anybody can read.
pub(super) const MATCH_CHAT: Rate = Rate { per_second: 1000.0, burst: 4000.0 };

/// Addresses that are remembered, some 250 bytes each.
pub(super) const REMEMBERED: usize = 8192;

/// Shortest time between two looks through all remembered addresses.
pub(super) const SWEEP_PAUSE: Duration = Duration::from_millis(250);

/// Time after a player has left until another one of the same address is let in. Otherwise players
/// would leave and join again to be healed.
pub(super) const REJOIN_DELAY: Duration = Duration::from_secs(3);

/// The share that an operator grants each address. Clones share one value: all of them see a change
/// by [`Shares::change`].
#[derive(Clone, Debug)]
pub(crate) struct Shares(Arc<RwLock<AddressOptions>>);

impl From<&AddressOptions> for Shares {
    fn from(options: &AddressOptions) -> Self {
        Self(Arc::new(RwLock::new(options.clone())))
    }
}

impl Shares {
    /// Whether an address may have any number of players and connections.
    pub(crate) fn is_exempt(&self, address: IpAddr) -> bool {
        self.read().address_exempt.iter().any(|exempt| exempt.contains(address))
    }

    /// Maximum numbers of players and of spectators of an address; 0 for any number.
    pub(super) fn places(&self) -> (u16, u16) {
        let granted = self.read();
        (granted.address_players, granted.address_spectators)
    }

    /// Grants other shares from now on, and returns the old ones. Clients that are already
    /// connected stay.
    pub(crate) fn change(&self, options: &AddressOptions) -> AddressOptions {
        let mut granted = self.0.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut granted, options.clone())
    }

    fn read(&self) -> RwLockReadGuard<'_, AddressOptions> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}
