//! Accepts browsers by HTTP/3 and WebTransport on the UDP port that other players use, and opens
//! the session and its control stream. The path of the request decides whose session it is: a
//! player's at `/play`, else a spectator's.

mod path;

use obsp_proto::control::Reason;
use quinn::VarInt;
use quinn::crypto::rustls::HandshakeData;
use tokio::time::{Instant, timeout_at};
use web_transport_quinn::http::StatusCode;
use web_transport_quinn::http::header::ORIGIN;
use web_transport_quinn::{RecvStream, Request, SendStream, ServerError, Session};

use super::connection::interruption;
use super::end::End;
use super::{connection, spectator};
use crate::door::admission::Permit;
use crate::door::admission::limit::Limit;
use crate::matches::MatchHandles;
use crate::matches::match_handle::MatchHandle;
use crate::matches::telemetry::Connected;

/// Streams that HTTP/3 takes for itself in each direction: its control stream, two for header
/// compression, and as many to spare.
const HTTP_STREAMS: VarInt = VarInt::from_u32(6);

/// The session's own stream and the control stream, and one to spare.
const SESSION_STREAMS: VarInt = VarInt::from_u32(3);

/// The protocol that browsers ask for in their handshake.
pub(super) const ALPN: Option<&[u8]> = Some(web_transport_quinn::ALPN.as_bytes());

/// The path of the URL that a player's page requests.
const PLAY: &str = "/play";

/// A session with its control stream.
type Opened = (Session, SendStream, RecvStream);

/// Whether a connection asked for WebTransport in its handshake.
pub(super) fn is_web(connection: &quinn::Connection) -> bool {
    let data = connection.handshake_data().and_then(|data| data.downcast::<HandshakeData>().ok());
    data.is_some_and(|data| data.protocol.as_deref() == ALPN)
}

/// Serves a browser from its request to its last packet.
pub(super) async fn serve(
    connection: quinn::Connection,
    deadline: Instant,
    permit: Permit,
    connected: Connected,
    games: &MatchHandles,
) {
    let game = games.first();
    let address = connection.remote_address();
    connection.set_max_concurrent_uni_streams(HTTP_STREAMS);
    connection.set_max_concurrent_bi_streams(SESSION_STREAMS);
    let failed = |error| End::with_detail(Reason::HandshakeFailed, error);
    let eviction = permit.eviction();
    let opened = tokio::select! {
        opened = timeout_at(deadline, open(connection.clone(), game)) => match opened {
            Ok(opened) => opened.map_err(|error| failed(error.to_string())),
            Err(_) => Err(failed("it took too long".to_owned())),
        },
        end = interruption(&connection, &eviction, game) => Err(end),
    };
    match opened {
        Ok((true, opened)) => connection::play(opened, permit, connected, games).await,
        Ok((false, opened)) => spectator::serve(opened, permit, connected, games).await,
        Err(end) => {
            game.telemetry.network.refused(end.reason);
            end.log_without_session(&connected, address);
        }
    }
}

/// Answers a browser's request, and opens its session. The flag says whether the browser wants to
/// play.
async fn open(
    connection: quinn::Connection,
    game: &MatchHandle,
) -> Result<(bool, Opened), ServerError> {
    let held = connection.clone();
    let request = Request::accept(connection).await?;
    if !is_allowed(&request, game) {
        game.telemetry.network.limited(Limit::Origin);
        request.reject(StatusCode::FORBIDDEN).await?;
        // Waits until the page has read the answer, or the caller's time is over.
        held.closed().await;
        return Err(ServerError::UnexpectedEnd);
    }
    let plays = request.url.path() == PLAY;
    let web = request.ok().await?;
    let (send, receive) = web.accept_bi().await.map_err(|_| ServerError::UnexpectedEnd)?;
    Ok((plays, (web, send, receive)))
}

/// Whether the origin of the page is allowed. A program that is not a browser has no origin, and is
/// allowed.
fn is_allowed(request: &Request, game: &MatchHandle) -> bool {
    let Some(origin) = request.headers.get(ORIGIN) else { return true };
    let authority = request.url.authority();
    origin.to_str().is_ok_and(|origin| game.access.origins.allows(origin, authority))
}
