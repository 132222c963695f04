//! Opens a connection, from the first packet to the control stream, and finds out whether a client
//! or a browser is at the other end.

use obsp_proto::control::Reason;
use quinn::{Incoming, RecvStream, SendStream};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::door::admission::limit::Limit;
use crate::matches::match_handle::MatchHandle;
use crate::network::end::{DONE, End};
use crate::network::{flood, web};

/// The detail of a QUIC handshake that did not end in time. Its first packets are padded to 1200
/// bytes, so a line that carries only smaller datagrams loses them all.
const TOO_LONG: &str = "it took too long; the line may be too slow, or lose datagrams of 1200 \
                          bytes, the least that QUIC needs";

/// The peer at the other end of a new connection.
pub(super) enum Opened {
    /// A client, with its control stream.
    Client(quinn::Connection, SendStream, RecvStream),
    /// A browser that speaks HTTP/3.
    Browser(quinn::Connection),
}

/// Closes a connection when its task ends, for any reason. Dropping the task's clone alone does not
/// close it: `web_transport_quinn` starts tasks that also hold clones.
pub(super) struct ClosesWhenDropped(pub(super) quinn::Connection);

impl Drop for ClosesWhenDropped {
    fn drop(&mut self) {
        self.0.close(DONE, b"");
    }
}

fn failed(error: impl ToString) -> End {
    End::with_detail(Reason::HandshakeFailed, error)
}

/// Waits for the QUIC handshake.
pub(super) async fn shake_hands(
    incoming: Incoming,
    deadline: Instant,
    eviction: &Notify,
    game: &MatchHandle,
) -> Result<quinn::Connection, End> {
    let handshake = async { incoming.accept()?.await };
    tokio::select! {
        connection = timeout_at(deadline, handshake) => {
            connection.map_err(|_| failed(TOO_LONG))?.map_err(failed)
        }
        () = eviction.notified() => Err(evicted(game)),
    }
}

/// Waits for the control stream of a client.
pub(super) async fn open(
    connection: quinn::Connection,
    deadline: Instant,
    eviction: &Notify,
    game: &MatchHandle,
) -> Result<Opened, End> {
    if web::is_web(&connection) {
        return Ok(Opened::Browser(connection));
    }
    let silent = |error| End::with_detail(Reason::NoHello, error);
    let streams = tokio::select! {
        streams = timeout_at(deadline, connection.accept_bi()) => streams,
        end = interruption(&connection, eviction, game) => return Err(end),
    };
    let streams = streams.map_err(|_| silent("no control stream was opened".to_owned()))?;
    let (send, receive) = streams.map_err(|error| silent(error.to_string()))?;
    Ok(Opened::Client(connection, send, receive))
}

/// Counts a connection that was pushed out, and returns why it ends.
fn evicted(game: &MatchHandle) -> End {
    game.telemetry.network.limited(Limit::Unfinished);
    End::with_detail(Reason::Overloaded, "its place was needed for a newer connection")
}

/// Waits until a connection must end, whatever it is doing: it was pushed out, or its client sends
/// more than any client needs.
pub(in crate::network) async fn interruption(
    connection: &quinn::Connection,
    eviction: &Notify,
    game: &MatchHandle,
) -> End {
    tokio::select! {
        () = eviction.notified() => evicted(game),
        limit = flood::detect(connection, game.match_info().tick_rate.get()) => {
            game.telemetry.network.limited(limit);
            End::flooding(limit)
        }
    }
}
