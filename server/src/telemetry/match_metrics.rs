use metrics::{Counter, Gauge, counter, gauge};
use sim::{Kind, Stage};

use super::{Identity, catalogue};
use crate::tick_thread::Frame;

/// What the match and its simulation are and have counted.
pub(super) struct MatchMetrics {
    players: Gauge,
    props: Gauge,
    awake: Gauge,
    limbo: Gauge,
    cascade: [StageMetrics; Stage::COUNT],
    impact_queries: Counter,
    impact_iterations: Counter,
    blocked_moves: Counter,
    emergency_replacements: Counter,
    fallen: Counter,
    commands: [Counter; COMMAND_OUTCOMES.len()],
    sources: [Counter; COMMAND_SOURCES.len()],
}

/// What becomes of a command that arrives.
const COMMAND_OUTCOMES: [&str; 5] = ["accepted", "redundant", "conflicting", "late", "early"];

/// Where a player's command for a tick comes from.
const COMMAND_SOURCES: [&str; 3] = ["client", "repeated", "neutral"];

struct StageMetrics {
    tests: Counter,
    definitive: Counter,
}

impl MatchMetrics {
    pub(super) fn register(identity: &Identity<'_>) -> Self {
        let profile = if cfg!(debug_assertions) { "development" } else { "release" };
        let version = env!("CARGO_PKG_VERSION");
        gauge!(catalogue::BUILD_INFO, "version" => version, "profile" => profile).set(1);
        let (map, hash) = (identity.map.to_owned(), identity.map_hash.to_owned());
        gauge!(catalogue::MAP_INFO, "map" => map, "hash" => hash).set(1);
        gauge!(catalogue::TICK_RATE).set(identity.tick_rate);
        gauge!(catalogue::MAX_PLAYERS).set(f64::from(identity.max_players));
        gauge!(catalogue::MAP_LOAD).set(identity.map_load);
        Self {
            players: gauge!(catalogue::ENTITIES, "kind" => "player"),
            props: gauge!(catalogue::ENTITIES, "kind" => "prop"),
            awake: gauge!(catalogue::AWAKE),
            limbo: gauge!(catalogue::LIMBO),
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

    /// Takes over what `frame` tells.
    pub(super) fn observe(&self, frame: &Frame) {
        let is_player = |kind: Kind| kind.is_player();
        let entities = &frame.state.entities;
        let players = entities.iter().filter(|entity| is_player(entity.kind)).count();
        self.players.set(players as f64);
        self.props.set((entities.len() - players) as f64);

        let counters = &frame.counters;
        self.awake.set(counters.awake as f64);
        self.limbo.set(counters.limbo as f64);
        for (metrics, stage) in self.cascade.iter().zip(&counters.cascade) {
            metrics.tests.absolute(stage.tests);
            metrics.definitive.absolute(stage.definitive);
        }
        self.impact_queries.absolute(counters.impact_queries);
        self.impact_iterations.absolute(counters.impact_iterations);
        self.blocked_moves.absolute(counters.blocked_moves);
        self.emergency_replacements.absolute(counters.emergency_replacements);
        self.fallen.absolute(counters.fallen);

        let stats = &frame.commands;
        let outcomes =
            [stats.accepted, stats.redundant, stats.conflicting, stats.late, stats.early];
        let sources = [stats.in_time, stats.repeated, stats.neutral];
        for (counter, count) in self.commands.iter().zip(outcomes) {
            counter.absolute(count);
        }
        for (counter, count) in self.sources.iter().zip(sources) {
            counter.absolute(count);
        }
    }
}
