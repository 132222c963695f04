use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::fighter::Fighter;
use super::weapons::Shot;
use crate::per_entity::PerEntity;
use crate::quake::items::{Healths, Items};
use crate::quake::{Entities, Liquids};
use crate::world_mut::WorldMut;

/// The state of the arena game: the players as fighters, the missiles that they have thrown, and
/// the entities of the map that the game plays.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ArenaState {
    pub(super) fighters: PerEntity<Fighter>,
    pub(super) shots: PerEntity<Shot>,
    pub(super) entities: Entities,
    pub(super) items: Option<Items>,
    pub(super) liquids: Liquids,
}

impl ArenaState {
    /// The items of the match; `None` if its map has none.
    pub fn items(&self) -> Option<&Items> {
        self.items.as_ref()
    }

    /// Doors, lifts, trains, buttons and triggers.
    pub fn entities(&self) -> &Entities {
        &self.entities
    }

    /// Adds health to a player who is alive, up to the health of the `game.toml`.
    pub fn heal(&mut self, world: &WorldMut<'_>, player: EntityId, health: i16) {
        let most = world.game_file().player().health;
        if let Some(own) = self.fighters.health(player) {
            *own = own.saturating_add(health.max(0)).min(most).max(*own);
        }
    }
}
