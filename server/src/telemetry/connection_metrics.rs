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
pub(crate) struct Connections([Gauge; ConnectionState::ALL.len()]);

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
        Self(ConnectionState::ALL.map(gauge))
    }

    /// Counts a new connection.
    pub(crate) fn open(&self) -> Connected {
        self.of(ConnectionState::Opening).increment(1);
        Connected { connections: self.clone(), state: ConnectionState::Opening }
    }

    fn of(&self, state: ConnectionState) -> &Gauge {
        &self.0[state as usize]
    }
}

impl Connected {
    /// The connection is in another state now.
    pub(crate) fn is_now(&mut self, state: ConnectionState) {
        self.connections.of(self.state).decrement(1);
        self.connections.of(state).increment(1);
        self.state = state;
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.connections.of(self.state).decrement(1);
    }
}
