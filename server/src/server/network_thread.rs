//! The network thread: one event loop for the QUIC endpoint with all connections, the
//! groups in which snapshots leave, the rounds, the status line, the watchdog and the
//! fleet's sidecar.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::error::RunError;
use crate::match_handle::MatchHandle;
use crate::network::{self, Cadence, Credentials, Lobby};
use crate::options::AgonesOptions;
use crate::published::PublishedStates;
use crate::rounds::Schedule;
use crate::rounds::director::{self, LevelPipeline};
use crate::watchdog::{self, ServiceManager};
use crate::{agones, drain, status};

/// The network thread before it runs.
pub(super) struct NetworkThread {
    pub(super) endpoint: quinn::Endpoint,
    pub(super) credentials: Credentials,
    pub(super) states: PublishedStates,
    pub(super) cadence: Cadence,
    pub(super) lobby: Arc<Lobby>,
    pub(super) schedule: Schedule,
    pub(super) pipeline: LevelPipeline,
    /// Time after which the server ends; for ever if `None`.
    pub(super) duration: Option<Duration>,
    /// Time that the tick thread may hang before the server ends; for ever if `None`.
    pub(super) hang_limit: Option<Duration>,
    /// The supervisor of this process.
    pub(super) manager: ServiceManager,
    pub(super) agones: AgonesOptions,
    /// Whether the fleet is asked where clients reach this server.
    pub(super) asks_address: bool,
}

impl NetworkThread {
    /// Serves until the server is asked to end, or something failed.
    pub(super) fn run(mut self, runtime: &Runtime) -> Result<(), RunError> {
        let game = Arc::clone(&self.lobby.game);
        let stop = &game.stop;
        let _stops_the_others = stop.when_dropped();
        runtime.block_on(async {
            let (introduction, rounds) = (introduction(&game), &game.telemetry.network.round);
            let ended = async {
                let ended = tokio::select! {
                    () = stop.requested() => Ok(()),
                    ended = self.lobby.send_groups.run(self.states, self.cadence, rounds) => ended,
                    () = network::renew(self.endpoint.clone(), self.credentials, Arc::clone(&self.lobby)) => Ok(()),
                    () = status::report(Arc::clone(&game)) => Ok(()),
                    hangs = watchdog::watch(Arc::clone(&game), self.hang_limit, &mut self.manager) => Err(hangs),
                    () = after(self.duration) => Ok(()),
                    () = drain::run(Arc::clone(&game)) => Ok(()),
                    () = director::direct(self.schedule, self.pipeline, Arc::clone(&game)) => Ok(()),
                    () = network::expire(Arc::clone(&self.lobby)) => Ok(()),
                };
                self.manager.stopping();
                stop.request();
                ended
            };
            let serving = network::serve(self.endpoint.clone(), Arc::clone(&self.lobby));
            let fleet = agones::run(&self.agones, self.asks_address, introduction, Arc::clone(&game), stop);
            let (ended, (), ()) = tokio::join!(ended, serving, fleet);
            ended
        })
    }
}

/// The labels and the capacity by which a fleet knows this server.
fn introduction(game: &MatchHandle) -> agones::Introduction {
    let match_info = game.match_info();
    agones::Introduction {
        labels: vec![
            ("map", agones::label(match_info.map_name.as_str())),
            ("tick-rate", match_info.tick_rate.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ],
        annotations: vec![("map-hash", match_info.map.to_string())],
        capacity: match_info.player_limit,
    }
}

/// Waits for `duration`, or for ever.
async fn after(duration: Option<Duration>) {
    match duration {
        Some(duration) => tokio::time::sleep(duration).await,
        None => pending().await,
    }
}
