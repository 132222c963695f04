use serde::{Deserialize, Serialize};

use super::fighter::Fighter;
use super::weapons::Shot;
use crate::per_entity::PerEntity;
use crate::quake::items::Items;
use crate::quake::{Entities, Liquids};

/// The state of the arena game: the players as fighters, the missiles that they have thrown, and the
/// entities of the map that the game plays.
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
}
