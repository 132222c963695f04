use std::sync::Arc;

use glam::DVec3;
use obsp_sim::{Buttons, Command, EntityId, Kind, MissileMotion, Posture};
use serde::{Deserialize, Serialize};

use super::fighter::{Hit, hurt};
use super::{ArenaState, ticks};
use crate::event::Event;
use crate::game_file::{Ray, Thrown, Weapon, WeaponKey, WeaponKind};
use crate::quake::items::Ammunition;
use crate::world_mut::WorldMut;

/// Height of the eyes above the centre of the box, and half of the box's height, of a player of the
/// default size, in units. Players of other sizes have their eyes at a proportional height.
const EYES_STANDING: [f64; 2] = [22.0, 28.0];
const EYES_CROUCHING: [f64; 2] = [10.0, 18.0];

/// Height of a hovertank's gunner above its centre of mass, in units.
const TURRET: f64 = 12.0;

/// A missile that will explode.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Shot {
    pub(super) owner: EntityId,
    /// Ticks until the missile explodes by itself.
    pub(super) fuse: u16,
}

/// Start and direction of a shot.
struct Aim {
    player: EntityId,
    eye: DVec3,
    direction: DVec3,
    velocity: DVec3,
    /// Age of the shooter's view: the `view_age` of the [`Command`].
    view_age: u16,
}

/// Fires the weapon whose key a player presses, if it is loaded.
pub(super) fn fire(
    state: &mut ArenaState,
    world: &mut WorldMut<'_>,
    player: EntityId,
    command: &Command,
) {
    let Some(fighter) = state.fighters.get_mut(player) else { return };
    fighter.reload = fighter.reload.saturating_sub(1);
    if fighter.reload > 0 || fighter.dead > 0 {
        return;
    }
    let Some(key) = pressed(command.buttons) else { return };
    let Some(aim) = Aim::of(world, player, command) else { return };
    let weapons = Arc::clone(world.game_file().weapons());
    let Weapon { refire_seconds, kind } = weapons.of_key(key);
    let items = state.items.as_mut();
    if items.is_some_and(|items| !items.spend(player, ammunition(kind))) {
        return;
    }
    match kind {
        WeaponKind::Ray(weapon) => ray(state, world, &aim, weapon),
        WeaponKind::Rocket(weapon) => {
            let velocity = aim.direction * weapon.speed;
            throw(state, world, &aim, weapon, MissileMotion::Straight, velocity);
        }
        WeaponKind::Grenade(weapon) => {
            let velocity = aim.direction * weapon.speed + DVec3::Z * weapon.lift + aim.velocity;
            throw(state, world, &aim, weapon, MissileMotion::Bouncing, velocity);
        }
    }
    if let Some(fighter) = state.fighters.get_mut(player) {
        fighter.reload = ticks(world, *refire_seconds);
    }
}

/// The kinds of ammunition that a weapon fires, where the map has any of them.
fn ammunition(weapon: &WeaponKind) -> &'static [Ammunition] {
    match weapon {
        WeaponKind::Ray(_) => &[Ammunition::Shells, Ammunition::Nails, Ammunition::Cells],
        WeaponKind::Rocket(_) | WeaponKind::Grenade(_) => &[Ammunition::Rockets],
    }
}

/// The weapon key that is pressed, or the first of several.
fn pressed(buttons: Buttons) -> Option<WeaponKey> {
    let keys = [
        (Buttons::PRIMARY, WeaponKey::Fire),
        (Buttons::SECONDARY, WeaponKey::Rocket),
        (Buttons::TERTIARY, WeaponKey::Grenade),
    ];
    keys.into_iter().find(|(button, _)| buttons.contains(*button)).map(|(_, key)| key)
}

impl Aim {
    /// The aim of a player; `None` if the player is out of the world.
    fn of(world: &WorldMut<'_>, player: EntityId, command: &Command) -> Option<Self> {
        let entity = world.entity(player)?;
        let above = match entity.kind {
            Kind::Player { posture } => {
                let [part, whole] = match posture {
                    Posture::Standing => EYES_STANDING,
                    Posture::Crouching => EYES_CROUCHING,
                };
                world.player_half_extents(posture).z * part / whole
            }
            Kind::Vehicle { .. } | Kind::Prop { .. } => TURRET,
        };
        Some(Self {
            player,
            eye: entity.position + DVec3::Z * above,
            direction: command.aim(),
            velocity: entity.velocity,
            view_age: command.view_age,
        })
    }
}

fn ray(state: &mut ArenaState, world: &mut WorldMut<'_>, aim: &Aim, weapon: &Ray) {
    let Aim { player, eye, direction, view_age, .. } = *aim;
    let hit = world.cast_ray_as_seen(player, eye, direction, weapon.reach, view_age);
    world.emit(Event::Ray { player, from: eye, to: hit.at });
    state.entities.ray([eye, hit.at], weapon.damage, player);
    let Some(target) = hit.entity else { return };
    state.entities.damaged(target, weapon.damage, player);
    if let Some(inverse_mass) = world.inverse_mass(target) {
        // The call cannot fail, because the ray has hit the target in the world.
        let _ = world.add_velocity(target, direction * (weapon.impulse * inverse_mass));
    }
    hurt(
        state,
        world,
        Hit { player: target, by: Some(player), means: "ray", damage: weapon.damage },
    );
}

/// Spawns a missile in front of the player, if there is room for it and nothing is between the two.
fn throw(
    state: &mut ArenaState,
    world: &mut WorldMut<'_>,
    aim: &Aim,
    weapon: &Thrown,
    motion: MissileMotion,
    velocity: DVec3,
) {
    let Some(model) = world.model(&weapon.model) else { return };
    let muzzle = world.muzzle(aim.player, model, aim.eye, aim.direction);
    let thrown = muzzle.and_then(|start| world.spawn_missile(model, motion, start, velocity).ok());
    if let Some(missile) = thrown {
        let shot = Shot { owner: aim.player, fuse: ticks(world, weapon.fuse_seconds) };
        state.shots.insert(missile, shot);
    }
}
