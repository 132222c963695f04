use xxhash_rust::xxh3::Xxh3Default;

use crate::entities::{Entities, Player, Role};

/// XXH3 over the exact bits of everything that decides the next tick.
pub(crate) fn digest(tick: u64, entities: &Entities) -> u64 {
    let mut hash = Xxh3Default::new();
    hash.update(&tick.to_le_bytes());
    for entity in entities.iter() {
        hash.update(&entity.id.slot.to_le_bytes());
        hash.update(&entity.id.generation.to_le_bytes());
        match &entity.role {
            Role::Player(Player { walker, fighter }) => {
                let counts =
                    [fighter.health as u16, fighter.score as u16, fighter.reload, fighter.dead];
                hash.update(&counts.map(u16::to_le_bytes).concat());
                let flags = u8::from(walker.grounded) | u8::from(walker.jump_held) << 1;
                hash.update(&[1, walker.posture as u8, flags]);
                hash.update(&walker.yaw.to_le_bytes());
            }
            Role::Prop(model) => hash.update(&[2, model.0]),
            Role::Projectile(projectile) => {
                hash.update(&[3, projectile.weapon as u8, projectile.model.0]);
                hash.update(&projectile.owner.slot.to_le_bytes());
                hash.update(&projectile.fuse.to_le_bytes());
            }
        }
        let mut numbers = [0.0; 13];
        if let Some(placement) = entity.placement() {
            let pose = placement.pose();
            numbers[..3].copy_from_slice(&pose.position.to_array());
            numbers[3..7].copy_from_slice(&pose.orientation.to_array());
        }
        numbers[7..10].copy_from_slice(&entity.velocity.to_array());
        numbers[10..].copy_from_slice(&entity.angular.to_array());
        for number in numbers {
            hash.update(&number.to_bits().to_le_bytes());
        }
        hash.update(&[u8::from(entity.rest.asleep), u8::from(entity.placement().is_some())]);
        hash.update(&entity.rest.still.to_le_bytes());
    }
    hash.digest()
}
