use glam::DVec3;
use maps::geometry::Aabb;

use super::Predictor;
use crate::combat::Fighter;
use crate::contact::Pair;
use crate::counters::Counters;
use crate::dynamics;
use crate::entities::{Entities, Player, PlayerBody, Rest, Role};
use crate::guard::Space;
use crate::movement::PlayerMotion;
use crate::pose::Pose;
use crate::rest;
use crate::shape::ShapeId;
use crate::state::{EntityId, EntityState, Kind};

/// Bodies whose surfaces are farther than this, in units, from all that the
/// player shoves have no part in it until the server's next answer.
const REACH: f64 = 16.0;

/// Most bodies that are moved along, the nearest: a player in a heap of
/// hundreds is not told exactly enough to foresee it anyway.
const MOST: usize = 8;

/// A pose that was rounded to cross the wire may be nearer to the ground than
/// bodies can be: it is tried again this much higher, in units.
const RAISED: [f64; 3] = [0.0, 1.0 / 64.0, 1.0 / 16.0];

/// A body, and how it turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moving {
    /// As others see it.
    pub state: EntityState,
    /// Radians per second, world axes.
    pub spin: DVec3,
}

/// What a player shoves and what stands near it: a small match of its own,
/// which the server's own solver and guard move on.
#[derive(Clone, Debug)]
pub struct Pile {
    entities: Entities,
    pairs: Vec<Pair>,
    /// The slot of the player who shoves.
    player: u16,
    /// Who the others are outside, and in which slot they are here.
    members: Vec<(EntityId, Kind, u16)>,
}

impl Pile {
    pub(super) fn new(
        predictor: &Predictor,
        own: &[EntityId],
        bodies: &[Moving],
        motion: &PlayerMotion,
    ) -> Self {
        let near = near(predictor, own, bodies);
        let places = near.iter().map(|(_, body)| body.state.position);
        let bounds = Aabb::around(places.chain([motion.position.as_dvec3()]));
        let mut entities = Entities::new(&bounds, 1);
        // The server's order, in which contacts are solved: players come first.
        let walker = Role::Player(Player {
            body: PlayerBody::Box(motion.walker),
            fighter: Fighter::default(),
        });
        let shape = predictor.arena.shapes.of_posture(motion.walker.posture);
        let player = entities.insert(walker, shape).map_or(0, |id| id.slot);
        let mut pile = Self { entities, pairs: Vec::new(), player, members: Vec::new() };
        pile.put(predictor, player, shape, Pose::at(motion.position.as_dvec3()));
        for (shape, body) in near {
            pile.add(predictor, shape, body);
        }
        pile
    }

    /// A body in it as it is now.
    pub fn find(&self, id: EntityId) -> Option<Moving> {
        let (.., kind, slot) = self.members.iter().find(|(member, ..)| *member == id)?;
        self.seen(id, *kind, *slot)
    }

    /// All bodies in it as they are now, but the players.
    pub fn bodies(&self) -> impl Iterator<Item = Moving> {
        self.members.iter().filter_map(|(id, kind, slot)| self.seen(*id, *kind, *slot))
    }

    /// Gives a body the velocity that it has got from a shove, in units per
    /// second; one that is not in it is ignored.
    pub fn shove(&mut self, id: EntityId, velocity: DVec3) {
        let Some((.., slot)) = self.members.iter().find(|(member, ..)| *member == id) else {
            return;
        };
        rest::wake(&mut self.entities, *slot);
        if let Some(entity) = self.entities.get_mut(*slot) {
            entity.velocity = velocity;
        }
    }

    /// Moves everything on by a tick of `seconds`, past the player, who now
    /// moves like `motion`, and the players among `others`.
    pub(super) fn advance(
        &mut self,
        predictor: &Predictor,
        others: &[EntityState],
        motion: &PlayerMotion,
        seconds: f64,
    ) {
        let shapes = &predictor.arena.shapes;
        for index in 0..self.members.len() {
            let (id, kind, slot) = self.members[index];
            let other = others.iter().find(|other| other.id == id);
            if let (Kind::Player { posture }, Some(other)) = (kind, other) {
                let goes_to = other.position + other.velocity * seconds;
                self.put(predictor, slot, shapes.of_posture(posture), Pose::at(goes_to));
            }
        }
        let shape = shapes.of_posture(motion.walker.posture);
        self.put(predictor, self.player, shape, Pose::at(motion.position.as_dvec3()));
        if let Some(player) = self.entities.get_mut(self.player) {
            player.velocity = motion.velocity.as_dvec3();
        }
        let mut counters = Counters::default();
        let map = &predictor.arena.map;
        let (entities, pairs) = (&mut self.entities, &mut self.pairs);
        // What overlaps is told wrongly: it stays until the server tells more.
        dynamics::step(map, shapes, entities, pairs, seconds, &mut counters);
    }

    fn add(&mut self, predictor: &Predictor, shape: ShapeId, Moving { state, spin }: Moving) {
        let (role, pose) = match state.kind {
            Kind::Player { .. } => {
                let body = PlayerBody::Box(crate::movement::Walker::default());
                let fighter = Fighter::default();
                (Role::Player(Player { body, fighter }), Pose::at(state.position))
            }
            // Whoever drives one keeps it where it is.
            Kind::Vehicle { model } | Kind::Prop { model } => {
                let pose = Pose { orientation: state.orientation, ..Pose::at(state.position) };
                (Role::Prop(model), pose)
            }
        };
        let Some(slot) = self.entities.insert(role, shape).map(|id| id.slot) else { return };
        if let Some(entity) = self.entities.get_mut(slot) {
            (entity.velocity, entity.angular) = (state.velocity, spin);
            let asleep = state.asleep || matches!(state.kind, Kind::Vehicle { .. });
            entity.rest = Rest { asleep, island: slot, ..Rest::default() };
        }
        let raised = |by: &f64| Pose { position: pose.position + DVec3::Z * *by, ..pose };
        if RAISED.iter().any(|by| self.put(predictor, slot, shape, raised(by))) {
            self.members.push((state.id, state.kind, slot));
        }
    }

    /// Puts a body somewhere, if it has room there, else takes it out.
    fn put(&mut self, predictor: &Predictor, slot: u16, shape: ShapeId, pose: Pose) -> bool {
        let (map, shapes) = (&predictor.arena.map, &predictor.arena.shapes);
        let space = Space { map, shapes, entities: &self.entities };
        match space.place(shape, pose, Some(slot), &mut Counters::default()) {
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

    fn seen(&self, id: EntityId, kind: Kind, slot: u16) -> Option<Moving> {
        let entity = self.entities.get(slot).filter(|entity| entity.is_rigid())?;
        let pose = entity.placement()?.pose();
        let state = EntityState {
            id,
            kind,
            position: pose.position,
            orientation: pose.orientation,
            velocity: entity.velocity,
            asleep: entity.rest.asleep,
        };
        Some(Moving { state, spin: entity.angular })
    }
}

/// What the player shoves and what is near it, in the order of their slots.
fn near(predictor: &Predictor, own: &[EntityId], bodies: &[Moving]) -> Vec<(ShapeId, Moving)> {
    let radius = |shape: ShapeId| predictor.arena.shapes[shape].radius;
    let shaped: Vec<(ShapeId, &Moving)> = bodies
        .iter()
        .filter_map(|body| {
            let shape = match body.state.kind {
                Kind::Player { posture } => predictor.arena.shapes.of_posture(posture),
                _ => predictor.rigid(&body.state)?,
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
    near.retain(|(gap, ..)| *gap < REACH);
    near.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
    near.truncate(MOST);
    near.sort_by_key(|(.., body)| body.state.id.slot);
    near.into_iter().map(|(_, shape, body)| (shape, body)).collect()
}
