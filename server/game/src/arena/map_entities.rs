//! The movers and triggers of a map in the arena game: the families that it plays, and the
//! consequences of their effects.

use obsp::Map;
use obsp::model::Model;
use obsp_sim::MovementParameters;

use super::ArenaState;
use super::fighter::{Hit, hurt};
use crate::event::Event;
use crate::quake::items::{Healths, Power};
use crate::quake::{self, Effect, Entities, Family};
use crate::replicated::Replicated;
use crate::world_mut::WorldMut;

/// The families that the arena plays, beside the items.
const FAMILIES: &[Family] = Family::ALL;

pub(super) fn classes() -> Vec<String> {
    quake::classes(FAMILIES)
}

pub(super) fn brush_models(map: &Map) -> Vec<Model> {
    quake::brush_models(map, FAMILIES)
}

pub(super) fn movements(
    map: &Map,
    usual: MovementParameters,
) -> Vec<(&'static str, MovementParameters)> {
    quake::movements(map, FAMILIES, usual)
}

pub(super) fn declared(game: Replicated, map: &Map) -> Replicated {
    quake::declared(game, map, FAMILIES)
}

pub(super) fn set_up(world: &mut WorldMut<'_>) -> Entities {
    Entities::set_up(world, FAMILIES)
}

/// Plays the entities and liquids of the map, and hurts the players whom they hurt.
pub(super) fn tick(state: &mut ArenaState, world: &mut WorldMut<'_>) {
    let ArenaState { entities, items, liquids, fighters, .. } = state;
    let items = items.as_ref();
    let has_key = |player, key| items.is_none_or(|items| items.opens(player, key));
    let mut effects = entities.tick_with_keys(world, &has_key);
    let carried = |player| items.and_then(|items| items.carried(player));
    let has_suit = |player| carried(player).is_some_and(|own| own.power(Power::Suit) > 0);
    effects.extend(liquids.tick(world, fighters.ids(), has_suit));
    for effect in effects {
        match effect {
            // The map hurts the player, so no other player scores.
            Effect::Hurt { player, damage, means } => {
                hurt(state, world, Hit { player, by: None, means, damage });
            }
            Effect::Heal { player, points, most } => {
                if let Some(health) = state.fighters.health(player) {
                    *health = (*health).max(health.saturating_add(points).min(most));
                }
            }
            Effect::Exit { player, .. } => world.emit(Event::Exited { player }),
            Effect::Message { player, line } => quake::tell(world, player, line),
        }
    }
}
