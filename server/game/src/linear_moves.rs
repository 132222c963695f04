//! Moves of kinematic bodies to places.

use obsp_sim::{EntityId, LinearMove, PlaceError};

use crate::world_mut::WorldMut;

impl WorldMut<'_> {
    /// As [`World::move_linear`](obsp_sim::World::move_linear): a kinematic body goes to a place and
    /// rests there.
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then.
    pub fn move_linear(&mut self, id: EntityId, by: LinearMove) -> Result<(), PlaceError> {
        self.world.move_linear(id, by)
    }
}
