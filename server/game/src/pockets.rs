//! Pockets: the places in the static world into which a game lets a kinematic body go.

use glam::{DQuat, DVec3};
use obsp::geometry::Aabb;
use obsp_sim::{EntityId, ModelId, PlaceError};

use crate::world_mut::WorldMut;

impl WorldMut<'_> {
    /// As [`World::spawn_body_in`](obsp_sim::World::spawn_body_in): a door that fits its frame
    /// exactly, and slides into the wall beside it.
    ///
    /// # Errors
    /// [`PlaceError`]; nothing is added then.
    pub fn spawn_body_in(
        &mut self,
        model: ModelId,
        position: DVec3,
        orientation: DQuat,
        pocket: &Aabb,
    ) -> Result<EntityId, PlaceError> {
        self.world.spawn_body_in(model, position, orientation, pocket)
    }

    /// As [`World::set_pocket`](obsp_sim::World::set_pocket).
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then.
    pub fn set_pocket(&mut self, id: EntityId, pocket: Option<Aabb>) -> Result<(), PlaceError> {
        self.world.set_pocket(id, pocket)
    }
}
