//! Conveyors: kinematic bodies whose surfaces move.

use glam::DVec3;

use super::World;
use super::operations::{MAX_SPEED, shortened};
use crate::bodies::entities::Entity;
use crate::bodies::roles::{Kinematic, Role};
use crate::place_error::PlaceError;
use crate::state::EntityId;

impl World {
    /// Lets the surface of a kinematic body move at this velocity, in units per second, relative to
    /// the body. Such a conveyor carries what stands on it, and stays where it is. Only the part of
    /// the velocity along the surface counts, so on a slope it acts along the slope. Players on
    /// foot go along with the surface, and friction takes bodies along. Zero stops the surface.
    ///
    /// Clients see this velocity as the velocity of a body that
    /// [sleeps](crate::EntityState::asleep). They do not know the surface velocity of a body that
    /// moves.
    ///
    /// A speed of more than 4,500 units per second is reduced to that. The velocity is rounded to
    /// single precision, as clients know it.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use glam::{DQuat, DVec3};
    /// use obsp_sim::{Config, World};
    ///
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// let slab = obsp::model::Model::cuboid("slab", DVec3::new(256.0, 64.0, 8.0))?.as_kinematic();
    /// let crates = obsp::model::Model::cuboid("box", DVec3::splat(16.0))?;
    /// let mut world = World::new(map, [slab, crates].into(), Config::default())?;
    /// let [slab, load] = ["slab", "box"].map(|name| world.model(name).expect("of the match"));
    /// let belt = world.spawn_body_near(slab, DVec3::new(0.0, 0.0, 300.0), DQuat::IDENTITY)?;
    /// let at = world.entity(belt).expect("it is in the world").position;
    /// let load = world.spawn_body(load, at + DVec3::Z * 24.1, DQuat::IDENTITY)?;
    /// world.set_surface_velocity(belt, DVec3::X * 100.0)?;
    /// for _ in 0..60 {
    ///     world.step(&[]);
    /// }
    /// let [belt, load] = [belt, load].map(|id| world.entity(id).expect("it is in the world"));
    /// assert_eq!(belt.position, at);
    /// assert!((load.velocity.x - 100.0).abs() < 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if there is no such kinematic body in the world, and
    /// [`PlaceError::NotFinite`] if a number is not finite. Nothing changes then.
    pub fn set_surface_velocity(
        &mut self,
        id: EntityId,
        velocity: DVec3,
    ) -> Result<(), PlaceError> {
        if !self.placed(id)?.is_kinematic() {
            return Err(PlaceError::NoSuchEntity);
        }
        if !velocity.is_finite() {
            return Err(PlaceError::NotFinite);
        }
        let role = self.entities.find_mut(id).map(|entity| &mut entity.role);
        if let Some(Role::Kinematic(Kinematic { surface, .. })) = role {
            *surface = shortened(velocity, MAX_SPEED).as_vec3().as_dvec3();
        }
        self.set_going(id);
        Ok(())
    }

    /// The velocity of the surface of a kinematic body relative to the body, in units per second;
    /// zero for all other bodies.
    pub fn surface_velocity(&self, id: EntityId) -> DVec3 {
        self.entities.find(id).map_or(DVec3::ZERO, Entity::surface)
    }
}
