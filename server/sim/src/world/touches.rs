//! The bodies that each player has touched lately or may soon set off, for clients that predict.

use super::{Touch, World};
use crate::bodies::entities::Entity;
use crate::players::prediction::Moving;
use crate::state::EntityId;

impl World {
    /// The current states of the rigid and kinematic bodies that a player on foot has run into or
    /// stood on recently, the latest first. A client needs their exact state to predict how they
    /// give way, and how they carry the player. Then come the bodies that the player may soon set
    /// off: those whose [armed move](World::arm_linear_move) has a zone within 160 units, the
    /// nearest first.
    pub fn touched_by(&self, id: EntityId) -> impl Iterator<Item = Moving> {
        let own = self.touches.iter().rev().filter(move |touch| touch.player == id);
        let touched = own.map(|touch| touch.body);
        let is_touched =
            move |body| self.touches.iter().any(|it| (it.player, it.body) == (id, body));
        let armed = self.armed_near(id).into_iter().filter(move |body| !is_touched(*body));
        touched.chain(armed).filter_map(|body| {
            let moves = |entity: &&Entity| entity.is_rigid() || entity.is_kinematic();
            let entity = self.entities.find(body).filter(moves)?;
            // A body that was held up is late, so its move no longer predicts where it will be.
            let is_late = entity.sleep.held || entity.motion()[0] != entity.velocity;
            Some(Moving {
                state: self.view(entity)?,
                spin: entity.angular,
                linear_move: entity.linear_move().filter(|_| !is_late),
                swing: entity.swing().filter(|_| !is_late),
                armed: self.armed_move(body).filter(|_| !is_late),
            })
        })
    }

    /// Records the bodies that a player has run into, the latest last and each once.
    pub(super) fn note_touches(&mut self, player: EntityId, touched: &[u16]) {
        for body in touched.iter().filter_map(|&slot| Some(self.entities.get(slot)?.id)) {
            self.touches.retain(|touch| touch.player != player || touch.body != body);
            self.touches.push(Touch { player, body, tick: self.tick });
        }
    }
}
