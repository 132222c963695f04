//! A level: a world that is played, and everything that belongs only to it. Each change of the map
//! and each new round begins another level. The server, its connections and the tick numbers
//! continue from one level to the next.

pub(crate) mod roster;

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use obsp::entity_check::{EntityFault, KnownClasses};
use obsp::model::Model;
use obsp_game::arena::Arena;
use obsp_game::{AnyGame, GameFile, RunningMatch, Weapons};
use obsp_proto::control::{MapHash, MapName, MatchEvent};
use obsp_proto::download::Download;
use obsp_proto::quantise::WorldBounds;
use obsp_proto::server::MatchInfo;
use obsp_proto::{MAX_ENTITIES, Tick};
use obsp_sim::{EntityId, SetupError};
use tokio::sync::broadcast;

use super::map_file;
use super::recording::ReplayBuffer;
use crate::common::error::StartError;
use roster::Roster;

/// Maximum number of events that may wait for the slowest connection: as many as happen in a second
/// in which all players of a full match join, leave and are hurt all the time. A connection that
/// falls further behind has stopped reading, and is closed.
const EVENTS_WAITING: usize = 2048;

/// A match event, and the clients that receive it.
#[derive(Clone, Debug)]
pub(crate) struct News {
    /// The first tick whose state shows the event.
    pub(crate) tick: Tick,
    pub(crate) event: MatchEvent,
    /// The players whose clients alone receive the event; `None` if all clients receive it.
    pub(crate) to: Option<Arc<[EntityId]>>,
}

/// A receiver of the events of a level.
pub(crate) type Events = broadcast::Receiver<News>;

/// A world that is played, with everything that belongs only to it.
pub(crate) struct Level {
    /// The number of the level. The first level has 0, later ones greater numbers.
    pub(crate) number: u64,
    /// The description of the match that is sent to players who join.
    pub(crate) match_info: Arc<MatchInfo>,
    /// The description of the match that is sent to spectators who join.
    pub(crate) spectator_match_info: Arc<MatchInfo>,
    /// The compiled map, for clients that lack it.
    pub(crate) map: Bytes,
    /// The game's data, for clients that lack them. Empty if there are none.
    pub(crate) game_data: Bytes,
    /// The file that the map was drawn in, if there is one. Pages read the names of textures in it.
    pub(crate) source: PathBuf,
    /// The map itself.
    pub(crate) world_map: Arc<obsp::Map>,
    /// The models that bodies can have.
    pub(crate) models: Arc<[Model]>,
    /// The weapons of the arena game; `None` in any other game.
    pub(crate) weapons: Option<Arc<Weapons>>,
    pub(crate) roster: Roster,
    /// The match events, for all connections.
    pub(crate) events: broadcast::Sender<News>,
    /// The last half minute of the level, for pages that replay it.
    pub(crate) replay_buffer: ReplayBuffer,
    /// Whether the round is over, so that nobody moves any more.
    pub(crate) frozen: AtomicBool,
    /// Whether a player has come to the exit of the map, until the director has seen it.
    pub(crate) exited: AtomicBool,
    /// The time that it took to load or compile the map.
    pub(crate) load_time: Duration,
    /// The current phase of the match, which is sent to clients that join.
    phase: Mutex<Option<MatchEvent>>,
}

/// A level that is ready to be played.
pub(crate) struct Prepared {
    pub(crate) level: Arc<Level>,
    pub(crate) simulation: Box<dyn RunningMatch>,
    pub(crate) config: obsp_sim::Config,
    /// Bodies that the world begins with: those of the map, those that were scattered, and those of
    /// the game.
    pub(crate) props: usize,
}

/// Makes levels of a game by these settings.
#[derive(Clone)]
pub(crate) struct LevelMaker {
    pub(crate) game: Arc<dyn AnyGame>,
    pub(crate) tick_rate: u32,
    /// Snapshots a second for players; by default one a tick.
    pub(crate) snapshot_rate: Option<u32>,
    /// Snapshots a second for spectators, at most one a tick.
    pub(crate) spectator_rate: u32,
    pub(crate) objects: u32,
    pub(crate) seed: u64,
    pub(crate) sim_threads: u16,
    /// Maximum cost of the moving bodies per second; 0 for no limit.
    pub(crate) sim_budget: u32,
    pub(crate) max_players: u16,
}

impl std::fmt::Debug for Level {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Level {} ({})", self.number, self.match_info.map_name)
    }
}

impl Level {
    /// The current phase of the match, if it has phases.
    pub(crate) fn phase(&self) -> Option<MatchEvent> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes the phase that the match is in now.
    pub(crate) fn enter_phase(&self, phase: MatchEvent) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = Some(phase);
    }
}

impl LevelMaker {
    /// Loads or compiles the map that `asked` names, and sets up a world in it.
    pub(crate) fn make(&self, asked: &str, number: u64) -> Result<Prepared, StartError> {
        let path = map_file::find(asked, &map_file::folders())?;
        let loading = Instant::now();
        let (map, file) = map_file::load_with_file(&path)?;
        let source = path.with_extension("map");
        self.set_up(map.into(), source, &file, number, loading.elapsed())
    }

    /// Checks whether the map that `asked` names can be played, without compiling it. A compiled
    /// map is loaded and set up. Of an uncompiled map, the source and the `game.toml` beside it are
    /// parsed.
    ///
    /// # Errors
    /// The reason why it cannot be played, with the map's name.
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

    /// Sets up a world in `map`, which was drawn in the file `source`. The settings come from the
    /// `file` beside it.
    pub(crate) fn set_up(
        &self,
        map: Arc<obsp::Map>,
        source: PathBuf,
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
            // Each level has a seed of its own, so that rounds on one map differ.
            seed: self.seed.wrapping_add(number),
            objects: self.objects,
            max_players: players,
        };
        // The check comes first, because scattering too many props would take long.
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
        let known = game.add_classes(KnownClasses::of_server());
        for fault in EntityFault::find(map.entities(), &known) {
            tracing::warn!("map {name}: entity {}: {fault}", fault.first());
        }
        // The counters of the world leave out the bodies that the game has just spawned.
        let entities = world.state().entities;
        let props = entities.iter().filter(|entity| !entity.kind.is_player()).count();
        if props + world.agents().len() + usize::from(players) > MAX_ENTITIES {
            return Err(StartError::TooManyEntities { props, players });
        }
        let rate = |rate: u32| u16::try_from(rate).ok().and_then(NonZeroU16::new);
        let tick_rate =
            rate(self.tick_rate).ok_or_else(|| setup(SetupError::TickRate(self.tick_rate)))?;
        let snapshots = self.snapshot_rate.unwrap_or(self.tick_rate);
        let snapshot_rate = rate(snapshots).filter(|rate| *rate <= tick_rate);
        let snapshot_rate =
            snapshot_rate.ok_or(StartError::SnapshotRate { snapshots, ticks: self.tick_rate })?;
        let schema =
            game.schema(&map).map_err(|error| setup(SetupError::Game(error.to_string())))?;
        let game_data = game.client_data(&map);
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
            source,
            models: game.models(&map).into(),
            world_map: map,
            weapons: (game.game_name() == Arena.game_name()).then(|| Arc::clone(file.weapons())),
            roster: Roster::default(),
            events: broadcast::Sender::new(EVENTS_WAITING),
            replay_buffer: ReplayBuffer::new(&*simulation, config),
            frozen: AtomicBool::new(false),
            exited: AtomicBool::new(false),
            load_time,
            phase: Mutex::default(),
        };
        Ok(Prepared { level: Arc::new(level), simulation, config, props })
    }
}
