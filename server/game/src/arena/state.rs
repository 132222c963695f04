use serde::{Deserialize, Serialize};

use super::fighter::Fighter;
use super::weapons::Shot;
use crate::per_entity::PerEntity;
use crate::quake::Entities;
use crate::quake::items::Items;
use crate::tail::Tail;

/// The state of the arena game: the players as fighters, the missiles that they have thrown, and the
/// entities of the map that the game plays.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ArenaState {
    pub(super) fighters: PerEntity<Fighter>,
    pub(super) shots: PerEntity<Shot>,
    pub(super) map: Tail<OfMap>,
}

/// What the map brings into the game.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OfMap {
    movers: Entities,
    items: Option<Items>,
}

impl ArenaState {
    /// The state at the beginning, on a map with these entities.
    pub(super) fn of(movers: Entities, items: Option<Items>) -> Self {
        let is_empty = movers.is_empty() && items.is_none();
        let map = (!is_empty).then_some(OfMap { movers, items });
        Self { map: Tail(map), ..Self::default() }
    }

    /// The items of the match; `None` if its map has none.
    pub fn items(&self) -> Option<&Items> {
        self.map.0.as_ref()?.items.as_ref()
    }

    /// Doors, lifts, trains, buttons and triggers; `None` if the map has neither these nor items.
    pub fn movers(&self) -> Option<&Entities> {
        Some(&self.map.0.as_ref()?.movers)
    }
}

impl Tail<OfMap> {
    pub(super) fn items_mut(&mut self) -> Option<&mut Items> {
        self.0.as_mut()?.items.as_mut()
    }

    pub(super) fn movers_mut(&mut self) -> Option<&mut Entities> {
        Some(&mut self.0.as_mut()?.movers)
    }
}
