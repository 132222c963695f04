//! Pockets: the places in the static world into which a game lets a kinematic body go.

use glam::{DQuat, DVec3};
use obsp::geometry::Aabb;

use super::World;
use crate::bodies::entities::Entity;
use crate::bodies::guard::Seeker;
use crate::place_error::PlaceError;
use crate::state::{EntityId, ModelId};
use crate::traits::CollisionLayers;

impl World {
    /// Adds a kinematic body like [`World::spawn_body`], with a pocket: a box in which the static
    /// world does not stop the body. So a door may fit its frame exactly, and slide into the wall
    /// beside it: its pocket is the box around the door where it is shut and where it is open, and
    /// 1/64 unit more at each side. [`World::model_bounds`] with [`Aabb::swept`] is that box.
    ///
    /// Everywhere else the world still stops the body: it stops where it would share a point with a
    /// solid outside of its pocket. Players and other bodies always stop it. It also stops where
    /// the way of a tick would lead a part of it that is in the world out of the pocket. So let it
    /// slow down towards its end, or make the pocket longer than its way by the distance of one
    /// tick.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::{DQuat, DVec3};
    /// # use obsp_sim::{Config, PlaceError, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// let slab = obsp::model::Model::cuboid("slab", DVec3::new(32.0, 32.0, 8.0))?.as_kinematic();
    /// let mut world = World::new(map, [slab].into(), Config::default())?;
    /// let slab = world.model("slab").expect("it is among the models");
    /// // Half of the slab is in the floor.
    /// let place = DVec3::new(-400.0, -260.0, 0.0);
    /// let orientation = DQuat::IDENTITY;
    /// assert_eq!(world.spawn_body(slab, place, orientation), Err(PlaceError::NoRoom));
    /// let shut = world.model_bounds(slab, place, orientation).expect("there is such a model");
    /// let pocket = shut.swept(DVec3::Z * 16.0).inflated(0.5);
    /// let slab = world.spawn_body_in(slab, place, orientation, &pocket)?;
    /// assert_eq!(world.set_pocket(slab, None), Err(PlaceError::NoRoom));
    /// // It rises out of the floor, and no longer needs the pocket.
    /// world.set_velocity(slab, DVec3::Z * 30.0, DVec3::ZERO)?;
    /// (0..30).for_each(|_| world.step(&[]));
    /// assert_eq!(world.set_pocket(slab, None), Ok(()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PlaceError`]; nothing is added then. [`PlaceError::NoSuchModel`] if bodies of the model
    /// are not kinematic.
    pub fn spawn_body_in(
        &mut self,
        model: ModelId,
        position: DVec3,
        orientation: DQuat,
        pocket: &Aabb,
    ) -> Result<EntityId, PlaceError> {
        let shape = self.arena.shapes.of_model(model).ok_or(PlaceError::NoSuchModel)?;
        if !self.arena.shapes.is_kinematic(model) {
            return Err(PlaceError::NoSuchModel);
        }
        let pocket = checked(pocket)?;
        let pose = self.checked_pose(position, orientation)?;
        let Self { arena, entities, context, .. } = self;
        let space = arena.space(entities);
        let seeker = Seeker::newcomer(CollisionLayers::default()).with_pocket(Some(pocket));
        let placement = space.place(shape, pose, seeker, context);
        let id = self.insert_body(model, placement.ok_or(PlaceError::NoRoom)?)?;
        if let Some(kinematic) = self.entities.find_mut(id).and_then(Entity::kinematic_mut) {
            kinematic.pocket = Some(pocket);
        }
        Ok(id)
    }

    /// Gives a kinematic body another pocket, or none. The body may be intangible. So a door that
    /// touches another door can get its layers and its pocket before [`World::place`] makes it
    /// solid.
    ///
    /// # Errors
    /// [`PlaceError::NoRoom`] if the body is in the world outside of the new pocket;
    /// [`PlaceError::NoSuchEntity`] if there is no such kinematic body in the world. Nothing
    /// changes then.
    pub fn set_pocket(&mut self, id: EntityId, pocket: Option<Aabb>) -> Result<(), PlaceError> {
        let pocket = pocket.as_ref().map(checked).transpose()?;
        let entity = self.entities.find(id).filter(|entity| entity.is_kinematic());
        let entity = entity.ok_or(PlaceError::NoSuchEntity)?;
        if entity.is_in_limbo() {
            return Err(PlaceError::NoSuchEntity);
        }
        let seeker = Seeker::of(entity).with_pocket(pocket);
        let overlaps = |placement| self.space().overlaps_at(placement, seeker);
        if entity.placement().is_some_and(overlaps) {
            return Err(PlaceError::NoRoom);
        }
        if let Some(entity) = self.entities.find_mut(id) {
            // The next search for contacts looks at the solids around the body again.
            entity.record.searched_as = None;
            if let Some(kinematic) = entity.kinematic_mut() {
                kinematic.pocket = pocket;
            }
        }
        Ok(())
    }

    /// The box in which the static world does not stop a body; `None` if it has none.
    pub fn pocket(&self, id: EntityId) -> Option<Aabb> {
        self.entities.find(id)?.pocket()
    }

    /// All bodies that have pockets, with their pockets.
    pub fn pockets(&self) -> Vec<(EntityId, Aabb)> {
        let own = |entity: &Entity| Some((entity.id, entity.pocket()?));
        self.entities.iter().filter_map(own).collect()
    }
}

/// A pocket of finite numbers, clipped to the extent of worlds.
fn checked(pocket: &Aabb) -> Result<Aabb, PlaceError> {
    if !(pocket.min.is_finite() && pocket.max.is_finite()) {
        return Err(PlaceError::NotFinite);
    }
    let extent = DVec3::splat(obsp::UNIVERSE.into());
    Ok(Aabb { min: pocket.min.clamp(-extent, extent), max: pocket.max.clamp(-extent, extent) })
}
