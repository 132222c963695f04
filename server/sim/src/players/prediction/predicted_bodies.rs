//! A client's prediction of the props that its player shoves.

use std::collections::BTreeMap;

use glam::DVec3;
use obsp::geometry::Aabb;

use super::{Predictor, is_sound};
use crate::bodies::armed_move::ArmedMove;
use crate::bodies::contact::Pair;
use crate::bodies::entities::{Entities, Entity, SleepState};
use crate::bodies::guard::Seeker;
use crate::bodies::linear_move::LinearMove;
use crate::bodies::roles::{PlayerBody, Role, Walker};
use crate::bodies::swing::Swing;
use crate::bodies::{sleep, tick};
use crate::collision::pose::{Pose, is_speed, is_tick};
use crate::collision::shape::ShapeId;
use crate::context::StepContext;
use crate::players::movement::PlayerMotion;
use crate::state::{EntityId, EntityState, Kind};
use crate::traits::CollisionLayers;

/// Bodies farther than this, in units, from all bodies that the player shoves are left out
/// until the server's next snapshot.
const REACH: f64 = 16.0;

/// Maximum number of predicted bodies. The nearest ones are taken. Snapshots are not exact enough
/// to predict a heap of hundreds anyway.
const MOST: usize = 8;

/// A pose that was rounded for the wire may be nearer to the ground than the guard
/// allows. So it is tried at these heights above the given one, in units.
const RAISED: [f64; 3] = [0.0, 1.0 / 64.0, 1.0 / 16.0];

/// A body, with the parts of its motion that clients know and a snapshot does not contain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moving {
    /// The state of the body, in the form of a snapshot.
    pub state: EntityState,
    /// Angular velocity, in radians per second, world axes.
    pub spin: DVec3,
    /// The place to which a kinematic body goes, as far as it is known.
    pub linear_move: Option<LinearMove>,
    /// The swing of a kinematic body, as far as it is known.
    pub swing: Option<Swing>,
    /// The move that a kinematic body begins when a player is in a zone, as far as it is known.
    pub armed: Option<ArmedMove>,
}

impl Moving {
    /// Maximum number of ticks of a way to a goal that are computed: two seconds at 60 Hz.
    pub const MAX_TICKS: u32 = 128;

    /// A body that moves without a goal.
    pub fn new(state: EntityState, spin: DVec3) -> Self {
        Self { state, spin, linear_move: None, swing: None, armed: None }
    }

    /// The body after some ticks of `seconds` without forces: it goes to its goal, swings, or keeps
    /// its velocity and its spin. A body that sleeps stays where it is. So does a body whose state
    /// is not valid, before or after. On a way to a goal, or in a swing, only the first
    /// [`Moving::MAX_TICKS`] ticks count.
    #[must_use]
    pub fn advanced(&self, ticks: u32, seconds: f64) -> Self {
        let is_known = self.is_sound() && is_tick(seconds);
        if let Some(swing) = self.swing.filter(|_| is_known) {
            return self.swung(swing, ticks.min(Self::MAX_TICKS), seconds);
        }
        let Some(of) = self.linear_move.filter(|_| is_known) else {
            return self.coasted(f64::from(ticks) * seconds);
        };
        let waits = ticks.min(of.delay);
        let mut body = *self;
        if waits > 0 {
            body.linear_move = Some(LinearMove { delay: of.delay - waits, ..of });
            body.follow(seconds);
        }
        for _ in 0..(ticks - waits).min(Self::MAX_TICKS) {
            body = body.coasted(seconds);
            body.follow(seconds);
        }
        body
    }

    /// Whether the body is on its way, by a move or by a velocity. Otherwise it rests, or waits.
    pub fn is_under_way(&self) -> bool {
        let velocity = if self.state.asleep { DVec3::ZERO } else { self.state.velocity };
        LinearMove::is_under_way(self.linear_move, velocity)
    }

    /// The body when its armed move begins, at the end of a tick of `seconds`. A body without an
    /// armed move stays as it is.
    #[must_use]
    pub fn set_off(&self, seconds: f64) -> Self {
        let Some(armed) = self.armed.filter(|_| is_tick(seconds)) else { return *self };
        let mut body = Self { linear_move: Some(armed.by), armed: None, ..*self };
        if !body.is_sound() {
            return *self;
        }
        body.follow(seconds);
        body
    }

    /// The body after some ticks of a swing.
    fn swung(&self, mut swing: Swing, ticks: u32, seconds: f64) -> Self {
        let mut body = *self;
        for _ in 0..ticks {
            body = body.coasted(seconds);
            body.state.velocity = swing.go_on(body.state.position, seconds);
        }
        Self { swing: Some(swing), ..body }
    }

    /// The body after `seconds` with the same velocity and spin.
    fn coasted(&self, seconds: f64) -> Self {
        let Self { mut state, spin, .. } = *self;
        let pose = Pose::known(state.position, state.orientation);
        let moves = !state.asleep && self.is_sound();
        let after = pose.filter(|_| moves).and_then(|pose| {
            let Pose { position, orientation } = pose.advanced(state.velocity, spin, seconds);
            Pose::known(position, orientation)
        });
        if let Some(Pose { position, orientation }) = after {
            (state.position, state.orientation) = (position, orientation);
        }
        Self { state, ..*self }
    }

    /// Sets the velocity for the next tick of the way to the goal.
    fn follow(&mut self, seconds: f64) {
        let Some(of) = self.linear_move.filter(|of| of.delay == 0) else { return };
        let velocity = of.velocity(self.state.position, seconds);
        if velocity.is_none() {
            self.linear_move = None;
        }
        self.state.velocity = velocity.unwrap_or(DVec3::ZERO);
        self.state.asleep = velocity.is_none() && self.spin == DVec3::ZERO;
    }

    /// Whether the state and the spin are valid.
    pub(super) fn is_sound(&self) -> bool {
        let is_sound_way = |of: LinearMove| of.speed.is_finite() && of.goal.is_finite();
        let moves_soundly = self.linear_move.is_none_or(is_sound_way);
        let swings_soundly = self.swing.is_none_or(|swing| swing.is_sound());
        is_sound(&self.state) && is_speed(self.spin) && moves_soundly && swings_soundly
    }
}

/// The bodies that a player shoves, and the bodies near them. They are a small match, which the
/// server's own solver and guard move.
#[derive(Clone, Debug)]
pub struct PredictedBodies {
    pub(super) entities: Entities,
    pub(super) pairs: Vec<Pair>,
    /// The slot of the player.
    pub(super) player: u16,
    /// Id and kind of the other bodies in the match, and their slot in `entities`.
    members: Vec<(EntityId, Kind, u16)>,
}

impl PredictedBodies {
    pub(super) fn new(
        predictor: &Predictor,
        own: &[EntityId],
        bodies: &[Moving],
        (motion, layers): (&PlayerMotion, CollisionLayers),
    ) -> Self {
        let is_sound = motion.is_sound();
        let near = if is_sound { near(predictor, own, bodies, REACH) } else { Vec::new() };
        let position = if is_sound { motion.position.as_dvec3() } else { DVec3::ZERO };
        let role = Role::Player(PlayerBody::Box(motion.walker));
        let shape = predictor.arena.shapes.of_posture(motion.walker.posture);
        let mut predicted = Self::of_player((role, layers), shape, position, &near);
        if is_sound {
            predicted.put(predictor, predicted.player, shape, Pose::at(position));
        }
        predicted.add_all(predictor, near);
        predicted
    }

    /// Predicted bodies that contain only the player, who is not placed yet. The grid covers the
    /// bodies `near`, so that they can be added.
    pub(super) fn of_player(
        (role, layers): (Role, CollisionLayers),
        shape: ShapeId,
        position: DVec3,
        near: &[(ShapeId, Moving)],
    ) -> Self {
        let places = near.iter().map(|(_, body)| body.state.position);
        let mut entities = Entities::new(&Aabb::around(places.chain([position])), 1);
        // Contacts are solved in the server's order: players come first.
        let player = entities.insert(role, shape).map_or(0, |id| id.slot);
        if let Some(player) = entities.get_mut(player) {
            player.layers = layers;
        }
        Self { entities, pairs: Vec::new(), player, members: Vec::new() }
    }

    /// The current state of one of the bodies.
    pub fn find(&self, id: EntityId) -> Option<Moving> {
        let (.., kind, slot) = self.members.iter().find(|(member, ..)| *member == id)?;
        self.seen(id, *kind, *slot)
    }

    /// The current states of all bodies except the players.
    pub fn bodies(&self) -> impl Iterator<Item = Moving> {
        self.members.iter().filter_map(|(id, kind, slot)| self.seen(*id, *kind, *slot))
    }

    /// Gives a body the velocity of a shove, in units per second. Nothing happens if the body is
    /// not among the predicted ones, or if the velocity is not finite or faster than 10 million
    /// units per second.
    pub fn shove(&mut self, id: EntityId, velocity: DVec3) {
        let member = self.members.iter().find(|(member, ..)| *member == id);
        let Some((.., slot)) = member.filter(|_| is_speed(velocity)) else { return };
        sleep::wake(&mut self.entities, *slot);
        if let Some(entity) = self.entities.get_mut(*slot) {
            entity.velocity = velocity;
        }
    }

    /// Moves all bodies by a tick of `seconds`, past the player, whose motion is now
    /// `motion`, and the players among `others`.
    pub(super) fn advance(
        &mut self,
        predictor: &Predictor,
        others: &[EntityState],
        motion: &PlayerMotion,
        seconds: f64,
    ) {
        self.move_players(predictor, others, seconds);
        let shape = predictor.arena.shapes.of_posture(motion.walker.posture);
        self.put(predictor, self.player, shape, Pose::at(motion.position.as_dvec3()));
        if let Some(player) = self.entities.get_mut(self.player) {
            player.velocity = motion.velocity.as_dvec3();
        }
        self.move_bodies(predictor, seconds);
    }

    /// Moves the other players on foot by a tick, with their velocities among `others`.
    pub(super) fn move_players(
        &mut self,
        predictor: &Predictor,
        others: &[EntityState],
        seconds: f64,
    ) {
        for index in 0..self.members.len() {
            let (id, kind, slot) = self.members[index];
            let other = others.iter().find(|other| other.id == id);
            let other = other.filter(|other| is_sound(other));
            if let (Kind::Player { posture }, Some(other)) = (kind, other) {
                let shape = predictor.arena.shapes.of_posture(posture);
                let goes_to = other.position + other.velocity * seconds;
                self.put(predictor, slot, shape, Pose::at(goes_to));
            }
        }
    }

    /// Moves all bodies by a tick.
    pub(super) fn move_bodies(&mut self, predictor: &Predictor, seconds: f64) {
        let mut context = StepContext { seconds, ..StepContext::default() };
        let (arena, shapes) = (&predictor.arena, &predictor.arena.shapes);
        let (entities, pairs) = (&mut self.entities, &mut self.pairs);
        // The overlapping bodies that `step` returns are ignored. Their poses are not known
        // exactly, and `step` does not move them. The next snapshot corrects them.
        let map = (&*arena.map, &arena.currents);
        tick::step(map, shapes, entities, pairs, &mut context);
    }

    /// Adds the bodies for which there is room.
    pub(super) fn add_all(&mut self, predictor: &Predictor, near: Vec<(ShapeId, Moving)>) {
        for (shape, body) in near {
            self.add(predictor, shape, body);
        }
    }

    /// Removes the bodies that `is_kept` does not accept, and returns whether there were any.
    pub(super) fn keep(&mut self, is_kept: impl Fn(EntityId) -> bool) -> bool {
        let (kept, gone) = self.members.iter().partition(|(id, ..)| is_kept(*id));
        self.members = kept;
        let gone: Vec<(EntityId, Kind, u16)> = gone;
        let entities = &mut self.entities;
        let id_of = |slot| entities.get(slot).map(|entity| entity.id);
        let ids: Vec<EntityId> = gone.iter().filter_map(|(.., slot)| id_of(*slot)).collect();
        ids.into_iter().for_each(|id| drop(entities.remove(id)));
        !gone.is_empty()
    }

    /// The bodies by the slots of the prediction.
    pub(super) fn by_slot(&self) -> BTreeMap<u16, EntityId> {
        self.members.iter().map(|(id, _, slot)| (*slot, *id)).collect()
    }

    /// Forgets the contacts in the slots that have another body than `before`. The new body would
    /// begin with the impulses of the old one.
    pub(super) fn forget_contacts_of_others(&mut self, before: &BTreeMap<u16, EntityId>) {
        let now = self.by_slot();
        let stays = |slot: u16| before.get(&slot) == now.get(&slot);
        self.pairs.retain(|pair| stays(pair.key.body) && pair.key.other.entity().is_none_or(stays));
    }

    /// Whether the body is among the predicted ones in exactly this state. A player on foot matches
    /// in any state, because players are moved to their places in each tick.
    pub(super) fn has(&self, body: &Moving) -> bool {
        match body.state.kind {
            Kind::Player { .. } => self.members.iter().any(|(id, ..)| *id == body.state.id),
            _ => self.find(body.state.id) == Some(*body),
        }
    }

    fn add(&mut self, predictor: &Predictor, shape: ShapeId, Moving { state, spin, .. }: Moving) {
        let (role, pose) = match state.kind {
            Kind::Player { .. } => {
                let walker = Role::Player(PlayerBody::Box(Walker::default()));
                (walker, Pose::at(state.position))
            }
            // A vehicle keeps its place, because its driver's commands are not known.
            Kind::Vehicle { model } | Kind::Prop { model } => {
                let known = Pose::known(state.position, state.orientation);
                let Some(pose) = known else { return };
                (Role::of_body(model, &predictor.arena.shapes), pose)
            }
        };
        let Some(slot) = self.entities.insert(role, shape).map(|id| id.slot) else { return };
        if let Some(entity) = self.entities.get_mut(slot) {
            (entity.velocity, entity.angular) = (state.velocity, spin);
            (entity.layers, entity.visible) = (state.traits.layers, state.traits.visible);
            let asleep = state.asleep || matches!(state.kind, Kind::Vehicle { .. });
            entity.sleep = SleepState { asleep, island: slot, ..SleepState::default() };
            if let Role::Kinematic(kinematic) = &mut entity.role {
                if state.asleep {
                    kinematic.surface = std::mem::take(&mut entity.velocity);
                }
                // Clients do not know pockets. The server alone judges where a kinematic body may
                // be in the static world.
                kinematic.pocket =
                    Some(Aabb::from_centre(DVec3::ZERO, DVec3::splat(obsp::UNIVERSE.into())));
                entity.reset_sleep();
            }
        }
        let raised = |by: &f64| Pose { position: pose.position + DVec3::Z * *by, ..pose };
        if RAISED.iter().any(|by| self.put(predictor, slot, shape, raised(by))) {
            self.members.push((state.id, state.kind, slot));
        }
    }

    /// Puts a body at a pose. If there is no room for the body there, takes it out of the world.
    /// Returns whether there was room.
    pub(super) fn put(
        &mut self,
        predictor: &Predictor,
        slot: u16,
        shape: ShapeId,
        pose: Pose,
    ) -> bool {
        let Some(entity) = self.entities.get(slot) else { return false };
        let (space, seeker) = (predictor.arena.space(&self.entities), Seeker::of(entity));
        match space.place(shape, pose, seeker, &mut StepContext::default()) {
            Some(placement) => {
                self.entities.commit(slot, placement);
                true
            }
            None => {
                self.entities.withdraw(slot);
                false
            }
        }
    }

    pub(super) fn seen(&self, id: EntityId, kind: Kind, slot: u16) -> Option<Moving> {
        let is_body = |entity: &&Entity| entity.is_rigid() || entity.is_kinematic();
        let entity = self.entities.get(slot).filter(is_body)?;
        let pose = entity.placement()?.pose();
        let (velocity, asleep) = entity.seen_motion();
        let state = EntityState {
            id,
            kind,
            position: pose.position,
            orientation: pose.orientation,
            velocity,
            asleep,
            traits: entity.traits(),
        };
        Some(Moving::new(state, entity.angular))
    }
}

/// The player's `own` bodies and the bodies less than `reach` units from them, in the order of
/// their slots. Of more than [`MOST`] only the nearest are returned.
pub(super) fn near(
    predictor: &Predictor,
    own: &[EntityId],
    bodies: &[Moving],
    reach: f64,
) -> Vec<(ShapeId, Moving)> {
    let radius = |shape: ShapeId| predictor.arena.shapes[shape].radius;
    let shaped: Vec<(ShapeId, &Moving)> = bodies
        .iter()
        .filter(|body| body.is_sound() && body.state.traits.is_solid())
        .filter_map(|body| {
            let shape = match body.state.kind {
                Kind::Player { posture } => predictor.arena.shapes.of_posture(posture),
                _ => predictor.predicted_shape(&body.state)?,
            };
            Some((shape, body))
        })
        .collect();
    let is_own = |body: &Moving| own.contains(&body.state.id);
    let gap = |(shape, body): &(ShapeId, &Moving)| {
        let shoved = shaped.iter().filter(|(_, other)| is_own(other));
        let gap = |(other_shape, other): &(ShapeId, &Moving)| {
            let apart = other.state.position.distance(body.state.position);
            apart - radius(*shape) - radius(*other_shape)
        };
        if is_own(body) { f64::NEG_INFINITY } else { shoved.map(gap).fold(f64::MAX, f64::min) }
    };
    let mut near: Vec<(f64, ShapeId, Moving)> =
        shaped.iter().map(|found| (gap(found), found.0, *found.1)).collect();
    near.retain(|(gap, ..)| *gap < reach);
    near.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
    near.truncate(MOST);
    near.sort_by_key(|(.., body)| body.state.id.slot);
    near.into_iter().map(|(_, shape, body)| (shape, body)).collect()
}
