//! Questions about the entities that a game selects by a function: what a ray meets first, all that
//! it meets, and what is nearest to a point.
//!
//! A function is asked about an entity by its id before the entity's shape is tested. It must give
//! the same answer each time, because the match depends on its answers.

use glam::DVec3;
use obsp::geometry::Aabb;

use super::World;
use super::queries::RayHit;
use crate::arena::ray::{ClippedRay, RayEnd};
use crate::bodies::guard::Seeker;
use crate::collision::nearest::nearest_on;
use crate::state::EntityId;

/// The point of an entity, or of the map, that is nearest to a given point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// The nearest point, in units; the given point itself if that is inside.
    pub at: DVec3,
    /// Distance from the given point, in units; zero if that is inside.
    pub distance: f64,
    /// The entity that has the point; `None` for the map.
    pub entity: Option<EntityId>,
}

impl World {
    /// The first thing that the segment between two points meets, like [`World::cast_ray`], but
    /// without the entities for which `counts` is false. The map always counts.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::DVec3;
    /// # use obsp_sim::{Config, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// // A sight line that players do not block.
    /// let players = world.players();
    /// let [from, to] = [DVec3::new(-400.0, -320.0, 40.0), DVec3::new(400.0, -320.0, 40.0)];
    /// let hit = world.cast_ray_where(from, to, |entity| !players.contains(&entity));
    /// assert!(hit.fraction <= 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cast_ray_where(
        &self,
        from: DVec3,
        to: DVec3,
        counts: impl Fn(EntityId) -> bool,
    ) -> RayHit {
        let Some(clipped) = ClippedRay::between(from, to) else { return RayHit::blind(from) };
        let ray = clipped.ray;
        let mut end = ray.in_world(&self.arena.map, self.arena.sight);
        self.space().visit_entities(&ray.bounds(&end), Seeker::QUERY, &mut |slot, body| {
            if self.id_in(Some(slot)).is_some_and(&counts) {
                ray.meet(&mut end, slot, &body);
            }
        });
        self.ray_hit(&clipped, &end)
    }

    /// All things that the segment between two points meets, nearest first. Entities at the same
    /// distance are in ascending order of slot. Each entity appears once, where the segment enters
    /// it. If the segment meets the map, it ends there, and that hit is the last. Entities for
    /// which `counts` is false are left out. The segment is clipped like that of
    /// [`World::cast_ray`].
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::DVec3;
    /// # use obsp_sim::{Config, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// // A shot that goes through up to two bodies.
    /// let from = DVec3::new(-400.0, -320.0, 100.0);
    /// let hits = world.cast_ray_all(from, from - DVec3::Z * 200.0, |_| true);
    /// for body in hits.iter().filter_map(|hit| hit.entity).take(2) {
    ///     println!("{body:?} is hit");
    /// }
    /// assert_eq!(hits.last().expect("the floor").entity, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cast_ray_all(
        &self,
        from: DVec3,
        to: DVec3,
        counts: impl Fn(EntityId) -> bool,
    ) -> Vec<RayHit> {
        let Some(clipped) = ClippedRay::between(from, to) else {
            return vec![RayHit::blind(from)];
        };
        let ray = clipped.ray;
        let in_world = ray.in_world(&self.arena.map, self.arena.sight);
        let mut ends: Vec<RayEnd> = Vec::new();
        if !in_world.start_solid {
            self.space().visit_entities(
                &ray.bounds(&in_world),
                Seeker::QUERY,
                &mut |slot, body| {
                    if self.id_in(Some(slot)).is_some_and(&counts) {
                        let mut end = in_world;
                        ray.meet(&mut end, slot, &body);
                        ends.extend(end.entity.is_some().then_some(end));
                    }
                },
            );
        }
        // The entities come in the order of their slots, which a stable sort keeps.
        ends.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        let meets_world = in_world.start_solid || in_world.distance < ray.reach;
        ends.extend(meets_world.then_some(in_world));
        ends.iter().map(|end| self.ray_hit(&clipped, end)).collect()
    }

    /// The point of the map, or of an entity for which `counts` is true, that is nearest to
    /// `point`, if it is no farther than `within` units. At the same distance the map comes first,
    /// then the entity with the lowest slot. Only the brushes of the map count, not the void beyond
    /// them.
    ///
    /// Nothing is near if `point` is beyond the extent of worlds, ±[`obsp::UNIVERSE`], or if a
    /// number is not finite.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::DVec3;
    /// # use obsp_sim::{Config, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let near = world.nearest_point(DVec3::new(-400.0, -320.0, 20.0), 64.0, |_| true);
    /// let floor = near.expect("the floor is below");
    /// assert!((floor.distance - 20.0).abs() < 0.1 && floor.entity.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nearest_point(
        &self,
        point: DVec3,
        within: f64,
        counts: impl Fn(EntityId) -> bool,
    ) -> Option<Nearest> {
        let extent = f64::from(obsp::UNIVERSE);
        let is_known = point.abs().cmple(DVec3::splat(extent)).all() && within >= 0.0;
        if !is_known || !within.is_finite() {
            return None;
        }
        // No two points of a world are farther apart than this.
        let within = within.min(4.0 * extent);
        let bounds = Aabb::from_centre(point, DVec3::splat(within));
        let mut found: Option<Nearest> = None;
        let mut meet = |at: Option<DVec3>, entity: Option<EntityId>| {
            let Some(at) = at else { return };
            let distance = at.distance(point);
            let most = found.map_or(within.next_up(), |found| found.distance);
            if distance < most {
                found = Some(Nearest { at, distance, entity });
            }
        };
        let space = self.space();
        space.visit_solids(&bounds, |_, solid| meet(nearest_on(&solid, point), None));
        space.visit_entities(&bounds, Seeker::QUERY, &mut |slot, body| {
            let entity = self.id_in(Some(slot));
            if entity.is_some_and(&counts) {
                meet(nearest_on(&body, point), entity);
            }
        });
        found
    }
}
