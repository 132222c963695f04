use glam::DVec3;

use super::Combat;
use crate::contact::{BOUNCE_SPEED, FRICTION, max_spin};
use crate::guard::{Space, Stop};
use crate::impulse::Struck;
use crate::movement::GRAVITY;
use crate::rest::{self, STILL_SECONDS, STILL_SPEED};

/// Most surfaces that a grenade meets in one tick: in a corner it meets three.
const MAX_BOUNCES: usize = 4;

/// Ground this steep or flatter is lain on.
const LAIN_ON: f64 = 0.7;

/// Moves a grenade for a tick, from bounce to bounce; returns whether it is
/// still there.
///
/// It is a ball that no impulse turns: it spins as if it rolled over what it
/// met last, which is to be seen and has no say.
pub(super) fn bounce(combat: &mut Combat, slot: u16) -> bool {
    let Some(entity) = combat.entities.get_mut(slot) else { return false };
    if entity.rest.asleep {
        return entity.placement().is_some();
    }
    entity.velocity.z -= GRAVITY * combat.seconds;
    let mut left = combat.seconds;
    let mut lies = false;
    for _ in 0..MAX_BOUNCES {
        let Some(entity) = combat.entities.get(slot) else { return false };
        let Some(placement) = entity.placement() else { return false };
        let target = placement.pose().advanced(entity.velocity, entity.angular, left);
        let (arena, entities) = (combat.arena, &*combat.entities);
        let space = Space { map: &arena.map, shapes: &arena.shapes, entities };
        let Some(flight) = space.fly(slot, target, combat.counters) else { return false };
        let Some(placement) = flight.placement else { return false };
        combat.entities.commit(slot, placement);
        left *= 1.0 - flight.time;
        let Some(stop) = flight.stop else { break };
        lies |= stop.entity.is_none() && stop.normal.z >= LAIN_ON;
        if !answer(combat, slot, &stop) {
            break;
        }
    }
    settle(combat, slot, lies);
    true
}

/// Turns a grenade back from what stopped it; `false` if the two were not
/// closing.
fn answer(combat: &mut Combat, slot: u16, stop: &Stop) -> bool {
    let shapes = &combat.arena.shapes;
    let struck = |slot: u16| Struck::new(combat.entities.get(slot)?, shapes, stop.point);
    let Some(mut ball) = struck(slot) else { return false };
    let hit = stop.entity.and_then(|slot| combat.entities.get(slot));
    let mut other = hit.filter(|hit| hit.is_rigid()).and_then(|hit| struck(hit.id.slot));
    let theirs = match &other {
        Some(other) => other.velocity(),
        None => hit.map_or(DVec3::ZERO, |hit| hit.velocity),
    };
    let relative = ball.velocity() - theirs;
    let closing = -relative.dot(stop.normal);
    if closing <= 0.0 {
        return false;
    }
    let shape = combat.entities.get(slot).map(|entity| &shapes[entity.shape]);
    let restitution = shape.map_or(0.0, |shape| shape.restitution);
    let bounced = if closing > BOUNCE_SPEED { closing * restitution } else { 0.0 };
    let response = |direction| {
        ball.response(direction) + other.as_ref().map_or(0.0, |other| other.response(direction))
    };
    let push = (closing + bounced) / response(stop.normal);
    let along = relative + stop.normal * closing;
    let rubbed = along.try_normalize().map_or(DVec3::ZERO, |direction| {
        direction * -f64::min(FRICTION * push, along.length() / response(direction))
    });
    let impulse = stop.normal * push + rubbed;
    ball.push(impulse);
    ball.store(combat.entities, slot);
    if let (Some(mut other), Some(at)) = (other.take(), stop.entity) {
        other.push(-impulse);
        pass_on(combat, at, &other);
    }
    if let Some(entity) = combat.entities.get_mut(slot) {
        let radius = shapes[entity.shape].radius;
        let rolling = stop.normal.cross(entity.velocity) / radius;
        entity.angular = rolling.clamp_length_max(max_spin(combat.seconds));
    }
    true
}

/// Gives the body in `slot` what a grenade has pushed it to; who sleeps and
/// would hardly move sleeps on.
fn pass_on(combat: &mut Combat, slot: u16, struck: &Struck) {
    let Some(entity) = combat.entities.get(slot) else { return };
    let speed = struck.surface_speed(combat.arena.shapes[entity.shape].radius);
    if entity.rest.asleep {
        if speed < STILL_SPEED {
            return;
        }
        rest::wake(combat.entities, slot);
    }
    struck.store(combat.entities, slot);
    if let Some(entity) = combat.entities.get_mut(slot) {
        entity.shoved_by = None;
    }
}

/// Lets a grenade sleep that has lain on the world for a while.
fn settle(combat: &mut Combat, slot: u16, lies: bool) {
    let enough = combat.ticks(STILL_SECONDS);
    let Some(entity) = combat.entities.get_mut(slot) else { return };
    if lies && entity.velocity.length() < STILL_SPEED {
        entity.rest.still = entity.rest.still.saturating_add(1);
    } else {
        entity.rest.still = 0;
    }
    if entity.rest.still >= enough {
        entity.rest.asleep = true;
        entity.rest.island = slot;
        entity.velocity = DVec3::ZERO;
        entity.angular = DVec3::ZERO;
    }
}
