//! A state of the match as the page draws it.

use glam::{DQuat, DVec3};
use obsp_game::{Event, RunningMatch};
use obsp_proto::effects::Effect;
use obsp_recording::Playback;
use obsp_sim::{EntityId, EntityState, Kind, PlayerMotion, Posture, Traits, World};

use crate::json;

/// How many numbers describe an entity. `replay/frames.js` reads them in the same order.
const NUMBERS: usize = 16;

/// The flags of an entity.
const PLAYER: u8 = 1;
const ASLEEP: u8 = 2;
const CROUCHING: u8 = 4;
/// The flag of a player who waits to come back and is not in the world.
const DEAD: u8 = 8;

/// Appends the state of all visible entities, then of all dead players.
pub(crate) fn write_state(playback: &Playback, out: &mut Vec<u8>) {
    let game = playback.game();
    let state = game.world().state();
    let dead = playback.commands().iter().map(|(id, _)| *id);
    let dead = dead.filter(|id| !state.entities.iter().any(|entity| entity.id == *id));
    let visible = state.entities.iter().filter(|entity| entity.traits.visible);
    let alive = visible.map(|entity| numbers(game, entity));
    for number in alive.chain(dead.map(|id| waiting(game, id))).flatten() {
        out.extend(number.to_le_bytes());
    }
}

fn numbers(game: &dyn RunningMatch, entity: &EntityState) -> [f32; NUMBERS] {
    let mut numbers = waiting(game, entity.id);
    numbers[2..14].copy_from_slice(&pose(entity));
    numbers
}

/// Flags, model, position, rotation and velocity of an entity.
fn pose(entity: &EntityState) -> [f32; 12] {
    let EntityState { kind, position, orientation, velocity, asleep, .. } = entity;
    let (model, crouching) = match kind {
        Kind::Player { posture } => (-1.0, *posture == Posture::Crouching),
        Kind::Vehicle { model } | Kind::Prop { model } => (f32::from(model.0), false),
    };
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    let flags = flag(kind.is_player(), PLAYER) | flag(*asleep, ASLEEP) | flag(crouching, CROUCHING);
    let mut pose = [f32::from(flags), model, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    pose[2..5].copy_from_slice(&position.as_vec3().to_array());
    pose[5..9].copy_from_slice(&orientation.as_quat().to_array());
    pose[9..].copy_from_slice(&velocity.as_vec3().to_array());
    pose
}

/// Appends an entity of a match that is played, without its health, which the page has from events.
pub(crate) fn write_entity(entity: &EntityState, out: &mut Vec<u8>) {
    let mut numbers = [0.0; NUMBERS];
    numbers[..2].copy_from_slice(&[f32::from(entity.id.slot), f32::from(entity.id.generation)]);
    numbers[2..14].copy_from_slice(&pose(entity));
    out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

/// Appends the predicted player on foot, at this position.
pub(crate) fn write_walker(
    id: EntityId,
    position: DVec3,
    motion: &PlayerMotion,
    out: &mut Vec<u8>,
) {
    let yaw = f64::from(motion.walker.yaw) / 65_536.0 * std::f64::consts::TAU;
    let entity = EntityState {
        id,
        kind: Kind::Player { posture: motion.walker.posture },
        position,
        orientation: DQuat::from_rotation_z(yaw),
        velocity: motion.velocity.as_dvec3(),
        asleep: false,
        traits: Traits::default(),
    };
    write_entity(&entity, out);
}

/// The numbers of a player who is not in the world.
fn waiting(game: &dyn RunningMatch, id: EntityId) -> [f32; NUMBERS] {
    let mut numbers = [0.0; NUMBERS];
    numbers[..3].copy_from_slice(&[
        f32::from(id.slot),
        f32::from(id.generation),
        f32::from(PLAYER | DEAD),
    ]);
    if let Some(vitals) = game.vitals(id) {
        numbers[14..].copy_from_slice(&[f32::from(vitals.health), f32::from(vitals.score)]);
    }
    numbers
}

/// The effects of the last tick, in the form of the server's `/effects`.
pub(crate) fn events(tick: u64, game: &dyn RunningMatch) -> String {
    let effects = game.events().iter().filter_map(Event::effect);
    json::list(effects.map(|shown| effect(tick, &shown)))
}

/// An effect in the form of the server's `/effects`.
pub(crate) fn effect(tick: u64, effect: &Effect) -> String {
    let what = match effect {
        Effect::Ray { player, from, to } => {
            let (from, to) = (point(*from), point(*to));
            format!(r#""what":"ray","player":{player},"from":{from},"to":{to}"#)
        }
        Effect::Blast { at, radius } => {
            format!(r#""what":"blast","at":{},"radius":{radius}"#, point(*at))
        }
        Effect::Hurt { player, by, damage } => {
            format!(r#""what":"hurt","player":{player},"by":{by},"damage":{damage}"#)
        }
        Effect::Replaced { entity } => format!(r#""what":"replaced","entity":{entity}"#),
    };
    format!(r#"{{"tick":{tick},{what}}}"#)
}

/// The contact points of awake props, in the form of the server's `/contacts`.
pub(crate) fn contacts(world: &World) -> String {
    let points = world.contacts().map(|contact| {
        json::numbers([contact.at.x, contact.at.y, contact.at.z, contact.gap, contact.impulse])
    });
    format!(r#"{{"points":{}}}"#, json::list(points))
}

fn point(at: DVec3) -> String {
    json::numbers(at.to_array())
}
