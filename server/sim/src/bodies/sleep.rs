//! Sleep and waking. A prop falls asleep after the prop and all props that it touches have hardly
//! moved for a while. A sleeping prop costs nothing until a moving body touches it or takes its
//! support away.
//!
//! Props that touch each other, directly or through others, and fall asleep in the same tick are a
//! sleeping island. A body whose surface is slower than [`WAKING_SPEED`] wakes nothing. A faster
//! body wakes the prop that it touches. A body faster than 20 units per second, or a moving
//! kinematic body, wakes the prop's whole island ([`mod@wake`]). Two sleeping islands merge only if
//! both wake, and then fall asleep in the same tick ([`mod@settle`]). A moving kinematic body also
//! keeps the props awake that it pushes or carries.
//!
//! The number of a sleeping island is its lowest slot. Suppose that the prop in that slot is woken
//! alone, and falls asleep elsewhere. Its new island has the number that the rest of the old island
//! still has. Then a hit on either wakes both. That costs a little and moves nothing.

mod settle;
mod wake;

use std::collections::BTreeSet;

use crate::bodies::contact::Pair;
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::slots::SlotSet;
use crate::collision::distances::REST_GAP;
use crate::collision::shape::Shapes;
use crate::state::EntityId;

pub(crate) use settle::{JITTER_WEIGHT, settle};
pub(crate) use wake::wake_for_tick;
#[cfg(test)]
pub(crate) use wake::wake_parted;

/// A body is still if every point of its surface is slower than this, in units per second. Gravity
/// adds nearly seven times as much in a tick of 1/60 s.
pub(crate) const STILL_SPEED: f64 = 2.0;

/// A body whose surface is faster than this, in units per second, wakes the bodies it touches. The
/// last jitter of a heap that settles is slower.
pub(crate) const WAKING_SPEED: f64 = 2.0;

/// How long a body must have been still before it sleeps, in seconds. Friction stops a body that
/// slides more slowly than [`STILL_SPEED`] within a tick. A rocking body is that slow where it
/// turns back, but only for a tenth of this time. A body that starts from rest on ground that is a
/// degree too steep for its friction is faster than [`STILL_SPEED`] after this time.
pub(crate) const STILL_SECONDS: f64 = 0.15;

/// Bodies nearer than this, in units, touch. The solver aims for the rest gap, but may push bodies
/// farther apart than that.
pub(crate) const TOUCH: f64 = 2.0 * REST_GAP;

/// Whether the two parts of a pair touch.
pub(crate) fn touches(pair: &Pair) -> bool {
    pair.points.iter().any(|point| f64::from(point.gap) < TOUCH)
}

/// Upper bound of the speed of all points of a body, in units per second.
pub(crate) fn surface_speed(entity: &Entity, shapes: &Shapes) -> f64 {
    let radius = shapes[entity.shape].radius;
    entity.velocity.length() + entity.angular.length() * radius
}

/// Wakes the prop in `slot` and its island. If half of an island slept on, it would lie like a rock
/// on the other half.
pub(crate) fn wake(entities: &mut Entities, slot: u16) {
    wake_all(entities, &[slot]);
}

/// Wakes the props in these slots, and their islands.
pub(crate) fn wake_all(entities: &mut Entities, slots: &[u16]) {
    let mut waking = WakingIslands::NONE;
    slots.iter().for_each(|&slot| waking.add(entities, slot));
    waking.wake(entities);
}

/// Islands that are woken together, so that all bodies are visited once and not once for each
/// island.
struct WakingIslands {
    islands: BTreeSet<u16>,
    /// The bodies that have been woken so far.
    woken: SlotSet,
}

impl WakingIslands {
    const NONE: Self = Self { islands: BTreeSet::new(), woken: SlotSet::EMPTY };

    /// Wakes the prop in `slot`, and marks its island to be woken by [`wake`](Self::wake).
    fn add(&mut self, entities: &mut Entities, slot: u16) {
        let Some(entity) = entities.get_mut(slot) else { return };
        if entity.is_kinematic() {
            return;
        }
        if entity.sleep.asleep {
            self.islands.insert(entity.sleep.island);
        }
        entity.sleep.reset_timers();
        entity.record.shoved_by = None;
        self.add_alone(entities, slot);
    }

    /// Wakes the prop in `slot`, but not its island.
    fn add_alone(&mut self, entities: &mut Entities, slot: u16) {
        if let Some(entity) = entities.get_mut(slot) {
            entity.resume();
            self.woken.insert(slot);
        }
    }

    /// Wakes all bodies of the marked islands. Returns all bodies that have been woken.
    fn wake(mut self, entities: &mut Entities) -> SlotSet {
        if !self.islands.is_empty() {
            let sleeps = |entity: &&Entity| {
                entity.sleep.asleep && self.islands.contains(&entity.sleep.island)
            };
            let slots = entities.iter().filter(sleeps).map(|entity| entity.id.slot);
            for slot in slots.collect::<Vec<_>>() {
                self.add_alone(entities, slot);
            }
        }
        self.woken
    }
}

/// Removes an entity and wakes the bodies that leant on it. Nothing happens if the entity has
/// already left the match.
pub(crate) fn remove(entities: &mut Entities, id: EntityId) {
    let left = entities.remove(id);
    if let Some(placement) = left.as_ref().and_then(Entity::placement) {
        wake_around(entities, placement.bounds());
    }
}

/// Wakes every prop that may have leant on a body at `bounds`.
pub(crate) fn wake_around(entities: &mut Entities, bounds: &obsp::geometry::Aabb) {
    let bounds = bounds.inflated(TOUCH);
    let mut near = Vec::new();
    entities.near(&bounds, &mut near);
    let mut waking = WakingIslands::NONE;
    for slot in near {
        let touched = entities
            .get(slot)
            .filter(|entity| entity.sleep.asleep)
            .and_then(Entity::placement)
            .is_some_and(|placement| placement.bounds().overlaps(&bounds));
        if touched {
            waking.add(entities, slot);
        }
    }
    waking.wake(entities);
}

fn ticks(least: f64, seconds: f64) -> u16 {
    (least / seconds).ceil() as u16
}
