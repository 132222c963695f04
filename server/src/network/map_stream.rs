use std::sync::Arc;
use std::time::Duration;

use proto::map_transfer::{REQUEST, announce};
use quinn::{RecvStream, SendStream, VarInt};
use tokio::time::timeout;
use tracing::debug;

use super::Lobby;

/// How long a client may take to ask for the map, and to receive it: the
/// largest map over a slow line.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often a connection may ask: once, and once more if something broke.
pub(super) const MAPS_A_CONNECTION: u32 = 2;

/// Application error code of a stream that asks for nothing there is.
pub(super) const NO_SUCH_THING: VarInt = VarInt::from_u32(5);

/// Sends the map on a stream that a client opened for it.
pub(super) async fn serve(mut send: SendStream, mut receive: RecvStream, lobby: Arc<Lobby>) {
    let sent = async {
        let asked = receive.read_to_end(REQUEST.len()).await.ok();
        if asked.as_deref() != Some(REQUEST) {
            return None;
        }
        send.write_all(&announce(&lobby.map)?).await.ok()?;
        send.write_all(&lobby.map).await.ok()?;
        send.finish().ok()?;
        // Until all of it is acknowledged, so that the time is bounded.
        send.stopped().await.ok()
    };
    match timeout(PATIENCE, sent).await {
        Ok(Some(_)) => lobby.telemetry.network.maps_sent.increment(1),
        _ => {
            debug!("a client asked for the map and did not get it");
            // An error says that the stream is over already.
            let _ = send.reset(NO_SUCH_THING);
        }
    }
}
