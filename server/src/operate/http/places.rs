//! The places of connections to the pages. A new connection takes its place before any of its bytes
//! are read.
//!
//! No connection is refused. If an address has used up its places, its new connection replaces one
//! of its older connections. If all places are taken, the new connection replaces one of the
//! address that has most connections. So an address with few connections keeps them, whatever
//! others do. Among the candidates, connections that got an answer keep their places longer than
//! connections that did not. Newcomers always keep a part of the places, because a visitor far away
//! needs several round trips to its first answer.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metrics::Counter;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::limits::Limits;
use crate::common::address_key::AddressKey;

/// Newcomers keep one in this many places. A visitor with a round trip of 100 ms gets its first
/// answer within half a second. In that time, a flood of 80 newcomers a second takes 40 of the 64
/// places.
const NEWCOMERS: usize = 4;

/// The places of the open connections to the pages.
pub(super) struct Places {
    limits: Limits,
    /// Counts connections that lose their places.
    lost: Counter,
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
    /// When the connection was opened, or got its last answer.
    since: Instant,
    /// Whether the connection got an answer.
    is_served: bool,
    evict: Arc<Notify>,
}

/// The place of a connection. Dropping it gives the place up.
pub(super) struct Place {
    table: Arc<Mutex<Table>>,
    number: u64,
    evict: Arc<Notify>,
}

impl Places {
    /// Makes places for `limits`, with no connection open. `lost` counts connections that lose
    /// their places to others.
    pub(super) fn new(limits: Limits, lost: Counter) -> Self {
        Self { limits, lost, table: Arc::default() }
    }

    /// Takes a place for a connection of `address`. If no place is left, or none for that address,
    /// another connection loses its place.
    pub(super) fn take(&self, address: IpAddr, now: Instant) -> Place {
        let address = AddressKey::from(address);
        let mut table = lock(&self.table);
        if table.of(address) >= self.limits.of_one_address {
            table.evict(address);
            self.lost.increment(1);
        } else if table.open.len() >= self.limits.connections {
            table.evict_most(address);
            self.lost.increment(1);
        }
        table.connections += 1;
        let (number, evict) = (table.connections, Arc::new(Notify::new()));
        table.open.push(OpenConnection {
            number,
            address,
            since: now,
            is_served: false,
            evict: Arc::clone(&evict),
        });
        Place { table: Arc::clone(&self.table), number, evict }
    }
}

impl Table {
    /// The number of connections of an address.
    fn of(&self, address: AddressKey) -> usize {
        self.open.iter().filter(|open| open.address == address).count()
    }

    /// Makes room for a connection of `newcomer`: closes one of the address that has most
    /// connections. If `newcomer` itself has as many, one of its own is closed.
    fn evict_most(&mut self, newcomer: AddressKey) {
        let counts: Vec<usize> = self.open.iter().map(|open| self.of(open.address)).collect();
        let most = counts.iter().copied().max().unwrap_or_default();
        if self.of(newcomer) == most {
            return self.evict(newcomer);
        }
        let has_most = |index: &usize| counts[*index] == most;
        self.evict_one((0..counts.len()).filter(has_most).collect());
    }

    /// Closes one connection of an address.
    fn evict(&mut self, address: AddressKey) {
        let is_own = |index: &usize| self.open[*index].address == address;
        self.evict_one((0..self.open.len()).filter(is_own).collect());
    }

    /// Closes one of these connections, which are given by their indices. If at least one in
    /// [`NEWCOMERS`] has no answer yet, the one that has waited longest for its first answer is
    /// closed. Otherwise the one whose last answer is longest ago is closed.
    fn evict_one(&mut self, candidates: Vec<usize>) {
        let new = candidates.iter().filter(|index| !self.open[**index].is_served).count();
        let new_go_first = new * NEWCOMERS >= candidates.len();
        let order = |index: &usize| {
            let open = &self.open[*index];
            (open.is_served == new_go_first, open.since)
        };
        if let Some(index) = candidates.into_iter().min_by_key(order) {
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
            (open.since, open.is_served) = (now, true);
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use super::*;

    fn places() -> Places {
        Places::new(Limits::SERVED, Counter::noop())
    }

    fn take(places: &Places, address: &str, now: Instant) -> Place {
        places.take(address.parse().unwrap(), now)
    }

    fn holds(places: &Places, place: &Place) -> bool {
        lock(&places.table).open.iter().any(|open| open.number == place.number)
    }

    /// Symptom: four addresses held 252 connections with small requests, and four more addresses
    /// opened new connections every 50 ms. A visitor whose packets take 100 ms each way lost its
    /// place before its first answer.
    #[test]
    fn a_visitor_far_away_keeps_its_places_among_holders_and_newcomers() {
        let (places, begin) = (places(), Instant::now());
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let held: Vec<Place> =
            (0..252).map(|n| take(&places, &format!("192.0.2.{}", 1 + n % 4), begin)).collect();
        let mut newcomers = Vec::new();
        let visitor: Vec<Place> = (0..6).map(|_| take(&places, "198.51.100.1", at(0))).collect();
        for step in 0..200 {
            let now = at(50 * step);
            held.iter().filter(|held| holds(&places, held)).for_each(|held| held.answered(now));
            for host in 11..15 {
                newcomers.push(take(&places, &format!("192.0.2.{host}"), now));
            }
            assert!(visitor.iter().all(|place| holds(&places, place)), "step {step}");
        }
        assert!(lock(&places.table).open.len() <= Limits::SERVED.connections);
    }

    /// The flood of the test above, but from so many addresses that each has a single connection.
    #[test]
    fn among_more_addresses_than_places_the_served_and_the_new_both_have_some() {
        let (places, begin) = (places(), Instant::now());
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let address = |n: u64| format!("2001:db8:{:x}:{:x}::1", n >> 16, n & 0xffff);
        let served: Vec<Place> = (0..256)
            .map(|n| {
                let place = take(&places, &address(n), begin);
                place.answered(at(n));
                place
            })
            .collect();
        let visitor = take(&places, "198.51.100.1", at(1000));
        // Half a second of 80 newcomers a second, each from an address of its own.
        let flood: Vec<Place> =
            (0..40).map(|n| take(&places, &address(1000 + n), at(1000 + n))).collect();
        assert!(holds(&places, &visitor), "a visitor needs half a second to its first answer");
        visitor.answered(at(1500));
        let more: Vec<Place> =
            (0..10_000).map(|n| take(&places, &address(2000 + n), at(1500 + n))).collect();
        assert!(holds(&places, &visitor), "a visitor who has been served keeps the place");
        let kept = served.iter().filter(|place| holds(&places, place)).count();
        assert_eq!(kept, Limits::SERVED.connections * 3 / 4 - 1);
        drop((flood, more));
    }

    #[test]
    fn lost_places_are_counted_and_those_given_up_are_not() {
        let (lost, now) = (Arc::new(AtomicU64::new(0)), Instant::now());
        let places = Places::new(Limits::SERVED, Counter::from_arc(Arc::clone(&lost)));
        let most = Limits::SERVED.of_one_address;
        let mut held: Vec<Place> = (0..most).map(|_| take(&places, "192.0.2.1", now)).collect();
        held.pop();
        held.push(take(&places, "192.0.2.1", now));
        assert_eq!(lost.load(Ordering::Relaxed), 0);
        held.extend((0..3).map(|_| take(&places, "192.0.2.1", now)));
        assert_eq!(lost.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn an_address_beyond_its_share_loses_the_place_whose_answer_is_longest_ago() {
        let (places, begin) = (places(), Instant::now());
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let other = take(&places, "192.0.2.2", begin);
        let own: Vec<Place> = (0..64).map(|n| take(&places, "2001:db8::1", at(n))).collect();
        own[0].answered(at(100));
        // An address of the same /64 prefix.
        let next = take(&places, "2001:db8::2", at(200));
        assert!(holds(&places, &own[0]) && !holds(&places, &own[1]), "the served one stays");
        own[2..].iter().for_each(|place| place.answered(at(300)));
        let last = take(&places, "2001:db8::3", at(400));
        assert!(holds(&places, &own[2]) && !holds(&places, &own[0]), "its answer is longest ago");
        assert!(holds(&places, &other) && holds(&places, &next) && holds(&places, &last));
    }
}
