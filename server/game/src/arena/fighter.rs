use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::{ArenaState, ticks};
use crate::event::Event;
use crate::per_entity::PerEntity;
use crate::quake::items::Healths;
use crate::world_mut::WorldMut;

/// The state of a player in the arena game.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fighter {
    pub(super) health: i16,
    pub(super) score: i16,
    /// Ticks until the next shot.
    pub(super) reload: u16,
    /// Ticks until a dead player comes back.
    pub(super) dead: u16,
    /// Whether the player takes no damage in this tick.
    pub(super) protected: bool,
}

impl Fighter {
    /// A fighter who has just joined.
    pub(super) fn new(health: i16) -> Self {
        Self { health, score: 0, reload: 0, dead: 0, protected: false }
    }

    /// Counts a tick of a dead player, and returns whether the player stays dead. A player who
    /// comes back to life gets this `health`.
    pub(super) fn stays_dead(&mut self, health: i16) -> bool {
        if self.dead == 0 {
            return false;
        }
        self.dead -= 1;
        if self.dead == 0 {
            let (score, protected) = (self.score, self.protected);
            *self = Self { score, protected, ..Self::new(health) };
        }
        self.dead > 0
    }
}

impl Healths for PerEntity<Fighter> {
    fn health(&mut self, player: EntityId) -> Option<&mut i16> {
        let fighter = self.get_mut(player).filter(|fighter| fighter.dead == 0)?;
        Some(&mut fighter.health)
    }
}

/// A hit on a player.
pub(super) struct Hit {
    pub(super) player: EntityId,
    /// The attacker, who scores if the player dies; `None` if the map hurts the player.
    pub(super) by: Option<EntityId>,
    /// The kind of the attacker's weapon.
    pub(super) means: &'static str,
    pub(super) damage: i16,
}

/// Takes health from a player. A player without health leaves the world for a while.
pub(super) fn hurt(state: &mut ArenaState, world: &mut WorldMut<'_>, hit: Hit) {
    let Hit { player, by, means, damage } = hit;
    let living = state.fighters.get_mut(player).filter(|fighter| fighter.dead == 0);
    let Some(fighter) = living.filter(|fighter| damage > 0 && !fighter.protected) else { return };
    let damage = state.items.as_mut().map_or(damage, |items| items.damage(player, by, damage));
    let by = by.unwrap_or(player);
    if damage == 0 {
        return;
    }
    fighter.health = fighter.health.saturating_sub(damage);
    world.emit(Event::Hurt { player, by, damage: damage.unsigned_abs() });
    if fighter.health > 0 {
        return;
    }
    fighter.dead = ticks(world, world.game_file().player().respawn_seconds);
    world.emit(Event::Died { player, by, means });
    if let Some(killer) = state.fighters.get_mut(by) {
        killer.score = killer.score.saturating_add(if by == player { -1 } else { 1 });
    }
    if let Some(items) = &mut state.items {
        items.died(world, player);
    }
    // This call fails if the player waits for a free place, because the player is then out of the
    // world already.
    let _ = world.take_out(player);
}
