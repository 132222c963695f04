//! Players who touch a mover, or are in its way.

use obsp_sim::EntityId;

use super::Effect;
use super::targets::Calls;
use crate::world_mut::WorldMut;

/// A player nearer than this to a mover's box, in units, may be touching it.
const NEAR: f64 = 2.0;

/// The player with the lowest slot who touches a body.
pub(super) fn toucher(world: &WorldMut<'_>, body: EntityId) -> Option<EntityId> {
    let reach = world.bounds_of(body)?.inflated(NEAR);
    if !world.boxes_touching(&reach).iter().any(|id| world.player_kind(*id).is_some()) {
        return None;
    }
    world.touching(body).into_iter().find(|id| world.player_kind(*id).is_some())
}

/// Hurts the player who holds a body up.
pub(super) fn hurt(
    world: &WorldMut<'_>,
    body: EntityId,
    damage: i16,
    means: &'static str,
    calls: &mut Calls,
) {
    let stopped = world.why(body).and_then(|why| why.stopped?.other);
    let player = stopped.filter(|id| world.player_kind(*id).is_some());
    if let Some(player) = player.filter(|_| damage > 0) {
        calls.effects.push(Effect::Hurt { player, damage, means });
    }
}
