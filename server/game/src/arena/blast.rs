use glam::DVec3;
use obsp_sim::{EntityId, EntityState, Kind, PlayerKind};

use super::ArenaState;
use super::fighter::{Hit, hurt};
use crate::event::Event;
use crate::game_file::{Blast, Weapon};
use crate::world_mut::WorldMut;

/// Removes a missile. Its explosion damages, pushes and wakes all entities in line of sight.
pub(super) fn explode(state: &mut ArenaState, world: &mut WorldMut<'_>, missile: EntityId) {
    let Some(shot) = state.shots.remove(missile) else { return };
    let entity = world.entity(missile);
    let explosion = entity.and_then(|entity| {
        let weapon = weapon_of(world, &entity)?;
        Some((entity.position, weapon.thrown()?.blast, weapon.kind.name()))
    });
    // A missile that fell out of the map is removed without an explosion.
    let _ = world.remove(missile);
    let Some((centre, blast, means)) = explosion else { return };
    let Blast { radius, damage, impulse, max_speed, player_speed } = blast;
    world.emit(Event::Blast { at: centre, radius });
    state.entities.blast(world, centre, radius, damage, shot.owner);
    for (id, at) in world.near(centre, radius) {
        let away = at - centre;
        let share = 1.0 - away.length() / radius;
        if share <= 0.0 || !world.in_sight(centre, at) {
            continue;
        }
        let direction = away.try_normalize().unwrap_or(DVec3::Z);
        let speed = match world.player_kind(id) {
            Some(PlayerKind::Box) => Some(player_speed * share),
            _ => world.inverse_mass(id).map(|inverse| (impulse * share * inverse).min(max_speed)),
        };
        if let Some(speed) = speed {
            // The call cannot fail, because the entity was found in the world.
            let _ = world.add_velocity(id, direction * speed);
        }
        let damage = (damage * share) as i16;
        hurt(state, world, Hit { player: id, by: Some(shot.owner), means, damage });
    }
}

/// The weapon that throws the model of a missile.
fn weapon_of<'a>(world: &'a WorldMut<'_>, missile: &EntityState) -> Option<&'a Weapon> {
    let Kind::Prop { model } = missile.kind else { return None };
    let name = world.model_names().get(usize::from(model.0))?;
    world.game_file().weapons().throwing(name)
}
