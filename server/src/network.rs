//! The network thread's half of the server: one QUIC endpoint, one task per
//! connection, and the groups in which a tick's snapshots leave.
//!
//! A connection's task owns its `obsp_proto` session and nothing else is allowed
//! to touch it: datagrams and stream bytes go in, commands go on to the tick
//! thread through the player's [`Seat`](crate::seats::Seat), and each published state
//! comes out as one datagram. Nothing is queued for a client whose path is
//! full; the next snapshot has what this one would have had.

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
mod lobby;
mod map_stream;
#[cfg(test)]
mod narrow_tests;
mod outbox;
mod path;
mod path_estimate;
mod path_stats;
mod rate_adaptation;
mod renewal;
mod reset_key;
mod send_groups;
mod snapshot_pace;
mod spectator;
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
pub(crate) use away::expire;
pub use certificate::CertificateError;
pub(crate) use endpoint::{Limits, bind, connection_limit, open};
pub(crate) use lobby::{Lobbies, Lobby, Spectators};
pub(crate) use renewal::{Credentials, renew};
pub(crate) use reset_key::default_state_dir;
pub(crate) use send_groups::{Cadence, SendGroups};

/// How long players have to take note that the server is shutting down.
const DRAIN: Duration = Duration::from_secs(3);

/// How long the goodbyes' last packets have to leave, however long the goodbyes took.
const LAST_PACKETS: Duration = Duration::from_millis(500);

/// Connections for each that the server takes, from which on no more are begun: those
/// that were closed live on for a few round trips.
const DRAINING: usize = 4;

/// Takes connections until asked to stop, then sees the players off.
pub(crate) async fn serve(endpoint: quinn::Endpoint, lobbies: Arc<Lobbies>) {
    let lobby = lobbies.first();
    let spectators = lobbies.count() * usize::from(lobby.game.access.max_spectators);
    let clients = usize::from(lobbies.player_limit()) + spectators;
    let limit = DRAINING * connection_limit(clients);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            incoming = endpoint.accept() => match incoming {
                Some(incoming) => match ask(lobby, &incoming, endpoint.open_connections() < limit) {
                    Verdict::Admit(permit) => {
                        connections.spawn(connection::serve(incoming, permit, Arc::clone(&lobbies)));
                    }
                    Verdict::Prove if incoming.may_retry() => {
                        lobby.game.telemetry.network.retries.increment(1);
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
            () = lobby.game.stop.requested() => break,
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

/// The decision on a connection attempt; counted and logged if it is refused.
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
