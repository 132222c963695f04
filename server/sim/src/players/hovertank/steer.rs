//! The engine of a hovertank: flight, turning and righting by command.

use glam::DVec3;

use super::hover::Craft;
use crate::arena::Arena;
use crate::bodies::entities::Entities;
use crate::bodies::guard::Seeker;
use crate::bodies::roles::Drive;
use crate::bodies::sleep;
use crate::command::{Buttons, Command};
use crate::conventions::{GRAVITY, heading};

/// Highest horizontal speed, in units per second: a little faster than running.
const SPEED: f64 = 400.0;

/// Horizontal acceleration and braking, in units per second squared.
const ACCELERATION: f64 = 500.0;

/// Speed of a climb, in units per second.
const CLIMB: f64 = 200.0;

/// Highest speed of fall beyond the cushions' reach, in units per second.
const GLIDE: f64 = 240.0;

/// Speed of a landing, in units per second.
const LANDING: f64 = 60.0;

/// During a landing, the engine stops when the ground is this near under a corner, in units.
const TOUCHDOWN: f64 = 1.0;

/// Maximum lift, in units per second squared.
const LIFT: f64 = 3.0 * GRAVITY;

/// Highest angular speed of the hull, in radians per second.
const TURN: f64 = 2.5;

/// Share of a missing rotation that is made up per second.
const TURN_RATE: f64 = 6.0;

/// Maximum angular acceleration by engine and gyroscope, in radians per second squared.
const TORQUE: f64 = 15.0;

/// Cosine of the tilt, about 45 degrees, beyond which cushions cannot carry and the gyroscope
/// rights the hull.
const TILTED: f64 = 0.7;

/// Cosine of the tilt beyond which the tank lies on its side. Such a tank is lifted while it is
/// righted, because its own weight would hold it down.
const FALLEN: f64 = 0.3;

/// Speed of the lift of a tank that lies on its side, in units per second.
const RIGHTING: f64 = 40.0;

/// Computes the drive of the tank in `slot` for this tick from its driver's
/// `command`. `forward` and `right` move the tank, and the hull turns to the heading. The
/// jump key climbs, and the crouch key lands. Does nothing for players on foot.
pub(crate) fn steer(
    arena: &Arena,
    entities: &mut Entities,
    slot: u16,
    command: Command,
    seconds: f64,
) {
    let Some(entity) = entities.get(slot).filter(|entity| entity.hovertank().is_some()) else {
        return;
    };
    let Some(placement) = entity.placement() else { return };
    let shape = &arena.shapes[placement.shape()];
    let (velocity, angular) = (entity.velocity, entity.angular);
    let mut craft = Craft::new(shape, *placement.pose(), velocity, angular, seconds);
    let ground = craft.probe(arena, entities, Seeker::of(entity));
    let parked = is_parked(&craft, &ground, command);
    let drive = if parked {
        // A parked tank needs no engine, and wakes if its support moves away.
        Drive::default()
    } else {
        fly(&mut craft, &ground, command, seconds);
        craft.drive()
    };
    if !parked && entity.sleep.asleep {
        sleep::wake(entities, slot);
    }
    let Some(entity) = entities.get_mut(slot) else { return };
    if !parked {
        entity.sleep.reset_timers();
    }
    if let Some(tank) = entity.hovertank_mut() {
        tank.drive = drive;
    }
}

/// Whether the tank stands upright on the ground, and its driver commands it to land.
fn is_parked(craft: &Craft, ground: &[Option<f64>; 4], command: Command) -> bool {
    let touches = ground.iter().flatten().any(|&distance| distance < TOUCHDOWN);
    command.buttons.contains(Buttons::CROUCH) && touches && craft.up().z > TILTED
}

fn fly(craft: &mut Craft, ground: &[Option<f64>; 4], command: Command, seconds: f64) {
    let upright = craft.up().z;
    if upright < FALLEN {
        lift(craft, RIGHTING, seconds);
    } else if command.buttons.contains(Buttons::CROUCH) {
        lift(craft, -LANDING, seconds);
    } else if command.buttons.contains(Buttons::JUMP) {
        lift(craft, CLIMB, seconds);
    } else {
        lift(craft, -GLIDE, seconds);
    }
    if upright < TILTED || ground.iter().any(Option::is_none) {
        right(craft, seconds);
    }
    if upright > FALLEN {
        turn(craft, command.yaw, seconds);
        thrust(craft, command, seconds);
    }
    if upright > FALLEN && !command.buttons.contains(Buttons::CROUCH) {
        craft.float(ground);
    }
}

/// Accelerates the tank upward until its upward speed is at least `least`.
fn lift(craft: &mut Craft, least: f64, seconds: f64) {
    craft.velocity.z += (least - craft.velocity.z).clamp(0.0, LIFT * seconds);
}

/// Turns the tank's upward direction towards the world's.
fn right(craft: &mut Craft, seconds: f64) {
    let up = craft.up();
    // A tank on its back could turn in any direction. It rolls over its side, the shorter way.
    let axis = up.cross(DVec3::Z).try_normalize().unwrap_or(craft.ahead());
    let tilt = libm::acos(up.z.clamp(-1.0, 1.0));
    let wanted = axis * (tilt * TURN_RATE).min(TURN);
    let level = craft.angular - up * craft.angular.dot(up);
    craft.angular += (wanted - level).clamp_length_max(TORQUE * seconds);
}

/// Turns the hull towards a heading.
fn turn(craft: &mut Craft, yaw: u16, seconds: f64) {
    let (ahead, wanted) = (craft.ahead(), heading(yaw));
    let missing = libm::atan2(
        ahead.x * wanted.y - ahead.y * wanted.x,
        ahead.x * wanted.x + ahead.y * wanted.y,
    );
    let up = craft.up();
    let speed = (missing * TURN_RATE).clamp(-TURN, TURN) - craft.angular.dot(up);
    craft.angular += up * speed.clamp(-TORQUE * seconds, TORQUE * seconds);
}

/// Accelerates or brakes to the velocity that the driver commands, relative to the heading.
fn thrust(craft: &mut Craft, command: Command, seconds: f64) {
    let ahead = heading(command.yaw);
    let (ahead, right) = (ahead.extend(0.0), DVec3::new(ahead.y, -ahead.x, 0.0));
    let wish = (ahead * f64::from(command.forward) + right * f64::from(command.right)) / 127.0;
    let missing = wish.clamp_length_max(1.0) * SPEED - craft.velocity.with_z(0.0);
    craft.velocity += missing.clamp_length_max(ACCELERATION * seconds);
}
