//! Metrics of connections by their state.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use metrics::{Gauge, gauge};

use crate::common::labelled;
use crate::matches::telemetry::catalogue;

labelled! {
    /// The state of a connection.
    pub(crate) enum ConnectionState {
        /// The handshake or the hello is under way.
        Opening = "opening",
        /// The client is a player.
        Playing = "playing",
        /// The client is a spectator.
        Watching = "watching",
        /// The server says goodbye.
        Closing = "closing",
    }
}

/// How many connections there are in each state.
#[derive(Clone)]
pub(crate) struct Connections {
    gauges: [Gauge; ConnectionState::ALL.len()],
    /// Connections opened since the server's start.
    opened: Arc<AtomicU64>,
}

/// One connection, counted as long as this lives.
pub(crate) struct Connected {
    connections: Connections,
    state: ConnectionState,
    number: u64,
    since: Instant,
}

impl Connections {
    /// Registers the gauges. `opened` numbers the connections of all matches together.
    pub(crate) fn register(opened: Arc<AtomicU64>) -> Self {
        let gauge =
            |state: ConnectionState| gauge!(catalogue::CONNECTIONS, "state" => state.label());
        Self { gauges: ConnectionState::ALL.map(gauge), opened }
    }

    /// Counts a new connection.
    pub(crate) fn open(&self) -> Connected {
        self.enter(ConnectionState::Opening);
        let number = self.opened.fetch_add(1, Ordering::Relaxed) + 1;
        Connected {
            connections: self.clone(),
            state: ConnectionState::Opening,
            number,
            since: Instant::now(),
        }
    }

    fn enter(&self, state: ConnectionState) {
        self.gauges[state as usize].increment(1);
    }

    fn leave(&self, state: ConnectionState) {
        self.gauges[state as usize].decrement(1);
    }
}

impl Connected {
    /// The number of the connection since the server's start, by which the log names it. The first
    /// is 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// How long ago the connection was opened.
    pub(crate) fn age(&self) -> Duration {
        self.since.elapsed()
    }

    /// Whether the connection is in this state.
    pub(crate) fn is(&self, state: ConnectionState) -> bool {
        self.state == state
    }

    /// Counts the connection as one of another match from now on.
    pub(crate) fn moves(&mut self, connections: &Connections) {
        self.connections.leave(self.state);
        connections.enter(self.state);
        self.connections = connections.clone();
    }

    /// Counts the connection in another state from now on.
    pub(crate) fn is_now(&mut self, state: ConnectionState) {
        self.connections.leave(self.state);
        self.connections.enter(state);
        self.state = state;
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.connections.leave(self.state);
    }
}
