//! The network thread: one event loop for the QUIC endpoint with all connections, the
//! groups in which snapshots leave, the rounds, the status lines and the fleet's sidecar.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::match_setup::Leading;
use crate::common::error::RunError;
use crate::matches::MatchHandles;
use crate::matches::telemetry::EventLoop;
use crate::matches::watchdog::Gate;
use crate::network::{self, Endpoints, Renewal};
use crate::operate::fleet::options::AgonesOptions;
use crate::operate::reload::minute;
use crate::operate::{drain, fleet};

/// The network thread before it runs.
pub(super) struct NetworkThread {
    pub(super) endpoints: Endpoints,
    pub(super) renewal: Arc<Renewal>,
    pub(super) games: MatchHandles,
    /// The futures in which this thread leads the matches.
    pub(super) led: Vec<Leading>,
    /// Time after which the server ends. `None` means never.
    pub(super) duration: Option<Duration>,
    pub(super) agones: AgonesOptions,
    /// Whether the fleet is asked for the address at which clients reach this server.
    pub(super) asks_address: bool,
    /// The gate at which a test makes this thread hang.
    pub(super) gate: Gate,
}

impl NetworkThread {
    /// Serves until the server is asked to end, or something failed.
    pub(super) fn run(self, runtime: &Runtime) -> Result<(), RunError> {
        let games = self.games;
        let first = Arc::clone(games.first());
        let stop = &first.stop;
        let pulse = first.telemetry.registry.pulses.of(EventLoop::Network);
        let _stops_the_others = stop.when_dropped();
        runtime.block_on(async {
            let ended = async {
                let mut led = JoinSet::new();
                for each in self.led {
                    led.spawn(each);
                }
                let access = Arc::clone(&first.access);
                let ended = tokio::select! {
                    () = stop.requested() => Ok(()),
                    Some(ended) = led.join_next() => ended.unwrap_or_else(|error| {
                        match error.try_into_panic() {
                            Ok(panic) => std::panic::resume_unwind(panic),
                            Err(_) => Ok(()),
                        }
                    }),
                    () = minute::watch(access.clock.clone(), access, self.renewal) => Ok(()),
                    () = after(self.duration) => Ok(()),
                    () = drain::run(&games) => Ok(()),
                };
                stop.request();
                ended
            };
            let serving = network::serve(self.endpoints.clone(), Arc::new(games.clone()));
            let fleet = fleet::run(&self.agones, self.asks_address, &games, stop);
            let served = async {
                let (ended, (), ()) = tokio::join!(ended, serving, fleet);
                ended
            };
            // The beats come from the loop that serves the players, so they stop when it does.
            tokio::select! {
                ended = served => ended,
                never = pulse.keep(|| self.gate.pass()) => match never {},
            }
        })
    }
}

/// Waits for `duration`, or for ever.
async fn after(duration: Option<Duration>) {
    match duration {
        Some(duration) => tokio::time::sleep(duration).await,
        None => pending().await,
    }
}
