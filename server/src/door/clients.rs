//! The connected clients as an operator sees them. Each player and spectator has one entry while
//! connected, from map to map. The entry also holds the operator's requests to mute or remove the
//! client.

pub(crate) mod steered;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use obsp_proto::control::{ChatLine, ClosingReason, PlayerName, Reason, Ticket};
use serde::Serialize;
use tokio::sync::watch;

use steered::SteeredEntity;

/// All connected clients, by the number of their connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clients(Arc<Mutex<BTreeMap<u64, Arc<Client>>>>);

/// A player or spectator.
#[derive(Debug)]
pub(crate) struct Client {
    /// The number of the connection. Logs and operators name the client by it.
    pub(crate) number: u64,
    /// The name that the client has chosen.
    pub(crate) name: PlayerName,
    /// The number by which the client's connect token identifies the player, if there was a token.
    pub(crate) player_id: Option<u64>,
    pub(crate) spectates: bool,
    /// The entity that the client steers.
    pub(crate) steered: Arc<SteeredEntity>,
    since: Instant,
    /// The elapsed time of the machine at which the connection's mute ends. `None` if it is not
    /// muted.
    muted_until: Mutex<Option<Duration>>,
    away: AtomicBool,
    address: Mutex<SocketAddr>,
    figures: Mutex<ConnectionStats>,
    removal: watch::Sender<Option<Removal>>,
    ticket: Mutex<Ticket>,
}

/// Measurements of a connection, taken twice a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ConnectionStats {
    /// The player's slot in the world.
    pub(crate) slot: Option<u16>,
    /// Round trip, in milliseconds.
    pub(crate) rtt_ms: f64,
    /// QUIC packets that were sent, and how many of them were lost.
    pub(crate) packets_sent: u64,
    pub(crate) packets_lost: u64,
    /// Bytes of UDP in each direction.
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    /// Bytes of snapshots that the connection's send budget allows now.
    pub(crate) budget_bytes: u64,
    /// How often the client hit one of the limits that `game_limits_hit_total` counts for all
    /// clients.
    pub(crate) limits_hit: u64,
}

/// Why a client is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Removal {
    /// The reason under which the metrics count the removal.
    pub(crate) reason: Reason,
    /// The reason that the client is given.
    pub(crate) closing: ClosingReason,
}

impl Removal {
    /// A removal by an operator or a rule. `why` is the reason that the client is given.
    pub(crate) fn new(reason: Reason, why: &str) -> Self {
        let otherwise = "removed by the operator";
        // `otherwise` is always a valid line of chat: it is short and plain.
        let line = ChatLine::new(why).or_else(|_| ChatLine::new(otherwise));
        let closing = line.map_or(ClosingReason::ShuttingDown, ClosingReason::Removed);
        Self { reason, closing }
    }

    /// The removal of a client whose player has connected again.
    pub(crate) fn replaced() -> Self {
        Self { reason: Reason::Replaced, closing: ClosingReason::Replaced }
    }

    /// The removal of a client from a match that has failed, while other matches of the server go
    /// on.
    pub(crate) fn match_failed() -> Self {
        Self::new(Reason::MatchFailed, "the match has failed")
    }
}

/// A client's entry in the table. Dropping the registration removes the entry.
#[derive(Debug)]
pub(crate) struct Registration {
    clients: Clients,
    client: Arc<Client>,
}

impl std::ops::Deref for Registration {
    type Target = Arc<Client>;

    fn deref(&self) -> &Arc<Client> {
        &self.client
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.clients.table().remove(&self.client.number);
    }
}

impl Clients {
    fn table(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Arc<Client>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a client, unless there are already `limit` of its kind: players or spectators.
    pub(crate) fn enter(&self, client: Client, limit: usize) -> Option<Registration> {
        let mut table = self.table();
        let alike = table.values().filter(|other| other.spectates == client.spectates).count();
        if alike >= limit {
            return None;
        }
        let client = Arc::new(client);
        table.insert(client.number, Arc::clone(&client));
        drop(table);
        Some(Registration { clients: self.clone(), client })
    }

    /// The number of players. It includes players who are on their way into the next world, and
    /// players whose connection was lost and who may come back.
    pub(crate) fn players(&self) -> usize {
        self.table().values().filter(|client| !client.spectates).count()
    }

    /// All clients, in the order in which they connected.
    pub(crate) fn list(&self) -> Vec<Arc<Client>> {
        self.table().values().cloned().collect()
    }

    /// The client of this connection.
    pub(crate) fn find(&self, number: u64) -> Option<Arc<Client>> {
        self.table().get(&number).cloned()
    }
}

impl Client {
    /// A client that connects now.
    pub(crate) fn new(
        number: u64,
        name: PlayerName,
        address: SocketAddr,
        player_id: Option<u64>,
        spectates: bool,
    ) -> Self {
        Self {
            number,
            name,
            player_id,
            spectates,
            steered: Arc::default(),
            since: Instant::now(),
            muted_until: Mutex::default(),
            away: AtomicBool::new(false),
            address: Mutex::new(address),
            figures: Mutex::default(),
            removal: watch::Sender::new(None),
            ticket: Mutex::new(Ticket::NONE),
        }
    }

    /// Whether this client connected before another.
    pub(crate) fn came_before(&self, other: &Self) -> bool {
        self.since < other.since
    }

    /// Requests the removal of the client: its connection ends, or the place that is kept for it is
    /// given up. A removal takes precedence over a replacement, in whichever order they are
    /// requested.
    pub(crate) fn remove(&self, removal: Removal) {
        self.removal.send_if_modified(|known| {
            let changes = known.as_ref().is_none_or(|known| known.reason == Reason::Replaced);
            if changes {
                *known = Some(removal);
            }
            changes
        });
    }

    /// Whether the client is to be removed, and not only because the same player has connected
    /// again.
    pub(crate) fn is_removed(&self) -> bool {
        self.removal.borrow().as_ref().is_some_and(|removal| removal.reason != Reason::Replaced)
    }

    /// Notes that the connection is lost, and the client may come back.
    pub(crate) fn goes_away(&self) {
        self.away.store(true, Ordering::Relaxed);
    }

    /// Whether the connection is lost, and the client may come back.
    pub(crate) fn is_away(&self) -> bool {
        self.away.load(Ordering::Relaxed)
    }

    /// Waits until the client is to be removed.
    pub(crate) async fn removed(&self) -> Removal {
        let mut removal = self.removal.subscribe();
        loop {
            if let Some(removal) = removal.borrow_and_update().clone() {
                return removal;
            }
            if removal.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    /// Stores the ticket with which the client may come back.
    pub(crate) fn hold(&self, ticket: Ticket) {
        *self.ticket.lock().unwrap_or_else(PoisonError::into_inner) = ticket;
    }

    /// The ticket with which the client may come back.
    pub(crate) fn ticket(&self) -> Ticket {
        *self.ticket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the connection is muted at this elapsed time of the machine: its chat does not reach
    /// other clients. Its player or address may be muted, too
    /// ([`Mutes`](crate::door::mutes::Mutes)).
    pub(crate) fn is_muted(&self, elapsed: Duration) -> bool {
        self.muted_until().is_some_and(|end| elapsed < end)
    }

    /// The elapsed time of the machine until which the connection is muted.
    pub(crate) fn muted_until(&self) -> Option<Duration> {
        *self.muted_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Mutes the connection until this elapsed time of the machine, or unmutes it. The wall clock
    /// is not used, because it may be set meanwhile.
    pub(crate) fn mute_until(&self, until: Option<Duration>) {
        *self.muted_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    /// The client's address. It may change while the client is connected.
    pub(crate) fn address(&self) -> SocketAddr {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the latest measurements of the connection, and the client's address.
    pub(crate) fn note(&self, address: SocketAddr, figures: ConnectionStats) {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner) = address;
        *self.figures.lock().unwrap_or_else(PoisonError::into_inner) = figures;
    }

    /// The last measurements.
    pub(crate) fn figures(&self) -> ConnectionStats {
        *self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seconds since the client connected.
    pub(crate) fn seconds(&self) -> f64 {
        self.since.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(number: u64, spectates: bool) -> Client {
        let name = PlayerName::new("Ann").unwrap();
        Client::new(number, name, ([127, 0, 0, 1], 5).into(), None, spectates)
    }

    #[tokio::test]
    async fn places_are_counted_until_they_are_given_up() {
        let clients = Clients::default();
        let first = clients.enter(client(1, false), 1).unwrap();
        let _watching = clients.enter(client(2, true), 1).unwrap();
        assert!(clients.enter(client(3, false), 1).is_none());
        assert_eq!((clients.players(), clients.list().len()), (1, 2));
        clients.find(1).unwrap().remove(Removal::new(Reason::Removed, "spam"));
        let removal = first.removed().await;
        assert_eq!(removal.closing, ClosingReason::Removed(ChatLine::new("spam").unwrap()));
        drop(first);
        assert!(clients.find(1).is_none());
        assert!(clients.enter(client(3, false), 1).is_some());
    }

    #[test]
    fn a_client_that_is_removed_is_not_merely_replaced() {
        let client = client(1, false);
        client.remove(Removal::replaced());
        assert!(!client.is_removed());
        client.remove(Removal::new(Reason::Removed, "spam"));
        client.remove(Removal::replaced());
        assert!(client.is_removed());
    }

    #[test]
    fn a_reason_that_cannot_be_shown_is_replaced() {
        for why in ["", "\u{202e}"] {
            let removal = Removal::new(Reason::Removed, why);
            assert!(removal.closing.to_string().contains("by the operator"));
        }
    }
}
