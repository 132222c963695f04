use glam::DVec3;
use obsp_sim::{Buttons, Command, EntityId, Kind, MissileMotion, Posture};
use serde::{Deserialize, Serialize};

use super::fighter::hurt;
use super::{ArenaState, ticks};
use crate::event::Event;
use crate::world_mut::WorldMut;

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

/// A missile that will explode.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Shot {
    pub(super) owner: EntityId,
    /// Ticks until it explodes of itself.
    pub(super) fuse: u16,
}

/// Start and direction of a shot.
struct Aim {
    player: EntityId,
    drives: bool,
    eye: DVec3,
    direction: DVec3,
    velocity: DVec3,
    /// As in [`Command`].
    view_age: u16,
}

/// Fires the weapon that a player commands, if it is loaded.
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
    let Some(aim) = Aim::of(world, player, command) else { return };
    let reload = if command.buttons.contains(Buttons::FIRE) {
        ray(state, world, &aim);
        RAY_RELOAD
    } else if command.buttons.contains(Buttons::ROCKET) {
        let velocity = aim.direction * ROCKET_SPEED;
        throw(state, world, &aim, "rocket", MissileMotion::Straight, velocity, ROCKET_SECONDS);
        ROCKET_RELOAD
    } else if command.buttons.contains(Buttons::GRENADE) && aim.drives {
        // Without room below the tank, nothing is dropped.
        let _ = world.drop_cargo(player);
        CARGO_RELOAD
    } else if command.buttons.contains(Buttons::GRENADE) {
        let velocity = aim.direction * GRENADE_SPEED + DVec3::Z * GRENADE_LIFT + aim.velocity;
        throw(state, world, &aim, "grenade", MissileMotion::Bouncing, velocity, GRENADE_SECONDS);
        GRENADE_RELOAD
    } else {
        return;
    };
    if let Some(fighter) = state.fighters.get_mut(player) {
        fighter.reload = ticks(world, reload);
    }
}

impl Aim {
    /// How a player aims; `None` outside of the world.
    fn of(world: &WorldMut<'_>, player: EntityId, command: &Command) -> Option<Self> {
        let entity = world.entity(player)?;
        let above = match entity.kind {
            Kind::Player { posture: Posture::Standing } => EYES_STANDING,
            Kind::Player { posture: Posture::Crouching } => EYES_CROUCHING,
            Kind::Vehicle { .. } | Kind::Prop { .. } => TURRET,
        };
        Some(Self {
            player,
            drives: matches!(entity.kind, Kind::Vehicle { .. }),
            eye: entity.position + DVec3::Z * above,
            direction: command.aim(),
            velocity: entity.velocity,
            view_age: command.view_age,
        })
    }
}

fn ray(state: &mut ArenaState, world: &mut WorldMut<'_>, aim: &Aim) {
    let Aim { player, eye, direction, view_age, .. } = *aim;
    let hit = world.cast_ray_as_seen(player, eye, direction, RAY_REACH, view_age);
    world.emit(Event::Ray { player, from: eye, to: hit.at });
    let Some(target) = hit.entity else { return };
    if let Some(inverse_mass) = world.inverse_mass(target) {
        // It is in the world: the ray has met it there.
        let _ = world.add_velocity(target, direction * (RAY_IMPULSE * inverse_mass));
    }
    hurt(state, world, target, player, RAY_DAMAGE);
}

/// Puts a missile in front of the player, if there is room for it and nothing in between.
fn throw(
    state: &mut ArenaState,
    world: &mut WorldMut<'_>,
    aim: &Aim,
    model: &str,
    motion: MissileMotion,
    velocity: DVec3,
    seconds: f64,
) {
    let Some(model) = world.model(model) else { return };
    let muzzle = world.muzzle(aim.player, model, aim.eye, aim.direction);
    let thrown = muzzle.and_then(|start| world.spawn_missile(model, motion, start, velocity).ok());
    if let Some(missile) = thrown {
        let shot = Shot { owner: aim.player, fuse: ticks(world, seconds) };
        state.shots.insert(missile, shot);
    }
}
