use glam::DVec3;
use obsp_sim::{EntityId, PlayerKind};

use super::ArenaState;
use super::fighter::hurt;
use crate::event::Event;
use crate::world_mut::WorldMut;

/// Radius of an explosion, in units.
const RADIUS: f64 = 140.0;

/// Health that an explosion takes at its centre, falling to none at its radius.
const DAMAGE: f64 = 90.0;

/// Impulse at the centre of an explosion, in kilogram units per second.
const IMPULSE: f64 = 40_000.0;

/// Highest speed that an explosion gives a body, in units per second.
const MAX_SPEED: f64 = 700.0;

/// Speed that an explosion gives a player at its centre, in units per second.
const PLAYER_SPEED: f64 = 450.0;

/// Removes a missile, and hurts, pushes and wakes all that is in plain sight.
pub(super) fn explode(state: &mut ArenaState, world: &mut WorldMut<'_>, missile: EntityId) {
    let Some(shot) = state.shots.remove(missile) else { return };
    let centre = world.entity(missile).map(|entity| entity.position);
    // One that has fallen out of the map is removed as well, without an explosion.
    let _ = world.remove(missile);
    let Some(centre) = centre else { return };
    world.emit(Event::Blast { at: centre, radius: RADIUS });
    for (id, at) in world.near(centre, RADIUS) {
        let away = at - centre;
        let share = 1.0 - away.length() / RADIUS;
        if share <= 0.0 || !world.in_sight(centre, at) {
            continue;
        }
        let direction = away.try_normalize().unwrap_or(DVec3::Z);
        let speed = match world.player_kind(id) {
            Some(PlayerKind::Box) => Some(PLAYER_SPEED * share),
            _ => world.inverse_mass(id).map(|inverse| (IMPULSE * share * inverse).min(MAX_SPEED)),
        };
        if let Some(speed) = speed {
            // It is in the world: it was found there.
            let _ = world.add_velocity(id, direction * speed);
        }
        hurt(state, world, id, shot.owner, (DAMAGE * share) as i16);
    }
}
