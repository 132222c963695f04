//! The network thread: one event loop for the QUIC endpoint with all connections, the
//! groups in which snapshots leave, the rounds, the status lines, the watchdog and the
//! fleet's sidecar.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::error::RunError;
use crate::match_handle::MatchHandle;
use crate::matches::Matches;
use crate::network::{self, Cadence, Credentials, Lobbies, Lobby};
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
    pub(super) lobbies: Arc<Lobbies>,
    pub(super) led: Vec<LedMatch>,
    /// Time after which the server ends. `None` means never.
    pub(super) duration: Option<Duration>,
    /// Time that a tick thread may hang before the server ends. `None` means for ever.
    pub(super) hang_limit: Option<Duration>,
    /// The supervisor of this process.
    pub(super) manager: ServiceManager,
    pub(super) agones: AgonesOptions,
    /// Whether the fleet is asked for the address at which clients reach this server.
    pub(super) asks_address: bool,
}

/// The parts of one match that the network thread leads.
pub(super) struct LedMatch {
    pub(super) lobby: Arc<Lobby>,
    pub(super) states: PublishedStates,
    pub(super) cadence: Cadence,
    pub(super) schedule: Schedule,
    pub(super) pipeline: LevelPipeline,
}

impl NetworkThread {
    /// Serves until the server is asked to end, or something failed.
    pub(super) fn run(mut self, runtime: &Runtime) -> Result<(), RunError> {
        let games = self.lobbies.map(|lobby| Arc::clone(&lobby.game));
        let first = Arc::clone(games.first());
        let stop = &first.stop;
        let _stops_the_others = stop.when_dropped();
        runtime.block_on(async {
            let introduction = introduction(&games);
            let ended = async {
                let mut led = JoinSet::new();
                for each in self.led {
                    led.spawn(each.lead());
                }
                let lobby = Arc::clone(self.lobbies.first());
                let ended = tokio::select! {
                    () = stop.requested() => Ok(()),
                    Some(ended) = led.join_next() => ended.unwrap_or_else(|error| {
                        match error.try_into_panic() {
                            Ok(panic) => std::panic::resume_unwind(panic),
                            Err(_) => Ok(()),
                        }
                    }),
                    () = network::renew(self.endpoint.clone(), self.credentials, lobby) => Ok(()),
                    hangs = watchdog::watch(&games, self.hang_limit, &mut self.manager) => {
                        Err(hangs)
                    }
                    () = after(self.duration) => Ok(()),
                    () = drain::run(&games) => Ok(()),
                };
                self.manager.stopping();
                stop.request();
                ended
            };
            let serving = network::serve(self.endpoint.clone(), Arc::clone(&self.lobbies));
            let fleet = agones::run(&self.agones, self.asks_address, introduction, &games, stop);
            let (ended, (), ()) = tokio::join!(ended, serving, fleet);
            ended
        })
    }
}

impl LedMatch {
    /// Leads the match and hands its states to the connections, until it is over.
    async fn lead(self) -> Result<(), RunError> {
        let Self { lobby, states, cadence, schedule, pipeline } = self;
        let game = Arc::clone(&lobby.game);
        let rounds = &game.telemetry.network.round;
        tokio::select! {
            ended = lobby.send_groups.run(states, cadence, rounds) => ended,
            () = status::report(Arc::clone(&game)) => Ok(()),
            () = director::direct(schedule, pipeline, Arc::clone(&game)) => Ok(()),
            () = network::expire(Arc::clone(&lobby)) => Ok(()),
        }
    }
}

/// The labels and the capacity by which a fleet knows this server.
fn introduction(games: &Matches<Arc<MatchHandle>>) -> agones::Introduction {
    let match_info = games.first().match_info();
    agones::Introduction {
        labels: vec![
            ("map", agones::label(match_info.map_name.as_str())),
            ("tick-rate", match_info.tick_rate.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ],
        annotations: vec![("map-hash", match_info.map.to_string())],
        capacity: games.player_limit(),
    }
}

/// Waits for `duration`, or for ever.
async fn after(duration: Option<Duration>) {
    match duration {
        Some(duration) => tokio::time::sleep(duration).await,
        None => pending().await,
    }
}
