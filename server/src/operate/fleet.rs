//! The server as a game server of an Agones fleet.
//!
//! Agones runs a sidecar next to each server and relies on what the server tells it. `sidecar`
//! speaks the sidecar's REST interface. `lifecycle` decides what to report, from the state of the
//! match; it reads no clock. `places` distinguishes the players in the match from the places that
//! an allocation has reserved. [`run`] connects all this to the match.
//!
//! The server never allocates itself: only an allocator does. When all players of an allocated
//! match have left, the server offers the match again. If the sidecar starts late, goes away or
//! answers errors, the server repeats its reports, and the match is not disturbed.

mod address;
mod lifecycle;
pub(crate) mod options;
mod places;
mod sidecar;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::{info, warn};

use crate::common::stop::Stop;
use crate::door::public_endpoint::advertise::Advertised;
use crate::matches::Matches;
use crate::matches::match_handle::MatchHandle;
use lifecycle::{Fleet, Lifecycle, MatchStatus, ReportOutcome, Step};
use options::AgonesOptions;
use sidecar::Sidecar;

/// Time between two polls of the match. A join or a leave is reported within this time.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// A description of the server that is sent to the sidecar once, before the server is ready.
struct Introduction {
    /// Labels, by which servers can be selected.
    labels: Vec<(&'static str, String)>,
    /// Annotations, for values that are too long for a label.
    annotations: Vec<(&'static str, String)>,
    /// The number of players that the server can hold.
    capacity: u16,
}

/// Changes a text into a valid value of a Kubernetes label: up to 63 letters, digits, `-`, `_` and
/// `.`, with a letter or a digit at both ends.
fn label(text: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let text: String = text.chars().take(63).map(fit).collect();
    text.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned()
}

/// Reports to the sidecar until the server is asked to stop, and then reports the shutdown. Returns
/// at once without `--agones`. `asks_address` is set if no operator has named the address at which
/// clients reach this server. The sidecar is then asked for that address.
pub(crate) async fn run(
    options: &AgonesOptions,
    asks_address: bool,
    games: &Matches<Arc<MatchHandle>>,
    stop: &Stop,
) {
    if !options.agones {
        return;
    }
    let game = games.first();
    let fleet = Cell::new(Fleet::default());
    let status = || MatchStatus {
        on_time: games.played().all(|game| game.telemetry.tick.is_on_time()),
        fresh: games.is_alive(Instant::now()),
        players: u32::try_from(games.players()).unwrap_or(u32::MAX),
        certificate: *game.endpoint.certificate.borrow(),
        draining: stop.draining().is_some(),
        stopping: stop.is_requested(),
        fleet: fleet.get(),
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.agones_port));
    info!("reporting to the Agones sidecar on {address}");
    let lifecycle = Lifecycle::new(
        introduction(games),
        options.agones_health,
        options.agones_empty,
        options.agones_reservation,
    );
    let sidecar = Sidecar::new(address);
    let advertise = |found: Advertised| {
        if asks_address && *game.endpoint.advertised.borrow() != found {
            info!("the sidecar says that clients reach this server at {found}");
            game.endpoint.advertised.send_replace(found);
        }
    };
    tokio::select! {
        () = report(&sidecar, lifecycle, status, stop) => {}
        never = ask(&sidecar, &fleet, advertise) => match never {},
    }
}

/// The labels and the capacity by which a fleet knows this server.
fn introduction(games: &Matches<Arc<MatchHandle>>) -> Introduction {
    let match_info = games.first().match_info();
    Introduction {
        labels: vec![
            ("map", label(match_info.map_name.as_str())),
            ("tick-rate", match_info.tick_rate.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ],
        annotations: vec![("map-hash", match_info.map.to_string())],
        capacity: games.player_limit(),
    }
}

/// Time between two questions to the sidecar.
const ASK: Duration = Duration::from_secs(1);

/// Asks the sidecar every [`ASK`] for this server's state in the fleet, also after a failure.
/// Failures are not logged here, because [`report`] logs a sidecar that does not answer.
async fn ask(sidecar: &Sidecar, fleet: &Cell<Fleet>, advertise: impl Fn(Advertised)) -> Infallible {
    loop {
        let counted = sidecar.counted().await.ok();
        if let Ok(game_server) = sidecar.game_server().await {
            address::of(&game_server).into_iter().for_each(&advertise);
            let answers = fleet.get().answers + 1;
            let is_allocated = game_server["status"]["state"] == "Allocated";
            fleet.set(Fleet { answers, is_allocated, counted });
        }
        tokio::time::sleep(ASK).await;
    }
}

/// Looks at the match and reports to the sidecar what has changed.
async fn report(
    sidecar: &Sidecar,
    mut lifecycle: Lifecycle,
    status: impl Fn() -> MatchStatus,
    stop: &Stop,
) {
    let begin = Instant::now();
    let mut answers = true;
    loop {
        let seen = status();
        while let Some(step) = lifecycle.next(begin.elapsed(), &seen) {
            let result = sidecar.tell(&step.request()).await;
            match (&result, answers) {
                (Err(error), true) => warn!("Agones: {error}; trying again"),
                (Ok(()), false) => info!("Agones: the sidecar answers again"),
                _ => {}
            }
            answers = result.is_ok();
            let answer = result.map_or_else(|error| error.answer(), |()| ReportOutcome::Accepted);
            lifecycle.done(&step, answer, begin.elapsed());
            // The shutdown is reported only once, so that a silent sidecar does not delay the
            // server's end.
            if step == Step::Shutdown {
                return;
            }
            // The next poll tries a lost report again. A lost *Health* does not hold up the other
            // reports. Otherwise they would never be sent, because *Health* is due so often.
            if !answers && step != Step::Health {
                break;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            () = stop.requested(), if !seen.stopping => {}
        }
    }
}
