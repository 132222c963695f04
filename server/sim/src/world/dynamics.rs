//! The settings of single bodies by a game: their parameters and the forces on them. The motion
//! that follows goes through the guard like any other.

use glam::DVec3;

use super::World;
use super::operations::MAX_ARM;
use crate::bodies::dynamics::{BodyError, BodyParameters, ForceSpan, Forces, Wrench, within};
use crate::bodies::entities::Entity;
use crate::bodies::sleep;
use crate::collision::shape::Shape;
use crate::state::EntityId;

impl World {
    /// The parameters of a body: those that were set, or those of its model's material. `None` if
    /// there is no such body in the world, or if it cannot have parameters of its own: it is a
    /// player, a missile or a kinematic body.
    pub fn body_parameters(&self, id: EntityId) -> Option<BodyParameters> {
        let (entity, shape) = self.dynamic(id).ok()?;
        Some(entity.dynamics.parameters(shape))
    }

    /// Sets the parameters of a body: mass, gravity scale, damping and locked axes. If they change,
    /// the body and what rests against it wake. Along and about the axes that are locked from now
    /// on, the body loses its velocity.
    ///
    /// A client does not know these parameters. It predicts that a body gives way to its player by
    /// the numbers of the model's material, and the server corrects it.
    ///
    /// # Errors
    /// [`BodyError`]; nothing changes then.
    pub fn set_body_parameters(
        &mut self,
        id: EntityId,
        parameters: BodyParameters,
    ) -> Result<(), BodyError> {
        let (entity, shape) = self.dynamic(id)?;
        parameters.check()?;
        if entity.dynamics.parameters(shape) == parameters {
            return Ok(());
        }
        let locked = parameters.locked_axes;
        self.change_dynamics(id, |entity, shape| {
            entity.dynamics.set_parameters(shape, parameters);
            entity.velocity = locked.translation(entity.velocity);
            entity.angular = locked.rotation(entity.angular);
        });
        // The impulses of the last tick belong to the mass before. If they were kept, a heavy body
        // that has become light would be shot off.
        let touches = |slot: u16| slot == id.slot;
        for pair in &mut self.pairs {
            if touches(pair.key.body) || pair.key.other.entity().is_some_and(touches) {
                pair.points.iter_mut().for_each(|point| point.impulse = [0.0; 3]);
            }
        }
        Ok(())
    }

    /// Adds a force through the centre of mass of a body, in kg·units/s²: a force of the mass times
    /// 800 carries the body against the usual gravity. It acts along the world's axes.
    ///
    /// The force wakes the body, but does not keep it awake. If contacts balance the forces until
    /// they are reset, the body falls asleep as under gravity alone.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::{DQuat, DVec3};
    /// # use obsp_sim::{Config, World};
    /// use obsp_sim::ForceSpan;
    ///
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// # let model = world.model("crate").expect("a shipped model");
    /// # let at = DVec3::new(-400.0, -260.0, 100.0);
    /// let id = world.spawn_body(model, at, DQuat::IDENTITY)?;
    /// let weight = world.mass(id).expect("a dynamic body") * 800.0;
    /// world.add_force(id, DVec3::Z * weight, ForceSpan::UntilReset)?;
    /// (0..60).for_each(|_| world.step(&[]));
    /// let floats = world.entity(id).expect("it is in the world").position;
    /// assert!((floats.z - 100.0).abs() < 0.01);
    /// world.reset_forces(id)?;
    /// (0..30).for_each(|_| world.step(&[]));
    /// assert!(world.entity(id).expect("it is in the world").position.z < 50.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BodyError`]; nothing changes then. A component of the sum of all forces of the same span
    /// must be between -1e13 and 1e13.
    pub fn add_force(
        &mut self,
        id: EntityId,
        force: DVec3,
        span: ForceSpan,
    ) -> Result<(), BodyError> {
        self.add_wrench(id, Wrench { force, torque: DVec3::ZERO }, span)
    }

    /// Adds a force at a point of the world, like [`World::add_force`]. Its torque is computed at
    /// the body's present place, and does not change when the body moves on.
    ///
    /// # Errors
    /// [`BodyError`]; nothing changes then. A coordinate of the point must be between -1e6 and 1e6.
    pub fn add_force_at_point(
        &mut self,
        id: EntityId,
        force: DVec3,
        point: DVec3,
        span: ForceSpan,
    ) -> Result<(), BodyError> {
        let (entity, _) = self.dynamic(id)?;
        let centre = entity.placement().ok_or(BodyError::NoSuchEntity)?.pose().position;
        for coordinate in point.to_array() {
            within("a coordinate of the point", coordinate, &(-MAX_ARM..=MAX_ARM))?;
        }
        let torque = (point - centre).cross(force);
        self.add_wrench(id, Wrench { force, torque }, span)
    }

    /// Adds a torque about the world's axes, in kg·units²/s², as [`World::add_force`].
    ///
    /// # Errors
    /// [`BodyError`]; nothing changes then. A component of the sum of all torques of the same span
    /// must be between -1e16 and 1e16.
    pub fn add_torque(
        &mut self,
        id: EntityId,
        torque: DVec3,
        span: ForceSpan,
    ) -> Result<(), BodyError> {
        self.add_wrench(id, Wrench { force: DVec3::ZERO, torque }, span)
    }

    /// Ends all forces and torques on a body, those for one tick too. If there were any, the body
    /// and what rests against it wake.
    ///
    /// # Errors
    /// [`BodyError`] if there is no such body, or it cannot have forces.
    pub fn reset_forces(&mut self, id: EntityId) -> Result<(), BodyError> {
        let (entity, _) = self.dynamic(id)?;
        if entity.dynamics.forces() != Forces::default() {
            self.change_dynamics(id, |entity, shape| {
                entity.dynamics.set_forces(shape, Forces::default());
            });
        }
        Ok(())
    }

    fn add_wrench(
        &mut self,
        id: EntityId,
        wrench: Wrench,
        span: ForceSpan,
    ) -> Result<(), BodyError> {
        let (entity, _) = self.dynamic(id)?;
        let before = entity.dynamics.forces();
        let mut forces = before;
        forces.add(wrench, span)?;
        if forces != before {
            self.change_dynamics(id, |entity, shape| entity.dynamics.set_forces(shape, forces));
        }
        Ok(())
    }

    /// The entity and its shape, if it may have parameters and forces of its own.
    fn dynamic(&self, id: EntityId) -> Result<(&Entity, &Shape), BodyError> {
        let entity = self.entities.find(id).filter(|entity| entity.placement().is_some());
        let entity = entity.ok_or(BodyError::NoSuchEntity)?;
        if !entity.has_dynamics() {
            return Err(BodyError::NotDynamic);
        }
        Ok((entity, &self.arena.shapes[entity.shape]))
    }

    /// Changes the dynamics of a body, and wakes it and its island.
    fn change_dynamics(&mut self, id: EntityId, change: impl FnOnce(&mut Entity, &Shape)) {
        if let Some(entity) = self.entities.find_mut(id) {
            let shape = &self.arena.shapes[entity.shape];
            change(entity, shape);
            sleep::wake(&mut self.entities, id.slot);
        }
    }
}
