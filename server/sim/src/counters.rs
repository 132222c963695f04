//! What the simulation counts, and the stages of its filter cascade.

mod stages;

use crate::bodies::sleep::AwakeReason;
pub use stages::{Clock, Stage, Stages};

/// What the simulation has done since it began. Every field only grows, except
/// those from [`Counters::awake`] on, which describe the last tick and the state after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The filter cascade, in the order of [`Stage::ALL`].
    pub cascade: [StageCounter; Stage::COUNT],
    /// Time-of-impact queries between a moving body and one obstacle.
    pub impact_queries: u64,
    /// Intervals examined by all of those queries.
    pub impact_iterations: u64,
    /// Guarded moves that an obstacle cut short.
    pub blocked_moves: u64,
    /// Bodies taken out of an overlap and put back elsewhere.
    pub emergency_replacements: u64,
    /// Bodies that fell out of the map and were put back.
    pub fallen: u64,
    /// Props awake after the last tick.
    pub awake: u64,
    /// Why these are awake, in the order of [`AwakeReason::ALL`].
    pub awake_because: [u64; AwakeReason::COUNT],
    /// Players and props in the world after the last tick.
    pub entities: u64,
    /// Entities waiting for a free place after the last tick.
    pub limbo: u64,
    /// Estimated cost of the bodies of the last tick: those awake, and the pairs of parts
    /// that touch, together.
    pub bodies_cost: u64,
    /// Islands that the last tick simulated more cheaply, because its bodies cost more than
    /// its budget, or in which bodies made up for a tick that they had skipped.
    pub degraded_islands: u64,
    /// Bodies of these islands that are simulated at half rate.
    pub half_rate: u64,
}

/// How often a stage was asked, how often its answer ended the matter, and
/// what that took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageCounter {
    /// Pairs the stage looked at.
    pub tests: u64,
    /// Pairs it decided.
    pub definitive: u64,
    /// Time spent on all its tests; zero while nothing is timed. Telemetry
    /// only: no decision depends on it.
    pub nanoseconds: u64,
}

impl StageCounter {
    /// Mean time of one test in nanoseconds, if there were any.
    pub fn mean_nanoseconds(&self) -> Option<f64> {
        (self.tests > 0).then(|| self.nanoseconds as f64 / self.tests as f64)
    }

    /// Share of the tests that were definitive, if there were any.
    pub fn share(&self) -> Option<f64> {
        (self.tests > 0).then(|| self.definitive as f64 / self.tests as f64)
    }
}

impl Counters {
    /// Adds what was counted elsewhere: in an earlier world of the same match, or
    /// in a thread's share of the work. The fields that describe the last tick
    /// stay as they are.
    pub fn add_earlier(&mut self, earlier: &Self) {
        for (stage, before) in self.cascade.iter_mut().zip(&earlier.cascade) {
            stage.tests += before.tests;
            stage.definitive += before.definitive;
            stage.nanoseconds += before.nanoseconds;
        }
        self.impact_queries += earlier.impact_queries;
        self.impact_iterations += earlier.impact_iterations;
        self.blocked_moves += earlier.blocked_moves;
        self.emergency_replacements += earlier.emergency_replacements;
        self.fallen += earlier.fallen;
    }
}
