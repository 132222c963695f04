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
mod feed;
mod line;
mod map_stream;
mod renewal;
mod spectator;
mod waves;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use bytes::Bytes;
use proto::control::MatchEvent;
use proto::server::Terms;
use proto::{Tick, Time};
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::{debug, error};

use crate::http::{Effects, Layers};
use crate::seats::JoinRequest;
use crate::sessions::Sessions;
use crate::stop::Stop;
use crate::telemetry::{Refusal, Telemetry};
use crate::tick_thread::LastFrame;

pub use certificate::CertificateError;
pub(crate) use endpoint::{bind, connection_limit, open};
pub use proto::Fingerprint;
pub(crate) use renewal::{Credentials, renew};
pub(crate) use waves::{Cadence, Waves};

/// How long players have to take note that the server is shutting down.
const DRAIN: Duration = Duration::from_secs(3);

/// Handshakes under way from which on newcomers must first prove their address.
const UNPROVEN_HANDSHAKES: usize = 16;

/// Events that may wait for the slowest connection: every player of a full
/// match joining, leaving and being hurt all the time in the same second. Who
/// falls behind further is not listening and is dropped.
pub(crate) const EVENTS_WAITING: usize = 2048;

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
    /// Who plays.
    pub(crate) sessions: Arc<Sessions>,
    /// The latest frame.
    pub(crate) frames: LastFrame,
    /// What happens in the match, for everybody to hear.
    pub(crate) events: broadcast::Sender<(Tick, MatchEvent)>,
    /// The compiled map, for those who lack it.
    pub(crate) map: Bytes,
    /// The map and the models, for those who draw them: `/scene`.
    pub(crate) scene: Bytes,
    /// What happened of late, for those who draw it: `/effects`.
    pub(crate) effects: Effects,
    /// What a page can lay over the match.
    pub(crate) layers: Layers,
    /// Bytes of snapshots that each client is sent a second at most.
    pub(crate) client_budget: u32,
    /// Addresses that may not join.
    pub(crate) banned: Vec<IpAddr>,
    /// Handshakes under way.
    pub(crate) handshakes: AtomicUsize,
    /// Who looks on.
    pub(crate) spectators: Spectators,
    /// UDP port on which players join.
    pub(crate) port: u16,
    /// Fingerprint of the certificate that newcomers are shown.
    pub(crate) certificate: watch::Sender<Fingerprint>,
    /// Whether the server has made it itself.
    pub(crate) self_signed: bool,
}

/// What spectators are given.
pub(crate) struct Spectators {
    /// What each is told.
    pub(crate) terms: Arc<Terms>,
    /// Which ticks they are told of.
    pub(crate) cadence: Cadence,
    /// Bytes of snapshots that each is sent a second at most.
    pub(crate) budget: u32,
    /// How many there may be.
    pub(crate) limit: u16,
}

impl Lobby {
    fn now(&self) -> Time {
        Time::since_start(self.epoch.elapsed())
    }

    /// Tells everybody of something that shows from the next tick on.
    fn announce(&self, event: MatchEvent) {
        // Nobody to hear it is no error.
        let _ = self.events.send((self.next_tick(), event));
    }

    /// The last tick simulated.
    fn last_tick(&self) -> Tick {
        Tick::from_simulation(self.frames.borrow().state.tick).unwrap_or_default()
    }

    fn next_tick(&self) -> Tick {
        self.last_tick().after(1)
    }
}

/// A place in the match's event channel, to hear of all that happens from now.
type Events = broadcast::Receiver<(Tick, MatchEvent)>;

/// Takes connections until asked to stop, then sees the players off.
pub(crate) async fn serve(endpoint: quinn::Endpoint, lobby: Arc<Lobby>) {
    let (players, spectators) = (lobby.terms.player_limit, lobby.spectators.limit);
    let limit = connection_limit(usize::from(players) + usize::from(spectators));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            incoming = endpoint.accept() => match incoming {
                Some(incoming) if endpoint.open_connections() >= limit => {
                    debug!("turned {} away: {limit} connections are open", incoming.remote_address());
                    lobby.telemetry.network.refused(Refusal::Overloaded);
                    incoming.refuse();
                }
                // Under a flood only those are served who can be reached where
                // they say they are; nothing is remembered of the others.
                Some(incoming)
                    if lobby.handshakes.load(Ordering::Relaxed) >= UNPROVEN_HANDSHAKES
                        && incoming.may_retry() =>
                {
                    lobby.telemetry.network.retries.increment(1);
                    // It fails only for those who have been asked before.
                    let _ = incoming.retry();
                }
                Some(incoming) => {
                    lobby.handshakes.fetch_add(1, Ordering::Relaxed);
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
