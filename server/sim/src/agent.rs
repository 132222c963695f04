//! A player's share of a tick: the movement code let loose in the real world.

use glam::{DVec3, Vec3};
use maps::SizeId;

use crate::command::Command;
use crate::counters::Counters;
use crate::entities::{Entities, Role};
use crate::guard::{Space, Sweep, SweepHit};
use crate::movement::{self, Motion, Surroundings, Walker};
use crate::pose::Pose;
use crate::rest;
use crate::shape::{Shape, ShapeId};
use crate::state::Posture;

/// What a player throws against a prop: about the mass of a crate.
const PLAYER_MASS: f64 = 80.0;

/// Ground this steep or flatter is stood on, not shoved.
const STOOD_ON: f64 = 0.7;

/// The two boxes of a player, as shapes and as sizes of the onion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentBoxes {
    pub(crate) standing: (ShapeId, SizeId),
    pub(crate) crouching: (ShapeId, SizeId),
    /// Centre of the standing box over that of the crouching one.
    pub(crate) rise: f32,
}

impl AgentBoxes {
    pub(crate) fn of(&self, posture: Posture) -> (ShapeId, SizeId) {
        match posture {
            Posture::Standing => self.standing,
            Posture::Crouching => self.crouching,
        }
    }
}

struct Around<'a> {
    space: Space<'a>,
    slot: u16,
    boxes: AgentBoxes,
    counters: &'a mut Counters,
}

impl Surroundings for Around<'_> {
    fn sweep(&mut self, posture: Posture, start: Vec3, end: Vec3) -> Sweep {
        let (shape, size) = self.boxes.of(posture);
        self.space.sweep_agent((self.slot, shape, size), start, end, self.counters)
    }

    fn is_free(&mut self, posture: Posture, position: Vec3) -> bool {
        let (shape, _) = self.boxes.of(posture);
        let pose = Pose::at(position.as_dvec3());
        self.space.place(shape, pose, Some(self.slot), self.counters).is_some()
    }

    fn rise(&self) -> f32 {
        self.boxes.rise
    }
}

/// Moves the player in `slot` for `seconds` and shoves what they run into.
/// Returns whether the player was found inside something.
pub(crate) fn step(
    (map, shapes, boxes): (&maps::World, &[Shape], AgentBoxes),
    entities: &mut Entities,
    slot: u16,
    command: Command,
    seconds: f64,
    counters: &mut Counters,
) -> bool {
    let Some(entity) = entities.get(slot) else { return false };
    let (Some(walker), Some(before)) = (entity.walker(), entity.placement().copied()) else {
        return false;
    };
    let motion = Motion {
        // Exact: an agent is only ever put at a position that `f32` can hold.
        position: before.pose().position.as_vec3(),
        velocity: entity.velocity,
        walker: *walker,
    };
    let space = Space { map, shapes, entities };
    let mut touched = Vec::new();
    let mut around = Around { space, slot, boxes, counters };
    let moved = movement::step(motion, command, seconds, &mut around, &mut touched);
    let (shape, _) = boxes.of(moved.walker.posture);
    let pose = Pose::at(moved.position.as_dvec3());
    let placement = space.place(shape, pose, Some(slot), counters);
    let overlaps = placement.is_none() && space.overlaps(entity);
    if let Some(entity) = entities.get_mut(slot) {
        entity.velocity = moved.velocity;
        // A way whose end is not free is not taken; only the view turns.
        let unmoved = Walker { yaw: command.yaw, ..motion.walker };
        entity.role = Role::Player(if placement.is_some() { moved.walker } else { unmoved });
    }
    if let Some(placement) = placement {
        entities.commit(slot, placement);
    }
    shove(entities, shapes, &touched);
    overlaps
}

/// Gives props that a player ran into the speed of an inelastic shove. It
/// goes through the centre of mass: a flat hand, not a finger that tips.
fn shove(entities: &mut Entities, shapes: &[Shape], touched: &[(SweepHit, f64)]) {
    for (hit, speed) in touched {
        let Some(slot) = hit.entity.filter(|_| hit.normal.z < STOOD_ON) else { continue };
        let Some(entity) = entities.get(slot) else { continue };
        if !matches!(entity.role, Role::Prop(_)) {
            continue;
        }
        let direction = -hit.normal;
        let closing = speed - entity.velocity.dot(direction);
        if closing <= 0.0 {
            continue;
        }
        let inverse_mass = shapes[usize::from(entity.shape.0)].inverse_mass;
        let impulse = closing / (1.0 / PLAYER_MASS + inverse_mass);
        let gained: DVec3 = direction * (impulse * inverse_mass);
        rest::wake(entities, slot);
        if let Some(entity) = entities.get_mut(slot) {
            entity.velocity += gained;
        }
    }
}
