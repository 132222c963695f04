use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use obsp_proto::download::{Download, MAX_REQUEST};
use quinn::{Connection, RecvStream, SendStream, VarInt};
use tokio::time::{sleep, timeout};
use tracing::debug;

use crate::door::outgoing::Payer;
use crate::matches::level::Level;
use crate::matches::match_handle::MatchHandle;
use crate::matches::telemetry::JoinSpan;
use crate::network::rate::background::Background;
use crate::network::rate::congestion::GameCongestion;

/// How long a client may take to ask for the map, or the game's data, and to receive it. Within
/// this time, a megabyte arrives even at the least rate, on a line that the snapshots fill.
const PATIENCE: Duration = Duration::from_secs(600);

/// Time between two checks whether more may be sent: short enough for a megabyte in a few round
/// trips of a good line.
const POLL: Duration = Duration::from_millis(2);

/// Downloads that a connection may ask for: the map and the game's data, each once, and each once
/// more if something broke.
pub(crate) const DOWNLOADS_A_CONNECTION: u32 = 4;

/// Priority of a download's stream. It is below the priority of the control stream, which is 0.
const PRIORITY: i32 = -1;

/// Application error code of a download's stream whose request was not served.
pub(crate) const NO_SUCH_THING: VarInt = VarInt::from_u32(5);

/// Sends the map or the game's data of a level on a stream that a client opened for it. The
/// transfer delays nothing else on `connection`, and `payer` is charged for it. `join` is the span
/// of the client's joining.
pub(crate) async fn serve(
    connection: Connection,
    (mut send, mut receive): (SendStream, RecvStream),
    payer: Payer,
    level: Arc<Level>,
    game: Arc<MatchHandle>,
    join: Option<JoinSpan>,
) {
    let (begin, mut bytes) = (Instant::now(), 0);
    let sent = async {
        // Messages of the control stream go first.
        send.set_priority(PRIORITY).ok()?;
        let asked = receive.read_to_end(MAX_REQUEST).await.ok()?;
        let what = Download::requested(&asked)?;
        let content = match what {
            Download::Map => level.map.clone(),
            Download::Game => level.game_data.clone(),
        };
        bytes = content.len();
        send.write_all(&what.announce(&content)?).await.ok()?;
        write_paced(&connection, &mut send, &payer, content).await?;
        send.finish().ok()?;
        // Waits until all of it is acknowledged, so that `PATIENCE` bounds the whole transfer.
        send.stopped().await.ok()
    };
    let sent = timeout(PATIENCE, sent).await;
    let is_sent = matches!(sent, Ok(Some(_)));
    game.telemetry.spans.map_transfer(join, bytes, begin.elapsed(), is_sent);
    match sent {
        Ok(Some(_)) => game.telemetry.network.maps_sent.increment(1),
        _ => {
            debug!("a client asked for the map or the game's data and did not get them");
            // An error means that the stream has ended already.
            let _ = send.reset(NO_SUCH_THING);
        }
    }
}

/// Writes all of `bytes`; `None` if the stream is broken.
async fn write_paced(
    connection: &Connection,
    send: &mut SendStream,
    payer: &Payer,
    mut bytes: Bytes,
) -> Option<()> {
    let mut background = Background::new(Instant::now(), &GameCongestion::path(connection));
    while !bytes.is_empty() {
        let allowed = background.allowance(Instant::now(), &GameCongestion::path(connection));
        // QUIC would also send a packet for an empty chunk.
        if allowed > 0 {
            let chunk = bytes.split_to(allowed.min(bytes.len()));
            payer.pay(chunk.len()).await;
            background.sent(chunk.len());
            send.write_chunk(chunk).await.ok()?;
        }
        // QUIC sends the written bytes meanwhile, and counts them as in flight from then on.
        sleep(POLL).await;
    }
    Some(())
}
