//! The tick of a player on foot: the movement code in the world of all bodies, and
//! the shoves that it gives.

use glam::{DVec3, Vec3};
use obsp::Clearance;

use crate::arena::Arena;
use crate::arena::triggers::Effect;
use crate::bodies::entities::Entities;
use crate::bodies::guard::Space;
use crate::bodies::roles::Walker;
use crate::bodies::sleep;
use crate::collision::pose::Pose;
use crate::collision::shape::Shapes;
use crate::command::Command;
use crate::context::StepContext;
use crate::players::agent::{Agent, LiveBodies, NearbyBodies, PlaneCache, SweepHit, SweepResult};
use crate::players::movement;
use crate::players::movement::{Encounters, PlayerMotion, Surroundings};
use crate::state::Posture;

/// Mass of a player in a shove, in kilograms: about that of a crate.
pub(crate) const PLAYER_MASS: f64 = 80.0;

/// A player stands on a surface whose normal has at least this height, and does not
/// shove it.
const STOOD_ON: f64 = 0.7;

/// A body slower than this, in units per second, does not push a player: in a tick
/// of 1/60 s it moves less than the rounding of its position on the wire.
const STILL: f64 = 1.0;

/// The world as a player's movement sees it.
pub(crate) struct PlayerSurroundings<'a, C> {
    pub(crate) arena: &'a Arena,
    pub(crate) crowd: C,
    pub(crate) memory: PlaneCache<'a>,
    /// Whether a body that something else than the player moves was in the way or
    /// carried the player.
    pub(crate) pushed: bool,
}

impl<'a, C> PlayerSurroundings<'a, C> {
    pub(crate) fn new(arena: &'a Arena, crowd: C, memory: PlaneCache<'a>) -> Self {
        Self { arena, crowd, memory, pushed: false }
    }

    fn agent(&self, posture: Posture) -> Agent<'a> {
        let (shape, size) = self.arena.shapes.boxes.of(posture);
        Agent { map: &self.arena.map, shape: &self.arena.shapes[shape], size }
    }
}

impl<'a, C: NearbyBodies<'a>> Surroundings for PlayerSurroundings<'a, C> {
    fn sweep(&mut self, posture: Posture, start: Vec3, end: Vec3) -> SweepResult {
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

/// The result of a player's tick.
#[derive(Clone, Debug, Default)]
pub(crate) struct WalkOutcome {
    /// Whether the player was found overlapping something.
    pub(crate) overlaps: bool,
    /// Whether the player went through a teleporter.
    pub(crate) teleported: bool,
    /// As [`PlayerSurroundings::pushed`].
    pub(crate) pushed: bool,
    /// Slots of the bodies that the player ran into or stood on.
    pub(crate) touched: Vec<u16>,
}

/// Moves the player in `slot` by a tick and shoves the props that they run into.
pub(crate) fn step(
    arena: &Arena,
    entities: &mut Entities,
    slot: u16,
    command: Command,
    context: &mut StepContext,
) -> WalkOutcome {
    let seconds = context.seconds;
    let Some(entity) = entities.get(slot) else { return WalkOutcome::default() };
    let (Some(walker), Some(before)) = (entity.walker(), entity.placement().copied()) else {
        return WalkOutcome::default();
    };
    let motion = PlayerMotion {
        // Exact: a player's position and velocity are always values of `f32`.
        position: before.pose().position.as_vec3(),
        velocity: entity.velocity.as_vec3(),
        walker: *walker,
    };
    let space = Space { map: &arena.map, shapes: &arena.shapes, entities };
    let mut encounters = Encounters::default();
    let memory = PlaneCache::new(context);
    let mut around =
        PlayerSurroundings::new(arena, LiveBodies::new(space, slot, before.bounds()), memory);
    let by = (seconds, &arena.movement);
    let moved = movement::step(motion, command, by, &mut around, &mut encounters);
    let pushed = around.pushed;
    let shape = arena.shapes.of_posture(moved.walker.posture);
    let pose = Pose::at(moved.position.as_dvec3());
    let placement = space.place(shape, pose, Some(slot), context);
    let overlaps = placement.is_none() && space.overlaps(entity);
    if let Some(entity) = entities.get_mut(slot) {
        entity.velocity = moved.velocity.as_dvec3();
        // A motion whose end is not free is not made: the view turns, and the velocity
        // is kept for the next tick.
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
    WalkOutcome { overlaps, teleported, pushed, touched }
}

/// Gives props that a player ran into the velocity of an inelastic impact. It acts
/// on the centre of mass and does not tip them.
fn shove(entities: &mut Entities, shapes: &Shapes, player: u16, touched: &[(SweepHit, f64)]) {
    for (hit, speed) in touched {
        let Some(slot) = hit.entity else { continue };
        let Some(entity) = entities.get(slot) else { continue };
        if entity.missile().is_some() || !entity.is_rigid() {
            continue;
        }
        let inverse_mass = shapes[entity.shape].inverse_mass;
        let Some(gained) = shove_speed(hit, *speed, entity.velocity, inverse_mass) else {
            continue;
        };
        sleep::wake(entities, slot);
        if let Some(entity) = entities.get_mut(slot) {
            entity.velocity += gained;
            entity.shoved_by = Some(player);
        }
    }
}

/// The velocity that a body gains if a player runs into it; `None` if the player
/// stands on it, or it moves away as fast already.
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
