//! What a game does with layers, pictures and attachments.

use glam::{DQuat, DVec3};
use obsp_sim::{CollisionLayers, EntityId, ModelId, PlaceError};

use crate::world_mut::WorldMut;

impl WorldMut<'_> {
    /// Sets which other entities an entity may meet, as [`World::set_layers`].
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then. [`PlaceError::NoRoom`] if the entity overlaps something
    /// that it may meet from then on.
    ///
    /// [`World::set_layers`]: obsp_sim::World::set_layers
    pub fn set_layers(&mut self, id: EntityId, layers: CollisionLayers) -> Result<(), PlaceError> {
        self.world.set_layers(id, layers)
    }

    /// Sets whether clients draw an entity, as [`World::set_visible`].
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if there is no such entity.
    ///
    /// [`World::set_visible`]: obsp_sim::World::set_visible
    pub fn set_visible(&mut self, id: EntityId, visible: bool) -> Result<(), PlaceError> {
        self.world.set_visible(id, visible)
    }

    /// Adds a picture of a model, which takes no room: [`World::spawn_intangible`].
    ///
    /// # Errors
    /// [`PlaceError`]; nothing is added then.
    ///
    /// [`World::spawn_intangible`]: obsp_sim::World::spawn_intangible
    pub fn spawn_intangible(
        &mut self,
        model: ModelId,
        position: DVec3,
        orientation: DQuat,
    ) -> Result<EntityId, PlaceError> {
        self.world.spawn_intangible(model, position, orientation)
    }

    /// Makes a body a picture where it is: [`World::make_intangible`].
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then.
    ///
    /// [`World::make_intangible`]: obsp_sim::World::make_intangible
    pub fn make_intangible(&mut self, id: EntityId) -> Result<(), PlaceError> {
        self.world.make_intangible(id)
    }

    /// Puts an intangible body at a pose, whatever is there: [`World::set_pose`].
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then.
    ///
    /// [`World::set_pose`]: obsp_sim::World::set_pose
    pub fn set_pose(
        &mut self,
        id: EntityId,
        position: DVec3,
        orientation: DQuat,
    ) -> Result<(), PlaceError> {
        self.world.set_pose(id, position, orientation)
    }

    /// Makes an intangible body solid at a pose, if there is room: [`World::place`].
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then.
    ///
    /// [`World::place`]: obsp_sim::World::place
    pub fn place(
        &mut self,
        id: EntityId,
        position: DVec3,
        orientation: DQuat,
    ) -> Result<(), PlaceError> {
        self.world.place(id, position, orientation)
    }

    /// Lets a body follow a carrier, intangible: [`World::attach`]. The frame of a player on foot is
    /// the centre of its box, turned by the heading. When the carrier leaves the world,
    /// [`Game::detached`](crate::Game::detached) is called.
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then.
    ///
    /// [`World::attach`]: obsp_sim::World::attach
    pub fn attach(
        &mut self,
        id: EntityId,
        to: EntityId,
        offset: DVec3,
        rotation: DQuat,
    ) -> Result<(), PlaceError> {
        self.world.attach(id, to, offset, rotation)
    }

    /// Ends an attachment. The body stays where it is, intangible.
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if there is no such body, or if it is not attached.
    pub fn detach(&mut self, id: EntityId) -> Result<(), PlaceError> {
        self.world.detach(id)
    }
}
