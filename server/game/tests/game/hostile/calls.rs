//! The calls of the hostile game, and their random and absurd arguments.

use std::sync::{Arc, OnceLock};

use glam::{DQuat, DVec3};
use obsp::Spaces;
use obsp::geometry::Aabb;
use obsp_game::{Event, EventError, VolumeId, WorldMut};
use obsp_sim::{
    BodyMass, BodyParameters, CollisionLayers, EntityId, ForceSpan, LockedAxes, MissileMotion,
    ModelId, PlayerKind, Posture, SweptShape,
};

use super::{HALF, MOST_BYTES, MOST_EVENTS, Refused, State, placed, trigger};
use crate::drawn::{brush, map};
use crate::extremes::EXTREMES;

/// Maximum number of calls by the game within one method.
const CALLS: u64 = 4;

/// Maximum numbers of ids that the game remembers and of volumes that it asks for.
const MOST_KNOWN: usize = 48;
const MOST_VOLUMES: u64 = 6;

/// An extreme number.
pub(super) fn odd(world: &mut WorldMut<'_>) -> f64 {
    EXTREMES[world.random().below(EXTREMES.len() as u64) as usize]
}

/// The vector with an extreme number on one axis, or on each.
fn with_odd(world: &mut WorldMut<'_>, mut vector: DVec3) -> DVec3 {
    match world.random().below(4) {
        3 => DVec3::from_array([(); 3].map(|()| odd(world))),
        axis => {
            vector[axis as usize] = odd(world);
            vector
        }
    }
}

/// A position, mostly within the room, sometimes far away, sometimes not finite.
pub(super) fn point(world: &mut WorldMut<'_>) -> DVec3 {
    let near = vector(world, HALF + 20.0) + DVec3::Z * (HALF * 0.6);
    match world.random().below(24) {
        0 => near * 1e4,
        1 => DVec3::splat(f64::NAN),
        2 => DVec3::new(f64::INFINITY, 0.0, f64::MIN),
        3 => near * 1e300,
        4 | 5 => with_odd(world, near),
        _ => near,
    }
}

/// A shipped model. In every third call it is one of the kinematic models, or one that the match
/// does not have.
fn any_model(world: &mut WorldMut<'_>) -> ModelId {
    let [first, end] = if world.random().below(3) == 0 { [12, 15] } else { [0, 12] };
    ModelId((first + world.random().below(end - first)) as u8)
}

fn vector(world: &mut WorldMut<'_>, reach: f64) -> DVec3 {
    DVec3::from_array([(); 3].map(|()| world.random().between(-reach, reach)))
}

pub(super) fn turned(world: &mut WorldMut<'_>) -> DQuat {
    if world.random().below(16) == 0 {
        return DQuat::from_xyzw(0.0, f64::NAN, 0.0, 0.0);
    }
    let [x, y, z, w] = [(); 4].map(|()| world.random().between(-2.0, 2.0));
    let turned = DQuat::from_xyzw(x, y, z, w);
    match world.random().below(8) {
        0 => turned * odd(world),
        1 => DQuat::from_array([(); 4].map(|()| odd(world))),
        _ => turned,
    }
}

/// A velocity or an impulse, from small to infinite.
fn force(world: &mut WorldMut<'_>) -> DVec3 {
    let reach = [0.1, 300.0, 5e3, 1e6, 1e300, f64::INFINITY][world.random().below(6) as usize];
    if world.random().below(4) == 0 {
        let usual = vector(world, 300.0);
        return with_odd(world, usual);
    }
    if reach.is_finite() { vector(world, reach) } else { DVec3::splat(reach) }
}

fn known(state: &State, world: &mut WorldMut<'_>) -> EntityId {
    let any = EntityId { slot: world.random().below(64) as u16, generation: 0 };
    match state.known.len() as u64 {
        0 => any,
        _ if world.random().below(8) == 0 => any,
        count => state.known[world.random().below(count) as usize],
    }
}

/// Number of kinds of calls in [`call`], and of all kinds.
const OWN_KINDS: u64 = 40;
pub(super) const KINDS: u64 = OWN_KINDS + placed::KINDS;

/// The kinds of calls that never change the world.
pub(super) const HARMLESS: [u64; 5] = [13, 20, 21, 22, 23];

/// Up to [`CALLS`] random calls.
pub(super) fn mischief(state: &mut State, world: &mut WorldMut<'_>) {
    for _ in 0..world.random().below(CALLS + 1) {
        let id = known(state, world);
        let kind = world.random().below(KINDS);
        let done = match kind.checked_sub(OWN_KINDS) {
            Some(kind) => {
                let has_room = state.known.len() <= MOST_KNOWN;
                placed::call(kind, id, state, world, has_room)
            }
            None => call(kind, id, state, world),
        };
        state.done.resize(KINDS as usize, 0);
        state.done[kind as usize] += u64::from(done);
    }
}

/// One call. Returns whether it has changed the world.
fn call(kind: u64, id: EntityId, state: &mut State, world: &mut WorldMut<'_>) -> bool {
    match kind {
        // The numbers of entities and volumes are bounded, so that many matches stay fast.
        0..=3 | 18 | 34 if state.known.len() > MOST_KNOWN => false,
        12 | 19 if state.volumes > MOST_VOLUMES => false,
        0 | 1 => {
            let (model, at) = (any_model(world), point(world));
            let turned = turned(world);
            let spawned = world.spawn_body(model, at, turned);
            state.known.extend(spawned);
            spawned.is_ok()
        }
        2 => {
            let (model, at) = (any_model(world), point(world));
            let spawned = world.spawn_body_near(model, at, DQuat::IDENTITY);
            state.known.extend(spawned);
            spawned.is_ok()
        }
        3 | 18 => {
            let on_foot = world.random().below(2) == 0;
            let agent = if on_foot { PlayerKind::Box } else { PlayerKind::Hovertank };
            let (at, yaw) = (point(world), world.random().bits() as u16);
            let spawned = match kind {
                3 => world.spawn_agent(agent).ok(),
                _ => world.spawn_agent_at(agent, at, yaw).ok(),
            };
            state.known.extend(spawned);
            spawned.is_some()
        }
        4 => world.remove(id).is_ok(),
        5..=7 => {
            let (at, turned) = (point(world), turned(world));
            world.teleport(id, at, turned).is_ok()
        }
        8 => {
            let (linear, angular) = (force(world), force(world));
            world.set_velocity(id, linear, angular).is_ok()
        }
        9 => {
            let (impulse, at) = (force(world), point(world));
            world.apply_impulse(id, impulse, at).is_ok()
        }
        10 => {
            let crouch = world.random().below(2) == 0;
            let posture = if crouch { Posture::Crouching } else { Posture::Standing };
            world.set_posture(id, posture).is_ok()
        }
        11 => world.take_out(id).is_ok(),
        12 => {
            let (a, b) = (point(world), point(world));
            state.volumes += 1;
            world.add_volume(&Aabb { min: a.min(b), max: a.max(b) }).is_some()
        }
        19 => {
            state.volumes += 1;
            add_brush_volume(world)
        }
        20 => {
            shout(id, world);
            false
        }
        14 | 15 if state.known.len() > MOST_KNOWN => false,
        14 | 15 => {
            let (model, at) = (any_model(world), point(world));
            let motion = if kind == 14 { MissileMotion::Straight } else { MissileMotion::Bouncing };
            let velocity = force(world);
            let spawned = world.spawn_missile(model, motion, at, velocity);
            state.known.extend(spawned);
            spawned.is_ok()
        }
        16 | 17 => {
            let gained = force(world);
            world.add_velocity(id, gained).is_ok()
        }
        24..=26 => {
            let parameters = parameters(world);
            world.set_body_parameters(id, parameters).is_ok()
        }
        27..=29 => push(id, world),
        30 => {
            let name = ["haste", "frozen", "no such set", ""][world.random().below(4) as usize];
            let usual = world.random().below(3) == 0;
            world.set_movement(id, (!usual).then_some(name)).is_ok()
        }
        31 => {
            let name = ["Guard", "", "\n", "\u{202e}"][world.random().below(4) as usize];
            let long = name.repeat(1 << world.random().below(8));
            world.name_agent(id, &long).is_ok()
        }
        32 | 33 => {
            let layers = layers(world);
            world.set_layers(id, layers).is_ok()
        }
        34..=39 => be_present(kind, id, state, world),
        13 => {
            world.watch(id);
            false
        }
        _ => {
            ask(id, world);
            false
        }
    }
}

/// Few layers, so that entities often may meet, and often may not.
fn layers(world: &mut WorldMut<'_>) -> CollisionLayers {
    let mut some = |usual: u32| match world.random().below(4) {
        0 => usual,
        1 => world.random().bits() as u32,
        _ => world.random().bits() as u32 & 0b111 | 1 << 31,
    };
    CollisionLayers { layers: some(1), mask: some(u32::MAX) }
}

/// Makes an entity visible, intangible, solid or attached.
fn be_present(kind: u64, id: EntityId, state: &mut State, world: &mut WorldMut<'_>) -> bool {
    let (at, turned, other) = (point(world), turned(world), known(state, world));
    match kind {
        34 => {
            let model = any_model(world);
            let spawned = world.spawn_intangible(model, at, turned);
            state.known.extend(spawned);
            spawned.is_ok()
        }
        35 => {
            let visible = world.random().below(2) == 0;
            world.set_visible(id, visible).is_ok()
        }
        36 => match world.random().below(2) {
            0 => world.make_intangible(id).is_ok(),
            _ => world.set_pose(id, at, turned).is_ok(),
        },
        37 => world.place(id, at, turned).is_ok(),
        38 => {
            let reach = [8.0, 64.0, 2000.0][world.random().below(3) as usize];
            let offset = vector(world, reach);
            let attached = world.attach(id, other, offset, turned).is_ok();
            assert!(!attached || world.attached_to(other).contains(&id), "{id:?} to {other:?}");
            attached
        }
        _ => world.detach(id).is_ok(),
    }
}

/// Parameters of a body, mostly within their ranges, often at an end of them.
fn parameters(world: &mut WorldMut<'_>) -> BodyParameters {
    let mut of = |ends: [f64; 2]| match world.random().below(12) {
        0 => odd(world),
        1 | 2 => ends[world.random().below(2) as usize],
        _ => world.random().between(ends[0], ends[1]),
    };
    // Powers of ten, so that masses of all ratios meet.
    let mass = 10_f64.powi(of([-2.0, 6.0]) as i32);
    let unit = of([1.0, 1e3]);
    let mass = match of([0.0, 4.0]) as u8 {
        0 => BodyMass::Density(of([0.00002, 0.2])),
        1 | 2 => BodyMass::Mass(mass),
        _ => BodyMass::MassAndInertia {
            mass,
            inertia: DVec3::new(unit, unit * 0.7, unit * 0.6) * mass,
        },
    };
    BodyParameters {
        mass,
        gravity_scale: of([-10.0, 10.0]),
        linear_damping: of([0.0, 100.0]),
        angular_damping: of([0.0, 100.0]),
        locked_axes: LockedAxes::from_bits(of([0.0, 64.0]) as u8).unwrap_or_default(),
    }
}

/// Adds a force or a torque, or ends all of them.
fn push(id: EntityId, world: &mut WorldMut<'_>) -> bool {
    let (force, at) = (force(world) * world.random().between(0.0, 1e6), point(world));
    let lasts = world.random().below(2) == 0;
    let span = if lasts { ForceSpan::UntilReset } else { ForceSpan::Tick };
    let pushed = match world.random().below(5) {
        0 | 1 => world.add_force(id, force, span),
        2 => world.add_force_at_point(id, force, at, span),
        3 => world.add_torque(id, force, span),
        _ => world.reset_forces(id),
    };
    pushed.is_ok()
}

/// Adds the brushes of an entity as a volume. The entity may have no brushes, or belong to another
/// map.
fn add_brush_volume(world: &mut WorldMut<'_>) -> bool {
    static OTHER: OnceLock<Arc<obsp::Map>> = OnceLock::new();
    let is_own = world.random().below(4) > 0;
    let elsewhere =
        || map(&Spaces::default(), &brush(DVec3::ZERO, DVec3::splat(64.0)), &trigger(96.0));
    let map = if is_own { world.map() } else { OTHER.get_or_init(elsewhere) }.clone();
    let chosen = world.random().below(map.entities().len() as u64) as usize;
    let entity = &map.entities()[chosen];
    let added = world.add_brush_volume(entity).is_some();
    assert_eq!(added, is_own && !entity.solids().is_empty(), "{entity:?}");
    added
}

/// Sends clients random events and lines. An event is refused if it is too long, of no declared
/// kind or without an encoding, or if there are too many.
fn shout(id: EntityId, world: &mut WorldMut<'_>) {
    let kind = ["told", "shouted", "whispered", ""][world.random().below(4) as usize];
    let is_declared = kind == "told" || kind == "shouted";
    let long = vec![0_u8; world.random().below(2 * MOST_BYTES as u64) as usize];
    let sent = match world.random().below(5) {
        0 => world.send(kind, &long),
        1 => world.send_to(id, kind, &long),
        2 => world.send(kind, &Refused),
        3 => world.send_to(id, kind, &(id, f64::NAN, "text")),
        _ => (0..2 * MOST_EVENTS).try_for_each(|count| world.send(kind, &count)),
    };
    match sent {
        Ok(()) => assert!(is_declared, "{kind}"),
        Err(EventError::UnknownKind { .. }) => assert!(!is_declared, "{kind}"),
        Err(EventError::TooLong { bytes }) => assert!(bytes > MOST_BYTES),
        Err(EventError::TooMany { most }) => assert_eq!(most, MOST_EVENTS),
        Err(_) => {}
    }
    let line =
        ["", "a line", "two\nlines", "\0\u{202e}", "\u{1f600}"][world.random().below(5) as usize];
    let times = 1 << world.random().below(10);
    world.announce(line.repeat(times));
}

/// Queries with any arguments do not panic.
fn ask(id: EntityId, world: &mut WorldMut<'_>) {
    let (from, to, half, turned) = (point(world), point(world), force(world), turned(world));
    let hit = world.cast_ray(from, to, Some(id));
    world.emit(Event::Ray { player: id, from, to: hit.at });
    let model = ModelId(world.random().below(20) as u8);
    for shape in [SweptShape::Box(half), SweptShape::Model(model)] {
        let swept = world.sweep(shape, turned, [from, to], Some(id));
        assert!((0.0..=1.0).contains(&swept.fraction), "{swept:?}");
    }
    world.sweep(SweptShape::Player(Posture::Standing), turned, [from, to], None);
    world.overlapping_box(&Aabb { min: from.min(to), max: from.max(to) });
    let age = world.random().bits() as u16;
    let seen = world.cast_ray_as_seen(id, from, to, half.x, age);
    assert!(seen.fraction <= 1.0, "{seen:?}");
    let (reach, radius) = (odd(world), odd(world));
    let seen = world.cast_ray_as_seen(id, from, half, reach, age);
    assert!((0.0..=1.0).contains(&seen.fraction), "{seen:?}");
    world.near(from, half.y);
    world.near(from, radius);
    world.ticks_in(radius);
    world.muzzle(id, model, from, to);
    world.inside(VolumeId(age % 8));
    world.touching(id);
    world.keeps_touching(id, hit.entity.unwrap_or(id));
    world.in_sight(from, to);
    let counts = |entity: EntityId| entity.slot.is_multiple_of(2);
    assert!(world.cast_ray_where(from, to, counts).fraction <= 1.0);
    for hit in world.cast_ray_all(from, to, counts) {
        assert!((0.0..=1.0).contains(&hit.fraction), "{hit:?}");
    }
    let swept = world.sweep_where(SweptShape::Box(half), turned, [from, to], counts);
    assert!((0.0..=1.0).contains(&swept.fraction), "{swept:?}");
    if let Some(near) = world.nearest_point(from, radius, counts) {
        assert!(near.distance <= radius && near.at.is_finite(), "{near:?}");
    }
    for contact in world.contacts_of(id) {
        assert!(contact.impulse >= 0.0 && contact.at.is_finite(), "{contact:?}");
    }
}
