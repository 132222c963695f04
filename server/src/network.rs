//! The network thread's half of the server: one QUIC endpoint, one task per
//! connection, and the groups in which a tick's snapshots leave.
//!
//! A connection's task owns its `obsp_proto` session, and nothing else may touch it. Datagrams and
//! stream bytes go in, commands go on to the tick thread through the player's
//! [`Seat`](crate::seats::Seat), and each published state comes out as one datagram. Nothing is
//! queued for a client whose path is full; the next snapshot makes up for the one that was not
//! sent.

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
mod game_socket;
mod idleness;
mod lobby;
mod map_stream;
#[cfg(test)]
mod narrow_tests;
mod outbox;
mod path;
mod path_estimate;
mod path_stats;
mod proxy_protocol;
mod queries;
mod rate_adaptation;
mod renewal;
mod reset_key;
mod send_groups;
mod snapshot_pace;
mod spectator;
mod udp_port;
#[cfg(test)]
mod virtual_line;
mod web;

use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_proto::control::Reason;
use tokio::task::JoinSet;
use tokio::time::timeout_at;
use tracing::{debug, error, info};

use crate::telemetry::Limit;

use admission::Verdict;
pub(crate) use admission::{Admission, Shares};
pub(crate) use away::{LeavingRules, expire};
pub use certificate::CertificateError;
pub(crate) use certificate::Validity;
pub(crate) use endpoint::{Endpoints, Limits, Sockets, bind, connection_limit};
pub(crate) use lobby::{Lobbies, Lobby, Spectators};
pub(crate) use queries::{Asked, Queries};
pub(crate) use renewal::{Credentials, Renewal};
pub(crate) use reset_key::default_state_dir;
pub(crate) use send_groups::{Cadence, SendGroups};
pub(crate) use udp_port::{ReceiveBuffer, UdpPort, canonical_address};

/// How long clients have to answer the goodbye when the server shuts down.
const DRAIN: Duration = Duration::from_secs(3);

/// Minimum time for the last packets to leave, even if the goodbyes took long.
const LAST_PACKETS: Duration = Duration::from_millis(500);

/// New connections are refused once this many times [`connection_limit`] are open. Closed
/// connections also count, because they live on for a few round trips.
const DRAINING: usize = 4;

/// Accepts connections at all endpoints until asked to stop, then says goodbye to the clients.
pub(crate) async fn serve(endpoints: Endpoints, lobbies: Arc<Lobbies>) {
    let mut serving = JoinSet::new();
    for endpoint in endpoints.iter() {
        serving.spawn(serve_at(endpoint.clone(), endpoints.clone(), Arc::clone(&lobbies)));
    }
    while let Some(ended) = serving.join_next().await {
        if let Err(error) = ended {
            error!("the task of an endpoint crashed, please report it: {error}");
        }
    }
}

/// Serves one of the endpoints.
async fn serve_at(endpoint: quinn::Endpoint, all: Endpoints, lobbies: Arc<Lobbies>) {
    let lobby = lobbies.first();
    let spectators = lobbies.count() * usize::from(lobby.game.access.max_spectators);
    let clients = usize::from(lobbies.player_limit()) + spectators;
    let limit = DRAINING * connection_limit(clients);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            incoming = endpoint.accept() => match incoming {
                Some(incoming) => match ask(lobby, &incoming, all.open_connections() < limit) {
                    Verdict::Admit(permit) => {
                        connections.spawn(connection::serve(incoming, permit, Arc::clone(&lobbies)));
                    }
                    Verdict::Prove if incoming.may_retry() => {
                        lobby.game.telemetry.network.retries.increment(1);
                        // `retry` fails only where `may_retry` is false.
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
            () = lobby.game.stop.requested() => break,
        }
    }
    // Each connection notices the stop by itself and says goodbye.
    endpoint.set_server_config(None);
    let deadline = Instant::now() + DRAIN;
    let goodbyes = async { while connections.join_next().await.is_some() {} };
    if timeout_at(deadline.into(), goodbyes).await.is_err() {
        debug!("some clients did not answer the goodbye");
    }
    endpoint.close(end::DONE, Reason::Shutdown.code().as_bytes());
    // Lets the last packets leave. If a client does not acknowledge them, the wait ends at the
    // deadline.
    let deadline = deadline.max(Instant::now() + LAST_PACKETS);
    let _ = timeout_at(deadline.into(), endpoint.wait_idle()).await;
}

/// Decides on a connection attempt. A refusal is counted and logged.
fn ask(lobby: &Lobby, incoming: &quinn::Incoming, has_room: bool) -> Verdict {
    let address = incoming.remote_address();
    let (verdict, reason) = if !has_room {
        (Verdict::Refuse(Limit::Connections), Reason::Overloaded)
    } else if lobby.game.access.is_banned(address.ip()) {
        (Verdict::Refuse(Limit::Ban), Reason::Banned)
    } else {
        let is_proven = incoming.remote_address_validated();
        let verdict = lobby.admission.ask(address.ip(), is_proven, Instant::now());
        (verdict, Reason::AddressLimit)
    };
    if let Verdict::Refuse(limit) = verdict {
        let network = &lobby.game.telemetry.network;
        network.refused(reason);
        network.limited(limit);
        info!(reason = reason.code(), %address, limit = limit.label(), "refused: {reason}");
    }
    verdict
}
