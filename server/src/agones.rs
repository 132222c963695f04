//! The server's place in an Agones fleet: one process per match.
//!
//! Agones runs a sidecar next to each server and believes what the server tells
//! it there. `sidecar` speaks its REST interface; `lifecycle` decides what to
//! tell, from what can be seen of the match, and reads no clock; `places` tells
//! the players in the match from those for whom an allocation has reserved a
//! place. Only an allocator allocates, and a match that its players have left is
//! offered again. [`run`] ties all this to the match. A sidecar that comes late,
//! goes away or answers errors is told again and never disturbs the match.

mod address;
mod lifecycle;
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

use crate::match_handle::MatchHandle;
use crate::matches::Matches;
use crate::options::{Advertised, AgonesOptions};
use crate::stop::Stop;
use lifecycle::{Fleet, Lifecycle, MatchStatus, ReportOutcome, Step};
use sidecar::Sidecar;

/// Time between two looks at the match: what players do is reported within it.
const LOOK: Duration = Duration::from_millis(250);

/// What the sidecar is told once, when the server is ready.
pub(crate) struct Introduction {
    /// Labels, to select servers by.
    pub(crate) labels: Vec<(&'static str, String)>,
    /// Annotations, for what is too long for a label.
    pub(crate) annotations: Vec<(&'static str, String)>,
    /// Players that the match holds.
    pub(crate) capacity: u16,
}

/// A text as the value of a Kubernetes label may be: up to 63 letters, digits,
/// `-`, `_` and `.`, that begin and end with one of the first two.
pub(crate) fn label(text: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let text: String = text.chars().take(63).map(fit).collect();
    text.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned()
}

/// Reports to the sidecar until the server is told to stop, and then that it ends.
/// Returns at once without `--agones`. Where clients reach this server is asked of the
/// sidecar if an operator has not said so (`asks_address`).
pub(crate) async fn run(
    options: &AgonesOptions,
    asks_address: bool,
    introduction: Introduction,
    games: &Matches<Arc<MatchHandle>>,
    stop: &Stop,
) {
    if !options.agones {
        return;
    }
    let game = games.first();
    let fleet = Cell::new(Fleet::default());
    let look = || MatchStatus {
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
        introduction,
        options.agones_health,
        options.agones_empty,
        options.agones_reservation,
    );
    let sidecar = Sidecar::new(address);
    let advertise = |found: Advertised| {
        if asks_address && *game.endpoint.advertised.borrow() != found {
            info!("clients reach this server at {found}, the sidecar says");
            game.endpoint.advertised.send_replace(found);
        }
    };
    tokio::select! {
        () = report(&sidecar, lifecycle, look, stop) => {}
        never = ask(&sidecar, &fleet, advertise) => match never {},
    }
}

/// Time between two questions to the sidecar.
const ASK: Duration = Duration::from_secs(1);

/// Asks the sidecar again and again what the fleet knows of this server. What cannot be
/// had is asked for again; that the sidecar does not answer is told by the reports.
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

/// Looks at the match and tells the sidecar what has changed.
async fn report(
    sidecar: &Sidecar,
    mut lifecycle: Lifecycle,
    look: impl Fn() -> MatchStatus,
    stop: &Stop,
) {
    let begin = Instant::now();
    let mut answers = true;
    loop {
        let seen = look();
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
            // Whether it was heard or not: nobody is asked to wait.
            if step == Step::Shutdown {
                return;
            }
            // The next look tries again. A lost sign of health holds nothing up:
            // it is due again so soon that nothing else would ever be told.
            if !answers && step != Step::Health {
                break;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stop.requested(), if !seen.stopping => {}
        }
    }
}
