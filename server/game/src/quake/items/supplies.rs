//! The kinds of items that a map has. A match has models, values and events for these alone.

use obsp::model::Model;
use obsp::{Map, MapEntity};
use serde::{Deserialize, Serialize};

use super::gift::{Ammunition, Gift, Key, Power};
use super::{look, shown};
use crate::game_file::GameFile;
use crate::replicated::Replicated;

/// The kinds of items that a match on a map has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supplies {
    pub(super) armor: bool,
    pub(super) ammunition: [bool; 4],
    pub(super) powers: [bool; 4],
    pub(super) keys: [bool; 2],
    /// Whether there is any item at all.
    pub(super) any: bool,
}

/// The gift and the entity of each item of a map. Items whose class has a model in the file are
/// left out. So are items with ammunition if the file switches ammunition off.
pub(super) fn gifts<'a>(
    map: &'a Map,
    file: &'a GameFile,
) -> impl Iterator<Item = (Gift, &'a MapEntity)> {
    let is_own = |entity: &MapEntity| {
        let class = file.classes().get(entity.classname());
        class.is_none_or(|class| class.model.is_none())
    };
    let entities = map.entities().iter().filter(move |entity| is_own(entity));
    let gifts = entities.filter_map(|entity| Some((Gift::of(entity)?, entity)));
    gifts.filter(|(gift, _)| file.items().ammunition || gift.ammunition().is_none())
}

impl Supplies {
    /// The kinds of items of a match on `map` by the `game.toml`.
    pub fn of(map: &Map, file: &GameFile) -> Self {
        let mut all = Self::default();
        for (gift, _) in gifts(map, file) {
            all.any = true;
            match gift {
                Gift::Armor(_) => all.armor = true,
                Gift::Power(power) => all.powers[power as usize] = true,
                Gift::Key(key) => all.keys[key as usize] = true,
                Gift::Health(_) | Gift::Ammunition(..) | Gift::Gun(_) => {}
            }
            if let Some((kind, _)) = gift.ammunition() {
                all.ammunition[kind as usize] = true;
            }
        }
        all
    }

    /// Whether the map has ammunition of a kind.
    pub fn has(&self, kind: Ammunition) -> bool {
        self.ammunition[kind as usize]
    }

    /// Whether the map has a power.
    pub fn has_power(&self, power: Power) -> bool {
        self.powers[power as usize]
    }

    /// Whether the map has a key.
    pub fn has_key(&self, key: Key) -> bool {
        self.keys[key as usize]
    }

    /// Whether players drop backpacks when they die.
    pub(super) fn has_backpacks(&self) -> bool {
        self.ammunition.contains(&true)
    }

    /// Adds the fields and the events of items to those that a game declares.
    pub fn declare(&self, replicated: &mut Replicated) {
        shown::declare(self, replicated);
    }
}

/// The models of the items of a match on `map`, each once.
pub fn models(map: &Map, file: &GameFile) -> Vec<Model> {
    let mut models: Vec<Model> = Vec::new();
    for model in gifts(map, file).filter_map(|(gift, _)| look::model(gift)) {
        if models.iter().all(|known| known.name() != model.name()) {
            models.push(model);
        }
    }
    if Supplies::of(map, file).has_backpacks() {
        models.extend(look::backpack());
    }
    models
}
