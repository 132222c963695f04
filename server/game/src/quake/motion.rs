//! A mover: a kinematic body that goes from place to place in a straight line.
//!
//! At rest it has no velocity, so it sleeps, and bodies sleep on it. Its velocity is set when it
//! starts, when its last step is shorter than the others, and when something has held it up.

use glam::{DQuat, DVec3};
use obsp::MapEntity;
use obsp::geometry::Aabb;
use obsp_sim::{CollisionLayers, EntityId, Kind, ModelId};
use serde::{Deserialize, Serialize};

use super::targets::Calls;
use super::{keys, touch};
use crate::world_mut::WorldMut;

/// The last layer. Movers alone are on it, and pass through each other as they do in Quake, where
/// two doors of a gate touch and a lift may rise through its frame.
const LAYER: u32 = 1 << (CollisionLayers::COUNT - 1);
const LAYERS: CollisionLayers = CollisionLayers { layers: LAYER, mask: !LAYER };

/// The pocket is larger than the way of the mover by this, in units at each side.
const ROOM: f64 = 0.5;

/// A body nearer than this to a mover that is set up, in units, is put elsewhere.
const NEAR: f64 = 1.0;

/// A mover nearer to its goal than this, in units, is there.
const THERE: f64 = 1.0 / 1024.0;

/// A mover that makes less than this share of its step is held up.
const HELD: f64 = 0.5;

/// Seconds for which a mover is held up before its family hears of it. A loose body that lies in the
/// way needs some ticks to get going.
const PATIENCE: f64 = 0.1;

/// A kinematic body on its way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Mover {
    pub(super) body: EntityId,
    /// Units per second.
    speed: f64,
    goal: Option<DVec3>,
    /// The velocity that the body was given.
    velocity: DVec3,
    /// Its position after the last tick.
    last: DVec3,
    /// The ticks in a row in which it was held up.
    held: u32,
}

/// The progress of a mover in a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Progress {
    Rests,
    Moves,
    Arrived,
    /// Something without room has held the mover up for a while.
    Blocked,
}

impl Mover {
    /// Spawns the body of an entity at `offset` from where it is drawn. In `pocket`, the static world
    /// does not stop it. `None` if the entity has no model in the match.
    pub(super) fn spawn(
        world: &mut WorldMut<'_>,
        entity: &MapEntity,
        offset: DVec3,
        pocket: Aabb,
        speed: f64,
    ) -> Option<Self> {
        let drawn = world.model_of(entity)?;
        let at = drawn.place + offset;
        let body = put(world, drawn.model, (at, DQuat::IDENTITY), pocket)?;
        Some(Self { body, speed, goal: None, velocity: DVec3::ZERO, last: at, held: 0 })
    }

    /// Sets out for a place.
    pub(super) fn go(&mut self, world: &mut WorldMut<'_>, goal: DVec3) {
        let Some(at) = position(world, self.body) else { return };
        (self.goal, self.last, self.held) = (Some(goal), at, 0);
        self.drive(world, at, goal);
    }

    /// Looks how far the body has come in this tick.
    pub(super) fn step(&mut self, world: &mut WorldMut<'_>) -> Progress {
        let Some(goal) = self.goal else { return Progress::Rests };
        let Some(at) = position(world, self.body) else {
            self.goal = None;
            return Progress::Rests;
        };
        let left = at.distance(goal);
        if left <= THERE {
            self.goal = None;
            self.set_velocity(world, DVec3::ZERO);
            return Progress::Arrived;
        }
        let step = self.velocity * world.seconds();
        let made = (at - self.last).dot(step) / step.length_squared();
        self.last = at;
        let is_free = made > HELD;
        if !is_free || left <= self.speed * world.seconds() + THERE {
            self.drive(world, at, goal);
        }
        self.held = if is_free { 0 } else { self.held.saturating_add(1) };
        if self.held < keys::ticks_of(world, PATIENCE).max(2) {
            return Progress::Moves;
        }
        self.held = 0;
        Progress::Blocked
    }

    /// Hurts the player who holds the mover up.
    pub(super) fn hurt(
        &self,
        world: &WorldMut<'_>,
        damage: i16,
        means: &'static str,
        calls: &mut Calls,
    ) {
        touch::hurt(world, self.body, damage, means, calls);
    }

    fn drive(&mut self, world: &mut WorldMut<'_>, at: DVec3, goal: DVec3) {
        let (way, seconds) = (goal - at, world.seconds());
        let far = way.length();
        // The last step is as long as what is left of the way.
        let last = far <= self.speed * seconds + THERE;
        let velocity = if last { way / seconds } else { way * (self.speed / far) };
        self.set_velocity(world, velocity);
    }

    fn set_velocity(&mut self, world: &mut WorldMut<'_>, velocity: DVec3) {
        if self.velocity != velocity {
            self.velocity = velocity;
            // A mover that fell out of the map has no velocity.
            let _ = world.set_velocity(self.body, velocity, DVec3::ZERO);
        }
    }
}

fn position(world: &WorldMut<'_>, body: EntityId) -> Option<DVec3> {
    world.entity(body).map(|body| body.position)
}

/// Puts a body of a model into the world at a pose. In `pocket`, the static world does not stop it.
/// Bodies that are in its way are put elsewhere.
pub(super) fn put(
    world: &mut WorldMut<'_>,
    model: ModelId,
    (at, turned): (DVec3, DQuat),
    pocket: Aabb,
) -> Option<EntityId> {
    let bounds = world.model_bounds(model, at, turned)?;
    let body = world.spawn_intangible(model, at, turned).ok()?;
    let displaced = displace(world, &bounds.inflated(NEAR));
    let placed = world
        .set_layers(body, LAYERS)
        .and_then(|()| world.set_pocket(body, Some(pocket.inflated(ROOM))))
        .and_then(|()| world.place(body, at, turned));
    for (model, position, orientation) in displaced {
        // A body for which the whole map has no room is left out.
        let _ = world.spawn_body_near(model, position, orientation);
    }
    if placed.is_err() {
        let _ = world.remove(body);
        return None;
    }
    Some(body)
}

/// Takes the bodies in a box out of the match, and returns their models and poses.
fn displace(world: &mut WorldMut<'_>, bounds: &Aabb) -> Vec<(ModelId, DVec3, DQuat)> {
    let mut displaced = Vec::new();
    for id in world.overlapping_box(bounds) {
        let Some(entity) = world.entity(id) else { continue };
        let Kind::Prop { model } = entity.kind else { continue };
        let is_mover = world.layers(id).is_some_and(|layers| layers == LAYERS);
        if !is_mover && world.remove(id).is_ok() {
            displaced.push((model, entity.position, entity.orientation));
        }
    }
    displaced
}
