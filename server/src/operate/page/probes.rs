//! `/healthz` and `/readyz`. The thread of the pages answers them. It reads the signs of life of
//! all other threads, and a prober's time-out notices when this thread itself hangs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;

use super::page_state::{AllPages, PageState};
use crate::matches::telemetry::{EventLoop, STALL};
use crate::operate::page::All;

/// `/healthz`: whether any match is alive, for a supervisor that restarts the server. The answer
/// also names the threads and matches that hang or have failed. Its status is 200 while any match
/// is alive, so the supervisor lets that match go on.
pub(super) async fn health(State(all): All) -> (StatusCode, String) {
    let now = Instant::now();
    let hanging = hanging(&all, now);
    match all.is_alive(now) {
        true => (StatusCode::OK, format!("ok\n{hanging}{}", failures(&all))),
        false => (StatusCode::SERVICE_UNAVAILABLE, hanging),
    }
}

/// A line for each thread and match that hangs. An event loop hangs if it did not turn for
/// [`STALL`]. A match hangs if its last tick is that old, or if it receives from players but sends
/// no snapshots. Failed matches are left out.
fn hanging(all: &AllPages, now: Instant) -> String {
    let pulses = &all.first().game.telemetry.registry.pulses;
    let still = |which: &EventLoop| {
        let age = pulses.of(*which).age(now).filter(|age| *age >= STALL)?;
        let (thread, seconds) = (which.thread(), age.as_secs_f64());
        Some(format!("the {thread} hangs: its event loop has not turned for {seconds:.1} s\n"))
    };
    let line = |pages: &Arc<PageState>| {
        let (game, prefix) = (&pages.game, pages.game.prefix());
        let age = game.telemetry.tick.age(now);
        if age >= STALL {
            return Some(format!("{prefix}the last tick was {:.1} s ago\n", age.as_secs_f64()));
        }
        let seconds = game.silence(now)?.as_secs_f64();
        Some(format!("{prefix}no snapshot was sent for {seconds:.1} s, though players are heard\n"))
    };
    let loops = EventLoop::ALL.iter().filter_map(still);
    loops.chain(all.played().filter_map(line)).collect()
}

/// A line for each match that has failed.
fn failures(all: &AllPages) -> String {
    let line = |pages: &Arc<PageState>| {
        let why = pages.game.failure.get()?;
        Some(format!("{}has failed: {why}\n", pages.game.prefix()))
    };
    all.iter().filter_map(line).collect()
}

/// Time after a stall before the server is ready for players again. A machine that stalls once may
/// do so again, and a probe every few seconds must see it.
const SETTLING: Duration = Duration::from_secs(10);

/// `/readyz`: whether players should be sent here, for a matchmaker or load balancer.
pub(super) async fn readiness(State(all): All) -> (StatusCode, String) {
    let stop = &all.first().game.stop;
    let hanging = hanging(&all, Instant::now());
    let refused = if stop.is_requested() {
        Some("shutting down\n".to_owned())
    } else if let Some(left) = stop.draining() {
        Some(format!("draining: the server ends in {:.1} s\n", left.as_secs_f64()))
    } else if !hanging.is_empty() {
        Some(hanging)
    } else {
        // This reason lasts until an operator acts, so it is reported before reasons that pass.
        let no_entry = no_browser_can_enter(all.first());
        no_entry.or_else(|| all.played().find_map(|pages| unready(pages)))
    };
    match refused {
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
        None => (StatusCode::OK, format!("ready\n{}", failures(&all))),
    }
}

/// The reason why no browser can enter, if the certificate is not valid now.
fn no_browser_can_enter(pages: &PageState) -> Option<String> {
    let game = &pages.game;
    let fault = game.endpoint.certificate_fault(game.access.clock.now().wall)?;
    Some(format!("no browser can enter, nor a client that checks the certificate: {fault}\n"))
}

/// The reason why no players should be sent to this match, if there is one.
fn unready(pages: &PageState) -> Option<String> {
    let (tick, prefix) = (&pages.game.telemetry.tick, pages.game.prefix());
    let stall = tick.last_stall().filter(|stall| stall.ended.elapsed() < SETTLING);
    if let Some(stall) = stall {
        let lasted = stall.lasted.as_secs_f64();
        let ago = stall.ended.elapsed().as_secs_f64();
        Some(format!("{prefix}no tick was finished for {lasted:.1} s, until {ago:.1} s ago\n"))
    } else if !tick.is_on_time() {
        Some(format!("{prefix}ticks are late\n"))
    } else {
        let status = pages.recording.status();
        let failure = status.and_then(|status| status.failure().map(str::to_owned));
        failure.map(|why| format!("{prefix}the recording failed: {why}\n"))
    }
}
