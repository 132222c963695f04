use glam::DVec3;

use super::Combat;
use crate::contact::{BOUNCE_SPEED, FRICTION, max_spin};
use crate::entities::Entity;
use crate::guard::Stop;
use crate::impulse::Struck;
use crate::movement::{GRAVITY, WALKABLE};
use crate::rest::{self, STILL_SECONDS, STILL_SPEED};

/// Most surfaces that a grenade meets in one tick: in a corner it meets three.
const MAX_BOUNCES: usize = 4;

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
    for bounce in 0..MAX_BOUNCES {
        let Some(entity) = combat.entities.get(slot) else { return false };
        let Some(placement) = entity.placement() else { return false };
        // What it has met leaves no room to turn in.
        let spin = if bounce == 0 { entity.angular } else { DVec3::ZERO };
        let target = placement.pose().advanced(entity.velocity, spin, left);
        let Some(flight) = combat.send(slot, target) else { return false };
        let Some(stop) = flight.stop else {
            left = 0.0;
            break;
        };
        left *= 1.0 - flight.time;
        lies |= stop.entity.is_none() && stop.normal.z >= WALKABLE;
        if !answer(combat, slot, &stop) {
            break;
        }
    }
    // For as long as it did not move it did not fall.
    if let Some(entity) = combat.entities.get_mut(slot).filter(|entity| entity.velocity.z < 0.0) {
        entity.velocity.z = (entity.velocity.z + GRAVITY * left).min(0.0);
    }
    settle(combat, slot, lies);
    true
}

/// Turns a grenade back from what stopped it; `false` if the two were not
/// closing.
fn answer(combat: &mut Combat, slot: u16, stop: &Stop) -> bool {
    let shapes = &combat.arena.shapes;
    let struck = |slot: u16| Struck::new(combat.entities.get(slot)?, shapes, stop.point);
    let (Some(mut ball), Some(own)) = (struck(slot), combat.entities.get(slot)) else {
        return false;
    };
    let hit = stop.entity.and_then(|slot| combat.entities.get(slot));
    let other = hit.filter(|hit| hit.is_rigid()).and_then(|hit| struck(hit.id.slot));
    let theirs = match &other {
        Some(other) => other.velocity(),
        None => hit.map_or(DVec3::ZERO, |hit| hit.velocity),
    };
    let relative = ball.velocity() - theirs;
    if relative.dot(stop.normal) >= 0.0 {
        return false;
    }
    let shape = &shapes[own.shape];
    let meeting = Meeting {
        normal: stop.normal,
        relative,
        fallen: GRAVITY * combat.seconds,
        restitution: shape.restitution,
    };
    let mut impulse = meeting.impulse(&ball, other.as_ref());
    let pushed = other.map(|mut other| {
        other.push(-impulse);
        other
    });
    // Who sleeps and would hardly move sleeps on, and is as good as a wall.
    let sleeps_on = |(hit, pushed): &(&Entity, Struck)| {
        hit.rest.asleep && pushed.surface_speed(shapes[hit.shape].radius) < STILL_SPEED
    };
    let gives_way = hit.zip(pushed).filter(|pushed| !sleeps_on(pushed));
    if gives_way.is_none() {
        impulse = meeting.impulse(&ball, None);
    }
    ball.push(impulse);
    let hit_sleeps = gives_way.is_some_and(|(hit, _)| hit.rest.asleep);
    let gives_way = gives_way.map(|(hit, pushed)| (hit.id.slot, pushed));
    let rolling = stop.normal.cross(ball.velocity()) / shape.radius;
    ball.store(combat.entities, slot);
    if let Some(entity) = combat.entities.get_mut(slot) {
        entity.angular = rolling.clamp_length_max(max_spin(combat.seconds));
    }
    if let Some((at, pushed)) = gives_way {
        if hit_sleeps {
            rest::wake(combat.entities, at);
        }
        pushed.store(combat.entities, at);
        if let Some(entity) = combat.entities.get_mut(at) {
            entity.shoved_by = None;
        }
    }
    true
}

/// A grenade that runs into something.
struct Meeting {
    /// Of the surface, towards the grenade.
    normal: DVec3,
    /// How the grenade moves as the other sees it, in units per second.
    relative: DVec3,
    /// What gravity has given it this tick, in units per second: what lies on the
    /// ground is no faster, and does not bounce.
    fallen: f64,
    restitution: f64,
}

impl Meeting {
    /// What the grenade takes, and `other`, if it gives way, against it.
    fn impulse(&self, ball: &Struck, other: Option<&Struck>) -> DVec3 {
        let closing = -self.relative.dot(self.normal);
        let hit = closing - self.fallen * self.normal.z.max(0.0);
        let bounced = if hit > BOUNCE_SPEED { hit * self.restitution } else { 0.0 };
        let response = |direction| {
            ball.response(direction) + other.map_or(0.0, |other| other.response(direction))
        };
        let push = (closing + bounced) / response(self.normal);
        let along = self.relative + self.normal * closing;
        let rubbed = along.try_normalize().map_or(DVec3::ZERO, |direction| {
            direction * -f64::min(FRICTION * push, along.length() / response(direction))
        });
        self.normal * push + rubbed
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
