//! Firing: rays, rockets, grenades.

use glam::{DQuat, DVec3};
use obsp::Trace;

use super::context::Combat;
use crate::bodies::guard::Space;
use crate::bodies::ray::Ray;
use crate::bodies::roles::{PlayerBody, Projectile, Role, Walker, Weapon};
use crate::bodies::sleep;
use crate::collision::cascade::Body;
use crate::collision::pose::Pose;
use crate::command::{Buttons, Command};
use crate::event::Event;
use crate::players::hovertank::drop_cargo;
use crate::state::{EntityId, Posture};

/// Height of the eyes above the centre of the box, in units.
const EYES_STANDING: f64 = 22.0;
const EYES_CROUCHING: f64 = 10.0;
/// Height of a hovertank's gunner above its centre of mass, in units.
const TURRET: f64 = 12.0;

const RAY_REACH: f64 = 4096.0;
const RAY_DAMAGE: i16 = 25;
const RAY_RELOAD: f64 = 0.4;
/// Impulse of a ray, in kilogram units per second.
const RAY_IMPULSE: f64 = 8_000.0;

const ROCKET_SPEED: f64 = 900.0;
const ROCKET_RELOAD: f64 = 0.8;
const ROCKET_SECONDS: f64 = 6.0;

const GRENADE_SPEED: f64 = 600.0;
/// Upward speed that a throw adds.
const GRENADE_LIFT: f64 = 150.0;
const GRENADE_RELOAD: f64 = 0.7;
const GRENADE_SECONDS: f64 = 2.5;

/// Seconds between two cargo boxes of a hovertank.
const CARGO_RELOAD: f64 = 2.0;

/// Start and direction of a shot.
struct Aim {
    player: EntityId,
    eye: DVec3,
    direction: DVec3,
    velocity: DVec3,
    /// As in [`Command`].
    view_age: u16,
}

/// Fires the weapon that the player in `slot` commands, if it is loaded.
pub(crate) fn fire(combat: &mut Combat, slot: u16, command: Command) {
    let Some(entity) = combat.entities.get_mut(slot) else { return };
    let Some(fighter) = entity.fighter_mut() else { return };
    fighter.reload = fighter.reload.saturating_sub(1);
    if fighter.reload > 0 || fighter.dead > 0 {
        return;
    }
    let Some(aim) = aim(combat, slot, command) else { return };
    let reload = if command.buttons.contains(Buttons::FIRE) {
        ray(combat, &aim);
        RAY_RELOAD
    } else if command.buttons.contains(Buttons::ROCKET) {
        throw(combat, &aim, Weapon::Rocket);
        ROCKET_RELOAD
    } else if command.buttons.contains(Buttons::GRENADE) {
        if combat.entities.get(slot).is_some_and(|entity| entity.hovertank().is_some()) {
            drop_cargo(combat, slot);
            CARGO_RELOAD
        } else {
            throw(combat, &aim, Weapon::Grenade);
            GRENADE_RELOAD
        }
    } else {
        return;
    };
    let reload = combat.ticks(reload);
    if let Some(fighter) = combat.entities.get_mut(slot).and_then(|entity| entity.fighter_mut()) {
        fighter.reload = reload;
    }
}

fn aim(combat: &Combat, slot: u16, command: Command) -> Option<Aim> {
    let entity = combat.entities.get(slot)?;
    let centre = entity.placement()?.pose().position;
    let above = match entity.player()?.body {
        PlayerBody::Box(Walker { posture: Posture::Standing, .. }) => EYES_STANDING,
        PlayerBody::Box(Walker { posture: Posture::Crouching, .. }) => EYES_CROUCHING,
        PlayerBody::Hovertank(_) => TURRET,
    };
    Some(Aim {
        player: entity.id,
        eye: centre + DVec3::Z * above,
        direction: command.aim(),
        velocity: entity.velocity,
        view_age: command.view_age,
    })
}

fn ray(combat: &mut Combat, aim: &Aim) {
    let ray = Ray { from: aim.eye, direction: aim.direction, reach: RAY_REACH };
    let mut end = ray.in_world(combat.arena);
    let rewinds = aim.view_age > 0;
    combat.space().visit_entities(&ray.bounds(&end), Some(aim.player.slot), &mut |slot, body| {
        let is_player = combat.entities.get(slot).is_some_and(|entity| entity.fighter().is_some());
        if !(rewinds && is_player) {
            ray.meet(&mut end, slot, &body);
        }
    });
    if rewinds {
        visit_players_as_seen(combat, aim, &mut |slot, body| ray.meet(&mut end, slot, &body));
    }
    let to = ray.at(end.distance);
    combat.events.push(Event::Ray { player: aim.player, from: aim.eye, to });
    let Some(slot) = end.entity else { return };
    let Some(entity) = combat.entities.get(slot) else { return };
    let (is_player, is_rigid) = (entity.fighter().is_some(), entity.is_rigid());
    if is_player {
        combat.hurt(slot, aim.player, RAY_DAMAGE);
    }
    if is_rigid {
        sleep::wake(combat.entities, slot);
        if let Some(entity) = combat.entities.get_mut(slot) {
            let inverse_mass = combat.arena.shapes[entity.shape].inverse_mass;
            entity.velocity += aim.direction * (RAY_IMPULSE * inverse_mass);
        }
    }
}

/// Calls `each` with the other players that are there now, where the shooter saw
/// them, in ascending order of slot.
fn visit_players_as_seen<'a>(combat: &'a Combat, aim: &Aim, each: &mut impl FnMut(u16, Body<'a>)) {
    let others = combat.entities.iter().filter(|entity| entity.id != aim.player);
    for entity in others.filter(|entity| entity.fighter().is_some()) {
        let Some(now) = entity.placement() else { continue };
        let (shape, pose) = match combat.history.pose_at(entity.id, aim.view_age) {
            Some(pose_at) => (pose_at.shape, pose_at.pose),
            None => (now.shape(), *now.pose()),
        };
        each(entity.id.slot, Body::standing(&combat.arena.shapes[shape], pose));
    }
}

/// Puts a projectile in front of the player, if there is room for it and nothing in
/// between.
fn throw(combat: &mut Combat, aim: &Aim, weapon: Weapon) {
    let seconds = match weapon {
        Weapon::Rocket => ROCKET_SECONDS,
        Weapon::Grenade => GRENADE_SECONDS,
    };
    let Some(model) = combat.arena.model(weapon.model_name()) else { return };
    let Some(shape) = combat.arena.shapes.of_model(model) else { return };
    let Some(start) = muzzle(combat, aim, combat.arena.shapes[shape].radius) else { return };
    let pose = Pose { position: start, orientation: DQuat::IDENTITY };
    let space =
        Space { map: &combat.arena.map, shapes: &combat.arena.shapes, entities: combat.entities };
    let Some(placement) = space.place(shape, pose, None, combat.context) else { return };
    let projectile = Projectile { weapon, model, owner: aim.player, fuse: combat.ticks(seconds) };
    let Some(id) = combat.entities.insert(Role::Projectile(projectile), shape) else { return };
    combat.entities.commit(id.slot, placement);
    if let Some(entity) = combat.entities.get_mut(id.slot) {
        entity.velocity = match weapon {
            Weapon::Rocket => aim.direction * ROCKET_SPEED,
            Weapon::Grenade => {
                aim.direction * GRENADE_SPEED + DVec3::Z * GRENADE_LIFT + aim.velocity
            }
        };
    }
}

/// The nearest point in front of the eye at which a projectile of this radius does
/// not touch the thrower, if nothing is in between.
fn muzzle(combat: &Combat, aim: &Aim, radius: f64) -> Option<DVec3> {
    let own = combat.entities.find(aim.player)?.placement()?.bounds().inflated(radius + 1.0);
    let mut distance = f64::INFINITY;
    for axis in 0..3 {
        let (at, along) = (aim.eye[axis], aim.direction[axis]);
        let side = if along > 0.0 { own.max[axis] } else { own.min[axis] };
        if along != 0.0 {
            distance = distance.min((side - at) / along);
        }
    }
    let start = aim.eye + aim.direction * distance;
    let way = combat.arena.map.find_first_transition(
        combat.arena.sight,
        aim.eye.as_vec3(),
        start.as_vec3(),
    );
    matches!(way, Trace::Clear).then_some(start)
}
