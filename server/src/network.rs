//! The network thread's half of the server: one QUIC endpoint, one task per
//! connection, and the groups in which a tick's snapshots leave.
//!
//! A connection's task owns its `obsp_proto` session, and nothing else may touch it. Datagrams and
//! stream bytes go in, commands go on to the tick thread through the player's
//! [`Seat`](crate::matches::seats::Seat), and each published state comes out as one datagram. No
//! snapshot is queued for a client whose path is full; the next snapshot makes up for the one that
//! was not sent.

mod away;
mod connection;
mod end;
mod endpoint;
mod feed;
mod flood;
mod path;
pub(crate) mod rate;
#[cfg(feature = "webtransport")]
mod spectator;
#[cfg_attr(not(feature = "webtransport"), path = "network/no_web.rs")]
mod web;

use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_proto::control::Reason;
use tokio::task::JoinSet;
use tokio::time::timeout_at;
use tracing::{debug, error, info};

use crate::matches::MatchHandles;
use crate::matches::match_handle::MatchHandle;

use crate::door::admission::limit::Limit;

use crate::door::admission::Verdict;
pub(crate) use away::expire;
pub(crate) use endpoint::queries::{Asked, Queries};
pub(crate) use endpoint::renewal::{Credentials, Renewal};
pub(crate) use endpoint::reset_key::default_state_dir;
pub(crate) use endpoint::udp_port::{ReceiveBuffer, UdpPort, canonical_address};
pub(crate) use endpoint::{Endpoints, Limits, Sockets, bind, connection_limit};

/// How long clients have to answer the goodbye when the server shuts down.
const DRAIN: Duration = Duration::from_secs(3);

/// Minimum time for the last packets to leave, even if the goodbyes took long.
const LAST_PACKETS: Duration = Duration::from_millis(500);

/// New connections are refused once this many times [`connection_limit`] are open. Closed
/// connections also count, because they live on for a few round trips.
const DRAINING: usize = 4;

/// Accepts connections at all endpoints until asked to stop, then says goodbye to the clients.
pub(crate) async fn serve(endpoints: Endpoints, games: Arc<MatchHandles>) {
    let mut serving = JoinSet::new();
    for endpoint in endpoints.iter() {
        serving.spawn(serve_at(endpoint.clone(), endpoints.clone(), Arc::clone(&games)));
    }
    while let Some(ended) = serving.join_next().await {
        if let Err(error) = ended {
            error!("the task of an endpoint crashed, please report it: {error}");
        }
    }
}

/// Serves one of the endpoints.
async fn serve_at(endpoint: quinn::Endpoint, all: Endpoints, games: Arc<MatchHandles>) {
    let game = games.first();
    let spectators = games.count() * usize::from(game.access.max_spectators);
    let clients = usize::from(games.player_limit()) + spectators;
    let limit = DRAINING * connection_limit(clients);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            incoming = endpoint.accept() => match incoming {
                Some(incoming) => match ask(game, &incoming, all.open_connections() < limit) {
                    Verdict::Admit(permit) => {
                        connections.spawn(connection::serve(incoming, permit, Arc::clone(&games)));
                    }
                    Verdict::Prove => turn_away(game, incoming, None),
                    Verdict::Refuse(limit) => turn_away(game, incoming, Some(limit)),
                },
                None => break,
            },
            Some(ended) = connections.join_next() => {
                if let Err(error) = ended {
                    error!("a connection's task crashed, please report it: {error}");
                }
            }
            () = game.stop.requested() => break,
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

/// Decides on a connection attempt.
fn ask(game: &MatchHandle, incoming: &quinn::Incoming, has_room: bool) -> Verdict {
    let address = incoming.remote_address().ip();
    if !has_room {
        Verdict::Refuse(Limit::Connections)
    } else if game.access.is_banned(address) {
        Verdict::Refuse(Limit::Ban)
    } else {
        game.admission.ask(address, incoming.remote_address_validated(), Instant::now())
    }
}

/// Answers a connection attempt that was not admitted, unless too many were answered lately. The
/// client is refused because of a limit, or asked to prove its address. A refusal is counted and
/// logged.
fn turn_away(game: &MatchHandle, incoming: quinn::Incoming, limit: Option<Limit>) {
    let (network, address) = (&game.telemetry.network, incoming.remote_address());
    if !game.admission.may_answer(address.ip(), Instant::now()) {
        network.limited(Limit::Answers);
        return incoming.ignore();
    }
    let Some(limit) = limit else {
        if incoming.may_retry() {
            network.retries.increment(1);
            // `retry` fails only where `may_retry` is false.
            let _ = incoming.retry();
        } else {
            incoming.refuse();
        }
        return;
    };
    let reason = match limit {
        Limit::Connections => Reason::Overloaded,
        Limit::Ban => Reason::Banned,
        _ => Reason::AddressLimit,
    };
    network.refused(reason);
    network.limited(limit);
    info!(reason = reason.code(), %address, limit = limit.label(), "refused: {reason}");
    incoming.refuse();
}
