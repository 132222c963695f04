//! Moves of kinematic bodies to places, at once or once a player is in a zone, and swings.

use obsp_sim::{ArmedMove, EntityId, LinearMove, PlaceError, Swing};

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

    /// As [`World::arm_linear_move`](obsp_sim::World::arm_linear_move): a kinematic body begins a move
    /// once a player is in a zone. Clients predict a start by their own player.
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then.
    pub fn arm_linear_move(&mut self, id: EntityId, armed: ArmedMove) -> Result<(), PlaceError> {
        self.world.arm_linear_move(id, armed)
    }

    /// As [`World::swing`](obsp_sim::World::swing): a kinematic body swings to and fro.
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then.
    pub fn swing(&mut self, id: EntityId, by: Swing) -> Result<(), PlaceError> {
        self.world.swing(id, by)
    }

    /// Takes the armed move from a body, if it has one.
    pub fn disarm_linear_move(&mut self, id: EntityId) {
        self.world.disarm_linear_move(id);
    }
}
