//! A soak: scripted players in a match without a network, audited while it runs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use glam::DVec3;
use indicatif::{ProgressBar, ProgressStyle};
use obsp::model::{BodyKind, Model};
use obsp_game::arena::Arena;
use obsp_game::{AnyGame, RunningMatch, Schema};
use obsp_sim::audit::{Audit, Misplaced, Passages, Tunnelled};
use obsp_sim::{
    Clock, Command, Config, Depth, EntityId, EntityState, Kind, PlayerKind, SetupError, State,
    World,
};
use thiserror::Error;

use super::errand::Errands;
use super::played::PlayedWatch;
use super::report::{Rest, cascade, time_of_impact};
use super::struggle::Struggle;
use super::{Dump, Finding, Outcome, Outside, Report, Script, SoakOptions, TickTimes};
use crate::common::error::StartError;
use crate::matches::map_file;
use crate::matches::recording::{
    Recorder, RecordingError, Schedule, Writer, begin_new, beginning_of, kind_in,
};
use crate::matches::tick_thread::stuck::StuckWatch;

/// This many findings are described one by one; further ones are only counted.
const MAX_DESCRIBED: usize = 20;

/// Why a soak could not be run.
#[derive(Debug, Error)]
pub enum SoakError {
    /// The map could not be found or loaded.
    #[error(transparent)]
    Map(#[from] StartError),
    /// The match cannot be set up on the map with these options.
    #[error("map {map}: {source}")]
    Setup {
        /// The map.
        map: String,
        /// The reason.
        source: SetupError,
    },
    /// A player could not join.
    #[error(transparent)]
    Join(#[from] obsp_sim::AddPlayerError),
    /// The dump could not be written.
    #[error("cannot write the dump {path}: {source}")]
    Dump {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The recording could not be written.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

/// Plays a whole match of the arena game.
///
/// # Errors
/// The match could not be set up, or the dump or the recording could not be written.
pub fn soak(options: &SoakOptions) -> Result<Report, SoakError> {
    soak_game(&Arena, options)
}

/// Plays a whole match of any game.
///
/// # Errors
/// The match could not be set up, or the dump or the recording could not be written.
pub fn soak_game(game: &dyn AnyGame, options: &SoakOptions) -> Result<Report, SoakError> {
    let path = map_file::find(&options.map, &map_file::folders())?;
    let (map, file) = map_file::load_with_file(&path)?;
    let name = map.name().to_owned();
    let config = Config {
        tick_rate: options.tick_rate,
        seed: options.seed,
        objects: options.objects,
        max_players: options.players,
    };
    let setup = |source| SoakError::Setup { map: name.clone(), source };
    let game = game.with_file(&file);
    let mut simulation = game.new_match(map.into(), config).map_err(setup)?;
    let world = simulation.world_mut();
    world.set_threads(options.sim_threads);
    world.set_budget_per_second((options.sim_budget > 0).then_some(options.sim_budget));
    world.set_resolution(options.resolution.unwrap_or_default());
    world.set_clock(options.time_stages.then_some(Clock::new(nanoseconds)));
    let schema = game
        .schema(simulation.world().map())
        .map_err(|error| setup(SetupError::Game(error.to_string())))?;
    let outputs = Outputs::open(options, &*simulation, config)?;
    let models = game.models(simulation.world().map());
    let played = PlayedWatch::new(simulation.world(), &*game, &models);
    let judges = Judges::new(simulation.world(), &models, played, options).map_err(setup)?;
    let dynamic = |model: &Model| model.kind() == BodyKind::Dynamic;
    let mut soak = Soak {
        simulation,
        players: Vec::new(),
        judges,
        outputs,
        outcome: Outcome::default(),
        schema,
        durations: Vec::new(),
        can_sleep: models.iter().map(dynamic).collect(),
    };
    for player in 0..options.players {
        let kind = if player < options.tanks { PlayerKind::Hovertank } else { PlayerKind::Box };
        let actions = soak.schema.actions().len();
        let script = Script::new(options.seed, player).with_actions(actions);
        soak.players.push(Player {
            id: soak.simulation.join_as(kind)?,
            script,
            errands: Errands::new(options.seed, player),
            struggle: Struggle::default(),
        });
    }
    soak.play(options)
}

/// A player, and the sources of the player's commands.
struct Player {
    id: EntityId,
    script: Script,
    errands: Errands,
    struggle: Struggle,
}

/// A match, its players, its auditors and its files.
struct Soak {
    simulation: Box<dyn RunningMatch>,
    players: Vec<Player>,
    judges: Judges,
    outputs: Outputs,
    outcome: Outcome,
    schema: Schema,
    durations: Vec<Duration>,
    /// Whether bodies of a model sleep, by the number of the model. Missiles and kinematic bodies
    /// do not.
    can_sleep: Vec<bool>,
}

impl Soak {
    /// How many props there are, and how many of them sleep.
    fn props(&self) -> (usize, usize) {
        let sleeps = |entity: &EntityState| match entity.kind {
            Kind::Prop { model }
                if entity.traits.is_solid() && self.can_sleep[usize::from(model.0)] =>
            {
                Some(entity.asleep)
            }
            _ => None,
        };
        let entities = &self.simulation.world().state().entities;
        let (mut props, mut asleep) = (0, 0);
        for sleeps in entities.iter().filter_map(sleeps) {
            (props, asleep) = (props + 1, asleep + usize::from(sleeps));
        }
        (props, asleep)
    }

    /// The next command of each player.
    fn commands(&mut self, tick_rate: u32) -> Vec<(EntityId, Command)> {
        let Judges { stuck, played, .. } = &self.judges;
        let world = self.simulation.world();
        let state = world.state();
        let next = |Player { id, script, errands, struggle }: &mut Player| {
            let scripted = script.next_command();
            let errand = errands.next_command(world, &state, played, (*id, scripted));
            let struggles = struggle.next_command(stuck, *id, tick_rate);
            let command = struggles.or(errand).unwrap_or(scripted);
            // Without air, all players would soon be dead.
            let depth = world.submersion(*id).map(|submersion| submersion.depth);
            (*id, if depth == Some(Depth::Eyes) { command.swimming_up() } else { command })
        };
        self.players.iter_mut().map(next).collect()
    }

    fn play(mut self, options: &SoakOptions) -> Result<Report, SoakError> {
        let bar = progress_bar(options.ticks);
        let (mut awake, mut last_half) = (0, Rest::default());
        let (mut degraded, mut half_rate) = (0, 0);
        self.judges.judge(self.simulation.world(), 0, &[], options);
        for tick in 1..=options.ticks {
            let commands = self.commands(options.tick_rate);
            let begin = Instant::now();
            self.simulation.step(&commands);
            self.durations.push(begin.elapsed());
            let world = self.simulation.world();
            awake += world.counters().awake;
            degraded += world.counters().degraded_islands;
            half_rate += world.counters().half_rate;
            if 2 * tick > options.ticks {
                let (props, asleep) = self.props();
                last_half.add(world.counters(), props, asleep);
            }
            self.judges.judge(self.simulation.world(), tick, &commands, options);
            self.outcome.count(self.simulation.events(), &self.schema);
            self.outputs.ticked(&*self.simulation, tick, &commands, options)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        let recorded = self.outputs.finish()?;
        let players = self.players.iter().map(|player| player.id);
        self.outcome.conclude(&*self.simulation, &self.schema, players);
        let (world, judges) = (self.simulation.world(), self.judges);
        let counters = world.counters();
        let is_prop = |entity: &&EntityState| matches!(entity.kind, Kind::Prop { .. });
        Ok(Report {
            map: world.map().name().to_owned(),
            seed: options.seed,
            ticks: options.ticks,
            players: self.players.len(),
            objects: world.state().entities.iter().filter(is_prop).count(),
            awake_mean: awake as f64 / options.ticks as f64,
            awake_because: last_half.awake_because(),
            asleep_share: last_half.asleep_share(),
            degraded_islands: degraded as f64 / options.ticks as f64,
            half_rate: half_rate as f64 / options.ticks as f64,
            tick_us: TickTimes::of(self.durations),
            audits: judges.audits,
            interpenetrations: judges.interpenetrations,
            unsound: judges.unsound,
            deepest: judges.deepest,
            tunnelled: judges.tunnelled,
            misplaced: judges.misplaced,
            emergency_replacements: counters.emergency_replacements,
            fallen: counters.fallen,
            limbo: counters.limbo,
            stuck_players: judges.stuck.count(),
            digest: format!("{:016x}", self.simulation.digest()),
            cascade: cascade(counters),
            time_of_impact: time_of_impact(counters),
            played: judges.played.conclude(&self.outcome.events, options.tick_rate),
            outcome: self.outcome,
            recorded,
            warnings: world.warnings().iter().map(ToString::to_string).collect(),
            findings: judges.findings,
        })
    }
}

/// The auditors of a soak, and their findings.
struct Judges {
    audit: Audit,
    passages: Passages,
    stuck: StuckWatch,
    outside: Outside,
    played: PlayedWatch,
    audits: u64,
    interpenetrations: u64,
    unsound: u64,
    deepest: f64,
    tunnelled: u64,
    misplaced: u64,
    findings: Vec<Finding>,
}

impl Judges {
    fn new(
        world: &World,
        models: &[Model],
        played: PlayedWatch,
        options: &SoakOptions,
    ) -> Result<Self, SetupError> {
        Ok(Self {
            audit: Audit::new(world.map(), models)?,
            passages: Passages::new(world.map(), models, options.tick_rate)?
                .with_step_height(world.movement_sets().highest_step()),
            stuck: StuckWatch::new(options.tick_rate),
            outside: Outside::new(world.map().bounds()),
            played,
            audits: 0,
            interpenetrations: 0,
            unsound: 0,
            deepest: 0.0,
            tunnelled: 0,
            misplaced: 0,
            findings: Vec::new(),
        })
    }

    fn judge(
        &mut self,
        world: &World,
        tick: u64,
        commands: &[(EntityId, Command)],
        options: &SoakOptions,
    ) {
        let state = world.state();
        self.played.see(world, &state);
        for player in self.stuck.see(world, &state, commands) {
            self.tell(tick, || format!("stuck: {}", describe(world, &state, player)));
        }
        for (body, within) in self.outside.see(&state, |entity| self.played.is_mover(entity)) {
            self.tell(tick, || {
                format!(
                    "out of the map: {}; its last place inside was {within}",
                    describe(world, &state, body)
                )
            });
        }
        if options.audit_every == 0 {
            return;
        }
        self.passages.note_pockets(&world.pockets());
        let ways = self.passages.judge(&state, world.relocations());
        for found in ways.misplaced {
            self.misplaced += 1;
            self.tell(tick, || describe_misplaced(world, &state, found));
        }
        for Tunnelled { body, through, from, to } in ways.tunnelled {
            self.tunnelled += 1;
            let who = describe(world, &state, body);
            self.tell(tick, || {
                format!("tunnelled: {who}; its path from {from} to {to} led through {through:?}")
            });
        }
        if !options.audits(tick) && tick != 0 {
            return;
        }
        self.audits += 1;
        for fault in self.audit.check_match(world) {
            match fault.depth() {
                Some(depth) => {
                    self.interpenetrations += 1;
                    self.deepest = self.deepest.max(depth);
                }
                None => self.unsound += 1,
            }
            let who = describe(world, &state, fault.body());
            self.tell(tick, || format!("{fault}: {who}"));
        }
    }

    fn tell(&mut self, tick: u64, what: impl FnOnce() -> String) {
        if self.findings.len() < MAX_DESCRIBED {
            self.findings.push(Finding { tick, what: what() });
        }
    }
}

/// An entity and its position, as a text for people.
fn describe(world: &World, state: &State, id: EntityId) -> String {
    let Some(entity) = state.entities.iter().find(|entity| entity.id == id) else {
        return format!("{id:?}");
    };
    let what = match entity.kind {
        Kind::Player { posture } => format!("{posture:?} player"),
        Kind::Vehicle { model } | Kind::Prop { model } => {
            world.model_names().get(usize::from(model.0)).cloned().unwrap_or_default()
        }
    };
    format!("{what} in slot {} at {}, velocity {}", id.slot, entity.position, entity.velocity)
}

fn describe_misplaced(world: &World, state: &State, found: Misplaced) -> String {
    let place =
        |place: Option<DVec3>| place.map_or("outside of the world".into(), |at| at.to_string());
    match found {
        Misplaced::Unannounced { body, from, to } => format!(
            "jumped: {}; from {} to {} without a relocation",
            describe(world, state, body),
            place(from),
            place(to)
        ),
        Misplaced::NotThere { body, put, at } => format!(
            "not where its relocation put it: {}; announced place: {}; actual place: {}",
            describe(world, state, body),
            place(put),
            place(at)
        ),
    }
}

/// The files that a soak leaves behind.
struct Outputs {
    dump: Option<(Dump, PathBuf)>,
    recording: Option<(Recorder, Writer, Schedule)>,
    /// The file of the recording.
    recorded: Option<PathBuf>,
}

impl Outputs {
    fn open(
        options: &SoakOptions,
        simulation: &dyn RunningMatch,
        config: Config,
    ) -> Result<Self, SoakError> {
        let dump = match &options.dump {
            Some(path) => Some((Dump::create(path).map_err(dump_error(path))?, path.clone())),
            None => None,
        };
        let begin = |path: &PathBuf| begin_new(path, &beginning_of(simulation, config));
        let (recorded, writer) = options.record.as_ref().map(begin).transpose()?.unzip();
        let recording = writer.map(|writer| (Recorder::new(), writer, Schedule::new(config)));
        Ok(Self { dump, recording, recorded })
    }

    fn ticked(
        &mut self,
        simulation: &dyn RunningMatch,
        tick: u64,
        commands: &[(EntityId, Command)],
        options: &SoakOptions,
    ) -> Result<(), SoakError> {
        let world = simulation.world();
        if let Some((recorder, writer, schedule)) = &mut self.recording {
            let recorded = recorder.tick(commands, kind_in(world), simulation.digest());
            writer.tick(recorded.with_words(simulation))?;
            if schedule.is_due(world, commands.len()) {
                writer.keyframe(&simulation.save())?;
            }
        }
        match &mut self.dump {
            Some((dump, path)) if tick.is_multiple_of(options.dump_every) => {
                dump.write(world).map_err(dump_error(path))
            }
            _ => Ok(()),
        }
    }

    /// Writes the rest of the files. Returns the file of the recording.
    fn finish(self) -> Result<Option<PathBuf>, SoakError> {
        if let Some((_, writer, _)) = self.recording {
            writer.finish()?;
        }
        if let Some((dump, path)) = self.dump {
            dump.finish().map_err(dump_error(&path))?;
        }
        Ok(self.recorded)
    }
}

fn dump_error(path: &Path) -> impl FnOnce(io::Error) -> SoakError {
    let path = path.to_owned();
    move |source| SoakError::Dump { path, source }
}

/// Nanoseconds since the first call.
fn nanoseconds() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    // 64 bits are enough for 584 years.
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// A progress bar that is drawn only on a terminal.
fn progress_bar(ticks: u64) -> ProgressBar {
    let bar = ProgressBar::new(ticks);
    // If the template does not parse, the bar keeps its plain style.
    if let Ok(style) = ProgressStyle::with_template("{pos:>8} ticks {wide_bar} {per_sec} {eta}") {
        bar.set_style(style);
    }
    bar
}
