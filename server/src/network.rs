//! The network thread's half of the server: one QUIC endpoint, one task per
//! connection, and the waves in which a tick's news leave.
//!
//! A connection's task owns its `obsp_proto` session and nothing else is allowed
//! to touch it: datagrams and stream bytes go in, commands go on to the tick
//! thread through the player's [`Seat`](crate::seats::Seat), and each frame
//! comes out as one datagram. Nothing is queued for a client whose path is
//! full; the next snapshot carries the news.

mod admission;
mod away;
mod background;
#[cfg(test)]
mod background_tests;
#[cfg(test)]
mod blackout_tests;
mod certificate;
mod chat_queue;
mod congestion;
mod connection;
mod end;
mod endpoint;
mod feed;
mod flood;
mod idleness;
mod line;
mod map_stream;
#[cfg(test)]
mod narrow_tests;
mod outbox;
mod path_estimate;
mod rate_adaptation;
mod renewal;
mod reset_key;
mod snapshot_pace;
mod spectator;
#[cfg(test)]
mod virtual_line;
mod waves;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use obsp_proto::control::{MatchEvent, Reason};
use obsp_proto::server::Terms;
use obsp_proto::{Tick, Time};
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::timeout_at;
use tracing::{debug, error, info};

use crate::bans::Bans;
use crate::clients::{Client, Clients};
use crate::http::Effects;
use crate::level::Level;
use crate::options::Advertised;
use crate::origins::Origins;
use crate::recording;
use crate::rounds::Rounds;
use crate::seats::JoinRequest;
use crate::stop::Stop;
use crate::telemetry::{Limit, Telemetry};
use crate::tick_thread::LastFrame;
use crate::tickets::Tickets;
use crate::token_gate::TokenGate;

use admission::Verdict;
pub(crate) use admission::{Admission, Shares};
pub(crate) use away::{Away, expire};
pub use certificate::CertificateError;
pub(crate) use endpoint::{Limits, bind, connection_limit, open};
pub use obsp_proto::Fingerprint;
pub(crate) use renewal::{Credentials, renew};
pub(crate) use reset_key::default_state_dir;
pub(crate) use waves::{Cadence, Waves};

/// How long players have to take note that the server is shutting down.
const DRAIN: Duration = Duration::from_secs(3);

/// How long the goodbyes' last packets have to leave, whatever came before.
const LAST_PACKETS: Duration = Duration::from_millis(500);

/// Events that may wait for the slowest connection: every player of a full
/// match joining, leaving and being hurt all the time in the same second. Who
/// falls behind further is not listening and is dropped.
pub(crate) const EVENTS_WAITING: usize = 2048;

/// What all connections of a server have in common.
pub(crate) struct Lobby {
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
    /// The latest frame, and with it the level that is played.
    pub(crate) frames: LastFrame,
    /// Who is connected.
    pub(crate) clients: Clients,
    /// Who may come back, and what they left.
    pub(crate) tickets: Tickets<Away, Client>,
    /// Whether nobody can hurt a player whose connection is lost.
    pub(crate) protects_away: bool,
    /// Which tokens are taken; without it, everybody may join.
    pub(crate) gate: Option<TokenGate>,
    /// Places for players whose token says that they may take one.
    pub(crate) reserved_slots: u16,
    /// Seconds after which an idle player is removed; 0 for never.
    pub(crate) idle_seconds: AtomicU64,
    /// Through which rounds the match goes.
    pub(crate) rounds: Rounds,
    /// What happened of late, for those who draw it: `/effects`.
    pub(crate) effects: Effects,
    /// The recording of the level that is played, if there is one.
    pub(crate) recording: Arc<recording::Latest>,
    /// Bytes of snapshots that each client is sent a second at most.
    pub(crate) client_budget: u32,
    /// What connections are made for.
    pub(crate) limits: Limits,
    /// The players and addresses that may not join.
    pub(crate) bans: Bans,
    /// What each address has and may have.
    pub(crate) admission: Arc<Admission>,
    /// Which pages may ask.
    pub(crate) origins: Origins,
    /// Who looks on.
    pub(crate) spectators: Spectators,
    /// Where the UDP port is.
    pub(crate) local_address: SocketAddr,
    /// Where clients reach the UDP port.
    pub(crate) address: watch::Sender<Advertised>,
    /// Fingerprint of the certificate that newcomers are shown.
    pub(crate) certificate: watch::Sender<Fingerprint>,
    /// Whether the server has made it itself.
    pub(crate) self_signed: bool,
}

/// What spectators are given.
pub(crate) struct Spectators {
    /// Which ticks they are told of.
    pub(crate) cadence: Cadence,
    /// Bytes of snapshots that each is sent a second at most.
    pub(crate) budget: u32,
    /// How many there may be.
    pub(crate) limit: u16,
}

impl Lobby {
    /// The server's time.
    pub(crate) fn now(&self) -> Time {
        Time::since_start(self.epoch.elapsed())
    }

    /// Whether the operator does not want who is at this address.
    fn is_banned(&self, address: IpAddr) -> bool {
        self.bans.is_banned(address, None, unix_time())
    }

    /// By what addresses tokens may name this server.
    fn own_addresses(&self) -> Vec<String> {
        let advertised = self.address.borrow().clone();
        let host = advertised.host.unwrap_or_else(|| self.local_address.ip().to_string());
        vec![format!("{host}:{}", advertised.port), self.local_address.to_string()]
    }

    /// The level that is played.
    pub(crate) fn level(&self) -> Arc<Level> {
        Arc::clone(&self.frames.borrow().level)
    }

    /// What every client is told of the level that is played.
    pub(crate) fn terms(&self) -> Arc<Terms> {
        Arc::clone(&self.frames.borrow().level.terms)
    }

    /// Tells everybody of something that shows from the next tick on.
    pub(crate) fn announce(&self, event: MatchEvent) {
        self.announce_in(&self.level(), event);
    }

    /// Tells everybody in this level of something that shows from the next tick on.
    pub(crate) fn announce_in(&self, level: &Level, event: MatchEvent) {
        // Sending fails only without receivers, which is no error.
        let _ = level.events.send((self.next_tick(), event));
    }

    /// The last tick simulated.
    fn last_tick(&self) -> Tick {
        Tick::from_simulation(self.frames.borrow().state.tick).unwrap_or_default()
    }

    /// The tick after that.
    pub(crate) fn next_tick(&self) -> Tick {
        self.last_tick().after(1)
    }
}

/// Seconds since 1970, by the system's clock.
pub(crate) fn unix_time() -> u64 {
    std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs())
}

/// A place in the match's event channel, to hear of all that happens from now.
type Events = broadcast::Receiver<(Tick, MatchEvent)>;

/// Connections for each that the server takes, from which on no more are begun: those
/// that were closed live on for a few round trips.
const DRAINING: usize = 4;

/// Takes connections until asked to stop, then sees the players off.
pub(crate) async fn serve(endpoint: quinn::Endpoint, lobby: Arc<Lobby>) {
    let (players, spectators) = (lobby.terms().player_limit, lobby.spectators.limit);
    let limit = DRAINING * connection_limit(usize::from(players) + usize::from(spectators));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            incoming = endpoint.accept() => match incoming {
                Some(incoming) => match ask(&lobby, &incoming, endpoint.open_connections() < limit) {
                    Verdict::Admit(guest) => {
                        connections.spawn(connection::serve(incoming, guest, Arc::clone(&lobby)));
                    }
                    Verdict::Prove if incoming.may_retry() => {
                        lobby.telemetry.network.retries.increment(1);
                        // It fails only for those who have been asked before.
                        let _ = incoming.retry();
                    }
                    Verdict::Prove | Verdict::Refuse(_) => incoming.refuse(),
                },
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
    let deadline = Instant::now() + DRAIN;
    let goodbyes = async { while connections.join_next().await.is_some() {} };
    if timeout_at(deadline.into(), goodbyes).await.is_err() {
        debug!("some clients did not answer the goodbye");
    }
    endpoint.close(end::DONE, Reason::Shutdown.code().as_bytes());
    // Lets the last packets leave; who does not answer them is not waited for.
    let deadline = deadline.max(Instant::now() + LAST_PACKETS);
    let _ = timeout_at(deadline.into(), endpoint.wait_idle()).await;
}

/// What becomes of a connection attempt; counted and logged if it is refused.
fn ask(lobby: &Lobby, incoming: &quinn::Incoming, has_room: bool) -> Verdict {
    let address = incoming.remote_address();
    let (verdict, reason) = if !has_room {
        (Verdict::Refuse(Limit::Connections), Reason::Overloaded)
    } else if lobby.is_banned(address.ip()) {
        (Verdict::Refuse(Limit::Ban), Reason::Banned)
    } else {
        let is_proven = incoming.remote_address_validated();
        let verdict = lobby.admission.ask(address.ip(), is_proven, Instant::now());
        (verdict, Reason::AddressLimit)
    };
    if let Verdict::Refuse(limit) = verdict {
        let network = &lobby.telemetry.network;
        network.refused(reason);
        network.limited(limit);
        info!(reason = reason.code(), %address, limit = limit.label(), "refused: {reason}");
    }
    verdict
}
