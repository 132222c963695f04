//! Limits what the connections of one address may use together. The table of addresses decides
//! before a handshake is accepted, and again whenever a connection takes something that is limited:
//! a place, or a budget of bytes. `door/outgoing.rs` limits the bytes of downloads.
//!
//! Connections that have not joined yet, or have left, are in one queue. If an address has used up
//! its share of the queue, its next connection pushes out its oldest one. If the queue is full, a
//! new connection pushes out the oldest one of the address that has most connections in it. An
//! honest client needs milliseconds for its handshake, so only connections that merely occupy
//! places are pushed out, and no newcomer is refused because of them. Everything else (players,
//! spectators, handshakes, joins, chat, bytes) is refused once the address has used up its share. A
//! used share is remembered until it has refilled, so leaving and returning gains nothing.

pub(crate) mod limit;
pub(crate) mod options;
mod permit;
mod shares;

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

pub(crate) use permit::{KeptPlace, Permit};
pub(crate) use shares::Shares;
pub(crate) use shares::UNFINISHED;
use shares::{
    ANSWERS, ANSWERS_PER_ADDRESS, CHAT, CONTROL, CONTROL_PART, EXEMPT_HANDSHAKES, HANDSHAKES,
    JOINS, MATCH_CHAT, REMEMBERED, SWEEP_PAUSE, UNFINISHED_PER_ADDRESS, UNPROVEN,
    UNPROVEN_HANDSHAKES, UNPROVEN_HANDSHAKES_PER_ADDRESS, UNPROVEN_PER_ADDRESS,
};

use crate::common::address_key::AddressKey;
use crate::common::token_bucket::TokenBucket;
use limit::Limit;

/// The server's table of addresses.
pub(crate) struct Admission {
    shares: Shares,
    table: Mutex<Table>,
}

/// The decision on a connection attempt.
pub(crate) enum Verdict {
    /// The connection is accepted. If the queue was full, another one was pushed out.
    Admit(Permit),
    /// The client has to prove its address first, by a QUIC Retry.
    Prove,
    /// The address has used up its share.
    Refuse(Limit),
}

struct Table {
    entries: HashMap<AddressKey, Entry>,
    /// Connections that are not in the match, the oldest first.
    unfinished: VecDeque<Unfinished>,
    /// Connections accepted so far.
    connections: u64,
    /// The budget of the whole match for chat.
    chat: TokenBucket,
    /// The budget of all addresses for handshakes that begin without a proof of the address.
    unproven: TokenBucket,
    /// The budget of all addresses for answers to attempts that become no connection.
    answers: TokenBucket,
    /// When the table last looked through all its entries for addresses to forget.
    swept: Option<Instant>,
}

/// A connection in the queue.
struct Unfinished {
    number: u64,
    address: AddressKey,
    evict: Arc<Notify>,
}

/// The places that an address holds now, and its budgets.
struct Entry {
    players: u16,
    spectators: u16,
    handshakes: TokenBucket,
    unproven: TokenBucket,
    answers: TokenBucket,
    joins: TokenBucket,
    control: TokenBucket,
    chat: TokenBucket,
    /// When a player of this address last left.
    left: Option<Instant>,
}

impl Admission {
    /// A table without entries.
    pub(crate) fn new(shares: Shares) -> Arc<Self> {
        let now = Instant::now();
        let table = Table {
            entries: HashMap::new(),
            unfinished: VecDeque::new(),
            connections: 0,
            chat: TokenBucket::full(now),
            unproven: TokenBucket::full(now),
            answers: TokenBucket::full(now),
            swept: None,
        };
        Arc::new(Self { shares, table: Mutex::new(table) })
    }

    /// Decides on a connection attempt from `address`, which may be forged unless it `is_proven`.
    pub(crate) fn ask(self: &Arc<Self>, address: IpAddr, is_proven: bool, now: Instant) -> Verdict {
        let is_exempt = self.shares.is_exempt(address);
        let address = AddressKey::from(address);
        let handshakes = if is_exempt { EXEMPT_HANDSHAKES } else { HANDSHAKES };
        let mut table = self.lock();
        let own = table.unfinished.iter().filter(|other| other.address == address).count();
        // The address may be forged, so only an attempt that is admitted or answered makes an
        // entry.
        let entry = table.entries.get_mut(&address);
        let wait =
            entry.map_or(Duration::ZERO, |entry| entry.handshakes.wait(handshakes, 1.0, now));
        let is_busy = table.unfinished.len() >= UNPROVEN
            || (own >= UNPROVEN_PER_ADDRESS && !is_exempt)
            || !wait.is_zero();
        if !is_proven && (is_busy || !table.begin_unproven(address, now)) {
            return Verdict::Prove;
        }
        if !wait.is_zero() {
            return Verdict::Refuse(Limit::Handshakes);
        }
        if own >= UNFINISHED_PER_ADDRESS && !is_exempt {
            table.evict(address);
        } else if table.unfinished.len() >= UNFINISHED
            && let Some(most) = table.most_unfinished()
        {
            table.evict(most);
        }
        table.connections += 1;
        let (number, evict) = (table.connections, Arc::new(Notify::new()));
        table.unfinished.push_back(Unfinished { number, address, evict: Arc::clone(&evict) });
        drop(table);
        let mut permit = Permit::new(Arc::clone(self), number, address, is_exempt, evict);
        if is_proven {
            permit.prove(now);
        }
        Verdict::Admit(permit)
    }

    /// Whether an attempt that becomes no connection is answered, by a QUIC Retry or a refusal.
    /// Without this limit, a flood of attempts would cost the server more than its sender, and a
    /// sender with a forged address would direct the answers at somebody else. A client that gets
    /// no answer sends its first packet again.
    pub(crate) fn may_answer(&self, address: IpAddr, now: Instant) -> bool {
        let is_exempt = self.shares.is_exempt(address);
        let mut table = self.lock();
        if !table.answers.wait(ANSWERS, 1.0, now).is_zero() {
            return false;
        }
        let may = is_exempt || {
            let entry = table.entry(AddressKey::from(address), now);
            entry.answers.take(ANSWERS_PER_ADDRESS, 1.0, now)
        };
        if may {
            table.answers.charge(ANSWERS, 1.0, now);
        }
        may
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Charges a handshake that begins without a proof of its address. Returns false if there were
    /// too many lately. A handshake that is broken off at once costs its sender one packet, perhaps
    /// from a forged address. It costs the server a connection until the idle time-out.
    fn begin_unproven(&mut self, address: AddressKey, now: Instant) -> bool {
        if !self.unproven.wait(UNPROVEN_HANDSHAKES, 1.0, now).is_zero() {
            return false;
        }
        let own = &mut self.entry(address, now).unproven;
        let may = own.take(UNPROVEN_HANDSHAKES_PER_ADDRESS, 1.0, now);
        if may {
            self.unproven.charge(UNPROVEN_HANDSHAKES, 1.0, now);
        }
        may
    }

    fn entry(&mut self, address: AddressKey, now: Instant) -> &mut Entry {
        if self.entries.len() >= REMEMBERED && !self.entries.contains_key(&address) {
            self.forget(now);
        }
        self.entries.entry(address).or_insert_with(|| Entry::new(now))
    }

    /// Forgets addresses that hold no place and whose budgets are full. If that does not make room,
    /// forgets one address that holds no place. The table is searched only now and then. Otherwise
    /// each newcomer of a flood of forged addresses would cost a look at every entry.
    fn forget(&mut self, now: Instant) {
        if self.swept.is_none_or(|swept| now.saturating_duration_since(swept) >= SWEEP_PAUSE) {
            self.swept = Some(now);
            self.entries.retain(|_, entry| !entry.is_forgettable(now));
        }
        if self.entries.len() >= REMEMBERED {
            let idle = self.entries.iter().find(|(_, entry)| entry.has_nothing());
            if let Some(address) = idle.map(|(address, _)| *address) {
                self.entries.remove(&address);
            }
        }
    }

    /// The address with the most unfinished connections. Among equals, it is the one with the
    /// oldest connection.
    fn most_unfinished(&self) -> Option<AddressKey> {
        let mut counts: Vec<(AddressKey, usize)> = Vec::new();
        for Unfinished { address, .. } in &self.unfinished {
            match counts.iter_mut().find(|(known, _)| known == address) {
                Some((_, count)) => *count += 1,
                None => counts.push((*address, 1)),
            }
        }
        // `max_by_key` takes the last of equals, so the order is reversed.
        counts.iter().rev().max_by_key(|(_, count)| *count).map(|(address, _)| *address)
    }

    /// Pushes out the oldest unfinished connection of an address.
    fn evict(&mut self, address: AddressKey) {
        let oldest = self.unfinished.iter().position(|other| other.address == address);
        if let Some(unfinished) = oldest.and_then(|oldest| self.unfinished.remove(oldest)) {
            unfinished.evict.notify_one();
        }
    }

    /// Takes a connection out of the queue; false if it was pushed out.
    fn finish(&mut self, number: u64) -> bool {
        let place = self.unfinished.iter().position(|other| other.number == number);
        place.and_then(|place| self.unfinished.remove(place)).is_some()
    }
}

impl Entry {
    fn new(now: Instant) -> Self {
        let full = TokenBucket::full(now);
        Self {
            players: 0,
            spectators: 0,
            handshakes: full,
            unproven: full,
            answers: full,
            joins: full,
            control: full,
            chat: full,
            left: None,
        }
    }

    fn has_nothing(&self) -> bool {
        self.players == 0 && self.spectators == 0
    }

    fn is_forgettable(&mut self, now: Instant) -> bool {
        let Self { handshakes, unproven, answers, joins, control, chat, .. } = self;
        handshakes.is_full(HANDSHAKES, now)
            && unproven.is_full(UNPROVEN_HANDSHAKES_PER_ADDRESS, now)
            && answers.is_full(ANSWERS_PER_ADDRESS, now)
            && joins.is_full(JOINS, now)
            && control.is_full(CONTROL, now)
            && chat.is_full(CHAT, now)
            && self.has_nothing()
    }
}

#[cfg(test)]
mod tests;
