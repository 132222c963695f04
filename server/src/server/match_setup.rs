//! The parts that each match has of its own before the server's threads start: its world, its
//! lobby, its pages, and the threads that play it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use obsp_game::RunningMatch;
use obsp_proto::control::MatchName;

use super::match_builder::PlannedMatch;
use super::network_thread::LedMatch;
use crate::access_rules::AccessRules;
use crate::audit_thread::AuditThread;
use crate::clients::Clients;
use crate::error::{RunError, StartError};
use crate::http::PageState;
use crate::level::{Level, LevelMaker};
use crate::match_handle::MatchHandle;
use crate::network::{
    self, Admission, Cadence, LeavingRules, Limits, Lobby, SendGroups, Spectators,
};
use crate::operate::introduction::Introduction;
use crate::operate::outgoing::Outgoing;
use crate::operate::webhook::Webhook;
use crate::options::Options;
use crate::public_endpoint::PublicEndpoint;
use crate::published::{ContactSubscription, LatestState, PublishedStates};
use crate::recording::{Keeper, LevelRecordings};
use crate::rounds::director::LevelPipeline;
use crate::rounds::{Loader, LoaderThread, Rounds, Schedule};
use crate::seats::JoinRequest;
use crate::stop::Stop;
use crate::telemetry::{Identity, ServerTelemetry, Telemetry};
use crate::threads::Threads;
use crate::tick_thread::Match;
use crate::tickets::Tickets;
use crate::watchdog::Gate;

/// Finished worlds that may wait to be freed. There are never as many at a time.
const FINISHED_WORLDS: usize = 4;

/// Time between two checks, by the thread of a failed match, whether the server stops.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The parts that the matches of a server share.
pub(super) struct Shared {
    pub(super) access: Arc<AccessRules>,
    pub(super) endpoint: Arc<PublicEndpoint>,
    pub(super) introduction: Arc<Introduction>,
    pub(super) webhook: Webhook,
    pub(super) telemetry: Arc<ServerTelemetry>,
    pub(super) stop: Stop,
    pub(super) epoch: Instant,
    pub(super) admission: Arc<Admission>,
    pub(super) outgoing: Arc<Outgoing>,
    pub(super) limits: Limits,
    /// How many matches have not failed.
    pub(super) played: Arc<AtomicUsize>,
}

/// A match before its threads run.
pub(super) struct MatchSetup {
    pub(super) game: Arc<MatchHandle>,
    pub(super) lobby: Arc<Lobby>,
    pub(super) pages: Arc<PageState>,
    pub(super) recordings: Arc<LevelRecordings>,
    simulation: Match,
    loader_thread: LoaderThread,
    finished_worlds: Receiver<Box<dyn RunningMatch>>,
    audit: Option<AuditThread>,
    keeper: Option<Keeper>,
}

/// The match on its first level, and the parts that lead it through the next ones.
pub(super) struct Simulation {
    name: MatchName,
    game_name: &'static str,
    pub(super) options: Options,
    game: Match,
    latest: LatestState,
    pub(super) level: Arc<Level>,
    pub(super) props: usize,
    joins: SyncSender<JoinRequest>,
    contact_subscription: Arc<ContactSubscription>,
    recordings: Arc<LevelRecordings>,
    finished_worlds: Receiver<Box<dyn RunningMatch>>,
    rounds: Rounds,
    schedule: Schedule,
    pipeline: LevelPipeline,
    loader_thread: LoaderThread,
}

impl Simulation {
    /// Loads the maps of a match and sets up its first world.
    pub(super) fn new(planned: PlannedMatch) -> Result<Self, StartError> {
        let PlannedMatch { name, options, game } = planned;
        let maps = options.rounds.rotation(&options.map);
        let first = maps.first().ok_or_else(|| StartError::NoMaps(options.rounds.maps.clone()))?;
        let game_name = game.game_name();
        let maker = LevelMaker::new(&options, game);
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
        let (game, latest) = Match::new(
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
            game: game
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
            rounds,
            schedule,
            loader_thread,
        })
    }
}

impl MatchSetup {
    /// Makes a match ready, and the part of it that the network thread leads.
    pub(super) fn new(
        simulation: Simulation,
        shared: &Shared,
    ) -> Result<(Self, LedMatch), StartError> {
        let options = &simulation.options;
        let game = Arc::new(MatchHandle {
            telemetry: Arc::new(telemetry(&simulation, shared)),
            name: simulation.name,
            game_name: simulation.game_name,
            latest: simulation.latest,
            clients: Clients::default(),
            rounds: simulation.rounds,
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
        let audit = match options.audit_every {
            0 => None,
            every => Some(AuditThread::new(&game, every)?),
        };
        if let Some(folder) = options.replay_dir.as_deref().filter(|folder| !folder.is_dir()) {
            let folder = folder.display();
            tracing::warn!(
                "--replay-dir {folder}: the page offers no recordings until there is a folder of this name"
            );
        }
        let pages = Arc::new(PageState::new(
            Arc::clone(&game),
            simulation.recordings.latest(),
            options.replay_dir.clone(),
            options.pages.replay_running,
            simulation.contact_subscription,
        ));
        let lobby = Arc::new(lobby(options, Arc::clone(&game), simulation.joins, shared));
        let led = LedMatch {
            lobby: Arc::clone(&lobby),
            states: simulation.game.states(),
            cadence: snapshot_cadence(options),
            schedule: simulation.schedule,
            pipeline: simulation.pipeline,
        };
        let setup = Self {
            game,
            lobby,
            pages,
            keeper: simulation.recordings.keeper(&options.retention),
            recordings: simulation.recordings,
            simulation: simulation.game,
            loader_thread: simulation.loader_thread,
            finished_worlds: simulation.finished_worlds,
            audit,
        };
        Ok((setup, led))
    }

    /// Every state of the match from now on.
    pub(super) fn states(&self) -> PublishedStates {
        self.simulation.states()
    }

    /// Starts the threads that play the match. The tick thread passes `gate` before every tick.
    pub(super) fn start(
        self,
        threads: &mut Threads,
        tick_rate: u32,
        gate: Gate,
    ) -> Result<(), StartError> {
        let loader_thread = self.loader_thread;
        threads.spawn_dispensable("level loader thread", move || {
            loader_thread.run();
            Ok(())
        })?;
        // Another thread frees the worlds, because freeing one takes longer than a tick.
        let (game, simulation) = (self.game, self.simulation);
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
        if let Some(keeper) = self.keeper {
            let stop = game.stop.clone();
            threads.spawn_dispensable("recordings' keeper", move || {
                keeper.run(&stop);
                Ok(())
            })?;
        }
        let is_left_behind = Arc::clone(&game.is_left_behind);
        threads.spawn_until_left("tick thread", &is_left_behind, move || {
            play(simulation, &game, tick_rate, &gate)
        })
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
    // If the thread hung, it no longer does, and can be waited for.
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

/// The telemetry of a match.
fn telemetry(simulation: &Simulation, shared: &Shared) -> Telemetry {
    let Simulation { level, options, .. } = simulation;
    let identity = Identity {
        label: (shared.played.load(Ordering::Relaxed) > 1).then(|| simulation.name.clone()),
        map: level.match_info.map_name.as_str(),
        map_hash: &level.match_info.map.to_string(),
        tick_rate: options.tick_rate,
        max_players: options.max_players,
        map_load: level.load_time.as_secs_f64(),
        recording: simulation.recordings.latest(),
    };
    Telemetry::new(&shared.telemetry, &identity)
}

/// The ticks of which players are sent a snapshot.
fn snapshot_cadence(options: &Options) -> Cadence {
    Cadence::new(options.snapshot_rate.unwrap_or(options.tick_rate), options.tick_rate)
}

/// The state that the connections of a match share.
fn lobby(
    options: &Options,
    game: Arc<MatchHandle>,
    joins: SyncSender<JoinRequest>,
    shared: &Shared,
) -> Lobby {
    let spectator_rate = options.spectator_rate.min(options.tick_rate);
    Lobby {
        game,
        joins,
        send_groups: Arc::new(SendGroups::new(options.max_players, options.tick_rate)),
        tickets: Tickets::new(options.joining.rejoin).with_combat_time(options.joining.combat_time),
        leaving: LeavingRules {
            protects: options.joining.rejoin_protect,
            combat_time: options.joining.combat_time,
        },
        admission: Arc::clone(&shared.admission),
        client_budget: options.client_budget,
        spectators: Spectators {
            cadence: Cadence::new(spectator_rate, options.tick_rate),
            budget: options.spectator_budget,
        },
        limits: shared.limits,
    }
}
