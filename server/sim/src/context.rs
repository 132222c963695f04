use crate::collision::time_of_impact::Resolution;
use crate::counters::{Clock, Counters, Stage, Stages};
use crate::threads::Threads;

/// What every part of a tick needs to know and adds to: what was counted, how
/// the cascade is run, and how long a tick is.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepContext {
    pub(crate) counters: Counters,
    /// The stages of the cascade that are switched on.
    pub(crate) stages: Stages,
    /// How finely times of impact are told apart.
    pub(crate) resolution: Resolution,
    /// Times the stages, if they are timed.
    pub(crate) clock: Option<Clock>,
    /// The threads that work is shared out over.
    pub(crate) threads: Threads,
    /// Most cost of a tick's bodies; `None` for no limit. See [`crate::bodies::overload`].
    pub(crate) budget: Option<f64>,
    /// Length of a tick in seconds.
    pub(crate) seconds: f64,
}

impl StepContext {
    /// The same settings with nothing counted yet, for a thread's share of the
    /// work. The thread shares its work out no further.
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
        let counter = &mut self.counters.cascade[stage as usize];
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
