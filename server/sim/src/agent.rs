//! A player's share of a tick: the movement code let loose in the real world.

use glam::{DVec3, Vec3};
use maps::Clearance;

use crate::arena::Arena;
use crate::command::Command;
use crate::counters::Counters;
use crate::entities::{Entities, Role};
use crate::guard::{Agent, Crowd, Memory, Others, Space, Sweep, SweepHit};
use crate::movement::{self, Encounters, PlayerMotion, Surroundings, Walker};
use crate::pose::Pose;
use crate::rest;
use crate::shape::Shapes;
use crate::state::Posture;
use crate::trigger::Effect;

/// What a player throws against a prop: about the mass of a crate.
const PLAYER_MASS: f64 = 80.0;

/// Ground this steep or flatter is stood on, not shoved.
const STOOD_ON: f64 = 0.7;

/// Who is met by a body slower than this, in units per second, is not pushed:
/// in a tick of 1/60 s it does not come as far as its place is rounded.
const STILL: f64 = 1.0;

/// The world as a player's movement sees it.
pub(crate) struct Around<'a, C> {
    pub(crate) arena: &'a Arena,
    pub(crate) crowd: C,
    pub(crate) memory: Memory<'a>,
    /// Whether anything that moves, and not by the player's own doing, has
    /// been in the way or has carried the player.
    pub(crate) pushed: bool,
}

impl<'a, C> Around<'a, C> {
    pub(crate) fn new(arena: &'a Arena, crowd: C, memory: Memory<'a>) -> Self {
        Self { arena, crowd, memory, pushed: false }
    }

    fn agent(&self, posture: Posture) -> Agent<'a> {
        let (shape, size) = self.arena.shapes.boxes.of(posture);
        Agent { map: &self.arena.map, shape: &self.arena.shapes[shape], size }
    }
}

impl<'a, C: Crowd<'a>> Surroundings for Around<'a, C> {
    fn sweep(&mut self, posture: Posture, start: Vec3, end: Vec3) -> Sweep {
        let sweep = self.agent(posture).sweep(start, end, &self.crowd, &mut self.memory);
        if let Some(slot) = sweep.hit.and_then(|hit| hit.entity) {
            let moves = self.crowd.velocity(slot).length_squared() > STILL * STILL;
            self.pushed |= moves && !self.crowd.is_own_doing(slot);
        }
        sweep
    }

    fn is_free(&mut self, posture: Posture, position: Vec3) -> bool {
        self.agent(posture).is_free(position, &self.crowd)
    }

    fn clearance(&self, posture: Posture, position: Vec3, radius: f32) -> Clearance {
        self.agent(posture).clearance(position, radius)
    }

    fn rise(&self) -> f32 {
        self.arena.shapes.boxes.rise
    }

    fn drift(&self, entity: u16) -> DVec3 {
        self.crowd.velocity(entity)
    }

    fn trigger(&self, posture: Posture, position: Vec3) -> Option<Effect> {
        let half_extents = self.agent(posture).shape.bounds.half_extents();
        self.arena.triggers.at(position.as_dvec3(), half_extents)
    }
}

/// What a player's tick came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Whether the player was found inside something.
    pub(crate) overlaps: bool,
    /// Whether they went through a teleporter.
    pub(crate) teleported: bool,
    /// Whether anything that moves had a say in where they went.
    pub(crate) pushed: bool,
    /// The slots of the bodies that they ran into or stood on.
    pub(crate) touched: Vec<u16>,
}

/// Moves the player in `slot` for `seconds` and shoves what they run into.
pub(crate) fn step(
    arena: &Arena,
    entities: &mut Entities,
    slot: u16,
    command: Command,
    seconds: f64,
    counters: &mut Counters,
) -> Outcome {
    let Some(entity) = entities.get(slot) else { return Outcome::default() };
    let (Some(walker), Some(before)) = (entity.walker(), entity.placement().copied()) else {
        return Outcome::default();
    };
    let motion = PlayerMotion {
        // Exact: a player's place and speed are always ones that `f32` holds.
        position: before.pose().position.as_vec3(),
        velocity: entity.velocity.as_vec3(),
        walker: *walker,
    };
    let space = Space { map: &arena.map, shapes: &arena.shapes, entities };
    let mut encounters = Encounters::default();
    let memory = Memory::new(counters);
    let mut around = Around::new(arena, Others::new(space, slot, before.bounds()), memory);
    let moved = movement::step(motion, command, seconds, &mut around, &mut encounters);
    let pushed = around.pushed;
    let shape = arena.shapes.of_posture(moved.walker.posture);
    let pose = Pose::at(moved.position.as_dvec3());
    let placement = space.place(shape, pose, Some(slot), counters);
    let overlaps = placement.is_none() && space.overlaps(entity);
    if let Some(entity) = entities.get_mut(slot) {
        entity.velocity = moved.velocity.as_dvec3();
        // A way whose end is not free is not taken: the view turns, and the
        // speed is kept for the next try.
        let unmoved = Walker { yaw: command.yaw, ..motion.walker };
        if let Some(walker) = entity.walker_mut() {
            *walker = if placement.is_some() { moved.walker } else { unmoved };
        }
    }
    let teleported = encounters.teleported && placement.is_some();
    if let Some(placement) = placement {
        entities.commit(slot, placement);
    }
    shove(entities, &arena.shapes, slot, &encounters.touched);
    let touched = encounters.touched.iter().filter_map(|(hit, _)| hit.entity).collect();
    Outcome { overlaps, teleported, pushed, touched }
}

/// Gives props that a player ran into the speed of an inelastic shove. It
/// goes through the centre of mass: a flat hand, not a finger that tips.
fn shove(entities: &mut Entities, shapes: &Shapes, player: u16, touched: &[(SweepHit, f64)]) {
    for (hit, speed) in touched {
        let Some(slot) = hit.entity else { continue };
        let Some(entity) = entities.get(slot) else { continue };
        if matches!(entity.role, Role::Projectile(_)) || !entity.is_rigid() {
            continue;
        }
        let inverse_mass = shapes[entity.shape].inverse_mass;
        let Some(gained) = shove_speed(hit, *speed, entity.velocity, inverse_mass) else {
            continue;
        };
        rest::wake(entities, slot);
        if let Some(entity) = entities.get_mut(slot) {
            entity.velocity += gained;
            entity.shoved_by = Some(player);
        }
    }
}

/// The speed that a body gains which a player runs into; none if the player
/// stands on it, or it is already on its way.
pub(crate) fn shove_speed(
    hit: &SweepHit,
    speed: f64,
    velocity: DVec3,
    inverse_mass: f64,
) -> Option<DVec3> {
    let direction = -hit.normal;
    let closing = speed - velocity.dot(direction);
    if hit.normal.z >= STOOD_ON || closing <= 0.0 {
        return None;
    }
    let impulse = closing / (1.0 / PLAYER_MASS + inverse_mass);
    Some(direction * (impulse * inverse_mass))
}
