//! The setup from which a match is started: its first world, the options, and the parts that its
//! threads will own. The handle of the match and its pages are made from this setup, and then the
//! threads start.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use obsp_game::{AnyGame, RunningMatch};
use obsp_proto::control::MatchName;

use super::match_builder::Plan;
use super::options::Options;
use crate::common::error::{RunError, StartError};
use crate::common::stop::Stop;
use crate::common::threads::Threads;
use crate::door::AccessRules;
use crate::door::admission::Admission;
use crate::door::clients::Clients;
use crate::door::introduction::Introduction;
use crate::door::outgoing::Outgoing;
use crate::door::public_endpoint::PublicEndpoint;
use crate::door::tickets::Tickets;
use crate::matches::audit_thread::AuditThread;
use crate::matches::happening::Listener;
use crate::matches::level::{Level, LevelMaker};
use crate::matches::match_handle::MatchHandle;
use crate::matches::match_handle::Spectators;
use crate::matches::recording::LevelRecordings;
use crate::matches::rounds::director::{self, LevelPipeline};
use crate::matches::rounds::{Loader, LoaderThread, Rounds, Schedule};
use crate::matches::seats::JoinRequest;
use crate::matches::seats::away::LeavingRules;
use crate::matches::telemetry::{Identity, Telemetry};
use crate::matches::tick_thread::Match;
use crate::matches::tick_thread::published::{ContactSubscription, LatestState, PublishedStates};
use crate::matches::tick_thread::send_groups::{Cadence, SendGroups};
use crate::matches::watchdog::Gate;
use crate::network::{self, Limits};
use crate::operate::metrics::server_telemetry::ServerTelemetry;
use crate::operate::metrics::status;
use crate::operate::page::page_state::PageState;

/// Maximum number of finished worlds that wait to be freed. There are never so many at a time.
const FINISHED_WORLDS: usize = 4;

/// Time between two checks, by the thread of a failed match, whether the server stops.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The parts that the matches of a server share.
pub(super) struct Shared {
    pub(super) access: Arc<AccessRules>,
    pub(super) endpoint: Arc<PublicEndpoint>,
    pub(super) introduction: Arc<Introduction>,
    pub(super) webhook: Listener,
    pub(super) telemetry: Arc<ServerTelemetry>,
    pub(super) stop: Stop,
    pub(super) epoch: Instant,
    pub(super) admission: Arc<Admission>,
    pub(super) outgoing: Arc<Outgoing>,
    pub(super) limits: Limits,
    /// How many matches have not failed.
    pub(super) played: Arc<AtomicUsize>,
}

/// The setup from which a match is started: the match on its first level, and the parts that lead
/// it through the next ones.
pub(super) struct MatchSetup {
    name: MatchName,
    game_name: &'static str,
    pub(super) options: Options,
    simulation: Match,
    latest: LatestState,
    pub(super) level: Arc<Level>,
    pub(super) props: usize,
    joins: SyncSender<JoinRequest>,
    contact_subscription: Arc<ContactSubscription>,
    pub(super) recordings: Arc<LevelRecordings>,
    finished_worlds: Receiver<Box<dyn RunningMatch>>,
    rounds: Arc<Rounds>,
    schedule: Schedule,
    pipeline: LevelPipeline,
    loader_thread: LoaderThread,
    audit: Option<AuditThread>,
}

impl MatchSetup {
    /// Loads the first map of a match, sets up its world, and checks the other maps.
    pub(super) fn load((name, options, game): Plan) -> Result<Self, StartError> {
        let maps = options.rounds.rotation(&options.map);
        let first = maps.first().ok_or_else(|| StartError::NoMaps(options.rounds.maps.clone()))?;
        let game_name = game.game_name();
        let maker = level_maker(&options, game);
        let prepared = maker.make(first, 0)?;
        // The other maps are checked now, so that a faulty one stops the start instead of being
        // left out later.
        maps[1..].iter().try_for_each(|map| maker.check(map))?;
        let recordings = Arc::new(LevelRecordings::new(options.record.clone()));
        let recorder = recordings.begin_first(&prepared)?;
        let (joins, requests) = sync_channel(network::connection_limit(options.max_players.into()));
        let (worlds, next_worlds) = sync_channel(1);
        let (finished, finished_worlds) = sync_channel(FINISHED_WORLDS);
        let contact_subscription = Arc::<ContactSubscription>::default();
        let (level, props) = (Arc::clone(&prepared.level), prepared.props);
        let (simulation, latest) = Match::new(
            prepared,
            options.rewind,
            requests,
            (next_worlds, finished),
            Arc::clone(&contact_subscription),
        );
        let (loader, loader_thread) = Loader::new(maker);
        let rules = options.rounds.rules(maps.len());
        let (rounds, schedule) = Rounds::new(rules, maps, options.rounds.votes.clone());
        Ok(Self {
            name,
            game_name,
            simulation: simulation
                .with_tanks(options.tanks)
                .with_combat_time(options.joining.combat_time)
                .recorded_by(recorder),
            options,
            latest,
            level,
            props,
            joins,
            contact_subscription,
            pipeline: LevelPipeline { loader, worlds, recordings: Arc::clone(&recordings) },
            recordings,
            finished_worlds,
            rounds: Arc::new(rounds),
            schedule,
            loader_thread,
            audit: None,
        })
    }
}

impl MatchSetup {
    /// The handle through which all other parts see the match. An audit of the match is made ready,
    /// too.
    pub(super) fn handle(&mut self, shared: &Shared) -> Result<Arc<MatchHandle>, StartError> {
        let options = &self.options;
        let combat_time = options.joining.combat_time;
        let spectator_rate = options.spectator_rate.min(options.tick_rate);
        let game = Arc::new(MatchHandle {
            telemetry: Arc::new(telemetry(self, shared)),
            name: self.name.clone(),
            game_name: self.game_name,
            latest: self.latest.clone(),
            clients: Clients::default(),
            rounds: Arc::clone(&self.rounds),
            joins: self.joins.clone(),
            send_groups: SendGroups::new(options.max_players, options.tick_rate),
            tickets: Tickets::new(options.joining.rejoin).with_combat_time(combat_time),
            leaving: LeavingRules { protects: options.joining.rejoin_protect, combat_time },
            client_budget: options.client_budget,
            snapshot_limit: shared.limits.snapshot_rate,
            spectators: Spectators {
                cadence: Cadence::new(spectator_rate, options.tick_rate),
                budget: options.spectator_budget,
            },
            admission: Arc::clone(&shared.admission),
            access: Arc::clone(&shared.access),
            outgoing: Arc::clone(&shared.outgoing),
            endpoint: Arc::clone(&shared.endpoint),
            introduction: Arc::clone(&shared.introduction),
            webhook: shared.webhook.clone(),
            stop: shared.stop.clone(),
            epoch: shared.epoch,
            played: Arc::clone(&shared.played),
            failure: OnceLock::new(),
            is_over: AtomicBool::new(false),
            is_left_behind: Arc::default(),
        });
        self.audit = match options.audit_every {
            0 => None,
            every => Some(AuditThread::new(&game, every)?),
        };
        Ok(game)
    }

    /// The pages about the match of `game`.
    pub(super) fn pages(
        &self,
        game: &Arc<MatchHandle>,
        telemetry: &Arc<ServerTelemetry>,
    ) -> Arc<PageState> {
        Arc::new(PageState::new(
            Arc::clone(game),
            Arc::clone(telemetry),
            self.recordings.latest(),
            &self.options.pages,
            Arc::clone(&self.contact_subscription),
            self.simulation.effects(),
        ))
    }

    /// Starts the threads that play the match of `game`. The tick thread passes `gate` before every
    /// tick. Returns the future in which the network thread leads the match until it is over.
    pub(super) fn start(
        self,
        game: Arc<MatchHandle>,
        telemetry: Arc<ServerTelemetry>,
        threads: &mut Threads,
        tick_rate: u32,
        gate: Gate,
    ) -> Result<Leading, StartError> {
        let cadence = snapshot_cadence(&self.options);
        let led = (self.simulation.states(), cadence, self.schedule, self.pipeline);
        let leading = Box::pin(lead(Arc::clone(&game), telemetry, led));
        let keeper = self.recordings.keeper(&self.options.retention);
        let loader_thread = self.loader_thread;
        threads.spawn_dispensable("level loader thread", move || {
            loader_thread.run();
            Ok(())
        })?;
        // Another thread frees the worlds, because freeing one takes longer than a tick.
        let simulation = self.simulation;
        let finished_worlds = self.finished_worlds;
        // The cleaning thread ends after the tick thread.
        threads.spawn_until_left("cleaning thread", &game.is_left_behind, move || {
            finished_worlds.into_iter().for_each(drop);
            Ok(())
        })?;
        if let Some(audit) = self.audit {
            let stop = game.stop.clone();
            threads.spawn_dispensable("audit thread", move || audit.run(&stop))?;
        }
        if let Some(keeper) = keeper {
            let stop = game.stop.clone();
            threads.spawn_dispensable("recordings' keeper", move || {
                keeper.run(&stop);
                Ok(())
            })?;
        }
        let is_left_behind = Arc::clone(&game.is_left_behind);
        threads.spawn_until_left("tick thread", &is_left_behind, move || {
            play(simulation, &game, tick_rate, &gate)
        })?;
        Ok(leading)
    }
}

/// The future in which the network thread leads a match.
pub(super) type Leading = Pin<Box<dyn Future<Output = Result<(), RunError>> + Send>>;

/// Leads the match and hands its states to the connections, until it is over.
async fn lead(
    game: Arc<MatchHandle>,
    telemetry: Arc<ServerTelemetry>,
    (states, cadence, schedule, pipeline): (PublishedStates, Cadence, Schedule, LevelPipeline),
) -> Result<(), RunError> {
    let rounds = &game.telemetry.network.round;
    tokio::select! {
        ended = game.send_groups.run(states, cadence, rounds) => ended,
        () = status::report(Arc::clone(&game), &telemetry) => Ok(()),
        () = director::direct(schedule, pipeline, Arc::clone(&game)) => Ok(()),
        () = network::expire(Arc::clone(&game)) => Ok(()),
    }
}

/// Plays a match until the server stops. If the match fails while others are played, its thread
/// waits until the server stops. If it is the last match, the server stops with it.
fn play(
    mut simulation: Match,
    game: &MatchHandle,
    tick_rate: u32,
    gate: &Gate,
) -> Result<(), RunError> {
    let _stops_the_others = game.stop.when_dropped();
    // A panic may leave the match in any state; no code reads the match again.
    let ended = catch_unwind(AssertUnwindSafe(|| simulation.run(tick_rate, game, gate)));
    // A tick thread that hung runs again here, so its end can be waited for.
    game.is_left_behind.store(false, Ordering::Relaxed);
    let why = match &ended {
        Ok(Ok(())) if game.has_failed() => "the tick thread hung".to_owned(),
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            format!("the tick thread crashed: {}", text.unwrap_or("see the message above"))
        }
    };
    if !game.fail(&why) {
        return ended.unwrap_or_else(|panic| resume_unwind(panic));
    }
    while !game.stop.is_requested() {
        std::thread::sleep(STOP_POLL_INTERVAL);
    }
    Ok(())
}

/// Makes levels of `game` by these options.
pub(crate) fn level_maker(options: &Options, game: Arc<dyn AnyGame>) -> LevelMaker {
    LevelMaker {
        game,
        tick_rate: options.tick_rate,
        snapshot_rate: options.snapshot_rate,
        spectator_rate: options.spectator_rate.min(options.tick_rate),
        objects: options.objects,
        seed: options.seed,
        sim_threads: options.sim_threads,
        sim_budget: options.sim_budget,
        max_players: options.max_players,
    }
}

fn telemetry(setup: &MatchSetup, shared: &Shared) -> Telemetry {
    let MatchSetup { level, options, .. } = setup;
    let identity = Identity {
        label: (shared.played.load(Ordering::Relaxed) > 1).then(|| setup.name.clone()),
        map: level.match_info.map_name.as_str(),
        map_hash: &level.match_info.map.to_string(),
        tick_rate: options.tick_rate,
        max_players: options.max_players,
        map_load: level.load_time.as_secs_f64(),
        recording: setup.recordings.latest(),
    };
    Telemetry::new(&shared.telemetry.registry, &identity)
}

/// The ticks whose snapshots players are sent.
fn snapshot_cadence(options: &Options) -> Cadence {
    Cadence::new(options.snapshot_rate.unwrap_or(options.tick_rate), options.tick_rate)
}
