use super::World;
use crate::collision::time_of_impact::Resolution;
use crate::counters::{Clock, Stage, Stages};
use crate::players::movement::{MovementError, MovementParameters};
use crate::threads::Threads;

impl World {
    /// The cost that the bodies of a second may have: that of a tick is its share. At 60 Hz
    /// it is 3,000, what some 800 bodies of a heap cost while it falls together.
    pub const DEFAULT_BUDGET_PER_SECOND: u32 = 180_000;

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

    /// Sets how much the bodies of a tick may cost, in awake bodies and pairs of parts that
    /// touch, together ([`Counters::bodies_cost`](crate::Counters::bodies_cost)). Where they
    /// would cost more, islands far from all players are simulated with fewer sub-steps, then
    /// at half rate ([`Counters::degraded_islands`](crate::Counters::degraded_islands)).
    /// `None` is no limit. Initially it is a tick's share of
    /// [`World::DEFAULT_BUDGET_PER_SECOND`]. Results depend on it, so it is saved with the match.
    pub fn set_budget(&mut self, budget: Option<u32>) {
        self.context.budget = budget.map(f64::from);
    }

    /// How much the bodies of a tick may cost: see [`World::set_budget`].
    pub fn budget(&self) -> Option<u32> {
        self.context.budget.map(|cost| cost as u32)
    }

    /// Sets the budget by the cost of a second, of which a tick has its share, rounded down.
    pub fn set_budget_per_second(&mut self, budget: Option<u32>) {
        self.set_budget(budget.map(|cost| cost / self.config.tick_rate));
    }

    /// Shares the search for contacts, the solver's and the guard's work out over this many
    /// threads at most, and over 256; zero counts as one. Results do not depend on it.
    pub fn set_threads(&mut self, threads: u16) {
        self.context.threads = Threads::new(threads);
    }

    /// Sets the numbers by which players on foot move; before the first tick, because clients
    /// predict by those that they are told when they join.
    ///
    /// # Errors
    /// [`MovementError`] if one of them is out of its range; nothing changes then.
    pub fn set_movement(&mut self, parameters: MovementParameters) -> Result<(), MovementError> {
        parameters.check()?;
        std::sync::Arc::make_mut(&mut self.arena).set_movement(parameters);
        Ok(())
    }

    /// The numbers by which players on foot move.
    pub fn movement(&self) -> &MovementParameters {
        &self.arena.movement
    }

    /// Times the stages of the cascade by `clock`, or stops timing them. See
    /// [`StageCounter::nanoseconds`](crate::StageCounter::nanoseconds).
    pub fn set_clock(&mut self, clock: Option<Clock>) {
        self.context.clock = clock;
    }
}
