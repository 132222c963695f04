//! Conveyors: kinematic bodies whose surfaces move.

use glam::DVec3;
use obsp_sim::{EntityId, PlaceError};

use crate::world_mut::WorldMut;

impl WorldMut<'_> {
    /// As [`World::set_surface_velocity`](obsp_sim::World::set_surface_velocity): a kinematic body
    /// carries what stands on it, and stays where it is.
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then.
    pub fn set_surface_velocity(
        &mut self,
        id: EntityId,
        velocity: DVec3,
    ) -> Result<(), PlaceError> {
        self.world.set_surface_velocity(id, velocity)
    }
}
