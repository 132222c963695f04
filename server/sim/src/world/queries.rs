//! Questions that a game may ask about the world: where things are, what a ray meets, what is inside a
//! volume. What a swept shape meets is in `sweep`.

use glam::DVec3;
use obsp::clip_box_to_extent;
use obsp::geometry::{Aabb, ConvexSolid};

use super::{Touch, World};
use crate::bodies::entities::Entity;
use crate::bodies::guard::Space;
use crate::bodies::ray::{ClippedRay, RayEnd};
use crate::bodies::sleep::touches;
use crate::collision::cascade::{Body, Candidates, least_gap};
use crate::collision::pose::length;
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
    /// Whether it starts inside of something, of `entity` or of the world, and sees nothing.
    /// So does a ray that starts beyond the extent of worlds, ±[`obsp::UNIVERSE`], where
    /// everything is solid, or that has a number which is not finite.
    pub start_solid: bool,
}

impl RayHit {
    /// The hit of a ray which starts in the world's solid, or is none.
    fn blind(from: DVec3) -> Self {
        Self { at: from, fraction: 0.0, entity: None, start_solid: true }
    }
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

    /// Angular velocity of a body that is in the world, in radians per second about the world's
    /// axes; zero for players on foot. `None` if it is not there.
    pub fn spin(&self, id: EntityId) -> Option<DVec3> {
        let entity = self.entities.find(id).filter(|entity| entity.placement().is_some())?;
        Some(entity.angular)
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

    /// The first thing that a segment meets, the entity `ignored` left out. It is clipped to the extent of
    /// worlds, ±[`obsp::UNIVERSE`], by [`obsp::clip_to_extent`]: an end beyond it is as one at its
    /// edge. One that has no length looks at its start.
    pub fn cast_ray(&self, from: DVec3, to: DVec3, ignored: Option<EntityId>) -> RayHit {
        let Some(clipped) = ClippedRay::between(from, to) else { return RayHit::blind(from) };
        let end = clipped.ray.cast(&self.arena, &self.entities, ignored.map(|id| id.slot));
        self.ray_hit(&clipped, &end)
    }

    /// What a player's ray of `reach` units along a unit direction meets first. It meets the
    /// other players where they were `view_age` sixteenths of a tick before the end of this
    /// tick, as [`Command::view_age`](crate::Command::view_age) says; everything else, and
    /// with an age of zero all, where it is. It is clipped as [`World::cast_ray`] is; of a
    /// direction of another length that of one counts.
    pub fn cast_ray_as_seen(
        &self,
        player: EntityId,
        from: DVec3,
        direction: DVec3,
        reach: f64,
        view_age: u16,
    ) -> RayHit {
        let Some(clipped) = ClippedRay::along(from, direction, reach) else {
            return RayHit::blind(from);
        };
        let ray = clipped.ray;
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
        self.ray_hit(&clipped, &end)
    }

    fn ray_hit(&self, ClippedRay { ray, share }: &ClippedRay, end: &RayEnd) -> RayHit {
        let is_free = !end.start_solid && end.distance >= ray.reach;
        let fraction = if is_free { 1.0 } else { end.distance / ray.reach * share };
        RayHit {
            at: ray.at(end.distance),
            fraction: if end.start_solid { 0.0 } else { fraction },
            entity: self.id_in(end.entity),
            start_solid: end.start_solid,
        }
    }

    /// The entities the middles of whose boxes are nearer than `radius` units to a point, and
    /// these middles, in ascending order of slot. A radius that is not finite and above zero, or
    /// a point that is not finite, is near nothing.
    pub fn near(&self, point: DVec3, radius: f64) -> Vec<(EntityId, DVec3)> {
        let mut found = Vec::new();
        if !point.is_finite() || !radius.is_finite() || radius <= 0.0 {
            return found;
        }
        let bounds = Aabb::from_centre(point, DVec3::splat(radius));
        self.space().visit_entities(&bounds, None, &mut |slot, body| {
            let middle = body.box_centre();
            if length(point - middle) < radius {
                found.extend(self.id_in(Some(slot)).map(|id| (id, middle)));
            }
        });
        found
    }

    /// Whether nothing of the map, entities aside, lies between two points. The line is clipped
    /// as [`World::cast_ray`] is. From inside of solid nothing is in sight, nor is anything from
    /// or at a point that is not finite.
    pub fn in_sight(&self, from: DVec3, to: DVec3) -> bool {
        self.arena.in_sight(from, to)
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

    /// The entities that reach into a box, in ascending order of slot. It is clipped to the extent
    /// of worlds by [`obsp::clip_box_to_extent`]. A box without volume, thinner than a thousandth
    /// of a unit or with a side that is no number contains nothing.
    pub fn overlapping_box(&self, bounds: &Aabb) -> Vec<EntityId> {
        let within = clip_box_to_extent(bounds);
        let solid = within.and_then(|bounds| ConvexSolid::from_box(&bounds).ok());
        solid.map_or_else(Vec::new, |solid| self.overlapping(&solid))
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
