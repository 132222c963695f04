//! Missiles: bodies that fly by rules of their own. The guard moves missiles, and the solver does
//! not.
//!
//! A missile that flies *straight* moves on until something stops it. A missile that *bounces* is a
//! ball: it falls, bounces off the bodies and surfaces that it meets, pushes the bodies, and comes
//! to rest. A game throws missiles by [`World::spawn_missile`](crate::World::spawn_missile). In
//! each tick, after the missiles have moved, the game decides which of them are done.

mod bounce;
mod straight;

use crate::arena::Arena;
use crate::bodies::entities::Entities;
use crate::bodies::guard::Flight;
use crate::bodies::roles::MissileMotion;
use crate::collision::pose::Pose;
use crate::context::StepContext;

/// The part of a match that missiles change.
pub(crate) struct Missiles<'a> {
    pub(crate) arena: &'a Arena,
    pub(crate) entities: &'a mut Entities,
    pub(crate) context: &'a mut StepContext,
}

impl Missiles<'_> {
    /// Moves the missile in `slot` by a tick. Returns whether it flies on. A missile that flies
    /// straight ends where it is stopped. Any missile ends if it is outside the world, or overlaps
    /// something. Overlaps are counted.
    pub(crate) fn advance(&mut self, slot: u16) -> bool {
        match self.entities.get(slot).and_then(|entity| entity.missile()) {
            Some(MissileMotion::Straight) => straight::fly(self, slot),
            Some(MissileMotion::Bouncing) => bounce::bounce(self, slot),
            None => false,
        }
    }

    /// Moves a missile towards `target` as far as the way is free; `None` if it is not in the
    /// world, or overlaps something. Overlaps are counted.
    fn send(&mut self, slot: u16, target: Pose) -> Option<Flight> {
        let flight = self.arena.space(self.entities).fly(slot, target, self.context)?;
        let Some(placement) = flight.placement else {
            self.context.counters.emergency_replacements += 1;
            return None;
        };
        self.entities.commit(slot, placement);
        Some(flight)
    }

    fn ticks(&self, seconds: f64) -> u16 {
        (seconds / self.context.seconds).ceil() as u16
    }
}
