//! The effects of the pads and teleporters that the simulation leaves to the game: see
//! [`is_game_trigger`](crate::is_game_trigger).

use glam::{DQuat, DVec3};
use obsp::MapEntity;

use super::World;
use crate::arena::triggers::{self, Effect};
use crate::event::WorldEvent;
use crate::place_error::PlaceError;
use crate::players::movement::arrival_velocity;
use crate::state::{EntityId, Posture};

impl World {
    /// The velocity that a pad (`trigger_push`) gives a player on foot, in units per second. `None`
    /// if the entity is not a pad, or there is no such player in the world.
    pub fn pad_velocity(&self, pad: &MapEntity, player: EntityId) -> Option<DVec3> {
        let walker = self.entities.find(player)?.walker()?;
        let gravity = self.arena.movement_of(walker).gravity;
        triggers::pad_velocity(&self.arena.map, pad, gravity)
    }

    /// Sends a player on foot to a destination of a teleporter, as a `trigger_teleport` does: the
    /// player gets the heading of the destination, and keeps the horizontal speed or gets a speed
    /// of 300 units per second.
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if there is no such player on foot in the world, and
    /// [`PlaceError::NoRoom`] if the destination is taken or has no place. Nothing changes then.
    pub fn teleport_to(
        &mut self,
        player: EntityId,
        destination: &MapEntity,
        keeps_speed: bool,
    ) -> Result<(), PlaceError> {
        let entity = self.placed(player)?;
        let posture = entity.walker().ok_or(PlaceError::NoSuchEntity)?.posture;
        let before = entity.velocity;
        let boxes = &self.arena.shapes.boxes;
        let (_, standing) = boxes.of(Posture::Standing);
        let arrival = triggers::arrival(&self.arena.map, standing, destination, keeps_speed);
        let Some(Effect::Teleport { to, yaw, keeps_speed }) = arrival else {
            return Err(PlaceError::NoRoom);
        };
        let sunk = if posture == Posture::Crouching { boxes.rise } else { 0.0 };
        let to = to.as_dvec3() - DVec3::Z * f64::from(sunk);
        self.teleport(player, to, DQuat::IDENTITY)?;
        self.set_velocity(player, arrival_velocity(before, yaw, keeps_speed), DVec3::ZERO)?;
        self.events.push(WorldEvent::Teleported { player });
        Ok(())
    }
}
