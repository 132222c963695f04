//! Items: health, armour, ammunition, weapons, powers and keys, by Quake's classes and numbers of a
//! deathmatch.
//!
//! `gift` has the gift of each class, and `supplies` says which gifts a map has. A match has
//! models, values and events only for the gifts of its map, so a map without items plays as if the
//! game had none. At set-up each item drops to the floor (`place`) as a picture that nothing meets
//! (`look`). A player takes it when the player's box meets the item's box, and it comes back after
//! its time (`placed`). Everything but health is in the player's `inventory`. A player who dies
//! leaves ammunition behind in a `backpack`. `shown` tells the clients.

mod backpack;
mod gift;
mod inventory;
mod look;
mod place;
mod placed;
mod shown;
mod supplies;

use std::sync::Arc;

use obsp::geometry::Aabb;
use obsp_sim::{EntityId, World};
use serde::{Deserialize, Serialize};

use self::backpack::Backpack;
pub use self::gift::{Ammunition, Armor, CLASSES, Gift, Gun, Health, Key, Power};
pub use self::inventory::Inventory;
use self::placed::Placed;
pub use self::supplies::{Supplies, models};
use super::left_out::LeftOut;
use crate::game_file::GameFile;
use crate::per_entity::PerEntity;
use crate::replicated::{Replicated, Subject, Values};
use crate::world_mut::WorldMut;

/// Factor of the damage of a player with [`Power::Quad`].
const QUAD: i16 = 4;

/// The health of a game's players, which items raise.
pub trait Healths {
    /// The health of a player, to change; `None` if the player is dead or has none.
    fn health(&mut self, player: EntityId) -> Option<&mut i16>;
}

/// The items of a match, and what its players carry.
///
/// A game keeps the items in its state. It tells them when a player joins, leaves or dies, and
/// calls [`Items::tick`] in [`Game::tick`](crate::Game::tick). [`Items::damage`] returns the damage
/// that powers and armour leave, and [`Items::spend`] takes the ammunition of a shot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Items {
    supplies: Supplies,
    placed: Vec<Placed>,
    backpacks: Vec<Backpack>,
    owners: PerEntity<Inventory>,
}

impl Items {
    /// Puts the items of the map into the world; `None` if the map has none.
    pub fn set_up(world: &mut WorldMut<'_>) -> Option<Self> {
        let (map, file) = (Arc::clone(world.map()), world.game_file().clone());
        let supplies = Supplies::of(&map, &file);
        if !supplies.any {
            return None;
        }
        let (mut placed, mut left_out) = (Vec::new(), LeftOut::default());
        for (gift, entity) in supplies::gifts(&map, &file) {
            let origin = entity.origin().unwrap_or_default();
            match Placed::new(world, gift, origin) {
                Some(item) => placed.push(item),
                None => left_out.note(entity),
            }
        }
        left_out.warn(world);
        Some(Self { supplies, placed, backpacks: Vec::new(), owners: PerEntity::default() })
    }

    /// The fields and events of a game with those of the items of a map.
    pub fn declared(mut game: Replicated, map: &obsp::Map, file: &GameFile) -> Replicated {
        Supplies::of(map, file).declare(&mut game);
        game
    }

    /// A player has joined.
    pub fn joined(&mut self, player: EntityId) {
        self.owners.insert(player, Inventory::default());
    }

    /// A player has left.
    pub fn left(&mut self, player: EntityId) {
        self.owners.remove(player);
    }

    /// A player has died, and is still in the world. The ammunition stays there in a backpack, and
    /// the player's inventory is as at the start.
    pub fn died(&mut self, world: &mut WorldMut<'_>, player: EntityId) {
        let Some(own) = self.owners.get_mut(player) else { return };
        let lost = std::mem::take(own);
        if let Some(bounds) = world.bounds_of(player)
            && self.supplies.has_backpacks()
        {
            backpack::add(&mut self.backpacks, world, &bounds, &lost, &self.supplies);
        }
    }

    /// The damage that is left after the powers of both players and the player's armour, which
    /// loses points by it.
    pub fn damage(&mut self, player: EntityId, by: Option<EntityId>, damage: i16) -> i16 {
        let own = by.and_then(|by| self.carried(by));
        let is_quad = own.is_some_and(|own| own.power(Power::Quad) > 0);
        let damage = if is_quad { damage.saturating_mul(QUAD) } else { damage };
        self.owners.get_mut(player).map_or(damage, |own| own.absorb(damage))
    }

    /// Takes one piece of ammunition of the first of these kinds that the player has. Returns
    /// whether the player may fire, which is always so where the map has none of these kinds.
    pub fn spend(&mut self, player: EntityId, kinds: &[Ammunition]) -> bool {
        let is_free = !kinds.iter().any(|kind| self.supplies.has(*kind));
        is_free || self.owners.get_mut(player).is_none_or(|own| own.spend(kinds))
    }

    /// Whether a door with a lock opens for a player: the player has the key, or the map has no
    /// such key.
    pub fn opens(&self, player: EntityId, key: Key) -> bool {
        !self.supplies.has_key(key) || self.carried(player).is_some_and(|own| own.has_key(key))
    }

    /// The inventory of a player.
    pub fn carried(&self, player: EntityId) -> Option<&Inventory> {
        self.owners.get(player)
    }

    /// The items that are there, each with the box by which it is taken.
    pub fn there(&self) -> impl Iterator<Item = (Gift, &Aabb)> {
        self.placed.iter().filter_map(|item| Some((item.gift(), item.bounds()?)))
    }

    /// The boxes of the backpacks that lie in the world.
    pub fn backpacks(&self) -> impl Iterator<Item = &Aabb> {
        self.backpacks.iter().map(|backpack| &backpack.bounds)
    }

    /// Lets players take what they touch, and counts the times of items and powers.
    pub fn tick(&mut self, world: &mut WorldMut<'_>, healths: &mut dyn Healths) {
        let mut players: Vec<(EntityId, Aabb)> = Vec::new();
        for (player, own) in self.owners.iter_mut() {
            own.tick();
            if let Some(bounds) = world.bounds_of(player)
                && healths.health(player).is_some()
            {
                players.push((player, bounds));
            }
        }
        for item in &mut self.placed {
            item.tick(world, healths);
            for (player, bounds) in &players {
                if item.bounds().is_some_and(|own| place::touches(bounds, own))
                    && let Some(own) = self.owners.get_mut(*player)
                    && let Some(health) = healths.health(*player)
                {
                    item.give(world, *player, own, health);
                }
            }
        }
        self.backpacks.retain_mut(|backpack| {
            let touches =
                |(_, bounds): &&(EntityId, Aabb)| place::touches(bounds, &backpack.bounds);
            let Some((player, _)) = players.iter().find(touches) else {
                return backpack.lasts(world);
            };
            if let Some(own) = self.owners.get_mut(*player) {
                backpack.give(own);
            }
            backpack.remove(world);
            shown::tell_of_backpack(world, *player);
            false
        });
    }

    /// Sets the values of a subject that items declare.
    pub fn values(&self, world: &World, of: Subject, values: &mut Values<'_>) {
        match of {
            Subject::OwnPlayer(player) => {
                if let Some(own) = self.carried(player) {
                    shown::own(&self.supplies, own, world.seconds(), values);
                }
            }
            Subject::Player(player) => {
                if let Some(own) = self.carried(player) {
                    shown::of_all(&self.supplies, own, values);
                }
            }
            Subject::Match | Subject::Body(_) => {}
        }
    }
}
