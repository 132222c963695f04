use xxhash_rust::xxh3::Xxh3Default;

use crate::combat::Past;
use crate::contact::Pair;
use crate::entities::{Entities, Player, PlayerBody, Role};
use crate::guard::Blocker;
use crate::state::EntityId;

/// XXH3 over the exact bits of everything that ticks change and that decides
/// the next one: the bodies, what the solver remembers of their contacts, and where the
/// players stood lately.
pub(crate) fn digest(tick: u64, entities: &Entities, pairs: &[Pair], past: &Past) -> u64 {
    let mut hash = Xxh3Default::new();
    hash.update(&tick.to_le_bytes());
    for generation in entities.generations() {
        hash.update(&generation.to_le_bytes());
    }
    for pair in pairs {
        let (kind, index) = match pair.key.other {
            Blocker::Solid(index) => (0, index),
            Blocker::Entity(slot) => (1, u32::from(slot)),
        };
        hash.update(&pair.key.body.to_le_bytes());
        hash.update(&[kind]);
        hash.update(&index.to_le_bytes());
        hash.update(&[pair.key.parts.0, pair.key.parts.1].map(u16::to_le_bytes).concat());
        numbers(&mut hash, &pair.axis.to_array());
        pair.features.iter().flatten().for_each(|index| hash.update(&index.to_le_bytes()));
        for point in &pair.points {
            numbers(&mut hash, &point.local.to_array());
            numbers(&mut hash, &point.impulse);
        }
    }
    for entity in entities.iter() {
        name(&mut hash, entity.id);
        match &entity.role {
            Role::Player(Player { body, fighter }) => {
                let counts =
                    [fighter.health as u16, fighter.score as u16, fighter.reload, fighter.dead];
                hash.update(&counts.map(u16::to_le_bytes).concat());
                match body {
                    PlayerBody::Box(walker) => {
                        let flags = u8::from(walker.grounded) | u8::from(walker.jump_held) << 1;
                        hash.update(&[1, walker.posture as u8, flags]);
                        hash.update(&walker.yaw.to_le_bytes());
                    }
                    // Its drive is worked out anew each tick.
                    PlayerBody::Hovertank(tank) => {
                        hash.update(&[4, tank.model.0, u8::from(tank.cargo.is_some())]);
                        tank.cargo.into_iter().for_each(|cargo| name(&mut hash, cargo));
                    }
                }
            }
            Role::Prop(model) => hash.update(&[2, model.0]),
            Role::Projectile(projectile) => {
                hash.update(&[3, projectile.weapon as u8, projectile.model.0]);
                name(&mut hash, projectile.owner);
                hash.update(&projectile.fuse.to_le_bytes());
            }
            Role::Cargo(cargo) => {
                hash.update(&[5, cargo.model.0]);
                name(&mut hash, cargo.owner);
                hash.update(&cargo.wait.to_le_bytes());
            }
        }
        if let Some(placement) = entity.placement() {
            let pose = placement.pose();
            numbers(&mut hash, &pose.position.to_array());
            numbers(&mut hash, &pose.orientation.to_array());
        }
        numbers(&mut hash, &entity.velocity.to_array());
        numbers(&mut hash, &entity.angular.to_array());
        let unchanged = entity.seen.is_some() && entity.seen == entity.seen_now();
        let flags = [entity.rest.asleep, entity.placement().is_some(), unchanged];
        hash.update(&flags.map(u8::from));
        hash.update(
            &[entity.rest.still, entity.rest.trembling, entity.rest.held_for]
                .map(u16::to_le_bytes)
                .concat(),
        );
        if let Some(since) = entity.rest.since {
            numbers(&mut hash, &since.position.to_array());
            numbers(&mut hash, &since.orientation.to_array());
        }
        hash.update(&entity.rest.island.to_le_bytes());
    }
    past.digest(&mut hash);
    hash.digest()
}

fn name(hash: &mut Xxh3Default, id: EntityId) {
    hash.update(&id.slot.to_le_bytes());
    hash.update(&id.generation.to_le_bytes());
}

pub(crate) fn numbers(hash: &mut Xxh3Default, numbers: &[f64]) {
    for number in numbers {
        hash.update(&number.to_bits().to_le_bytes());
    }
}
