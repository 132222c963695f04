//! Agents: players who take none of the match's places for players, because no client steers them.

use glam::DVec3;

use super::World;
use crate::place_error::PlaceError;
use crate::state::{EntityId, PlayerKind};

impl World {
    /// Adds a player who takes none of the [`max_players`](crate::Config::max_players) places, and
    /// who waits outside of the world until [`World::bring_back`] or [`World::bring_back_at`].
    ///
    /// # Errors
    /// [`PlaceError::Full`] if all slots for entities are taken or kept for players, and
    /// [`PlaceError::NoSuchModel`] if there is no hovertank to drive.
    pub fn add_agent(&mut self, kind: PlayerKind) -> Result<EntityId, PlaceError> {
        let (body, shape) = self.new_player(kind)?;
        self.entities.insert_agent(body, shape).ok_or(PlaceError::Full)
    }

    /// Adds an agent at once, at the free place nearest to `position` (the centre of the player's
    /// box, or of the vehicle's mass), with a heading of 65,536 steps a turn.
    ///
    /// # Errors
    /// [`PlaceError`]; nothing is added then.
    pub fn add_agent_at(
        &mut self,
        kind: PlayerKind,
        position: DVec3,
        yaw: u16,
    ) -> Result<EntityId, PlaceError> {
        let (body, shape) = self.new_player(kind)?;
        let placement = self.nearest_upright(shape, position)?;
        let id = self.entities.insert_agent(body, shape).ok_or(PlaceError::Full)?;
        self.settle_player_in(id.slot, placement, yaw);
        Ok(id)
    }

    /// The agents, in ascending order of id.
    pub fn agents(&self) -> &[EntityId] {
        self.entities.agents()
    }
}
