use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::limits::Limits;
use crate::address_key::AddressKey;

/// The connections to the pages that are open.
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
    /// When the connection was last answered something, or came.
    answered: Instant,
    evict: Arc<Notify>,
}

/// A connection's place; dropping it gives the place up.
pub(super) struct Place {
    table: Arc<Mutex<Table>>,
    number: u64,
    evict: Arc<Notify>,
}

impl Places {
    /// Places of which none is open.
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, table: Arc::default() }
    }

    /// A place for a connection of `address`. If all are open, or all of that address,
    /// the one whose last answer is longest ago makes room.
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
    /// By which it is learnt that the connection has to make room.
    pub(super) fn eviction(&self) -> Arc<Notify> {
        Arc::clone(&self.evict)
    }

    /// Notes that the connection was answered something.
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
