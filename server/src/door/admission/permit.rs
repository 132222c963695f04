//! A connection's permit: its place in the table of addresses, and the budgets to which it is
//! charged.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::limit::Limit;
use super::shares::REJOIN_DELAY;
use super::{
    Admission, CHAT, CONTROL, CONTROL_PART, EXEMPT_HANDSHAKES, HANDSHAKES, JOINS, MATCH_CHAT,
    Table, Unfinished,
};
use crate::common::address_key::AddressKey;
use crate::common::token_bucket::TokenBucket;

/// A connection's place in the table of addresses. Dropping the permit gives up the place.
pub(crate) struct Permit {
    admission: Arc<Admission>,
    number: u64,
    address: AddressKey,
    is_exempt: bool,
    evict: Arc<Notify>,
    is_proven: bool,
    place: Place,
    control: TokenBucket,
}

/// The place that a connection holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A place in the queue. A connection that was pushed out has none.
    Unfinished,
    Player,
    Spectator,
}

impl Permit {
    pub(crate) fn new(
        admission: Arc<Admission>,
        number: u64,
        address: AddressKey,
        is_exempt: bool,
        evict: Arc<Notify>,
    ) -> Self {
        let (is_proven, place) = (false, Place::Unfinished);
        let control = TokenBucket::full(Instant::now());
        Self { admission, number, address, is_exempt, evict, is_proven, place, control }
    }

    /// The notification that the connection was pushed out and has to close.
    pub(crate) fn eviction(&self) -> Arc<Notify> {
        Arc::clone(&self.evict)
    }

    /// Marks the address as proven (not forged), and charges the handshake to it.
    pub(crate) fn prove(&mut self, now: Instant) {
        if !std::mem::replace(&mut self.is_proven, true) {
            let rate = if self.is_exempt { EXEMPT_HANDSHAKES } else { HANDSHAKES };
            self.admission.lock().entry(self.address, now).handshakes.charge(rate, 1.0, now);
        }
    }

    /// Takes one of the address's places for a player.
    ///
    /// # Errors
    /// The address has used up its share, or the connection was pushed out.
    pub(crate) fn play(&mut self, now: Instant) -> Result<(), Limit> {
        self.take(Place::Player, now)
    }

    /// Takes one of the address's places for a spectator.
    ///
    /// # Errors
    /// The errors of [`Permit::play`].
    pub(crate) fn watch(&mut self, now: Instant) -> Result<(), Limit> {
        self.take(Place::Spectator, now)
    }

    fn take(&mut self, place: Place, now: Instant) -> Result<(), Limit> {
        let admission = Arc::clone(&self.admission);
        let (players, spectators) = admission.shares.places();
        let mut table = admission.lock();
        let entry = table.entry(self.address, now);
        if !self.is_exempt {
            let is_full = |taken: u16, share: u16| share > 0 && taken >= share;
            if place == Place::Player && is_full(entry.players, players) {
                return Err(Limit::Players);
            }
            if place == Place::Spectator && is_full(entry.spectators, spectators) {
                return Err(Limit::Spectators);
            }
            if !entry.joins.take(JOINS, 1.0, now) {
                return Err(Limit::Joins);
            }
        }
        if !table.finish(self.number) {
            return Err(Limit::Unfinished);
        }
        let entry = table.entry(self.address, now);
        match place {
            Place::Player => entry.players += 1,
            Place::Spectator => entry.spectators += 1,
            Place::Unfinished => {}
        }
        self.place = place;
        Ok(())
    }

    /// How long the address has to wait for its next player, because another one has just left.
    pub(crate) fn rejoin_delay(&self, now: Instant) -> Duration {
        if self.is_exempt {
            return Duration::ZERO;
        }
        let left = self.admission.lock().entry(self.address, now).left;
        left.map_or(Duration::ZERO, |left| (left + REJOIN_DELAY).saturating_duration_since(now))
    }

    /// Keeps one of the address's places for a player who may come back.
    pub(crate) fn keep_place(&self, now: Instant) -> KeptPlace {
        let admission = Arc::clone(&self.admission);
        admission.lock().entry(self.address, now).players += 1;
        KeptPlace { admission, address: self.address }
    }

    /// Takes a place for a player who has come back. The address's share is not checked again: it
    /// was checked when the player joined.
    pub(crate) fn resume(&mut self, kept: KeptPlace, now: Instant) {
        drop(kept);
        let admission = Arc::clone(&self.admission);
        let mut table = admission.lock();
        table.finish(self.number);
        table.entry(self.address, now).players += 1;
        self.place = Place::Player;
    }

    /// Notes that a player leaves now. The address's next player has to wait
    /// ([`Permit::rejoin_delay`]).
    pub(crate) fn note_left(&self, now: Instant) {
        self.admission.lock().entry(self.address, now).left = Some(now);
    }

    /// Gives up a player's or spectator's place. The connection returns to the queue while it says
    /// goodbye.
    pub(crate) fn leave(&mut self, now: Instant) {
        let admission = Arc::clone(&self.admission);
        let mut table = admission.lock();
        if self.give_up(&mut table, now) {
            let (number, address) = (self.number, self.address);
            let evict = Arc::clone(&self.evict);
            table.unfinished.push_back(Unfinished { number, address, evict });
        }
    }

    /// Gives up a player's or spectator's place. Returns false if the connection held none.
    fn give_up(&mut self, table: &mut Table, now: Instant) -> bool {
        let entry = table.entry(self.address, now);
        match std::mem::replace(&mut self.place, Place::Unfinished) {
            Place::Player => {
                entry.players = entry.players.saturating_sub(1);
            }
            Place::Spectator => entry.spectators = entry.spectators.saturating_sub(1),
            Place::Unfinished => return false,
        }
        true
    }

    /// Charges bytes of the control stream.
    ///
    /// # Errors
    /// The address sent more than it may, and this connection sent more than its own part. A
    /// connection is never closed for bytes that others of its address send.
    pub(crate) fn charge_control(&mut self, bytes: usize, now: Instant) -> Result<(), Limit> {
        let bytes = bytes as f64;
        let is_within_part = self.control.take(CONTROL_PART, bytes, now);
        let mut table = self.admission.lock();
        let control = &mut table.entry(self.address, now).control;
        let may = self.is_exempt || control.take(CONTROL, bytes, now) || is_within_part;
        may.then_some(()).ok_or(Limit::Control)
    }

    /// Charges bytes of chat, which go to every client of the match.
    ///
    /// # Errors
    /// The address or the match has used up its budget of chat.
    pub(crate) fn say(&self, bytes: usize, now: Instant) -> Result<(), Limit> {
        let (bytes, mut table) = (bytes as f64, self.admission.lock());
        if !table.chat.wait(MATCH_CHAT, bytes, now).is_zero() {
            return Err(Limit::MatchChat);
        }
        if !table.entry(self.address, now).chat.take(CHAT, bytes, now) {
            return Err(Limit::Chat);
        }
        table.chat.charge(MATCH_CHAT, bytes, now);
        Ok(())
    }
}

/// A player's place that is kept while the player's connection is lost. Dropping it gives up the
/// place.
pub(crate) struct KeptPlace {
    admission: Arc<Admission>,
    address: AddressKey,
}

impl fmt::Debug for KeptPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("KeptPlace").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for KeptPlace {
    fn drop(&mut self) {
        let mut table = self.admission.lock();
        let entry = table.entry(self.address, Instant::now());
        entry.players = entry.players.saturating_sub(1);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let admission = Arc::clone(&self.admission);
        let mut table = admission.lock();
        if !self.give_up(&mut table, Instant::now()) {
            table.finish(self.number);
        }
    }
}
