use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use metrics::{Gauge, gauge};

use super::catalogue;

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionState {
    /// Handshake and hello.
    Opening,
    /// A player's.
    Playing,
    /// A spectator's.
    Watching,
    /// Saying goodbye.
    Closing,
}

/// How many connections there are in each state.
#[derive(Clone)]
pub(crate) struct Connections {
    gauges: [Gauge; ConnectionState::ALL.len()],
    watching: Arc<AtomicUsize>,
}

/// One connection, counted as long as this lives.
pub(crate) struct Connected {
    connections: Connections,
    state: ConnectionState,
}

impl ConnectionState {
    const ALL: [Self; 4] = [Self::Opening, Self::Playing, Self::Watching, Self::Closing];

    fn label(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Playing => "playing",
            Self::Watching => "watching",
            Self::Closing => "closing",
        }
    }
}

impl Connections {
    pub(super) fn register() -> Self {
        let gauge =
            |state: ConnectionState| gauge!(catalogue::CONNECTIONS, "state" => state.label());
        Self { gauges: ConnectionState::ALL.map(gauge), watching: Arc::default() }
    }

    /// Counts a new connection.
    pub(crate) fn open(&self) -> Connected {
        self.enter(ConnectionState::Opening);
        Connected { connections: self.clone(), state: ConnectionState::Opening }
    }

    fn enter(&self, state: ConnectionState) {
        self.gauges[state as usize].increment(1);
        if state == ConnectionState::Watching {
            self.watching.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn leave(&self, state: ConnectionState) {
        self.gauges[state as usize].decrement(1);
        if state == ConnectionState::Watching {
            self.watching.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Connected {
    /// The connection is in another state now.
    pub(crate) fn is_now(&mut self, state: ConnectionState) {
        self.connections.leave(self.state);
        self.connections.enter(state);
        self.state = state;
    }

    /// Spectators there are, without this connection if it is none yet.
    pub(crate) fn others_watching(&self) -> usize {
        self.connections.watching.load(Ordering::Relaxed)
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.connections.leave(self.state);
    }
}
