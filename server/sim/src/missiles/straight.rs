use super::Missiles;
use crate::collision::pose::Pose;

/// Moves a missile that flies straight, as far as its way is free. Returns whether nothing stopped
/// it.
pub(super) fn fly(missiles: &mut Missiles, slot: u16) -> bool {
    let Some(entity) = missiles.entities.get(slot) else { return false };
    let Some(start) = entity.placement().map(|placement| *placement.pose()) else { return false };
    let position = start.position + entity.velocity * missiles.context.seconds;
    let target = Pose { position, ..start };
    missiles.send(slot, target).is_some_and(|flight| flight.stop.is_none())
}
