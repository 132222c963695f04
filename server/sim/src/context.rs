use crate::collision::time_of_impact::Resolution;
use crate::counters::{Clock, Counters, Stage, Stages};
use crate::threads::Threads;

/// The state that all parts of a tick share: the counters, the settings of the cascade, and the
/// length of a tick.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepContext {
    pub(crate) counters: Counters,
    /// The stages of the cascade that are switched on.
    pub(crate) stages: Stages,
    /// How finely times of impact are distinguished.
    pub(crate) resolution: Resolution,
    /// The clock for timing the stages; `None` if they are not timed.
    pub(crate) clock: Option<Clock>,
    /// The threads that share the work.
    pub(crate) threads: Threads,
    /// Maximum cost of the bodies in a tick; `None` for no limit. See [`crate::bodies::overload`].
    pub(crate) budget: Option<f64>,
    /// Length of a tick in seconds.
    pub(crate) seconds: f64,
}

impl StepContext {
    /// A context with these settings and empty counters, for a thread's share of the
    /// work. The thread does not share its work any further.
    pub(crate) fn share(&self) -> Self {
        Self {
            counters: Counters::default(),
            threads: Threads::default(),
            stages: self.stages,
            resolution: self.resolution,
            clock: self.clock,
            budget: None,
            seconds: self.seconds,
        }
    }

    /// Counts a pair that `stage` has tested, whether the stage decided the pair, and the time
    /// since the watch was last read.
    #[inline]
    pub(crate) fn note(&mut self, stage: Stage, definitive: bool, watch: &mut Watch) {
        self.note_many(stage, 1, u64::from(definitive), watch);
    }

    /// [`StepContext::note`] for many pairs at once.
    #[inline]
    pub(crate) fn note_many(
        &mut self,
        stage: Stage,
        tests: u64,
        definitive: u64,
        watch: &mut Watch,
    ) {
        let counter = &mut self.counters.cascade[stage as usize];
        counter.tests += tests;
        counter.definitive += definitive;
        counter.nanoseconds += watch.lap();
    }

    /// A watch that starts now. The watch does not run if nothing is timed.
    #[inline]
    pub(crate) fn watch(&self) -> Watch {
        Watch { clock: self.clock, last: self.clock.map_or(0, Clock::now) }
    }
}

/// A watch that reads the clock once between two stages.
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
