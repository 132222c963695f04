//! The server's place in an Agones fleet: one process per match.
//!
//! Agones runs a sidecar next to each server and believes what the server tells
//! it there. `sidecar` speaks its REST interface; `lifecycle` decides what to
//! tell, from what can be seen of the match, and reads no clock: a server is
//! *ready* once it ticks on time, *healthy* as long as its last tick is fresh,
//! *allocated* when the first player is in, and asks to be shut down when it is
//! told to stop or everybody has gone. [`run`] ties the two to the match. A
//! sidecar that comes late, goes away or answers errors is told again and never
//! disturbs the match.

mod lifecycle;
mod sidecar;
#[cfg(test)]
mod tests;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::{info, warn};

use crate::network::Lobby;
use crate::options::AgonesOptions;
use crate::stop::Stop;
use lifecycle::{Lifecycle, Seen, Step};
use sidecar::Sidecar;

/// Time between two looks at the match: what players do is reported within it.
const LOOK: Duration = Duration::from_millis(250);

/// What is said about a server once.
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

/// Reports to the sidecar, for as long as it is polled, and then once more that
/// it is over. Returns at once without `--agones`.
pub(crate) async fn run(
    options: &AgonesOptions,
    introduction: Introduction,
    lobby: Arc<Lobby>,
    stop: &Stop,
) {
    if !options.agones {
        return;
    }
    let look = || Seen {
        on_time: lobby.telemetry.tick.is_on_time(),
        fresh: lobby.frames.borrow().is_fresh(),
        players: lobby.sessions.len(),
        stopping: stop.is_requested(),
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.agones_port));
    info!("reporting to the Agones sidecar on {address}");
    let lifecycle = Lifecycle::new(introduction, options.agones_health, options.agones_empty);
    if report(&Sidecar::new(address), lifecycle, look, stop).await == Over::Empty {
        info!("everybody has left: the match is over");
        stop.request();
    }
}

/// Why there is nothing more to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    /// The server was told to stop.
    Stopped,
    /// Everybody has left.
    Empty,
}

/// Looks at the match and tells the sidecar what has changed.
async fn report(
    sidecar: &Sidecar,
    mut lifecycle: Lifecycle,
    look: impl Fn() -> Seen,
    stop: &Stop,
) -> Over {
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
            let refused = result.as_ref().is_err_and(sidecar::Error::is_final);
            lifecycle.done(&step, result.is_ok(), refused, begin.elapsed());
            let was_health = step == Step::Health;
            match step {
                // Whether it was heard or not: nobody is asked to wait.
                Step::Shutdown if seen.stopping => return Over::Stopped,
                Step::Shutdown if answers => return Over::Empty,
                _ => {}
            }
            // The next look tries again. A lost sign of health holds nothing up:
            // it is due again so soon that nothing else would ever be told.
            if !answers && !was_health {
                break;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stop.requested(), if !seen.stopping => {}
        }
    }
}
