use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::{info, warn};

use crate::network::Lobby;

/// Time between two status lines, and between two clearings of what the
/// histograms have collected.
const INTERVAL: Duration = Duration::from_secs(10);

/// Says every now and then how the match is doing, for as long as it is polled.
pub(crate) async fn report(lobby: Arc<Lobby>) {
    let telemetry = &lobby.telemetry;
    let mut since = Instant::now();
    loop {
        tokio::time::sleep(INTERVAL).await;
        telemetry.upkeep();
        let seconds = since.elapsed().as_secs_f64();
        since = Instant::now();
        let ticks = telemetry.tick.take_summary();
        let players = lobby.sessions.len();
        let kilobits = 8.0 * telemetry.network.take_recent_bytes() as f64 / 1000.0;
        info!(
            "{players} players; tick p50 {}, p99 {}; {:.0} kbit/s of snapshots",
            milliseconds(ticks.median),
            milliseconds(ticks.p99),
            kilobits / seconds,
        );
        if ticks.overruns > 0 {
            warn!(
                "in {seconds:.0} s {} ticks were late and {} left out: this machine is too slow \
                 for so many players and objects, or busy with something else",
                ticks.overruns, ticks.dropped
            );
        }
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}
