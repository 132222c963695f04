use super::World;
use crate::arena::movement_sets::MovementSets;
use crate::arena::parameters::{MovementError, MovementParameters};
use crate::bodies::dynamics::{BodyError, within};
use crate::bodies::entities::Entity;
use crate::bodies::mobility::Mobility;
use crate::bodies::sleep;
use crate::collision::time_of_impact::Resolution;
use crate::conventions::BODY_GRAVITIES;
use crate::counters::{Clock, Stage, Stages};
use crate::place_error::PlaceError;
use crate::setup::SetupWarning;
use crate::state::{EntityId, MovementId};
use crate::threads::Threads;

/// Maximum number of warnings that are kept.
const MAX_WARNINGS: usize = 256;

impl World {
    /// Problems of the map or the configuration that did not stop the match from starting.
    pub fn warnings(&self) -> &[SetupWarning] {
        &self.warnings
    }

    /// Adds a problem that a game has found in the map. The first 256 problems are kept.
    pub fn warn(&mut self, warning: SetupWarning) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(warning);
        }
    }

    /// Default budget per second; each tick has its share. At 60 Hz the share is 3,000. The bodies
    /// of a collapsing heap of about 800 cost as much.
    pub const DEFAULT_BUDGET_PER_SECOND: u32 = 180_000;

    /// Switches stages of the filter cascade on and off. Results do not change, only the work does.
    /// Initially the stages of [`Stages::default`] are on.
    pub fn set_stages(&mut self, stages: Stages) {
        self.context.stages = stages;
        self.entities.use_grid(stages.contains(Stage::Grid));
    }

    /// Sets how finely times of impact are distinguished. Results depend on this.
    pub fn set_resolution(&mut self, resolution: Resolution) {
        self.context.resolution = resolution;
    }

    /// Sets the budget: how much the bodies of a tick may cost. The cost is the number of awake
    /// bodies plus the number of pairs of parts that touch, and more where bodies carry far more
    /// than their own mass ([`Counters::bodies_cost`](crate::Counters::bodies_cost)). If the bodies
    /// would cost more than the budget, islands far from all players are simulated with fewer
    /// sub-steps, then at half rate
    /// ([`Counters::degraded_islands`](crate::Counters::degraded_islands)). `None` means no limit.
    ///
    /// Initially the budget is a tick's share of [`World::DEFAULT_BUDGET_PER_SECOND`]. Results
    /// depend on the budget, so it is saved with the match.
    pub fn set_budget(&mut self, budget: Option<u32>) {
        self.context.budget = budget.map(f64::from);
    }

    /// How much the bodies of a tick may cost: see [`World::set_budget`].
    pub fn budget(&self) -> Option<u32> {
        self.context.budget.map(|cost| cost as u32)
    }

    /// Sets the budget per second. A tick has its share, rounded down: see [`World::set_budget`].
    pub fn set_budget_per_second(&mut self, budget: Option<u32>) {
        self.set_budget(budget.map(|cost| cost / self.config.tick_rate));
    }

    /// Sets the maximum number of threads that share the search for contacts and the work of the
    /// solver and the guard. The number is 256 at most, and zero counts as one. Results do not
    /// depend on it.
    pub fn set_threads(&mut self, threads: u16) {
        self.context.threads = Threads::new(threads);
    }

    /// Sets the parameters of the motion of players on foot. Call this before the first tick,
    /// because clients predict with the parameters that they receive when they join.
    ///
    /// # Errors
    /// [`MovementError`] if a parameter is out of its range; nothing changes then.
    pub fn set_movement(&mut self, parameters: MovementParameters) -> Result<(), MovementError> {
        let sets = self.arena.movement.clone().with_usual(parameters);
        self.set_movement_sets(sets)
    }

    /// Sets all sets of parameters at once, as [`World::set_movement`] sets the usual ones. Players
    /// whose set is not among them move by the usual one from then on.
    ///
    /// # Errors
    /// [`MovementError`] if a usual parameter is out of its range; nothing changes then.
    pub fn set_movement_sets(&mut self, sets: MovementSets) -> Result<(), MovementError> {
        sets.check()?;
        let walkers = self.entities.active_mut().filter_map(Entity::walker_mut);
        for walker in walkers.filter(|walker| !sets.has(walker.movement)) {
            walker.movement = MovementId::USUAL;
        }
        std::sync::Arc::make_mut(&mut self.arena).set_movement(sets);
        Ok(())
    }

    /// The usual parameters of the motion of players on foot.
    pub fn movement(&self) -> &MovementParameters {
        self.arena.movement.usual()
    }

    /// All sets of parameters of the motion of players on foot.
    pub fn movement_sets(&self) -> &MovementSets {
        &self.arena.movement
    }

    /// Lets a player on foot, who may wait outside of the world, move by this set of parameters
    /// from the player's next move on, until it is changed. The client learns of the set with the
    /// motion after this tick, and predicts by it from the next tick on. So a change after the
    /// player's move is predicted exactly. A change before the move is predicted a tick too late.
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if there is no such player on foot, and
    /// [`PlaceError::NoSuchMovement`] if the match has no such set.
    pub fn set_player_movement(
        &mut self,
        player: EntityId,
        movement: MovementId,
    ) -> Result<(), PlaceError> {
        if !self.arena.movement.has(movement) {
            return Err(PlaceError::NoSuchMovement);
        }
        let walker = self.entities.find_mut(player).and_then(Entity::walker_mut);
        walker.ok_or(PlaceError::NoSuchEntity)?.movement = movement;
        Ok(())
    }

    /// The set of parameters by which a player on foot moves; `None` if there is no such player.
    pub fn player_movement(&self, player: EntityId) -> Option<MovementId> {
        Some(self.entities.find(player)?.walker()?.movement)
    }

    /// Sets the gravity of bodies, in units per second squared: 0 to 4,000. Initially it is 800.
    /// All bodies wake. Players on foot fall by [`MovementParameters::gravity`]. Call this before
    /// the first tick, because clients predict with the number that they receive when they join.
    ///
    /// # Errors
    /// [`BodyError::OutOfRange`]; nothing changes then.
    pub fn set_body_gravity(&mut self, gravity: f64) -> Result<(), BodyError> {
        within("gravity", gravity, &BODY_GRAVITIES)?;
        if gravity != self.body_gravity() {
            std::sync::Arc::make_mut(&mut self.arena).shapes.set_gravity(gravity);
            let sleeps = |entity: &&Entity| entity.mobility() == Mobility::Asleep;
            let asleep: Vec<u16> =
                self.entities.iter().filter(sleeps).map(|entity| entity.id.slot).collect();
            sleep::wake_all(&mut self.entities, &asleep);
        }
        Ok(())
    }

    /// The gravity of bodies, in units per second squared.
    pub fn body_gravity(&self) -> f64 {
        self.arena.shapes.gravity()
    }

    /// Times the stages of the cascade with `clock`, or stops timing them. See
    /// [`StageCounter::nanoseconds`](crate::StageCounter::nanoseconds).
    pub fn set_clock(&mut self, clock: Option<Clock>) {
        self.context.clock = clock;
    }
}
