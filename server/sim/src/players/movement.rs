//! The motion of a player on foot: walking, jumping, crouching, stepping up, sliding.
//!
//! [`step`] is a pure function of a player's state, one [`Command`] and the results of its sweeps
//! ([`Surroundings`]). The server passes the whole moving world, and a predicting client passes the
//! part that it knows. The rules are Quake's: friction and acceleration on the ground, a little
//! control in the air, steps of 18 units, swimming ([`swim`]) and climbing ([`climb`]). Several
//! surfaces may each be too steep to stand on and together leave no way down ([`wedge`]). Unlike in
//! Quake, they carry a player. A wedged player can jump.

mod climb;
mod slide;
mod swim;
mod wedge;

use glam::{DVec3, Vec3};
use obsp::{Clearance, SURFACE_DISTANCE};

use crate::arena::parameters::MovementParameters;
use crate::arena::triggers::Effect;
use crate::bodies::roles::Walker;
use crate::collision::distances::LEAST_CLEARANCE;
use crate::command::{Buttons, Command};
use crate::conventions::{WALKABLE, heading};
use crate::players::agent::{SweepHit, SweepResult};
use crate::players::driver::{Carry, Push};
use crate::players::submersion::Depth;
use crate::state::Posture;

use slide::slide_and_step;
use swim::Water;
use wedge::find_wedge;

/// Ground nearer than this, in units, carries.
const GROUND_REACH: f32 = 0.25;
/// A player who moves up, and away from the ground faster than this, in units per second, has left
/// the ground, even if the ground is still near. Quake III has the same rule.
const LEAVING: f64 = 10.0;
/// A player who ends a tick nearer than this to a surface, in units, is moved away from it.
const CLEAR_OF_SURFACES: f32 = SURFACE_DISTANCE * 0.5;
const _: () = assert!(CLEAR_OF_SURFACES >= LEAST_CLEARANCE);
/// Speed of a player who leaves a teleporter, as in Quake.
const TELEPORT_SPEED: f64 = 300.0;
/// Maximum number of surfaces that a player is moved away from in one tick. No corner has so many.
const MAX_SURFACES: usize = 6;
/// Maximum number of times within a tick that a player gives way to kinematic bodies. There may be
/// a few such bodies at once, and the player gives way once more to a body that turns.
const MAX_PUSHES: usize = 4;
/// Extra speed with which a player gives way to a kinematic body, in units per second. It makes up
/// for positions that are rounded to `f32`.
const EXTRA_PUSH: f64 = 0.25;
/// A turning kinematic body comes nearer than its velocity at one point suggests. So the player
/// gives way faster than that speed by this share.
const EXTRA_SHARE: f64 = 0.1;
/// Highest speed of a player, in units per second.
const MAX_SPEED: f64 = 2000.0;

/// The whole motion state of a player on foot. With the same surroundings and commands, it leads to
/// the same later states on every machine, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerMotion {
    /// Centre of the player's box, in units.
    pub position: Vec3,
    /// Velocity, in units per second.
    pub velocity: Vec3,
    /// The rest of the state.
    pub walker: Walker,
}

/// A [`PlayerMotion`] while a tick is computed, with the velocity in `f64`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    pub(crate) position: Vec3,
    pub(crate) velocity: DVec3,
    pub(crate) walker: Walker,
}

/// The surroundings that a player moves through.
pub(crate) trait Surroundings {
    /// Sweeps the box of `posture` in a straight line until it meets something.
    fn sweep(&mut self, posture: Posture, start: Vec3, end: Vec3) -> SweepResult;
    /// Whether the box of `posture` may stand at `position`.
    fn is_free(&mut self, posture: Posture, position: Vec3) -> bool;
    /// The world within `radius` of the box of `posture`.
    fn clearance(&self, posture: Posture, position: Vec3, radius: f32) -> Clearance;
    /// Height of a standing player's centre above a crouching player's centre, with the feet in the
    /// same place.
    fn rise(&self) -> f32;
    /// How deep the box of `posture` at `position` is in a liquid; `None` on land.
    fn depth(&self, posture: Posture, position: Vec3) -> Option<Depth>;
    /// The velocity of the liquid at the feet of the box of `posture`, if they are in one.
    fn current(&self, posture: Posture, position: Vec3) -> DVec3;
    /// Whether the box of `posture` at `position` is in a ladder.
    fn is_on_ladder(&self, posture: Posture, position: Vec3) -> bool;
    /// Height of the eyes above the lowest point of the box of `posture`.
    fn eyes(&self, posture: Posture) -> f32;
    /// Velocity of the entity in this slot, on which the player may stand.
    fn drift(&self, entity: u16) -> DVec3;
    /// Upper bound of the speeds of the kinematic bodies near the player that move, or whose
    /// surfaces do; `None` without any. The velocity of a surface does not count.
    fn carrier_speed(&self) -> Option<f64>;
    /// How a kinematic body carries a player who stands on it where a sweep has hit it, over a tick
    /// of `seconds`. `None` if the sweep has hit no such body.
    fn carry(&self, hit: SweepHit, at: (Posture, Vec3), seconds: f64) -> Option<Carry>;
    /// How the first kinematic body that runs into the player pushes it, if the player moves at
    /// this velocity for a tick of `seconds`; `None` if there is no such body.
    fn push(&mut self, at: (Posture, Vec3), velocity: DVec3, seconds: f64) -> Option<Push>;
    /// The effect of the trigger at the end of a way. If there is none, the effect of the first
    /// trigger that the way leads through. `gravity` is the gravity of players.
    fn trigger(&self, posture: Posture, way: [Vec3; 2], gravity: f64) -> Option<Effect>;
}

/// The surfaces and the teleporter that a player met during a tick.
#[derive(Debug, Default)]
pub(crate) struct Encounters {
    /// The hits of the player's sweeps, with the speed into each surface.
    pub(crate) touched: Vec<(SweepHit, f64)>,
    /// The place where the player entered a teleporter; `None` if the player entered none.
    pub(crate) teleported: Option<Vec3>,
    /// The slot of the entity on which the player stands.
    pub(crate) ground: Option<u16>,
}

/// The surface that carries a player.
#[derive(Clone, Copy, Debug)]
struct Ground {
    normal: DVec3,
    /// The ground's own velocity: all of it for a kinematic body, the horizontal part for other
    /// bodies.
    drift: DVec3,
    /// The slot of the entity that is the ground; `None` for the world.
    entity: Option<u16>,
    /// Whether that entity is a kinematic body that moves, or whose surface does.
    carries: bool,
    /// Whether the ground consists of several surfaces that are each too steep to stand on. These
    /// surfaces act as walls on a player who walks there.
    is_wedge: bool,
}

/// Computes one tick of `seconds` with `parameters`.
pub(crate) fn step(
    start: PlayerMotion,
    command: Command,
    (seconds, parameters): (f64, &MovementParameters),
    surroundings: &mut impl Surroundings,
    encounters: &mut Encounters,
) -> PlayerMotion {
    let PlayerMotion { position, velocity, walker } = start;
    let mut motion = Motion { position, velocity: velocity.as_dvec3(), walker };
    motion.walker.yaw = command.yaw;
    change_posture(&mut motion, command, surroundings);
    let checked = motion.position;
    let ground = find_ground(&mut motion, (seconds, parameters), surroundings, true);
    let drift = ground.map_or(DVec3::ZERO, |ground| ground.drift);
    let water = swim::water(&mut motion, command, parameters, surroundings);
    let climbs = matches!(water, Water::Walks(_)) && climb::climbs(&motion, command, surroundings);
    // Ground does not carry a swimmer or a climber.
    motion.walker.grounded &= matches!(water, Water::Walks(_)) && !climbs;
    jump(&mut motion, command, drift.z, parameters);
    let flows = !climbs && !matches!(water, Water::Walks(None) | Water::Hops);
    let at = (motion.walker.posture, motion.position);
    let drift = if flows { drift + surroundings.current(at.0, at.1) } else { drift };
    // On moving ground the player walks relative to the ground, and in a current swims or wades
    // relative to the liquid.
    motion.velocity -= drift;
    if motion.walker.grounded {
        if let Some(Ground { normal, carries: true, .. }) = ground {
            // The player follows the ground up and down.
            motion.velocity -= normal * motion.velocity.dot(normal);
        }
        apply_friction(&mut motion, seconds, parameters);
    }
    match water {
        Water::Walks(_) if climbs => {
            apply_friction(&mut motion, seconds, parameters);
            climb::accelerate(&mut motion, command, (seconds, parameters));
        }
        Water::Walks(wet) => {
            if let Some(depth) = wet {
                swim::apply_friction(&mut motion, depth, seconds);
            }
            accelerate(&mut motion, command, (ground, wet), (seconds, parameters));
        }
        Water::Swims(depth) => {
            swim::apply_friction(&mut motion, depth, seconds);
            swim::accelerate(&mut motion, command, (seconds, parameters));
        }
        Water::Hops => (),
    }
    motion.velocity = (motion.velocity + drift).clamp_length_max(MAX_SPEED);
    let touched = &mut encounters.touched;
    if motion.walker.grounded {
        // Ground that goes down is still in the way: see `come_down`.
        let sinks = ground.filter(|ground| ground.carries);
        let sinks = DVec3::Z * sinks.map_or(0.0, |ground| ground.drift.z.min(0.0));
        motion.velocity -= sinks;
        make_way(&mut motion, seconds, surroundings);
        slide_and_step(&mut motion, ground, (seconds, parameters), surroundings, touched);
        motion.velocity += sinks;
    } else {
        let floats = climbs || matches!(water, Water::Swims(_));
        let gravity = if floats { 0.0 } else { parameters.gravity };
        // Half of gravity before and half after give the exact parabola.
        motion.velocity.z -= gravity * seconds * 0.5;
        make_way(&mut motion, seconds, surroundings);
        slide_and_step(&mut motion, None, (seconds, parameters), surroundings, touched);
        motion.velocity.z -= gravity * seconds * 0.5;
    }
    keep_off(&mut motion, checked, surroundings);
    let entered = motion.position;
    let teleported = pull_trigger(&mut motion, checked, parameters.gravity, surroundings);
    encounters.teleported = teleported.then_some(entered);
    let landed = find_ground(&mut motion, (seconds, parameters), surroundings, false);
    let stands_on = if teleported { landed } else { ground.or(landed) };
    let stands_on = stands_on.filter(|_| motion.walker.grounded);
    encounters.ground = stands_on.and_then(|ground| ground.entity);
    let carrier = stands_on.filter(|ground| ground.carries);
    motion.walker.ground_velocity = carrier.map_or(Vec3::ZERO, |ground| ground.drift.as_vec3());
    let Motion { position, velocity, walker } = motion;
    PlayerMotion { position, velocity: velocity.as_vec3(), walker }
}

/// Moves the player away from surfaces that are nearer than the distance at which a trace stops. A
/// free sweep may end at any distance from a wall beside it, and a test in `f32` is not reliable
/// very near a wall. A player who cannot get clear goes back to `checked`, the position before.
fn keep_off(motion: &mut Motion, checked: Vec3, surroundings: &mut impl Surroundings) {
    let posture = motion.walker.posture;
    for _ in 0..MAX_SURFACES {
        let near = match surroundings.clearance(posture, motion.position, CLEAR_OF_SURFACES) {
            Clearance::Clear => return,
            Clearance::Near(near) => near,
            Clearance::Inside => break,
        };
        let off = motion.position + near.normal * (SURFACE_DISTANCE - near.distance);
        motion.position = surroundings.sweep(posture, motion.position, off).end;
    }
    if surroundings.clearance(posture, motion.position, LEAST_CLEARANCE) != Clearance::Clear {
        motion.position = checked;
    }
}

/// Applies the trigger at the player's position or, if there is none, the first one on the way from
/// `from`, where the tick began. Returns whether the trigger was a teleporter. A teleporter whose
/// destination is taken has no effect.
fn pull_trigger(
    motion: &mut Motion,
    from: Vec3,
    gravity: f64,
    surroundings: &mut impl Surroundings,
) -> bool {
    let posture = motion.walker.posture;
    match surroundings.trigger(posture, [from, motion.position], gravity) {
        None => false,
        Some(Effect::Push(velocity)) => {
            motion.velocity = velocity.clamp_length_max(MAX_SPEED);
            false
        }
        Some(Effect::Teleport { to, yaw, keeps_speed }) => {
            let sunk = match posture {
                Posture::Standing => 0.0,
                Posture::Crouching => surroundings.rise(),
            };
            let to = to - Vec3::Z * sunk;
            if !surroundings.is_free(posture, to) {
                return false;
            }
            motion.position = to;
            motion.velocity = arrival_velocity(motion.velocity, yaw, keeps_speed);
            true
        }
    }
}

/// The velocity of a player who comes out of a teleporter with this heading.
pub(crate) fn arrival_velocity(before: DVec3, yaw: u16, keeps_speed: bool) -> DVec3 {
    let speed = if keeps_speed { before.truncate().length() } else { TELEPORT_SPEED };
    (heading(yaw) * speed).extend(0.0)
}

fn change_posture(motion: &mut Motion, command: Command, surroundings: &mut impl Surroundings) {
    let rise = Vec3::Z * surroundings.rise();
    let wanted = if command.buttons.contains(Buttons::CROUCH) {
        Posture::Crouching
    } else {
        Posture::Standing
    };
    let moved = match (motion.walker.posture, wanted) {
        (Posture::Standing, Posture::Crouching) => motion.position - rise,
        (Posture::Crouching, Posture::Standing) => motion.position + rise,
        _ => return,
    };
    if surroundings.is_free(wanted, moved) {
        motion.position = moved;
        motion.walker.posture = wanted;
    }
}

/// Makes the player give way to the kinematic bodies that would run into the player in this tick:
/// the player gets their pushing velocity.
fn make_way(motion: &mut Motion, seconds: f64, surroundings: &mut impl Surroundings) {
    for _ in 0..MAX_PUSHES {
        let at = (motion.walker.posture, motion.position);
        let Some(Push { normal, speed }) = surroundings.push(at, motion.velocity, seconds) else {
            return;
        };
        let missing = speed - motion.velocity.dot(normal);
        let more = if missing > 0.0 { missing } else { EXTRA_SHARE * speed };
        motion.velocity += normal * (more + EXTRA_PUSH);
    }
}

/// The ground below the player, if that ground carries a player. If the tick `begins`, a player who
/// stood on the ground goes along with it: the player comes down to a kinematic body that has
/// moved, and gains the velocity that the ground has gained.
fn find_ground(
    motion: &mut Motion,
    (seconds, parameters): (f64, &MovementParameters),
    surroundings: &mut impl Surroundings,
    begins: bool,
) -> Option<Ground> {
    let stood_on =
        (begins && motion.walker.grounded).then(|| motion.walker.ground_velocity.as_dvec3());
    motion.walker.grounded = false;
    if let Some(carrier_speed) = surroundings.carrier_speed() {
        let by = (carrier_speed, seconds, parameters);
        if let Some(ground) = find_carrier(motion, by, surroundings, (begins, stood_on)) {
            return Some(ground);
        }
    }
    let below = motion.position - Vec3::Z * GROUND_REACH;
    let at = (motion.walker.posture, motion.position);
    let flat = surroundings.sweep(at.0, at.1, below).hit.filter(|hit| hit.normal.z >= WALKABLE);
    let velocity_of =
        |hit: SweepHit| hit.entity.map_or(DVec3::ZERO, |entity| surroundings.drift(entity));
    if let (Some(hit), Some(before)) = (flat, stood_on.filter(|before| *before != DVec3::ZERO)) {
        motion.velocity += velocity_of(hit) - before;
    }
    // The speed is measured relative to the ground, so a player who runs up a ramp does not leave
    // it.
    if flat.is_some_and(|hit| leaves(motion.velocity, hit.normal, parameters)) {
        return None;
    }
    let is_wedge = flat.is_none();
    let falls = motion.velocity.z <= 0.0;
    let wedge = if is_wedge && falls { find_wedge(at, surroundings) } else { None };
    let hit = flat.or(wedge)?;
    motion.walker.grounded = true;
    let drift = hit.entity.map_or(DVec3::ZERO, |entity| surroundings.drift(entity));
    let normal = if is_wedge { DVec3::Z } else { hit.normal };
    let entity = hit.entity.filter(|_| !is_wedge);
    Some(Ground { normal, drift: drift.with_z(0.0), entity, carries: false, is_wedge })
}

/// Whether a player of this velocity, relative to ground of this normal, leaves the ground.
fn leaves(velocity: DVec3, normal: DVec3, parameters: &MovementParameters) -> bool {
    let least = if parameters.jumps() { LEAVING.min(parameters.jump_speed * 0.5) } else { LEAVING };
    velocity.z > 0.0 && velocity.dot(normal) > least
}

/// The kinematic body below the player, if one carries the player. Such a body is no faster than
/// `carrier_speed`. Kinematic bodies move after the players. So the body may be farther below than
/// other ground, by the distance that it moves in a tick.
fn find_carrier(
    motion: &mut Motion,
    (carrier_speed, seconds, parameters): (f64, f64, &MovementParameters),
    surroundings: &mut impl Surroundings,
    (follow, stood_on): (bool, Option<DVec3>),
) -> Option<Ground> {
    let posture = motion.walker.posture;
    let reach = GROUND_REACH + (carrier_speed * seconds) as f32;
    let below = motion.position - Vec3::Z * reach;
    let sweep = surroundings.sweep(posture, motion.position, below);
    let hit = sweep.hit.filter(|hit| hit.normal.z >= WALKABLE)?;
    let carry = surroundings.carry(hit, (posture, motion.position), seconds)?;
    let gained = stood_on.map_or(DVec3::ZERO, |before| carry.velocity - before);
    // A lift that stops keeps its riders, so a rider's speed may be up to that of a jump here.
    let relative = motion.velocity + gained - carry.velocity;
    let leaves =
        relative.z > parameters.jump_speed * 0.5 && leaves(relative, hit.normal, parameters);
    let drop = motion.position.z - sweep.end.z;
    let moved = if carry.is_held { carrier_speed } else { carry.vertical_speed };
    if leaves || drop > GROUND_REACH + (moved * seconds) as f32 {
        return None;
    }
    motion.walker.grounded = true;
    motion.velocity += gained;
    if follow && !carry.is_held {
        motion.position = sweep.end;
    }
    let drift = carry.velocity;
    Some(Ground { normal: hit.normal, drift, entity: hit.entity, carries: true, is_wedge: false })
}

/// Moves a player down by as much as the ground that carried the player has gone down. Bodies move
/// after the players, so this follows when they have moved.
pub(crate) fn come_down(
    motion: PlayerMotion,
    seconds: f64,
    surroundings: &mut impl Surroundings,
) -> PlayerMotion {
    let PlayerMotion { position, walker, .. } = motion;
    let sinks = f64::from(walker.ground_velocity.z) * seconds;
    if !walker.grounded || sinks >= 0.0 {
        return motion;
    }
    let below = position + Vec3::Z * sinks as f32;
    let position = surroundings.sweep(walker.posture, position, below).end;
    PlayerMotion { position, ..motion }
}

/// Starts a jump from ground of the upward speed `drift`, if the command asks for one and the
/// player can jump.
fn jump(motion: &mut Motion, command: Command, drift: f64, parameters: &MovementParameters) {
    let pressed = command.buttons.contains(Buttons::JUMP);
    if !pressed {
        motion.walker.jump_held = false;
    } else if motion.walker.grounded && !motion.walker.jump_held && parameters.jumps() {
        motion.velocity.z = drift + parameters.jump_speed;
        motion.walker.grounded = false;
        motion.walker.jump_held = true;
    }
}

fn apply_friction(motion: &mut Motion, seconds: f64, parameters: &MovementParameters) {
    let speed = motion.velocity.length();
    if speed < 1.0 {
        motion.velocity = DVec3::ZERO;
        return;
    }
    let lost = speed.max(parameters.stop_speed) * parameters.friction * seconds;
    motion.velocity *= (speed - lost).max(0.0) / speed;
}

/// Accelerates along the wished direction only, up to the wished speed.
fn accelerate(
    motion: &mut Motion,
    command: Command,
    (ground, wet): (Option<Ground>, Option<Depth>),
    (seconds, parameters): (f64, &MovementParameters),
) {
    let mut wish = wished(command, motion.walker.posture, parameters);
    let Some(mut direction) = wish.try_normalize() else { return };
    let mut rate = parameters.air_acceleration;
    if let Some(Ground { normal, .. }) = ground.filter(|_| motion.walker.grounded) {
        if let Some(depth) = wet {
            wish = wish.clamp_length_max(parameters.run_speed * swim::wading_share(depth));
        }
        rate = parameters.ground_acceleration;
        // The player accelerates along the slope, not into it.
        direction = (direction - normal * direction.dot(normal)).normalize_or_zero();
    }
    let speed = wish.length();
    let missing = speed - motion.velocity.dot(direction);
    if missing > 0.0 {
        motion.velocity += direction * (rate * speed * seconds).min(missing);
    }
}

fn wished(command: Command, posture: Posture, parameters: &MovementParameters) -> DVec3 {
    let heading = heading(command.yaw);
    let forward = DVec3::new(heading.x, heading.y, 0.0);
    let right = DVec3::new(heading.y, -heading.x, 0.0);
    let wish = (forward * f64::from(command.forward) + right * f64::from(command.right)) / 127.0;
    let slow = posture == Posture::Crouching || command.buttons.contains(Buttons::WALK);
    let share = if slow { parameters.slow_share } else { 1.0 };
    wish.clamp_length_max(1.0) * (parameters.run_speed * share)
}
