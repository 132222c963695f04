//! Weapons, and what they do to whom.
//!
//! Three of them, enough to stress the world: a *ray* that hits at once, a
//! *rocket* that flies straight under guard and bursts where it is stopped,
//! and a *grenade*, a ball that bounces under guard and bursts after a while. A
//! burst hurts, pushes and wakes whatever it has in plain sight.
//!
//! A ray is judged by what the shooter saw: the other players are met where
//! they stood when they were shown ([`Command::view_age`](crate::Command)).

mod blast;
mod bounce;
mod fire;
mod fly;
mod past;

pub(crate) use fire::fire;
pub(crate) use fly::advance_projectiles;
pub(crate) use past::Past;

use crate::arena::Arena;
use crate::counters::Counters;
use crate::entities::Entities;
use crate::event::Event;
use crate::guard::{Flight, Space};
use crate::pose::Pose;
use crate::rest;
use crate::state::{EntityId, ModelId};

/// Health of a player who has just come into the world.
const HEALTH: i16 = 100;

/// Seconds until a player who died comes back.
const DEAD_SECONDS: f64 = 2.0;

/// What a weapon throws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weapon {
    /// Flies straight and bursts at the first touch.
    Rocket,
    /// Bounces about and bursts when its time is up.
    Grenade,
}

impl Weapon {
    /// All there are.
    pub(crate) const ALL: [Self; 2] = [Self::Rocket, Self::Grenade];

    /// The model that it throws.
    pub(crate) fn model_name(self) -> &'static str {
        match self {
            Self::Rocket => "rocket",
            Self::Grenade => "grenade",
        }
    }
}

/// Something thrown that will burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Projectile {
    pub(crate) weapon: Weapon,
    pub(crate) model: ModelId,
    pub(crate) owner: EntityId,
    /// Ticks until it bursts of itself.
    pub(crate) fuse: u16,
}

/// A player as a fighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fighter {
    pub(crate) health: i16,
    pub(crate) score: i16,
    /// Ticks until the next shot.
    pub(crate) reload: u16,
    /// Ticks until a dead player comes back.
    pub(crate) dead: u16,
}

impl Default for Fighter {
    fn default() -> Self {
        Self { health: HEALTH, score: 0, reload: 0, dead: 0 }
    }
}

/// A match while shots are fired in it.
pub(crate) struct Combat<'a> {
    pub(crate) arena: &'a Arena,
    pub(crate) entities: &'a mut Entities,
    pub(crate) past: &'a Past,
    pub(crate) events: &'a mut Vec<Event>,
    pub(crate) counters: &'a mut Counters,
    /// Length of a tick.
    pub(crate) seconds: f64,
}

impl Combat<'_> {
    fn space(&self) -> Space<'_> {
        Space { map: &self.arena.map, shapes: &self.arena.shapes, entities: self.entities }
    }

    /// Lets something thrown fly towards `target` as far as the guard lets it;
    /// `None` if it is not there, or inside something, which is counted.
    fn send(&mut self, slot: u16, target: Pose) -> Option<Flight> {
        let (map, shapes) = (&self.arena.map, &self.arena.shapes);
        let space = Space { map, shapes, entities: self.entities };
        let flight = space.fly(slot, target, self.counters)?;
        let Some(placement) = flight.placement else {
            self.counters.emergency_replacements += 1;
            return None;
        };
        self.entities.commit(slot, placement);
        Some(flight)
    }

    fn ticks(&self, seconds: f64) -> u16 {
        (seconds / self.seconds).ceil() as u16
    }

    /// Takes health from the player in `slot`; at zero they leave the world
    /// for a while, and whoever did it scores.
    fn hurt(&mut self, slot: u16, by: EntityId, damage: i16) {
        let dead = self.ticks(DEAD_SECONDS);
        let Some(entity) = self.entities.get_mut(slot) else { return };
        let player = entity.id;
        let Some(fighter) = entity.fighter_mut().filter(|fighter| fighter.dead == 0) else {
            return;
        };
        if damage <= 0 {
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
            rest::wake_around(self.entities, left.bounds());
        }
    }
}
