//! The counters of the simulation, and the stages of its filter cascade.

mod awake_reason;
mod stages;

pub use awake_reason::AwakeReason;
pub use stages::{Clock, Stage, Stages};

/// Counters of the simulation since it began. Every field only grows, except the fields
/// from [`Counters::awake`] on, which describe the last tick and the state after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The filter cascade, in the order of [`Stage::ALL`].
    pub cascade: [StageCounter; Stage::COUNT],
    /// Time-of-impact queries between a moving body and one obstacle.
    pub impact_queries: u64,
    /// Intervals of time that all of these queries have examined.
    pub impact_iterations: u64,
    /// Guarded moves that an obstacle cut short.
    pub blocked_moves: u64,
    /// Bodies taken out of an overlap and put back elsewhere.
    pub emergency_replacements: u64,
    /// Bodies that fell out of the map and were put back.
    pub fallen: u64,
    /// Props awake after the last tick.
    pub awake: u64,
    /// Number of these props by the reason why they are awake, in the order of
    /// [`AwakeReason::ALL`].
    pub awake_because: [u64; AwakeReason::COUNT],
    /// Players and props in the world after the last tick.
    pub entities: u64,
    /// Entities waiting for a free place after the last tick.
    pub limbo: u64,
    /// Estimated cost of the bodies in the last tick: the number of awake bodies plus the number
    /// of pairs of parts that touch. Where the budget may be exceeded, the sub-steps that loads add
    /// count as well, each as a twentieth of the bodies and pairs of its island.
    pub bodies_cost: u64,
    /// Islands that the last tick simulated more cheaply because all bodies together cost more than
    /// the budget of a tick. Islands whose bodies made up for a skipped tick count as well.
    pub degraded_islands: u64,
    /// Bodies of the degraded islands that are simulated at half rate.
    pub half_rate: u64,
}

/// How many times a stage was used, how many pairs it decided, and how long that took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageCounter {
    /// Pairs that the stage tested.
    pub tests: u64,
    /// Pairs that the stage decided.
    pub definitive: u64,
    /// Time spent on all its tests, in nanoseconds; zero while nothing is timed. The time is
    /// telemetry: no decision depends on it.
    pub nanoseconds: u64,
}

impl StageCounter {
    /// Mean time of one test in nanoseconds; `None` if there were no tests.
    pub fn mean_nanoseconds(&self) -> Option<f64> {
        (self.tests > 0).then(|| self.nanoseconds as f64 / self.tests as f64)
    }

    /// Share of the tests that decided their pair; `None` if there were no tests.
    pub fn share(&self) -> Option<f64> {
        (self.tests > 0).then(|| self.definitive as f64 / self.tests as f64)
    }
}

impl Counters {
    /// Adds other counters: those of an earlier world of this match, or of a thread's share of the
    /// work. The fields that describe the last tick are kept.
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
