//! What the simulation counts, and how its filter cascade is run: the two
//! travel together, because whoever asks the cascade counts what it answers.

mod stages;

pub use stages::{Clock, Stage, Stages};

use crate::impact::Resolution;

/// What the simulation has done since it began: every field only grows,
/// but for the last three, which say how things stand now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The filter cascade, cheapest stage first.
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
    /// Players and props in the world after the last tick.
    pub entities: u64,
    /// Entities waiting for a free place after the last tick.
    pub limbo: u64,
    /// The stages that are switched on.
    pub(crate) stages: Stages,
    /// How finely the last of them tells times apart.
    pub(crate) resolution: Resolution,
    /// What the stages are timed by, if they are.
    pub(crate) clock: Option<Clock>,
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
    /// Notes that `stage` looked at a pair, whether it decided it, and the
    /// time since the watch was last read.
    #[inline]
    pub(crate) fn note(&mut self, stage: Stage, definitive: bool, watch: &mut Watch) {
        self.note_many(stage, 1, u64::from(definitive), watch);
    }

    /// The same for many pairs at once.
    #[inline]
    pub(crate) fn note_many(
        &mut self,
        stage: Stage,
        tests: u64,
        definitive: u64,
        watch: &mut Watch,
    ) {
        let counter = &mut self.cascade[stage as usize];
        counter.tests += tests;
        counter.definitive += definitive;
        counter.nanoseconds += watch.lap();
    }

    /// A watch that starts now, or never runs if nothing is timed.
    #[inline]
    pub(crate) fn watch(&self) -> Watch {
        Watch { clock: self.clock, last: self.clock.map_or(0, Clock::now) }
    }
}

/// Reads the clock once between any two stages.
pub(crate) struct Watch {
    clock: Option<Clock>,
    last: u64,
}

impl Watch {
    #[inline]
    fn lap(&mut self) -> u64 {
        let Some(clock) = self.clock else { return 0 };
        let now = clock.now();
        let passed = now.saturating_sub(self.last);
        self.last = now;
        passed
    }
}
