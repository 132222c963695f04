use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::limits::Limits;
use crate::address_key::AddressKey;

/// The places of the open connections to the pages.
pub(super) struct Places {
    limits: Limits,
    table: Arc<Mutex<Table>>,
}

#[derive(Default)]
struct Table {
    open: Vec<OpenConnection>,
    connections: u64,
}

struct OpenConnection {
    number: u64,
    address: AddressKey,
    /// When the connection got its last answer, or was opened.
    answered: Instant,
    evict: Arc<Notify>,
}

/// The place of a connection. Dropping it gives the place up.
pub(super) struct Place {
    table: Arc<Mutex<Table>>,
    number: u64,
    evict: Arc<Notify>,
}

impl Places {
    /// Makes places for `limits`, with no connection open.
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, table: Arc::default() }
    }

    /// Takes a place for a connection of `address`. If all places are taken, or all places of that
    /// address, the connection whose last answer is longest ago loses its place.
    pub(super) fn take(&self, address: IpAddr, now: Instant) -> Place {
        let address = AddressKey::from(address);
        let mut table = lock(&self.table);
        let own = table.open.iter().filter(|other| other.address == address).count();
        if own >= self.limits.of_one_address {
            table.evict(|other| other.address == address);
        } else if table.open.len() >= self.limits.connections {
            table.evict(|_| true);
        }
        table.connections += 1;
        let (number, evict) = (table.connections, Arc::new(Notify::new()));
        table.open.push(OpenConnection {
            number,
            address,
            answered: now,
            evict: Arc::clone(&evict),
        });
        Place { table: Arc::clone(&self.table), number, evict }
    }
}

impl Table {
    fn evict(&mut self, may: impl Fn(&OpenConnection) -> bool) {
        let candidates = self.open.iter().enumerate().filter(|(_, open)| may(open));
        let longest = candidates.min_by_key(|(_, open)| open.answered).map(|(index, _)| index);
        if let Some(index) = longest {
            self.open.remove(index).evict.notify_one();
        }
    }
}

impl Place {
    /// The signal that the connection has lost its place.
    pub(super) fn eviction(&self) -> Arc<Notify> {
        Arc::clone(&self.evict)
    }

    /// Notes that the connection got an answer.
    pub(super) fn answered(&self, now: Instant) {
        let mut table = lock(&self.table);
        if let Some(open) = table.open.iter_mut().find(|open| open.number == self.number) {
            open.answered = now;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.table).open.retain(|open| open.number != self.number);
    }
}

fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}
