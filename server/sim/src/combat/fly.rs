use crate::entities::Role;
use crate::guard::{Proposal, Space};
use crate::pose::Pose;

use super::blast::burst;
use super::{Combat, Projectile, Weapon};

/// Moves rockets, and lets burst what has to. Grenades move with the other
/// rigid bodies.
pub(crate) fn advance_projectiles(combat: &mut Combat) {
    let thrown = combat.entities.slots_where(|e| matches!(e.role, Role::Projectile(_)));
    for slot in thrown {
        let Some(entity) = combat.entities.get_mut(slot) else { continue };
        let Role::Projectile(projectile) = &mut entity.role else { continue };
        projectile.fuse = projectile.fuse.saturating_sub(1);
        let Projectile { weapon, fuse, .. } = *projectile;
        let spent = fuse == 0 || entity.placement().is_none();
        let stopped = weapon == Weapon::Rocket && fly(combat, slot);
        if spent || stopped {
            burst(combat, slot);
        }
    }
}

/// Moves a rocket as far as it is free; returns whether something stopped it.
fn fly(combat: &mut Combat, slot: u16) -> bool {
    let Some(entity) = combat.entities.get(slot) else { return true };
    let Some(placement) = entity.placement() else { return true };
    let start = *placement.pose();
    let position = start.position + entity.velocity * combat.seconds;
    let proposal = Proposal { slot, target: Pose { position, ..start }, seconds: combat.seconds };
    let space =
        Space { map: &combat.arena.map, shapes: &combat.arena.shapes, entities: combat.entities };
    let no_plane = |_, _| None;
    let advances = space.advance(&[proposal], no_plane, combat.counters);
    let Some(advance) = advances.into_iter().next() else { return true };
    let Some(placement) = advance.placement else { return true };
    combat.entities.commit(slot, placement);
    advance.left > 0.0
}
