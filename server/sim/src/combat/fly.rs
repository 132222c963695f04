use crate::entities::Role;
use crate::pose::Pose;

use super::blast::burst;
use super::bounce::bounce;
use super::{Combat, Projectile, Weapon};

/// Moves what was thrown, and lets burst what has to.
pub(crate) fn advance_projectiles(combat: &mut Combat) {
    let thrown = combat.entities.slots_where(|e| matches!(e.role, Role::Projectile(_)));
    for slot in thrown {
        let Some(entity) = combat.entities.get_mut(slot) else { continue };
        let Role::Projectile(projectile) = &mut entity.role else { continue };
        projectile.fuse = projectile.fuse.saturating_sub(1);
        let Projectile { weapon, fuse, .. } = *projectile;
        let goes_on = match weapon {
            Weapon::Rocket => fly(combat, slot),
            Weapon::Grenade => bounce(combat, slot),
        };
        if fuse == 0 || !goes_on {
            burst(combat, slot);
        }
    }
}

/// Moves a rocket as far as it is free; returns whether nothing stopped it.
fn fly(combat: &mut Combat, slot: u16) -> bool {
    let Some(entity) = combat.entities.get(slot) else { return false };
    let Some(start) = entity.placement().map(|placement| *placement.pose()) else { return false };
    let position = start.position + entity.velocity * combat.seconds;
    let target = Pose { position, ..start };
    combat.send(slot, target).is_some_and(|flight| flight.stop.is_none())
}
