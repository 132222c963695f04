//! The status line: every ten seconds, the log shows how the match is doing. It also warns of late
//! ticks and of lost input ([`input_losses`]).

mod input_losses;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::{error, info, warn};

use super::server_telemetry::ServerTelemetry;
use crate::matches::match_handle::MatchHandle;
use crate::matches::telemetry::TickSummary;
use input_losses::{Counts, InputLosses, Loss};

/// Time between two status lines. Each line also condenses the histograms and begins a new summary
/// of ticks.
const INTERVAL: Duration = Duration::from_secs(10);

/// One tick in this many may be late without a warning.
const LATE_ONE_OF: u64 = 100;

/// Logs a status line every [`INTERVAL`], for as long as it is polled.
pub(crate) async fn report(game: Arc<MatchHandle>, server: &ServerTelemetry) {
    let (telemetry, prefix) = (&game.telemetry, game.prefix());
    let mut since = Instant::now();
    let mut losses = InputLosses::new(game.match_info().tick_rate.get());
    loop {
        tokio::time::sleep(INTERVAL).await;
        server.upkeep();
        let counts =
            Counts { commands: game.latest.borrow().commands, kernel_drops: server.kernel_drops() };
        losses.check(Instant::now(), counts).into_iter().for_each(Loss::tell);
        let seconds = since.elapsed().as_secs_f64();
        since = Instant::now();
        let ticks = telemetry.tick.take_summary();
        let players = game.clients.players();
        if ticks.ticks == 0 {
            let age = telemetry.tick.age(Instant::now()).as_secs_f64();
            error!("{prefix}no tick was finished for {age:.0} s; players in the match: {players}");
            continue;
        }
        let kilobits = 8.0 * telemetry.network.take_recent_bytes() as f64 / 1000.0;
        info!(
            "{prefix}{players} players; tick p50 {}, p99 {}; {:.0} kbit/s of snapshots",
            milliseconds(ticks.median),
            milliseconds(ticks.p99),
            kilobits / seconds,
        );
        if is_slow(&ticks) {
            warn!(
                late = ticks.overruns,
                dropped = ticks.dropped,
                ticks = ticks.ticks,
                "{prefix}in {seconds:.0} s {:.1} % of the ticks were late and {} were dropped; \
                 this machine may be too slow for this many players and objects, or busy with \
                 something else",
                100.0 * ticks.overruns as f64 / ticks.ticks.max(1) as f64,
                ticks.dropped,
            );
        }
    }
}

/// Whether late ticks affected players: ticks were dropped, or more than one in [`LATE_ONE_OF`] was
/// not done when the next one was due. A single late tick does not count: it is caught up, and
/// clients buffer for longer than that.
fn is_slow(ticks: &TickSummary) -> bool {
    ticks.dropped > 0 || ticks.overruns * LATE_ONE_OF > ticks.ticks
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn now_and_then_a_late_tick_is_no_warning_and_time_left_out_always_is() {
        let slow = |overruns, dropped| {
            is_slow(&TickSummary { ticks: 600, overruns, dropped, ..TickSummary::default() })
        };
        assert!(!slow(0, 0) && !slow(1, 0) && !slow(6, 0));
        assert!(slow(7, 0) && slow(0, 1));
    }
}
