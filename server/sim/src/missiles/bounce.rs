//! The motion of a missile that bounces. It is a ball that no impulse turns. Its rotation is for
//! the eye only: it looks as if the ball rolled over the last surface that it met.

use glam::DVec3;
use obsp::model::Material;

use super::Missiles;
use crate::bodies::entities::Entity;
use crate::bodies::guard::Stop;
use crate::bodies::impulse::ImpulseBody;
use crate::bodies::sleep;
use crate::bodies::sleep::{STILL_SECONDS, STILL_SPEED};
use crate::bodies::solver::{RESTITUTION_THRESHOLD, damped, max_spin};
use crate::conventions::WALKABLE;

/// Maximum number of bounces of a ball in one tick: in a corner it meets three surfaces.
const MAX_BOUNCES: usize = 4;

/// Moves a ball by a tick, from bounce to bounce. Returns whether it is still in the world.
pub(super) fn bounce(missiles: &mut Missiles, slot: u16) -> bool {
    let Some(entity) = missiles.entities.get_mut(slot) else { return false };
    if entity.sleep.asleep {
        return entity.placement().is_some();
    }
    let shape = &missiles.arena.shapes[entity.shape];
    let gravity = entity.gravity(shape);
    entity.velocity.z -= gravity * missiles.context.seconds;
    let [linear_damping, _] = entity.damping(shape);
    if linear_damping > 0.0 {
        entity.velocity *= damped(linear_damping, missiles.context.seconds);
    }
    let mut left = missiles.context.seconds;
    let mut lies = false;
    for bounce in 0..MAX_BOUNCES {
        let Some(entity) = missiles.entities.get(slot) else { return false };
        let Some(placement) = entity.placement() else { return false };
        // After a bounce there is no room to rotate.
        let spin = if bounce == 0 { entity.angular } else { DVec3::ZERO };
        let target = placement.pose().advanced(entity.velocity, spin, left);
        let Some(flight) = missiles.send(slot, target) else { return false };
        let Some(stop) = flight.stop else {
            left = 0.0;
            break;
        };
        left *= 1.0 - flight.time;
        let up = if gravity < 0.0 { -stop.normal.z } else { stop.normal.z };
        lies |= stop.entity.is_none() && up >= WALKABLE;
        // A ball that leaves a surface may have room to move, but no room to rotate. Without
        // another attempt it would hang there at full speed.
        if !apply_impact(missiles, slot, &stop) && spin == DVec3::ZERO {
            break;
        }
    }
    // Gravity acts only in the part of the tick in which the ball moved.
    let falls = |entity: &&mut Entity| entity.velocity.z * gravity < 0.0;
    if let Some(entity) = missiles.entities.get_mut(slot).filter(falls) {
        let slower = entity.velocity.z + gravity * left;
        entity.velocity.z = if gravity < 0.0 { slower.max(0.0) } else { slower.min(0.0) };
    }
    settle(missiles, slot, lies);
    true
}

/// Applies the impact of a ball on the obstacle that stopped it; `false` if the two did not
/// approach each other.
fn apply_impact(missiles: &mut Missiles, slot: u16, stop: &Stop) -> bool {
    let shapes = &missiles.arena.shapes;
    let impulse_body =
        |slot: u16| ImpulseBody::new(missiles.entities.get(slot)?, shapes, stop.point);
    let (Some(mut ball), Some(own)) = (impulse_body(slot), missiles.entities.get(slot)) else {
        return false;
    };
    let hit = stop.entity.and_then(|slot| missiles.entities.get(slot));
    let other = hit.filter(|hit| hit.is_rigid()).and_then(|hit| impulse_body(hit.id.slot));
    let theirs = match &other {
        Some(other) => other.velocity(),
        None => hit.map_or(DVec3::ZERO, |hit| hit.velocity + hit.surface_along(stop.normal)),
    };
    let relative = ball.velocity() - theirs;
    if relative.dot(stop.normal) >= 0.0 {
        return false;
    }
    let shape = &shapes[own.shape];
    let material = hit.map_or(Material::USUAL, |hit| shapes[hit.shape].material);
    let ball_impact = BallImpact {
        normal: stop.normal,
        relative,
        gravity_speed: own.gravity(shape) * missiles.context.seconds,
        restitution: shape.material.restitution().max(material.restitution()),
        friction: (shape.material.friction() * material.friction()).sqrt(),
    };
    let mut impulse = ball_impact.impulse(&ball, other.as_ref());
    let pushed = other.map(|mut other| {
        other.apply(-impulse);
        other
    });
    // A sleeping body that would hardly move goes on sleeping and acts as a wall.
    let sleeps_on = |(hit, pushed): &(&Entity, ImpulseBody)| {
        hit.sleep.asleep && pushed.surface_speed(shapes[hit.shape].radius) < STILL_SPEED
    };
    let gives_way = hit.zip(pushed).filter(|pushed| !sleeps_on(pushed));
    if gives_way.is_none() {
        impulse = ball_impact.impulse(&ball, None);
    }
    ball.apply(impulse);
    let hit_sleeps = gives_way.is_some_and(|(hit, _)| hit.sleep.asleep);
    let gives_way = gives_way.map(|(hit, pushed)| (hit.id.slot, pushed));
    let rolling = stop.normal.cross(ball.velocity()) / shape.radius;
    ball.store(missiles.entities, slot);
    if let Some(entity) = missiles.entities.get_mut(slot) {
        entity.angular = rolling.clamp_length_max(max_spin(missiles.context.seconds));
    }
    if let Some((at, pushed)) = gives_way {
        if hit_sleeps {
            sleep::wake(missiles.entities, at);
        }
        pushed.store(missiles.entities, at);
        if let Some(entity) = missiles.entities.get_mut(at) {
            entity.record.shoved_by = None;
        }
    }
    true
}

/// The impact of a ball on an obstacle.
struct BallImpact {
    /// Normal of the surface, towards the ball.
    normal: DVec3,
    /// Velocity of the ball relative to the obstacle, in units per second.
    relative: DVec3,
    /// Downward speed that gravity added in this tick, in units per second. A ball that lies on the
    /// ground meets the ground no faster than this, and does not bounce.
    gravity_speed: f64,
    restitution: f64,
    friction: f64,
}

impl BallImpact {
    /// The impulse on the ball. The body `other`, if it gives way, takes the opposite impulse.
    fn impulse(&self, ball: &ImpulseBody, other: Option<&ImpulseBody>) -> DVec3 {
        let approach = -self.relative.dot(self.normal);
        let hit = approach - (self.gravity_speed * self.normal.z).max(0.0);
        let bounced = if hit > RESTITUTION_THRESHOLD { hit * self.restitution } else { 0.0 };
        let response = |direction| {
            ball.response(direction) + other.map_or(0.0, |other| other.response(direction))
        };
        let push = (approach + bounced) / response(self.normal);
        let along = self.relative + self.normal * approach;
        let friction = along.try_normalize().map_or(DVec3::ZERO, |direction| {
            direction * -f64::min(self.friction * push, along.length() / response(direction))
        });
        self.normal * push + friction
    }
}

/// Puts a ball to sleep after it has lain on the world for a while.
fn settle(missiles: &mut Missiles, slot: u16, lies: bool) {
    let enough = missiles.ticks(STILL_SECONDS);
    let Some(entity) = missiles.entities.get_mut(slot) else { return };
    if lies && entity.velocity.length() < STILL_SPEED {
        entity.sleep.still_ticks = entity.sleep.still_ticks.saturating_add(1);
    } else {
        entity.sleep.still_ticks = 0;
    }
    if entity.sleep.still_ticks >= enough {
        entity.sleep.asleep = true;
        entity.sleep.island = slot;
        entity.velocity = DVec3::ZERO;
        entity.angular = DVec3::ZERO;
    }
}
