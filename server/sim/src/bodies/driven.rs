//! The speeds of kinematic bodies, which drive others: they push or carry them.
//!
//! A kinematic body may drive into a heap faster than the heap can give way. The kinematic body is
//! then slowed down, as a sender is on a congested network: its velocity is halved after each tick
//! in which something stopped it, and doubled again after each free tick. No matter how deep the
//! heap is, the body reaches a speed at which it moves less in a tick than the solver pushes bodies
//! apart in a tick. So the body never stops for good.

use glam::DVec3;

use crate::bodies::contact::Pair;
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::islands::Driven;
use crate::bodies::roles::{Kinematic, Role};

/// A kinematic body that completes less than this share of its motion counts as held, and is slowed
/// down.
pub(super) const HELD_SHARE: f64 = 0.5;

/// A slowed-down kinematic body that completes more than this share of its motion speeds up again.
const FREE_SHARE: f64 = 0.9;

/// The velocities that the game has set for the moving kinematic bodies, by slot, kept while a tick
/// uses the slowed-down ones.
pub(crate) type SetVelocities = Vec<(u16, [DVec3; 2])>;

/// Begins a tick. Gives each moving kinematic body the velocity with which it really moves. Notes
/// on each driven body the velocity that the kinematic body gives to it, for the search and for the
/// retries. `pairs` contains the pairs of the last tick. The result is for [`end_tick`].
#[must_use]
pub(crate) fn begin_tick(entities: &mut Entities, pairs: &[Pair]) -> SetVelocities {
    let own = |entity: &Entity| (entity.id.slot, [entity.velocity, entity.angular]);
    let set: SetVelocities = entities.moving_kinematic().map(own).collect();
    for (slot, _) in &set {
        if let Some(entity) = entities.get_mut(*slot) {
            [entity.velocity, entity.angular] = entity.motion();
        }
    }
    let driven = Driven::new(entities, pairs);
    for slot in entities.slots_where(|entity| driven.contains(entity.id.slot)) {
        let velocity = driven.velocity(entities, slot);
        if let Some((entity, velocity)) = entities.get_mut(slot).zip(velocity) {
            entity.record.driven_velocity = velocity;
        }
    }
    set
}

/// Ends the tick: restores the velocities that the game has set for kinematic bodies.
pub(crate) fn end_tick(entities: &mut Entities, set: SetVelocities) {
    for (slot, velocities) in set {
        if let Some(entity) = entities.get_mut(slot) {
            [entity.velocity, entity.angular] = velocities;
        }
    }
}

/// Adjusts the speed of a kinematic body for the next tick. `made` is the share of its motion that
/// it completed in this tick. `gives_way` says whether the body that stopped it is moved by the
/// solver. Any other obstacle would not give way to a slower body either, so the speed is kept.
pub(crate) fn adjust_speed(entity: &mut Entity, made: f64, gives_way: bool) {
    entity.sleep.held = made < HELD_SHARE;
    if let Role::Kinematic(Kinematic { slowdowns, .. }) = &mut entity.role {
        if made < HELD_SHARE {
            if !gives_way {
                return;
            }
            *slowdowns = (*slowdowns + 1).min(Kinematic::MAX_SLOWDOWNS);
        } else if made > FREE_SHARE {
            *slowdowns = slowdowns.saturating_sub(1);
        }
    }
}
