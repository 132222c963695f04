//! An item that lies in a map.

use glam::{DQuat, DVec3};
use obsp::geometry::Aabb;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::gift::{Gift, Health, Power};
use super::inventory::Inventory;
use super::{Healths, look, place, shown};
use crate::world_mut::WorldMut;

/// Seconds until the surplus of a box of 100 health begins to decay, and between two points.
const ROTS_AFTER: f64 = 5.0;
const ROTS_EVERY: f64 = 1.0;

/// The most health that anything gives, in per cent of the usual health.
const MOST_HEALTH: i32 = 250;

/// An item that lies in the map, or comes back there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Placed {
    body: EntityId,
    bounds: Aabb,
    gift: Gift,
    stay: Stay,
}

/// Whether an item is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stay {
    There,
    /// It comes back after these ticks.
    Away(u32),
    /// The surplus of health that it gave to this player decays. The next point is lost after these
    /// ticks.
    Decays(EntityId, u32),
}

impl Placed {
    /// Puts an item where it is drawn, on the floor; `None` if it is drawn in a solid, or there is
    /// no room for another entity.
    pub(super) fn new(world: &mut WorldMut<'_>, gift: Gift, origin: DVec3) -> Option<Self> {
        let about = look::bounds(gift);
        let drawn = Aabb { min: about.min + origin, max: about.max + origin };
        let bounds = place::drop_to_floor(world, &drawn)?;
        let model = look::model(gift)?;
        let at = place::of_picture(&bounds, &model);
        let body = world.spawn_intangible(world.model(model.name())?, at, DQuat::IDENTITY).ok()?;
        Some(Self { body, bounds, gift, stay: Stay::There })
    }

    /// The gift of the item.
    pub(super) fn gift(&self) -> Gift {
        self.gift
    }

    /// The box by which the item is taken, if it is there.
    pub(super) fn bounds(&self) -> Option<&Aabb> {
        (self.stay == Stay::There).then_some(&self.bounds)
    }

    /// Counts a tick of an item that was taken.
    pub(super) fn tick(&mut self, world: &mut WorldMut<'_>, healths: &mut dyn Healths) {
        match &mut self.stay {
            Stay::There => {}
            Stay::Away(ticks) => {
                *ticks = ticks.saturating_sub(1);
                if *ticks == 0 {
                    self.stay = Stay::There;
                    // The picture stays in the world for the whole match.
                    let _ = world.set_visible(self.body, true);
                }
            }
            Stay::Decays(player, ticks) => {
                *ticks = ticks.saturating_sub(1);
                if *ticks > 0 {
                    return;
                }
                let usual = world.game_file().player().health;
                match healths.health(*player).filter(|health| **health > usual) {
                    Some(health) => {
                        *health -= 1;
                        *ticks = world.ticks_in(ROTS_EVERY);
                    }
                    None => self.leave_for(world, 20.0),
                }
            }
        }
    }

    fn leave_for(&mut self, world: &mut WorldMut<'_>, seconds: f64) {
        self.stay = Stay::Away(world.ticks_in(seconds).max(1));
    }

    /// Gives the item to a player who touches it, if the player has use for it.
    pub(super) fn give(
        &mut self,
        world: &mut WorldMut<'_>,
        player: EntityId,
        own: &mut Inventory,
        health: &mut i16,
    ) {
        let lasts = world.ticks_in(Power::SECONDS);
        let is_taken = match self.gift {
            Gift::Health(kind) => heal(kind, health, world.game_file().player().health),
            gift => own.take(gift, lasts),
        };
        if !is_taken {
            return;
        }
        shown::tell(world, player, self.gift);
        if self.gift == Gift::Health(Health::Mega) {
            self.stay = Stay::Decays(player, world.ticks_in(ROTS_AFTER));
        } else if let Some(seconds) = self.gift.away() {
            self.leave_for(world, seconds);
        }
        if self.stay != Stay::There {
            let _ = world.set_visible(self.body, false);
        }
    }
}

/// Adds the health of a box, and returns whether that was any. `usual` is the health of a player
/// who has just spawned.
fn heal(kind: Health, health: &mut i16, usual: i16) -> bool {
    let most = match kind {
        Health::Mega => i32::from(usual) * MOST_HEALTH / 100,
        Health::Rotten | Health::Usual => i32::from(usual),
    };
    let before = i32::from(*health);
    if before >= most {
        return false;
    }
    // The largest usual health is 10,000, so the sum fits into the type.
    *health = (before + i32::from(kind.points())).min(most) as i16;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_has_a_ceiling_and_that_of_a_large_box_is_higher() {
        let healed = |kind, mut health| heal(kind, &mut health, 100).then_some(health);
        assert_eq!(healed(Health::Rotten, 50), Some(65));
        assert_eq!(healed(Health::Usual, 90), Some(100));
        assert_eq!(healed(Health::Usual, 100), None);
        assert_eq!(healed(Health::Usual, 180), None);
        assert_eq!(healed(Health::Mega, 100), Some(200));
        assert_eq!(healed(Health::Mega, 200), Some(250));
        assert_eq!(healed(Health::Mega, 250), None);
    }
}
