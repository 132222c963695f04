//! Metrics of the match and its simulation, read from the published state on request.

use std::sync::{Mutex, PoisonError};

use metrics::{Counter, Gauge, counter, gauge};
use obsp_proto::server::JitterStats;
use obsp_sim::{AwakeReason, Counters, Kind, Stage, State};

use super::catalogue;
use super::identity::Identity;

/// Metrics of the match and its simulation.
pub(crate) struct MatchMetrics {
    /// The gauge of the current map.
    map_info: Mutex<Gauge>,
    map_load: Gauge,
    levels: Counter,
    players: Gauge,
    props: Gauge,
    awake: Gauge,
    awake_because: [Gauge; AwakeReason::COUNT],
    bodies_cost: Gauge,
    degraded_islands: Gauge,
    half_rate: Gauge,
    limbo: Gauge,
    stuck_players: Gauge,
    cascade: [StageMetrics; Stage::COUNT],
    impact_queries: Counter,
    impact_iterations: Counter,
    blocked_moves: Counter,
    emergency_replacements: Counter,
    fallen: Counter,
    commands: [Counter; COMMAND_OUTCOMES.len()],
    sources: [Counter; COMMAND_SOURCES.len()],
}

/// The outcomes of a command that arrives.
const COMMAND_OUTCOMES: [&str; 6] =
    ["accepted", "redundant", "replaced", "conflicting", "late", "early"];

/// The sources of a player's command for a tick.
const COMMAND_SOURCES: [&str; 3] = ["client", "repeated", "neutral"];

fn map_info(map: &str, hash: &str) -> Gauge {
    gauge!(catalogue::MAP_INFO, "map" => map.to_owned(), "hash" => hash.to_owned())
}

/// Registers the information on the build, which a server has once.
pub(crate) fn build_info() {
    let profile = if cfg!(debug_assertions) { "development" } else { "release" };
    let version = env!("CARGO_PKG_VERSION");
    gauge!(catalogue::BUILD_INFO, "version" => version, "profile" => profile).set(1);
}

struct StageMetrics {
    tests: Counter,
    definitive: Counter,
}

impl MatchMetrics {
    pub(crate) fn register(identity: &Identity<'_>) -> Self {
        let map_info = map_info(identity.map, identity.map_hash);
        map_info.set(1);
        gauge!(catalogue::TICK_RATE).set(identity.tick_rate);
        gauge!(catalogue::MAX_PLAYERS).set(f64::from(identity.max_players));
        let map_load = gauge!(catalogue::MAP_LOAD);
        map_load.set(identity.map_load);
        Self {
            map_info: Mutex::new(map_info),
            map_load,
            levels: counter!(catalogue::LEVELS),
            players: gauge!(catalogue::ENTITIES, "kind" => "player"),
            props: gauge!(catalogue::ENTITIES, "kind" => "prop"),
            awake: gauge!(catalogue::AWAKE),
            awake_because: AwakeReason::ALL
                .map(|reason| gauge!(catalogue::AWAKE_BECAUSE, "reason" => reason.name())),
            bodies_cost: gauge!(catalogue::BODIES_COST),
            degraded_islands: gauge!(catalogue::DEGRADED_ISLANDS),
            half_rate: gauge!(catalogue::HALF_RATE_BODIES),
            limbo: gauge!(catalogue::LIMBO),
            stuck_players: gauge!(catalogue::STUCK_PLAYERS),
            cascade: Stage::ALL.map(|stage| StageMetrics {
                tests: counter!(catalogue::CASCADE_TESTS, "stage" => stage.name()),
                definitive: counter!(catalogue::CASCADE_DEFINITIVE, "stage" => stage.name()),
            }),
            impact_queries: counter!(catalogue::IMPACT_QUERIES),
            impact_iterations: counter!(catalogue::IMPACT_ITERATIONS),
            blocked_moves: counter!(catalogue::BLOCKED_MOVES),
            emergency_replacements: counter!(catalogue::EMERGENCY_REPLACEMENTS),
            fallen: counter!(catalogue::FALLEN),
            commands: COMMAND_OUTCOMES
                .map(|outcome| counter!(catalogue::COMMANDS, "outcome" => outcome)),
            sources: COMMAND_SOURCES
                .map(|source| counter!(catalogue::COMMAND_TICKS, "source" => source)),
        }
    }

    /// Notes that another map is played. It must be called while the match's recorder is the
    /// current one, because it registers a series.
    pub(crate) fn enters(&self, map: &str, map_hash: &str, load_seconds: f64) {
        let mut map_info = self.map_info.lock().unwrap_or_else(PoisonError::into_inner);
        // The series of the previous map stays on the page, at 0. If the new map is the same, it
        // has the same series.
        map_info.set(0);
        *map_info = self::map_info(map, map_hash);
        map_info.set(1);
        self.map_load.set(load_seconds);
        self.levels.increment(1);
    }

    /// Updates the metrics from the state of the match.
    pub(crate) fn observe(
        &self,
        state: &State,
        counters: &Counters,
        stats: &JitterStats,
        stuck_players: usize,
    ) {
        let is_player = |kind: Kind| kind.is_player();
        let entities = &state.entities;
        let players = entities.iter().filter(|entity| is_player(entity.kind)).count();
        self.players.set(players as f64);
        self.props.set((entities.len() - players) as f64);

        self.awake.set(counters.awake as f64);
        for (gauge, count) in self.awake_because.iter().zip(counters.awake_because) {
            gauge.set(count as f64);
        }
        self.bodies_cost.set(counters.bodies_cost as f64);
        self.degraded_islands.set(counters.degraded_islands as f64);
        self.half_rate.set(counters.half_rate as f64);
        self.limbo.set(counters.limbo as f64);
        self.stuck_players.set(stuck_players as f64);
        for (metrics, stage) in self.cascade.iter().zip(&counters.cascade) {
            metrics.tests.absolute(stage.tests);
            metrics.definitive.absolute(stage.definitive);
        }
        self.impact_queries.absolute(counters.impact_queries);
        self.impact_iterations.absolute(counters.impact_iterations);
        self.blocked_moves.absolute(counters.blocked_moves);
        self.emergency_replacements.absolute(counters.emergency_replacements);
        self.fallen.absolute(counters.fallen);

        let outcomes = [
            stats.accepted,
            stats.redundant,
            stats.replaced,
            stats.conflicting,
            stats.late,
            stats.early,
        ];
        let sources = [stats.in_time, stats.repeated, stats.neutral];
        for (counter, count) in self.commands.iter().zip(outcomes) {
            counter.absolute(count);
        }
        for (counter, count) in self.sources.iter().zip(sources) {
            counter.absolute(count);
        }
    }
}
