//! Throwing missiles, and moving them by a tick.

use glam::{DQuat, DVec3};
use obsp::clip_to_extent;
use obsp::model::BodyKind;

use super::operations::NEWCOMER;
use super::{Step, World};
use crate::bodies::entities::Entity;
use crate::bodies::roles::{Missile, MissileMotion, Role};
use crate::missiles::Missiles;
use crate::place_error::PlaceError;
use crate::state::{EntityId, ModelId};

impl World {
    /// The missiles, in ascending order of slot.
    pub fn missiles(&self) -> Vec<EntityId> {
        let missiles = self.entities.active().filter(|entity| entity.missile().is_some());
        missiles.map(|entity| entity.id).collect()
    }

    /// Adds a missile at `position`, with a velocity in units per second. A speed of more than
    /// 4,500 is reduced to that. The missile begins to move in the same tick. The guard keeps the
    /// missile 1/128 unit away from everything else.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::DVec3;
    /// # use obsp_sim::{Config, MissileMotion, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let rocket = world.model("rocket").expect("a shipped model");
    /// let from = DVec3::new(-400.0, -260.0, 60.0);
    /// let id = world.spawn_missile(rocket, MissileMotion::Straight, from, DVec3::Y * 600.0)?;
    /// // In a tick of 1/60 s it flies 10 units.
    /// world.step(&[]);
    /// let position = world.entity(id).expect("it flies").position;
    /// assert!(position.distance(from + DVec3::Y * 10.0) < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PlaceError`]; nothing is added then. [`PlaceError::NoSuchModel`] also for a model that is
    /// not marked as a missile's, because clients would take its bodies for props.
    pub fn spawn_missile(
        &mut self,
        model: ModelId,
        motion: MissileMotion,
        position: DVec3,
        velocity: DVec3,
    ) -> Result<EntityId, PlaceError> {
        let shape = self.arena.shapes.of_model(model).ok_or(PlaceError::NoSuchModel)?;
        if self.arena.shapes[shape].kind != BodyKind::Missile {
            return Err(PlaceError::NoSuchModel);
        }
        if !velocity.is_finite() {
            return Err(PlaceError::NotFinite);
        }
        let pose = self.checked_pose(position, DQuat::IDENTITY)?;
        let placement = self.free_place(shape, pose, NEWCOMER).ok_or(PlaceError::NoRoom)?;
        let inserted = self.entities.insert(Role::Missile(Missile { model, motion }), shape);
        let id = inserted.ok_or(PlaceError::Full)?;
        self.entities.commit(id.slot, placement);
        self.store_velocity(id, velocity, DVec3::ZERO);
        Ok(id)
    }

    /// The nearest point along a unit direction from `eye` at which a missile does not touch
    /// its thrower. `None` if the map blocks the line to it, if the eye is in solid, if a number
    /// is not finite, or if there is no such model or thrower in the world.
    pub fn muzzle(
        &self,
        thrower: EntityId,
        model: ModelId,
        eye: DVec3,
        direction: DVec3,
    ) -> Option<DVec3> {
        let radius = self.arena.shapes[self.arena.shapes.of_model(model)?].radius;
        let own = self.entities.find(thrower)?.placement()?.bounds().inflated(radius + 1.0);
        let mut distance = f64::INFINITY;
        for axis in 0..3 {
            let (at, along) = (eye[axis], direction[axis]);
            let side = if along > 0.0 { own.max[axis] } else { own.min[axis] };
            if along != 0.0 {
                distance = distance.min((side - at) / along);
            }
        }
        let start = eye + direction * distance;
        let within = clip_to_extent(eye, start).is_some_and(|clipped| clipped.end == start);
        (within && self.arena.in_sight(eye, start)).then_some(start)
    }

    /// Moves a missile by a tick. Returns `true` if it flies on, or rests. Returns `false` if it
    /// flies straight and was stopped, if it is outside of the world, or if it overlaps something.
    /// A missile for which it returns `false` stays where it is until it is removed. `None` if
    /// there is no such missile, or if it has already moved in this tick.
    pub fn move_missile(&mut self, step: &mut Step, missile: EntityId) -> Option<bool> {
        self.entities.find(missile).and_then(Entity::missile)?;
        if !step.flown.insert(missile) {
            return None;
        }
        let Self { arena, entities, context, .. } = self;
        Some(Missiles { arena, entities, context }.advance(missile.slot))
    }
}
