//! A level: a world that is played, and all that belongs to it alone. Another map is
//! another level, and so is another round on the same map; the server, its connections
//! and the numbering of ticks go on.

use std::num::NonZeroU16;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use obsp::model::Model;
use obsp_game::{AnyGame, GameFile, RunningMatch};
use obsp_proto::control::{MapHash, MapName, MatchEvent};
use obsp_proto::download::Download;
use obsp_proto::quantise::WorldBounds;
use obsp_proto::server::MatchInfo;
use obsp_proto::{MAX_ENTITIES, Tick};
use obsp_sim::{EntityId, SetupError};
use tokio::sync::broadcast;

use crate::error::StartError;
use crate::map_file;
use crate::options::Options;
use crate::recording::ReplayBuffer;
use crate::roster::Roster;

/// Events that may wait for the slowest connection: every player of a full match joining,
/// leaving and being hurt all the time in the same second. A connection that falls behind
/// further does not read any more, and is closed.
const EVENTS_WAITING: usize = 2048;

/// Something that has happened, for those whom it concerns.
#[derive(Clone, Debug)]
pub(crate) struct News {
    /// The first tick whose state shows it.
    pub(crate) tick: Tick,
    /// What has happened.
    pub(crate) event: MatchEvent,
    /// The player whose client alone is told; `None` for all clients.
    pub(crate) to: Option<EntityId>,
}

/// A world that is played, with all that belongs to it alone.
pub(crate) struct Level {
    /// The first is 0; later ones have greater numbers.
    pub(crate) number: u64,
    /// The welcome of players.
    pub(crate) match_info: Arc<MatchInfo>,
    /// The welcome of spectators.
    pub(crate) spectator_match_info: Arc<MatchInfo>,
    /// The compiled map, for clients that lack it.
    pub(crate) map: Bytes,
    /// The game's data, likewise; empty if there are none.
    pub(crate) game_data: Bytes,
    /// The map itself.
    pub(crate) world_map: Arc<obsp::World>,
    /// The models that bodies can have.
    pub(crate) models: Arc<[Model]>,
    /// The players.
    pub(crate) roster: Roster,
    /// The match events, for all connections.
    pub(crate) events: broadcast::Sender<News>,
    /// The last half minute, for pages that want to see it again.
    pub(crate) replay_buffer: ReplayBuffer,
    /// Whether nobody moves any more: the round is over.
    pub(crate) frozen: AtomicBool,
    /// Time that loading or compiling the map took.
    pub(crate) load_time: Duration,
    /// The phase that the match is in, for those who come in.
    phase: Mutex<Option<MatchEvent>>,
}

/// A level that is ready to be played.
pub(crate) struct Prepared {
    pub(crate) level: Arc<Level>,
    pub(crate) simulation: Box<dyn RunningMatch>,
    pub(crate) config: obsp_sim::Config,
    /// Props that the world begins with.
    pub(crate) props: usize,
}

/// Makes levels by the options of a server.
#[derive(Clone)]
pub(crate) struct LevelMaker {
    game: Arc<dyn AnyGame>,
    tick_rate: u32,
    snapshot_rate: Option<u32>,
    spectator_rate: u32,
    objects: u32,
    seed: u64,
    sim_threads: u16,
    /// Cost of a second's bodies; zero for no limit.
    sim_budget: u32,
    max_players: u16,
}

impl std::fmt::Debug for Level {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Level {} ({})", self.number, self.match_info.map_name)
    }
}

impl Level {
    /// The phase that the match is in, if there are phases.
    pub(crate) fn phase(&self) -> Option<MatchEvent> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes the phase that the match is in now.
    pub(crate) fn enter_phase(&self, phase: MatchEvent) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = Some(phase);
    }
}

impl LevelMaker {
    /// Makes levels of `game`.
    pub(crate) fn new(options: &Options, game: Arc<dyn AnyGame>) -> Self {
        Self {
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

    /// Loads or compiles the map that `asked` means, and sets a world up in it.
    pub(crate) fn make(&self, asked: &str, number: u64) -> Result<Prepared, StartError> {
        let path = map_file::find(asked, &map_file::folders())?;
        let loading = Instant::now();
        let (map, file) = map_file::load_with_file(&path)?;
        self.set_up(map.into(), &file, number, loading.elapsed())
    }

    /// Whether the map that `asked` means can be played, as far as that is known without
    /// compiling it: a compiled one is tried, of another the source and the file beside it are
    /// parsed.
    ///
    /// # Errors
    /// Why not, with the map's name.
    pub(crate) fn check(&self, asked: &str) -> Result<(), StartError> {
        let path = map_file::find(asked, &map_file::folders())?;
        match map_file::read_source(&path) {
            Some(source) => {
                source?.check_syntax()?;
                map_file::game_file(&path).map(drop)
            }
            None => self.make(asked, 0).map(drop),
        }
    }

    /// Sets a world up in `map`, by the file beside it.
    pub(crate) fn set_up(
        &self,
        map: Arc<obsp::World>,
        file: &GameFile,
        number: u64,
        load_time: Duration,
    ) -> Result<Prepared, StartError> {
        let name = map.name().to_owned();
        let setup = |source| StartError::Setup { map: name.clone(), source };
        let bounds = map.bounds();
        let bounds = WorldBounds::covering(bounds.min, bounds.max)
            .map_err(|source| StartError::Bounds { map: name.clone(), source })?;
        let players = self.max_players;
        let config = obsp_sim::Config {
            tick_rate: self.tick_rate,
            // Rounds on one map are not all alike.
            seed: self.seed.wrapping_add(number),
            objects: self.objects,
            max_players: players,
        };
        // Before the work of scattering them all.
        let wanted = self.objects as usize;
        if wanted + usize::from(players) > MAX_ENTITIES {
            return Err(StartError::TooManyEntities { props: wanted, players });
        }
        let game = self.game.with_file(file);
        let mut simulation = game.new_match(Arc::clone(&map), config).map_err(setup)?;
        let budget = (self.sim_budget > 0).then_some(self.sim_budget);
        simulation.world_mut().set_budget_per_second(budget);
        simulation.world_mut().set_threads(self.sim_threads);
        let world = simulation.world();
        for warning in world.warnings() {
            tracing::warn!("map {name}: {warning}");
        }
        let props = world.counters().entities as usize;
        if props + usize::from(players) > MAX_ENTITIES {
            return Err(StartError::TooManyEntities { props, players });
        }
        let rate = |rate: u32| u16::try_from(rate).ok().and_then(NonZeroU16::new);
        let tick_rate =
            rate(self.tick_rate).ok_or_else(|| setup(SetupError::TickRate(self.tick_rate)))?;
        let snapshots = self.snapshot_rate.unwrap_or(self.tick_rate);
        let snapshot_rate = rate(snapshots).filter(|rate| *rate <= tick_rate);
        let snapshot_rate =
            snapshot_rate.ok_or(StartError::SnapshotRate { snapshots, ticks: self.tick_rate })?;
        let schema = game.schema().map_err(|error| setup(SetupError::Game(error.to_string())))?;
        let game_data = game.client_data();
        let game_data = game_data.map_err(|error| setup(SetupError::Game(error.to_string())))?;
        let bytes = map.to_bytes();
        if Download::Map.announce(&bytes).is_none() {
            return Err(StartError::TooLarge { map: name, bytes: bytes.len() });
        }
        let match_info = MatchInfo {
            tick_rate,
            snapshot_rate,
            map: MapHash(map.hash()),
            map_name: MapName::new(&name),
            bounds,
            player_limit: players,
            schema: Arc::new(schema),
            game: game_data.hash(),
        };
        let spectator_rate = rate(self.spectator_rate).unwrap_or(snapshot_rate);
        let spectator_match_info =
            MatchInfo { snapshot_rate: spectator_rate, ..match_info.clone() };
        let level = Level {
            number,
            match_info: Arc::new(match_info),
            spectator_match_info: Arc::new(spectator_match_info),
            map: bytes.into(),
            game_data: game_data.bytes().to_owned().into(),
            world_map: map,
            models: game.models().into(),
            roster: Roster::default(),
            events: broadcast::Sender::new(EVENTS_WAITING),
            replay_buffer: ReplayBuffer::new(&*simulation, config),
            frozen: AtomicBool::new(false),
            load_time,
            phase: Mutex::default(),
        };
        Ok(Prepared { level: Arc::new(level), simulation, config, props })
    }
}
