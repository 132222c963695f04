//! The network thread's half of the server: one QUIC endpoint, one task per
//! connection, and the waves in which a tick's news leave.
//!
//! A connection's task owns its `proto` session and nothing else is allowed
//! to touch it: datagrams and stream bytes go in, commands go on to the tick
//! thread through the player's [`Seat`](crate::seats::Seat), and each frame
//! comes out as one datagram. Nothing is queued for a client whose path is
//! full; the next snapshot carries the news.

mod certificate;
mod connection;
mod endpoint;
mod waves;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use proto::Time;
use proto::server::Terms;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::{debug, error};

use crate::seats::JoinRequest;
use crate::stop::Stop;
use crate::telemetry::{Refusal, Telemetry};

pub(crate) use certificate::Certificate;
pub use certificate::Fingerprint;
pub(crate) use endpoint::{bind, connection_limit, open};
pub(crate) use waves::Waves;

/// How long players have to take note that the server is shutting down.
const DRAIN: Duration = Duration::from_secs(3);

/// What all connections of a server have in common.
pub(crate) struct Lobby {
    /// What every client is told.
    pub(crate) terms: Arc<Terms>,
    /// The way into the match.
    pub(crate) joins: SyncSender<JoinRequest>,
    /// Where the news of each tick come from.
    pub(crate) waves: Arc<Waves>,
    /// Where everything is counted.
    pub(crate) telemetry: Arc<Telemetry>,
    /// When to end.
    pub(crate) stop: Stop,
    /// The beginning of [`Time`].
    pub(crate) epoch: Instant,
    /// Players in the match.
    pub(crate) players: AtomicUsize,
}

impl Lobby {
    fn now(&self) -> Time {
        Time::since_start(self.epoch.elapsed())
    }
}

/// Takes connections until asked to stop, then sees the players off.
pub(crate) async fn serve(endpoint: quinn::Endpoint, lobby: Arc<Lobby>) {
    let limit = connection_limit(lobby.terms.player_limit);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            incoming = endpoint.accept() => match incoming {
                Some(incoming) if endpoint.open_connections() >= limit => {
                    debug!("turned {} away: {limit} connections are open", incoming.remote_address());
                    lobby.telemetry.network.refused(Refusal::Overloaded);
                    incoming.refuse();
                }
                Some(incoming) => {
                    connections.spawn(connection::serve(incoming, Arc::clone(&lobby)));
                }
                None => break,
            },
            Some(ended) = connections.join_next() => {
                if let Err(error) = ended {
                    error!("a connection's task crashed, please report it: {error}");
                }
            }
            () = lobby.stop.requested() => break,
        }
    }
    // Each connection sees the stop by itself and says goodbye.
    endpoint.set_server_config(None);
    let goodbyes = async { while connections.join_next().await.is_some() {} };
    if timeout(DRAIN, goodbyes).await.is_err() {
        debug!("some clients did not answer the goodbye");
    }
    endpoint.close(connection::DONE, b"the server is shutting down");
    // Lets the last packets leave; who does not answer them is not waited for.
    let _ = timeout(DRAIN, endpoint.wait_idle()).await;
}
