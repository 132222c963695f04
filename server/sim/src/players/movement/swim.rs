//! Swimming, with the numbers of Quake III (`PM_WaterMove`).
//!
//! A swimmer moves along the view, and up or down with the jump and crouch keys. Without a key a
//! swimmer sinks slowly. At the brink of a pool a swimmer hops out of it. Quake III remembers that
//! a player hops. Here, a player at the surface who rises faster than anybody swims counts as
//! hopping.

use glam::{DVec3, Vec3};

use super::{Motion, Surroundings};
use crate::arena::parameters::MovementParameters;
use crate::command::{Buttons, Command};
use crate::conventions::{WALKABLE, heading};
use crate::players::submersion::Depth;

/// Share of the running speed that is the greatest speed of swimming.
const SWIM_SHARE: f64 = 0.5;
/// Share of the wished speed that is gained per second.
const ACCELERATION: f64 = 4.0;
/// Share of the speed that a liquid removes per second, for each level of depth.
const FRICTION: f64 = 1.0;
/// Speed with which a swimmer without a key sinks, in units per second.
const SINK_SPEED: f64 = 60.0;
/// Forward speed of a hop, as a share of the running speed: 200 units per second.
const HOP_AHEAD: f64 = 200.0 / 320.0;
/// Upward speed of a hop beyond that of a jump, as a share of the running speed: 350 units per
/// second with that of a jump. So a hop leads no farther within a tick than a run and a jump.
const HOP_UP: f64 = 80.0 / 320.0;
/// A player at the surface who rises faster than swimming by this factor is thrown or hops.
const HOPS: f64 = 1.1;
/// Distance in units at which a brink is near enough to hop onto it. Quake III looks 30 units ahead
/// of the middle, which is 14 ahead of a box of the usual size.
const BRINK: f32 = 14.0;

/// How a player in a liquid moves in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Water {
    /// By the rules outside liquids: on land, or with wet feet in the air or on the ground.
    Walks(Option<Depth>),
    /// By the rules of this module, without gravity.
    Swims(Depth),
    /// As a thrown body: gravity alone changes the velocity.
    Hops,
}

/// How the player moves in this tick. A player who begins to hop gets the velocity of the hop.
pub(super) fn water(
    motion: &mut Motion,
    command: Command,
    parameters: &MovementParameters,
    surroundings: &mut impl Surroundings,
) -> Water {
    let depth = surroundings.depth(motion.walker.posture, motion.position);
    match depth {
        None | Some(Depth::Feet) => Water::Walks(depth),
        Some(Depth::Waist) if motion.velocity.z > swim_speed(parameters) * HOPS => Water::Hops,
        Some(Depth::Waist) if is_at_brink(motion, command, surroundings) => {
            let ahead = heading(command.yaw) * (HOP_AHEAD * parameters.run_speed);
            let up = parameters.jump_speed + HOP_UP * parameters.run_speed;
            motion.velocity = ahead.extend(up);
            Water::Hops
        }
        Some(depth) => Water::Swims(depth),
    }
}

fn swim_speed(parameters: &MovementParameters) -> f64 {
    SWIM_SHARE * parameters.run_speed
}

/// Whether the player swims against a brink no higher than the eyes, with room on it. The boxes of
/// players decide, so nobody hops below a low ceiling.
fn is_at_brink(motion: &Motion, command: Command, surroundings: &mut impl Surroundings) -> bool {
    if command.forward <= 0 {
        return false;
    }
    let (posture, from) = (motion.walker.posture, motion.position);
    let ahead = (heading(command.yaw) * f64::from(BRINK)).extend(0.0).as_vec3();
    let wall = surroundings.sweep(posture, from, from + ahead);
    if wall.hit.is_none_or(|hit| hit.normal.z >= WALKABLE) {
        return false;
    }
    let above = surroundings.sweep(posture, from, from + Vec3::Z * surroundings.eyes(posture)).end;
    surroundings.sweep(posture, above, above + ahead).hit.is_none()
}

/// The friction of a liquid. As in Quake III, it does not keep a slow player from sinking.
pub(super) fn apply_friction(motion: &mut Motion, depth: Depth, seconds: f64) {
    let speed = motion.velocity.length();
    if speed < 1.0 {
        motion.velocity = DVec3::Z * motion.velocity.z;
        return;
    }
    let kept = 1.0 - FRICTION * f64::from(depth as u8) * seconds;
    motion.velocity *= kept.max(0.0);
}

/// Accelerates a swimmer towards the wished velocity.
pub(super) fn accelerate(
    motion: &mut Motion,
    command: Command,
    (seconds, parameters): (f64, &MovementParameters),
) {
    let wish = wished(command, parameters).clamp_length_max(swim_speed(parameters));
    let Some(direction) = wish.try_normalize() else { return };
    let speed = wish.length();
    let missing = speed - motion.velocity.dot(direction);
    if missing > 0.0 {
        motion.velocity += direction * (ACCELERATION * speed * seconds).min(missing);
    }
}

fn wished(command: Command, parameters: &MovementParameters) -> DVec3 {
    let held = |key| f64::from(u8::from(command.buttons.contains(key)));
    let up = held(Buttons::JUMP) - held(Buttons::CROUCH);
    if (command.forward, command.right) == (0, 0) && up == 0.0 {
        return DVec3::Z * -SINK_SPEED;
    }
    let heading = heading(command.yaw);
    let right = DVec3::new(heading.y, -heading.x, 0.0);
    let along = command.aim() * f64::from(command.forward) + right * f64::from(command.right);
    let share = if command.buttons.contains(Buttons::WALK) { parameters.slow_share } else { 1.0 };
    (along / 127.0 + DVec3::Z * up).clamp_length_max(1.0) * (parameters.run_speed * share)
}

/// The greatest share of the running speed of a player who wades.
pub(super) fn wading_share(depth: Depth) -> f64 {
    1.0 - (1.0 - SWIM_SHARE) * f64::from(depth as u8) / 3.0
}
