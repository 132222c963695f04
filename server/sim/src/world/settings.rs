use super::World;
use crate::collision::time_of_impact::Resolution;
use crate::counters::{Clock, Stage, Stages};
use crate::threads::Threads;

impl World {
    /// Switches stages of the filter cascade on and off. Results stay the same, only
    /// the work changes. Initially [`Stages::default`] are on.
    pub fn set_stages(&mut self, stages: Stages) {
        self.context.stages = stages;
        self.entities.use_grid(stages.contains(Stage::Grid));
    }

    /// Sets how finely times of impact are distinguished. Results depend on it.
    pub fn set_resolution(&mut self, resolution: Resolution) {
        self.context.resolution = resolution;
    }

    /// Shares the search for contacts and the guard's work out over this many threads
    /// at most; zero counts as one. Results do not depend on it.
    pub fn set_threads(&mut self, threads: u16) {
        self.context.threads = Threads::new(threads);
    }

    /// Times the stages of the cascade by `clock`, or stops timing them. See
    /// [`StageCounter::nanoseconds`](crate::StageCounter::nanoseconds).
    pub fn set_clock(&mut self, clock: Option<Clock>) {
        self.context.clock = clock;
    }
}
