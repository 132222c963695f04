use super::blast::explode;
use super::bounce::bounce;
use super::context::Combat;
use crate::bodies::roles::{Projectile, Role, Weapon};
use crate::collision::pose::Pose;

/// Moves all projectiles, and explodes those that are due.
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
            explode(combat, slot);
        }
    }
}

/// Moves a rocket as far as it is free. Returns whether nothing stopped it.
fn fly(combat: &mut Combat, slot: u16) -> bool {
    let Some(entity) = combat.entities.get(slot) else { return false };
    let Some(start) = entity.placement().map(|placement| *placement.pose()) else { return false };
    let position = start.position + entity.velocity * combat.context.seconds;
    let target = Pose { position, ..start };
    combat.send(slot, target).is_some_and(|flight| flight.stop.is_none())
}
