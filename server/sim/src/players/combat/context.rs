//! The part of a match that weapons change, and the damage that they do.

use super::history::PositionHistory;
use crate::arena::Arena;
use crate::bodies::entities::Entities;
use crate::bodies::guard::{Flight, Space};
use crate::bodies::sleep;
use crate::collision::pose::Pose;
use crate::context::StepContext;
use crate::event::Event;
use crate::state::EntityId;

/// Seconds until a player who died comes back.
const DEAD_SECONDS: f64 = 2.0;

/// The part of a match that weapons change.
pub(crate) struct Combat<'a> {
    pub(crate) arena: &'a Arena,
    pub(crate) entities: &'a mut Entities,
    pub(crate) history: &'a PositionHistory,
    pub(crate) events: &'a mut Vec<Event>,
    pub(crate) context: &'a mut StepContext,
}

impl Combat<'_> {
    pub(super) fn space(&self) -> Space<'_> {
        Space { map: &self.arena.map, shapes: &self.arena.shapes, entities: self.entities }
    }

    /// Moves a projectile towards `target` as far as it is free; `None` if it is not
    /// there, or overlaps something, which is counted.
    pub(super) fn send(&mut self, slot: u16, target: Pose) -> Option<Flight> {
        let (map, shapes) = (&self.arena.map, &self.arena.shapes);
        let space = Space { map, shapes, entities: self.entities };
        let flight = space.fly(slot, target, self.context)?;
        let Some(placement) = flight.placement else {
            self.context.counters.emergency_replacements += 1;
            return None;
        };
        self.entities.commit(slot, placement);
        Some(flight)
    }

    pub(super) fn ticks(&self, seconds: f64) -> u16 {
        (seconds / self.context.seconds).ceil() as u16
    }

    /// Takes health from the player in `slot`. At zero the player leaves the world for
    /// a while, and `by` scores.
    pub(super) fn hurt(&mut self, slot: u16, by: EntityId, damage: i16) {
        let dead = self.ticks(DEAD_SECONDS);
        let Some(entity) = self.entities.get_mut(slot) else { return };
        let player = entity.id;
        let Some(fighter) = entity.fighter_mut().filter(|fighter| fighter.dead == 0) else {
            return;
        };
        if damage <= 0 || fighter.protected {
            return;
        }
        fighter.health = fighter.health.saturating_sub(damage);
        self.events.push(Event::Hurt { player, by, damage: damage.unsigned_abs() });
        if fighter.health > 0 {
            return;
        }
        fighter.dead = dead;
        self.events.push(Event::Died { player, by });
        let change = if by == player { -1 } else { 1 };
        if let Some(killer) = self.entities.find_mut(by).and_then(|killer| killer.fighter_mut()) {
            killer.score = killer.score.saturating_add(change);
        }
        let left = self.entities.get(slot).and_then(|entity| entity.placement().copied());
        self.entities.withdraw(slot);
        if let Some(left) = left {
            sleep::wake_around(self.entities, left.bounds());
        }
    }
}
