//! What a game may ask about the world: where things are, what a ray or a swept shape
//! meets, what is inside a volume.

use glam::{DQuat, DVec3};
use obsp::Trace;
use obsp::geometry::{Aabb, ConvexSolid};

use super::{Touch, World};
use crate::bodies::entities::Entity;
use crate::bodies::guard::Space;
use crate::bodies::ray::Ray;
use crate::bodies::sleep::touches;
use crate::collision::cascade::{Body, Candidates, least_gap, pass};
use crate::collision::distances::MARGIN;
use crate::collision::pose::Pose;
use crate::collision::shape::Shape;
use crate::collision::time_of_impact::Passage;
use crate::state::{EntityId, EntityState, ModelId, Posture};

/// Where a ray ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// The end: where it meets something, or its own end.
    pub at: DVec3,
    /// Share of the ray that is free; 1 if it meets nothing.
    pub fraction: f64,
    /// The entity that it meets, if it is one.
    pub entity: Option<EntityId>,
}

/// Where a swept shape ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepHit {
    /// Its last free position.
    pub at: DVec3,
    /// Share of the motion that is free; 1 if it meets nothing, 0 if it starts in something.
    pub fraction: f64,
    /// Unit normal of the surface that it meets, towards the shape; zero if it meets none.
    pub normal: DVec3,
    /// The entity that it meets, if it is one.
    pub entity: Option<EntityId>,
}

/// A shape to sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SweptShape {
    /// A box of these half extents in units, along the axes of its orientation.
    Box(DVec3),
    /// The box of a player.
    Player(Posture),
    /// A model.
    Model(ModelId),
}

impl World {
    /// The number of the tick that is under way, or was played last.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// Length of a tick in seconds.
    pub fn seconds(&self) -> f64 {
        self.context.seconds
    }

    /// The number of ticks in which so many seconds have passed.
    pub fn ticks_in(&self, seconds: f64) -> u32 {
        (seconds / self.context.seconds).ceil() as u32
    }

    /// All players, in ascending order of slot, also those who wait outside of the world.
    pub fn players(&self) -> Vec<EntityId> {
        let players = self.entities.iter().filter(|entity| entity.player().is_some());
        players.map(|entity| entity.id).collect()
    }

    /// The entities that wait outside of the world, in ascending order of slot.
    pub fn waiting(&self) -> Vec<EntityId> {
        let waiting = self.entities.iter().filter(|entity| entity.placement().is_none());
        waiting.map(|entity| entity.id).collect()
    }

    /// The state of an entity; `None` if it is not in the world.
    pub fn entity(&self, id: EntityId) -> Option<EntityState> {
        self.view(self.entities.find(id)?)
    }

    /// Mass of a body in kilograms; `None` for players on foot and what is not there.
    pub fn mass(&self, id: EntityId) -> Option<f64> {
        self.inverse_mass(id).map(f64::recip)
    }

    /// What an impulse on a body is multiplied by: the inverse of its mass in kilograms;
    /// `None` for players on foot and what is not there.
    pub fn inverse_mass(&self, id: EntityId) -> Option<f64> {
        let entity = self.entities.find(id).filter(|entity| entity.is_rigid())?;
        Some(self.arena.shapes[entity.shape].inverse_mass)
    }

    /// The model of this name, if the match has it.
    pub fn model(&self, name: &str) -> Option<ModelId> {
        self.arena.model(name)
    }

    /// Half of the sides of a player's box, in units: the map was compiled for it.
    pub fn player_half_extents(&self, posture: Posture) -> DVec3 {
        let (_, size) = self.arena.shapes.boxes.of(posture);
        self.arena.map.sizes()[size.index()].half_extents.as_dvec3()
    }

    /// The box around an entity, with sides along the world's axes; `None` if it is not in
    /// the world.
    pub fn bounds_of(&self, id: EntityId) -> Option<Aabb> {
        Some(*self.entities.find(id)?.placement()?.bounds())
    }

    /// What a segment meets first, the entity `ignored` left out. A segment with an infinite
    /// end meets something at once.
    pub fn cast_ray(&self, from: DVec3, to: DVec3, ignored: Option<EntityId>) -> RayHit {
        let way = to - from;
        let nothing = RayHit { at: from, fraction: 0.0, entity: None };
        if !from.is_finite() || !way.is_finite() {
            return nothing;
        }
        let Some(direction) = way.try_normalize() else { return nothing };
        let ray = Ray { from, direction, reach: way.length() };
        let end = ray.cast(&self.arena, &self.entities, ignored.map(|id| id.slot));
        RayHit {
            at: ray.at(end.distance),
            fraction: end.distance / ray.reach,
            entity: self.id_in(end.entity),
        }
    }

    /// What a player's ray of `reach` units along a unit direction meets first. It meets the
    /// other players where they were `view_age` sixteenths of a tick before the end of this
    /// tick, as [`Command::view_age`](crate::Command::view_age) says; everything else, and
    /// with an age of zero all, where it is. A ray with an infinite end meets something at
    /// once.
    pub fn cast_ray_as_seen(
        &self,
        player: EntityId,
        from: DVec3,
        direction: DVec3,
        reach: f64,
        view_age: u16,
    ) -> RayHit {
        let ray = Ray { from, direction, reach };
        let finite = from.as_vec3().is_finite() && ray.at(reach).as_vec3().is_finite();
        if !finite || reach <= 0.0 {
            return RayHit { at: from, fraction: 0.0, entity: None };
        }
        let mut end = ray.in_world(&self.arena);
        let rewinds = view_age > 0;
        let ignored = Some(player.slot);
        self.space().visit_entities(&ray.bounds(&end), ignored, &mut |slot, body| {
            let is_player = self.entities.get(slot).is_some_and(|other| other.player().is_some());
            if !(rewinds && is_player) {
                ray.meet(&mut end, slot, &body);
            }
        });
        if rewinds {
            self.visit_players_as_seen(player, view_age, &mut |slot, body| {
                ray.meet(&mut end, slot, &body);
            });
        }
        RayHit {
            at: ray.at(end.distance),
            fraction: end.distance / reach,
            entity: self.id_in(end.entity),
        }
    }

    /// The entities the middles of whose boxes are nearer than `radius` units to a point, and
    /// these middles, in ascending order of slot.
    pub fn near(&self, point: DVec3, radius: f64) -> Vec<(EntityId, DVec3)> {
        let mut found = Vec::new();
        if !point.is_finite() || !radius.is_finite() || radius <= 0.0 {
            return found;
        }
        let bounds = Aabb::from_centre(point, DVec3::splat(radius));
        self.space().visit_entities(&bounds, None, &mut |slot, body| {
            let middle = body.box_centre();
            if point.distance(middle) < radius {
                found.extend(self.id_in(Some(slot)).map(|id| (id, middle)));
            }
        });
        found
    }

    /// Whether nothing of the map, entities aside, lies between two points.
    pub fn in_sight(&self, from: DVec3, to: DVec3) -> bool {
        let (from, to) = (from.as_vec3(), to.as_vec3());
        from.is_finite()
            && to.is_finite()
            && !matches!(
                self.arena.map.find_first_transition(self.arena.sight, from, to),
                Trace::Hit(_)
            )
    }

    /// The entities that reach into a solid volume, in ascending order of slot. Entities
    /// that only touch it do not count.
    pub fn overlapping(&self, volume: &ConvexSolid) -> Vec<EntityId> {
        let (probe, mut found) = (Body::fixed(volume), Vec::new());
        self.space().visit_entities(volume.bounds(), None, &mut |slot, body| {
            if least_gap(&probe, &body, Candidates::ALL).is_none() {
                found.extend(self.id_in(Some(slot)));
            }
        });
        found
    }

    /// The entities that reach into a box, in ascending order of slot. A box without volume
    /// contains nothing.
    pub fn overlapping_box(&self, bounds: &Aabb) -> Vec<EntityId> {
        let valid = bounds.min.is_finite() && bounds.max.is_finite();
        let solid = valid.then(|| ConvexSolid::from_box(bounds).ok()).flatten();
        solid.map_or_else(Vec::new, |solid| self.overlapping(&solid))
    }

    /// Sweeps a shape in a straight line, without turning, until it meets something; the
    /// entity `ignored` is left out. A shape that starts in something, a model that is not
    /// there, and numbers that are not finite give a share of zero.
    pub fn sweep(
        &self,
        shape: SweptShape,
        orientation: DQuat,
        [from, to]: [DVec3; 2],
        ignored: Option<EntityId>,
    ) -> SweepHit {
        let orientation = orientation.normalize();
        let finite = from.is_finite() && to.is_finite() && orientation.is_finite();
        let own;
        let shape = match shape {
            _ if !finite => None,
            SweptShape::Player(posture) => {
                Some(&self.arena.shapes[self.arena.shapes.of_posture(posture)])
            }
            SweptShape::Model(model) => {
                self.arena.shapes.of_model(model).map(|id| &self.arena.shapes[id])
            }
            SweptShape::Box(half_extents) => {
                own = Shape::probe(half_extents);
                own.as_ref()
            }
        };
        let nothing = SweepHit { at: from, fraction: 0.0, normal: DVec3::ZERO, entity: None };
        let Some(shape) = shape else { return nothing };
        let pose = |position| Pose { position, orientation };
        let body = Body::moving(shape, pose(from), pose(to));
        let mut context = self.context.share();
        let (mut first, mut hit) = (1.0, None);
        let mut meet = |entity: Option<u16>, obstacle: &Body| match pass(
            &body,
            obstacle,
            (0.0, 1.0),
            MARGIN,
            None,
            &mut context,
        ) {
            Passage::Free => {}
            Passage::Overlapping => (first, hit) = (0.0, Some((DVec3::ZERO, entity))),
            Passage::Blocked(impact) if impact.time < first => {
                (first, hit) = (impact.time, Some((-impact.axis, entity)));
            }
            Passage::Blocked(_) => {}
        };
        let reach = body.speedbox().inflated(MARGIN);
        self.space().visit_solids(&reach, |_, solid| meet(None, &solid));
        let ignored = ignored.map(|id| id.slot);
        self.space().visit_entities(&reach, ignored, &mut |slot, other| meet(Some(slot), &other));
        let (normal, entity) = hit.unwrap_or((DVec3::ZERO, None));
        let at = body.motion.at(first).position;
        SweepHit { at, fraction: first, normal, entity: self.id_in(entity) }
    }

    /// The entities that touch this one, in ascending order of slot: bodies as of the last
    /// search for contacts, in which sleeping pairs do not appear, and players who have run
    /// into it in this tick.
    pub fn touching(&self, id: EntityId) -> Vec<EntityId> {
        let mut slots: Vec<u16> = Vec::new();
        for pair in &self.pairs {
            let Some(other) = pair.key.other.entity() else { continue };
            if touches(pair) {
                slots.extend((pair.key.body == id.slot).then_some(other));
                slots.extend((other == id.slot).then_some(pair.key.body));
            }
        }
        for touch in self.touches.iter().filter(|touch| touch.tick == self.tick) {
            slots.extend((touch.player == id).then_some(touch.body.slot));
            slots.extend((touch.body == id).then_some(touch.player.slot));
        }
        slots.sort_unstable();
        slots.dedup();
        let here = self.entities.find(id).and_then(Entity::placement).is_some();
        slots.retain(|_| here);
        slots.into_iter().filter_map(|slot| self.id_in(Some(slot))).collect()
    }

    /// Whether two that have touched go on touching although [`World::touching`] no longer
    /// tells so: both sleep, so that no search looks at them; or one is a player who has run
    /// into the other within the last quarter of a second, as one who shoves it does in every
    /// other tick.
    pub fn keeps_touching(&self, one: EntityId, other: EntityId) -> bool {
        let here = |id| self.entities.find(id).filter(|entity| entity.placement().is_some());
        let (Some(first), Some(second)) = (here(one), here(other)) else { return false };
        let are_they = |touch: &Touch| {
            let (player, body) = (touch.player, touch.body);
            (player, body) == (one, other) || (body, player) == (one, other)
        };
        first.sleep.asleep && second.sleep.asleep || self.touches.iter().any(are_they)
    }

    pub(super) fn space(&self) -> Space<'_> {
        Space { map: &self.arena.map, shapes: &self.arena.shapes, entities: &self.entities }
    }

    /// Calls `each` with the other players that are there now, where the viewer saw them, in
    /// ascending order of slot.
    fn visit_players_as_seen<'a>(
        &'a self,
        viewer: EntityId,
        view_age: u16,
        each: &mut impl FnMut(u16, Body<'a>),
    ) {
        let others = self.entities.iter().filter(|entity| entity.id != viewer);
        for entity in others.filter(|entity| entity.player().is_some()) {
            let Some(now) = entity.placement() else { continue };
            let (shape, pose) = match self.history.pose_at(entity.id, view_age) {
                Some(pose_at) => (pose_at.shape, pose_at.pose),
                None => (now.shape(), *now.pose()),
            };
            each(entity.id.slot, Body::standing(&self.arena.shapes[shape], pose));
        }
    }

    fn id_in(&self, slot: Option<u16>) -> Option<EntityId> {
        self.entities.get(slot?).map(|entity| entity.id)
    }
}
