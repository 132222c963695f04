//! Backpacks, which hold the ammunition of players who have died.

use glam::DQuat;
use obsp::geometry::Aabb;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::gift::Ammunition;
use super::inventory::Inventory;
use super::supplies::Supplies;
use super::{look, place};
use crate::world_mut::WorldMut;

/// Seconds until a backpack is gone.
const SECONDS: f64 = 120.0;

/// Maximum number of backpacks. Another one takes the place of the oldest.
const MOST: usize = 32;

/// Half of the width of a backpack's box, and its height, in units.
const HALF_WIDTH: f64 = 16.0;
const HEIGHT: f64 = 56.0;

/// A backpack.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Backpack {
    body: EntityId,
    pub(super) bounds: Aabb,
    ammunition: [u16; 4],
    /// Ticks until it is gone.
    ticks: u32,
}

impl Backpack {
    /// Drops the ammunition of a player with this box to the floor; `None` if there is none, or no
    /// place for a picture of it.
    fn drop(
        world: &mut WorldMut<'_>,
        player: &Aabb,
        own: &Inventory,
        supplies: &Supplies,
    ) -> Option<Self> {
        let mut ammunition = own.all_ammunition();
        for (count, kind) in ammunition.iter_mut().zip(Ammunition::ALL) {
            // Nothing fires ammunition that the map lacks.
            *count = if supplies.has(kind) { *count } else { 0 };
        }
        if ammunition == [0; 4] {
            return None;
        }
        let (mut min, mut max) = (player.centre(), player.centre());
        (min.x, min.y, min.z) = (min.x - HALF_WIDTH, min.y - HALF_WIDTH, player.min.z);
        (max.x, max.y, max.z) = (max.x + HALF_WIDTH, max.y + HALF_WIDTH, player.min.z + HEIGHT);
        let bounds = place::drop_to_floor(world, &Aabb { min, max })?;
        let model = look::backpack()?;
        let at = place::of_picture(&bounds, &model);
        let body = world.spawn_intangible(world.model(model.name())?, at, DQuat::IDENTITY).ok()?;
        Some(Self { body, bounds, ammunition, ticks: world.ticks_in(SECONDS) })
    }

    /// Gives the ammunition to a player.
    pub(super) fn give(&self, own: &mut Inventory) {
        for (kind, count) in Ammunition::ALL.into_iter().zip(self.ammunition) {
            own.load(kind, count);
        }
    }

    /// Takes the backpack out of the world.
    pub(super) fn remove(&self, world: &mut WorldMut<'_>) {
        // A picture leaves the world by this call alone.
        let _ = world.remove(self.body);
    }

    /// Counts a tick, and returns whether the backpack is still there.
    pub(super) fn lasts(&mut self, world: &mut WorldMut<'_>) -> bool {
        self.ticks = self.ticks.saturating_sub(1);
        if self.ticks == 0 {
            self.remove(world);
        }
        self.ticks > 0
    }
}

/// Adds the backpack of a player with this box, who has died.
pub(super) fn add(
    all: &mut Vec<Backpack>,
    world: &mut WorldMut<'_>,
    player: &Aabb,
    own: &Inventory,
    supplies: &Supplies,
) {
    if all.len() >= MOST {
        all.remove(0).remove(world);
    }
    all.extend(Backpack::drop(world, player, own, supplies));
}
