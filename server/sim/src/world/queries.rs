//! Questions that a game may ask about the world: where entities are, what a ray meets, and which
//! entities reach into a volume. The sweeps of shapes are in `sweep`.

use glam::{DQuat, DVec3};
use obsp::clip_box_to_extent;
use obsp::geometry::{Aabb, ConvexSolid};

use super::{Touch, World};
use crate::arena::ray::{ClippedRay, RayEnd};
use crate::bodies::entities::Entity;
use crate::bodies::guard::{Seeker, Space};
use crate::bodies::sleep::touches;
use crate::collision::cascade::{Body, Candidates, least_gap};
use crate::collision::pose::{Pose, length};
use crate::state::{EntityId, EntityState, ModelId, Posture};

/// The end of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// The point where the ray meets something. If it meets nothing, the end of the ray, in units.
    pub at: DVec3,
    /// Share of the ray that is free; 1 if it meets nothing.
    pub fraction: f64,
    /// The entity that the ray meets; `None` if it meets the map, or nothing.
    pub entity: Option<EntityId>,
    /// Whether the ray starts inside `entity`, or in a solid of the map, and so sees nothing. The
    /// value is `true` as well for a ray that starts beyond the extent of worlds,
    /// ±[`obsp::UNIVERSE`], where everything is solid, and for a ray with a number that is not
    /// finite.
    pub start_solid: bool,
}

impl RayHit {
    /// The hit of a ray that starts beyond the extent of worlds, or has a number that is not
    /// finite.
    pub(super) fn blind(from: DVec3) -> Self {
        Self { at: from, fraction: 0.0, entity: None, start_solid: true }
    }
}

/// Whether a body reaches into a solid volume.
pub(super) fn reaches_into(body: &Body, volume: &ConvexSolid) -> bool {
    // A body whose inner point is in the volume needs no search.
    volume.contains(body.inner_point())
        || least_gap(&Body::fixed(volume), body, Candidates::ALL).is_none()
}

impl World {
    /// The number of the tick that is under way, or was simulated last.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// Length of a tick in seconds.
    pub fn seconds(&self) -> f64 {
        self.context.seconds
    }

    /// The number of ticks that this many seconds take, rounded up.
    pub fn ticks_in(&self, seconds: f64) -> u32 {
        (seconds / self.context.seconds).ceil() as u32
    }

    /// All players, in ascending order of slot, including the players who wait outside of the
    /// world.
    pub fn players(&self) -> Vec<EntityId> {
        let players = self.entities.active().filter(|entity| entity.player().is_some());
        players.map(|entity| entity.id).collect()
    }

    /// The bodies in the world that [`World::move_bodies`] moves, in ascending order of slot: all
    /// except missiles and players on foot.
    pub fn bodies(&self) -> Vec<EntityId> {
        let is_body = |entity: &&Entity| {
            let moves_alone = entity.walker().is_some() || entity.missile().is_some();
            !moves_alone && entity.placement().is_some()
        };
        self.entities.iter().filter(is_body).map(|entity| entity.id).collect()
    }

    /// The entities that wait outside of the world, in ascending order of slot.
    pub fn waiting(&self) -> Vec<EntityId> {
        let waiting = self.entities.iter().filter(|entity| entity.is_in_limbo());
        waiting.map(|entity| entity.id).collect()
    }

    /// The state of an entity; `None` if it is not in the world.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use obsp_sim::{Config, World};
    /// use obsp_sim::{Kind, Posture};
    ///
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let player = world.join()?;
    /// let state = world.entity(player).expect("there is a free spawn point");
    /// assert_eq!(state.kind, Kind::Player { posture: Posture::Standing });
    /// world.leave(player);
    /// assert_eq!(world.entity(player), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn entity(&self, id: EntityId) -> Option<EntityState> {
        self.view(self.entities.find(id)?)
    }

    /// The position of an entity, as in [`World::entity`], but found faster; `None` if it is not in
    /// the world.
    pub fn position_of(&self, id: EntityId) -> Option<DVec3> {
        let entity = self.entities.find(id)?;
        let solid = entity.placement().map(|placement| placement.pose().position);
        solid.or_else(|| Some(self.pose_of(entity)?.position))
    }

    /// Angular velocity of an entity, in radians per second about the world's axes; zero for
    /// players on foot. `None` if the entity is not in the world.
    pub fn spin(&self, id: EntityId) -> Option<DVec3> {
        let entity = self.entities.find(id).filter(|entity| entity.placement().is_some())?;
        Some(entity.angular)
    }

    /// Mass of a body in kilograms. `None` for bodies that impulses do not move, such as kinematic
    /// bodies and players on foot, and for bodies that have left the match.
    pub fn mass(&self, id: EntityId) -> Option<f64> {
        self.inverse_mass(id).map(f64::recip)
    }

    /// Inverse of the mass of a body, per kilogram: an impulse times this number is a velocity.
    /// `None` as for [`World::mass`].
    pub fn inverse_mass(&self, id: EntityId) -> Option<f64> {
        let entity = self.entities.find(id).filter(|entity| entity.is_rigid())?;
        Some(entity.mass(&self.arena.shapes[entity.shape]).inverse_mass)
    }

    /// The model with this name; `None` if the match has no such model.
    pub fn model(&self, name: &str) -> Option<ModelId> {
        self.arena.model(name)
    }

    /// Half of the sides of a player's box, in units. The map was compiled for this size.
    pub fn player_half_extents(&self, posture: Posture) -> DVec3 {
        let (_, size) = self.arena.shapes.boxes.of(posture);
        self.arena.map.sizes()[size.index()].half_extents.as_dvec3()
    }

    /// The box around a body of this model at a pose, with sides along the world's axes, even if
    /// the match has no such body. `None` if the match has no such model, or if a number is not
    /// finite. [`World::bounds_of`] is the box around an entity.
    pub fn model_bounds(
        &self,
        model: ModelId,
        position: DVec3,
        orientation: DQuat,
    ) -> Option<Aabb> {
        let shape = self.arena.shapes.of_model(model)?;
        let pose = Pose::checked(position, orientation)?;
        Some(Body::standing(&self.arena.shapes[shape], pose).speedbox())
    }

    /// The box around an entity, with sides along the world's axes; `None` if it is not in
    /// the world.
    pub fn bounds_of(&self, id: EntityId) -> Option<Aabb> {
        Some(*self.entities.find(id)?.placement()?.bounds())
    }

    /// The first thing that the segment between two points meets. The entity `ignored` is left
    /// out. The segment is clipped to the extent of worlds, ±[`obsp::UNIVERSE`], by
    /// [`obsp::clip_to_extent`]: an end beyond it is moved to its edge. A segment without length
    /// tests its start.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::DVec3;
    /// # use obsp_sim::{Config, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// // From 100 units above the floor, 200 units down.
    /// let from = DVec3::new(-400.0, -320.0, 100.0);
    /// let hit = world.cast_ray(from, from - DVec3::Z * 200.0, None);
    /// assert!(hit.at.z.abs() < 0.1 && (hit.fraction - 0.5).abs() < 0.001);
    /// assert_eq!(hit.entity, None, "it met the map");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cast_ray(&self, from: DVec3, to: DVec3, ignored: Option<EntityId>) -> RayHit {
        let counts = |id: EntityId| ignored.is_none_or(|ignored| ignored.slot != id.slot);
        self.cast_ray_where(from, to, counts)
    }

    /// The first thing that a player's ray of `reach` units along `direction` meets. The ray meets
    /// the other players where they were `view_age` sixteenths of a tick before the end of this
    /// tick: see [`Command::view_age`](crate::Command::view_age). It meets all other entities at
    /// their present places. With an age of zero it meets the players at their present places too.
    /// The ray is clipped like that of [`World::cast_ray`], and the direction is normalised.
    pub fn cast_ray_as_seen(
        &self,
        player: EntityId,
        from: DVec3,
        direction: DVec3,
        reach: f64,
        view_age: u16,
    ) -> RayHit {
        self.cast_ray_as_seen_where(player, (from, direction, reach), view_age, |_| true)
    }

    /// A player's ray like that of [`World::cast_ray_as_seen`], from a point along a direction as
    /// far as its reach, but without the entities for which `counts` is false.
    ///
    /// The places of players are those of the past. Their layers, and everything else that `counts`
    /// can ask about, are those of the present: a player whose layers have just changed counts by
    /// the new layers. A player who has just left the world is not met.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::DVec3;
    /// # use obsp_sim::{Config, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let shooter = world.join()?;
    /// let own = world.layers(shooter).expect("the player is in the match");
    /// let eye = world.entity(shooter).expect("there is a free spawn point").position;
    /// // A shot that passes whatever the shooter passes.
    /// let ray = (eye, DVec3::X, 1000.0);
    /// let hit = world.cast_ray_as_seen_where(shooter, ray, 0, |id| world.may_meet(id, own));
    /// assert!(hit.fraction <= 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cast_ray_as_seen_where(
        &self,
        player: EntityId,
        (from, direction, reach): (DVec3, DVec3, f64),
        view_age: u16,
        counts: impl Fn(EntityId) -> bool,
    ) -> RayHit {
        let Some(clipped) = ClippedRay::along(from, direction, reach) else {
            return RayHit::blind(from);
        };
        let ray = clipped.ray;
        let mut end = ray.in_world(&self.arena.map, self.arena.sight);
        let rewinds = view_age > 0;
        let seeker = Seeker::query_except(player.slot);
        self.space().visit_entities(&ray.bounds(&end), seeker, &mut |slot, body| {
            let Some(other) = self.entities.get(slot) else { return };
            if !(rewinds && other.player().is_some()) && counts(other.id) {
                ray.meet(&mut end, slot, &body);
            }
        });
        if rewinds {
            self.visit_players_as_seen(player, view_age, &mut |slot, body| {
                if self.id_in(Some(slot)).is_some_and(&counts) {
                    ray.meet(&mut end, slot, &body);
                }
            });
        }
        self.ray_hit(&clipped, &end)
    }

    pub(super) fn ray_hit(&self, ClippedRay { ray, share }: &ClippedRay, end: &RayEnd) -> RayHit {
        let is_free = !end.start_solid && end.distance >= ray.reach;
        let fraction = if is_free { 1.0 } else { end.distance / ray.reach * share };
        RayHit {
            at: ray.at(end.distance),
            fraction: if end.start_solid { 0.0 } else { fraction },
            entity: self.id_in(end.entity),
            start_solid: end.start_solid,
        }
    }

    /// The entities whose boxes have their middles nearer than `radius` units to a point, with
    /// these middles, in ascending order of slot. No entity is near if the point or the radius is
    /// not finite, or if the radius is not above zero.
    pub fn near(&self, point: DVec3, radius: f64) -> Vec<(EntityId, DVec3)> {
        let mut found = Vec::new();
        if !point.is_finite() || !radius.is_finite() || radius <= 0.0 {
            return found;
        }
        let bounds = Aabb::from_centre(point, DVec3::splat(radius));
        self.space().visit_entities(&bounds, Seeker::QUERY, &mut |slot, body| {
            let middle = body.box_centre();
            if length(point - middle) < radius {
                found.extend(self.id_in(Some(slot)).map(|id| (id, middle)));
            }
        });
        found
    }

    /// Whether nothing of the map lies between two points. Entities do not count. The line is
    /// clipped like that of [`World::cast_ray`]. The answer is `false` if the first point is in
    /// solid, or if a point is not finite.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::DVec3;
    /// # use obsp_sim::{Config, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let above_floor = DVec3::new(-400.0, -320.0, 100.0);
    /// assert!(world.in_sight(above_floor, above_floor + DVec3::X * 40.0));
    /// assert!(!world.in_sight(above_floor, above_floor - DVec3::Z * 150.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_sight(&self, from: DVec3, to: DVec3) -> bool {
        self.arena.in_sight(from, to)
    }

    /// The entities that reach into a solid volume, in ascending order of slot. Entities
    /// that only touch it do not count.
    pub fn overlapping(&self, volume: &ConvexSolid) -> Vec<EntityId> {
        let mut found = Vec::new();
        self.space().visit_entities(volume.bounds(), Seeker::QUERY, &mut |slot, body| {
            if reaches_into(&body, volume) {
                found.extend(self.id_in(Some(slot)));
            }
        });
        found
    }

    /// The entities that reach into a box, in ascending order of slot. The box is clipped to the
    /// extent of worlds by [`obsp::clip_box_to_extent`]. A box that is thinner than a thousandth
    /// of a unit, or has a NaN, contains nothing.
    pub fn overlapping_box(&self, bounds: &Aabb) -> Vec<EntityId> {
        let within = clip_box_to_extent(bounds);
        let solid = within.and_then(|bounds| ConvexSolid::from_box(&bounds).ok());
        solid.map_or_else(Vec::new, |solid| self.overlapping(&solid))
    }

    /// The entities whose boxes touch a box, in ascending order of slot. This is faster than
    /// [`World::overlapping_box`], and finds more. The box is clipped in the same way.
    pub fn boxes_touching(&self, bounds: &Aabb) -> Vec<EntityId> {
        let mut slots = Vec::new();
        if let Some(bounds) = clip_box_to_extent(bounds) {
            self.space().entities_touching(&bounds, Seeker::QUERY, &mut slots);
        }
        slots.into_iter().filter_map(|slot| self.id_in(Some(slot))).collect()
    }

    /// The entities that touch this one, in ascending order of slot. Bodies touch as the last
    /// search for contacts found, which leaves out pairs that sleep. Players touch the bodies
    /// that they have run into in this tick.
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

    /// Whether two entities that have touched still count as touching, although [`World::touching`]
    /// no longer lists them. There are two such cases. Both may sleep, so the search for contacts
    /// leaves them out. Or one is a player who has run into the other within the last quarter of a
    /// second. A player who shoves a body runs into it only in every other tick.
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
        self.arena.space(&self.entities)
    }

    /// Calls `each` with the other players who are in the world, in ascending order of slot. Each
    /// is given at the place where the viewer saw the player.
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

    pub(super) fn id_in(&self, slot: Option<u16>) -> Option<EntityId> {
        self.entities.get(slot?).map(|entity| entity.id)
    }
}
