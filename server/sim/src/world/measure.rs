use super::World;
use crate::counters::{Clock, Stage, Stages};
use crate::impact::Resolution;

impl World {
    /// Switches stages of the filter cascade on and off: what comes out stays
    /// the same, only the work changes. See [`Stages::default`] for what is on
    /// otherwise.
    pub fn set_stages(&mut self, stages: Stages) {
        self.counters.stages = stages;
        self.entities.use_grid(stages.contains(Stage::Grid));
    }

    /// Tells times of impact apart as finely as this from now on. Bodies stop
    /// elsewhere for it: matches of unlike resolution differ.
    pub fn set_resolution(&mut self, resolution: Resolution) {
        self.counters.resolution = resolution;
    }

    /// Times the stages of the cascade by `clock` from now on, or no longer.
    /// See [`StageCounter::nanoseconds`](crate::StageCounter::nanoseconds).
    pub fn set_clock(&mut self, clock: Option<Clock>) {
        self.counters.clock = clock;
    }
}
