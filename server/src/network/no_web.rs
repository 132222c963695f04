//! Without the feature `webtransport`, no browser can connect: no handshake agrees on its protocol.

use tokio::time::Instant;

use crate::door::admission::Permit;
use crate::matches::MatchHandles;
use crate::matches::telemetry::Connected;

/// There is no protocol for browsers in this build.
pub(super) const ALPN: Option<&[u8]> = None;

pub(super) fn is_web(_: &quinn::Connection) -> bool {
    false
}

/// Never called, because no connection is a browser's.
pub(super) async fn serve(
    _: quinn::Connection,
    _: Instant,
    _: Permit,
    _: Connected,
    _: &MatchHandles,
) {
}
