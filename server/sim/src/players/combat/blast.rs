use glam::{DVec3, Vec3};
use obsp::Trace;
use obsp::geometry::Aabb;

use super::context::Combat;
use crate::bodies::roles::Role;
use crate::bodies::sleep;
use crate::event::Event;

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

/// Removes the projectile in `slot` and hurts, pushes and wakes all that is in plain
/// sight.
pub(super) fn explode(combat: &mut Combat, slot: u16) {
    let Some(entity) = combat.entities.get(slot) else { return };
    let Role::Projectile(projectile) = entity.role else { return };
    let (id, centre) = (entity.id, entity.placement().map(|p| p.pose().position));
    combat.entities.remove(id);
    let Some(centre) = centre else { return };
    combat.events.push(Event::Blast { at: centre, radius: RADIUS });
    let mut reached = Vec::new();
    let bounds = Aabb::from_centre(centre, DVec3::splat(RADIUS));
    combat.space().visit_entities(&bounds, None, &mut |slot, body| {
        reached.push((slot, body.centre()));
    });
    for (slot, at) in reached {
        let away = at - centre;
        let share = 1.0 - away.length() / RADIUS;
        if share <= 0.0 || !in_sight(combat, centre.as_vec3(), at.as_vec3()) {
            continue;
        }
        let direction = away.try_normalize().unwrap_or(DVec3::Z);
        let Some(entity) = combat.entities.get_mut(slot) else { continue };
        if entity.walker().is_some() {
            // Rounded, as a walking player's velocity always is.
            let gained = direction * (PLAYER_SPEED * share);
            entity.velocity = (entity.velocity + gained).as_vec3().as_dvec3();
        } else if entity.is_rigid() {
            let inverse_mass = combat.arena.shapes[entity.shape].inverse_mass;
            let gained = (IMPULSE * share * inverse_mass).min(MAX_SPEED);
            entity.velocity += direction * gained;
            sleep::wake(combat.entities, slot);
        }
        combat.hurt(slot, projectile.owner, (DAMAGE * share) as i16);
    }
}

fn in_sight(combat: &Combat, from: Vec3, to: Vec3) -> bool {
    let trace = combat.arena.map.find_first_transition(combat.arena.sight, from, to);
    !matches!(trace, Trace::Hit(_))
}
