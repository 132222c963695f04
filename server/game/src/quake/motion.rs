//! A mover: a kinematic body that goes from place to place in a straight line.
//!
//! At rest it has no velocity, so it sleeps, and bodies sleep on it. The simulation moves it
//! ([`LinearMove`]). A mover that is to come back later gets that move at once, with a delay,
//! because clients predict how it carries its riders.

use glam::{DQuat, DVec3};
use obsp::MapEntity;
use obsp::geometry::Aabb;
use obsp_sim::{ArmedMove, CollisionLayers, EntityId, Kind, LinearMove, ModelId};
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

/// A mover that makes less than this share of its step is held up.
pub(super) const HELD: f64 = 0.5;

/// Seconds for which a mover is held up before its family hears of it. A loose body that lies in
/// the way needs some ticks to get going.
pub(super) const PATIENCE: f64 = 0.1;

/// A kinematic body on its way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Mover {
    pub(super) body: EntityId,
    /// Units per second.
    speed: f64,
    /// The last thing that the mover was seen to do.
    progress: Progress,
    /// Its position after the last tick.
    last: DVec3,
    /// The ticks in a row in which it was held up.
    held: u32,
    /// Whether it begins a move by itself once a player is in a zone.
    is_armed: bool,
}

/// The progress of a mover in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Progress {
    Rests,
    /// It is to start later.
    Waits,
    /// It has waited, and starts in the next tick.
    Starts,
    Moves,
    Arrived,
    /// Something that has no room to give way has held the mover up for a while.
    Blocked,
}

impl Mover {
    /// Spawns the body of an entity at `offset` from where it is drawn. In `pocket`, the static
    /// world does not stop it. `None` if the entity has no model in the match.
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
        Some(Self { body, speed, progress: Progress::Rests, last: at, held: 0, is_armed: false })
    }

    /// Sets out for a place.
    pub(super) fn go(&mut self, world: &mut WorldMut<'_>, goal: DVec3) {
        self.go_after(world, goal, 0);
    }

    /// Sets out for a place after some ticks. Clients of its riders know that beforehand.
    pub(super) fn go_after(&mut self, world: &mut WorldMut<'_>, goal: DVec3, delay: u32) {
        if self.sets_out(world, delay) {
            // A mover that fell out of the map goes nowhere.
            let _ = world.move_linear(self.body, LinearMove { goal, speed: self.speed, delay });
        }
    }

    /// Notes that the mover sets out after some ticks; `false` if it is not there.
    fn sets_out(&mut self, world: &WorldMut<'_>, delay: u32) -> bool {
        let Some(at) = position(world, self.body) else { return false };
        (self.last, self.held) = (at, 0);
        self.progress = if delay == 0 { Progress::Starts } else { Progress::Waits };
        true
    }

    /// Arms the mover: it sets out by itself, `delay` ticks after a player is in `zone` while the
    /// mover rests or waits. The clients of players near the zone know that beforehand.
    pub(super) fn arm(&mut self, world: &mut WorldMut<'_>, zone: Aabb, goal: DVec3, delay: u32) {
        let by = LinearMove { goal, speed: self.speed, delay };
        self.is_armed = world.arm_linear_move(self.body, ArmedMove { zone, by }).is_ok();
    }

    /// Undoes [`Mover::arm`].
    pub(super) fn disarm(&mut self, world: &mut WorldMut<'_>) {
        world.disarm_linear_move(self.body);
        self.is_armed = false;
    }

    /// Whether a player in the zone has set the mover off in this tick.
    pub(super) fn was_set_off(&mut self, world: &WorldMut<'_>) -> bool {
        if !self.is_armed || world.armed_move(self.body).is_some() {
            return false;
        }
        self.is_armed = false;
        self.sets_out(world, world.linear_move(self.body).map_or(0, |of| of.delay))
    }

    /// Checks how far the body has come in this tick.
    pub(super) fn step(&mut self, world: &WorldMut<'_>) -> Progress {
        let before = self.progress;
        self.progress = self.seen(world);
        match self.progress {
            // The mover arrived in an earlier tick.
            Progress::Arrived if matches!(before, Progress::Arrived | Progress::Rests) => {
                Progress::Rests
            }
            seen => seen,
        }
    }

    fn seen(&mut self, world: &WorldMut<'_>) -> Progress {
        let Some(LinearMove { delay, .. }) = world.linear_move(self.body) else {
            return Progress::Arrived;
        };
        let at = position(world, self.body).unwrap_or(self.last);
        let made = at.distance(std::mem::replace(&mut self.last, at));
        match self.progress {
            Progress::Waits if delay > 0 => return Progress::Waits,
            Progress::Waits => return Progress::Starts,
            _ => {}
        }
        // The last step of a way may be shorter. A mover that has made it has arrived, and returned
        // above.
        let is_free = made > HELD * self.speed * world.seconds();
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
