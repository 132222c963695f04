//! The digest: a hash of everything that ticks change and that the next tick
//! depends on.

use glam::{DVec3, Vec3};
use xxhash_rust::xxh3::Xxh3Default;

use super::sensors::Sensors;
use crate::bodies::armed_move::ArmedMove;
use crate::bodies::blocker::Blocker;
use crate::bodies::contact::Pair;
use crate::bodies::dynamics::{BodyMass, BodyParameters, OwnDynamics, Wrench};
use crate::bodies::entities::{Entities, Entity, Outside};
use crate::bodies::linear_move::LinearMove;
use crate::bodies::roles::{Kinematic, Missile, PlayerBody, Role};
use crate::bodies::swing::Swing;
use crate::conventions::GRAVITY;
use crate::players::history::PositionHistory;
use crate::state::EntityId;
use crate::traits::{Attachment, CollisionLayers, Traits};

/// Number of bytes that are collected before they are hashed. Hashing eight bytes alone takes
/// several times as long as hashing them among others.
const COLLECTED: usize = 4096;

/// A hash, and collected bytes that are not in it yet.
struct Hash {
    of_earlier: Xxh3Default,
    collected: [u8; COLLECTED],
    count: usize,
}

impl Hash {
    fn new() -> Self {
        Self { of_earlier: Xxh3Default::new(), collected: [0; COLLECTED], count: 0 }
    }

    #[inline]
    fn update<const N: usize>(&mut self, bytes: &[u8; N]) {
        if self.count + N > COLLECTED {
            self.of_earlier.update(&self.collected[..self.count]);
            self.count = 0;
        }
        self.collected[self.count..self.count + N].copy_from_slice(bytes);
        self.count += N;
    }

    fn digest(mut self) -> u64 {
        self.of_earlier.update(&self.collected[..self.count]);
        self.of_earlier.digest()
    }
}

/// The digest of a match: XXH3 over the exact bits of the bodies, of the contacts that the solver
/// starts from, and of the recent positions of the players. `gravity` is that of bodies.
pub(super) fn digest(
    tick: u64,
    entities: &Entities,
    pairs: &[Pair],
    history: &PositionHistory,
    gravity: f64,
    (sensors, armed): (&Sensors, &[(EntityId, ArmedMove)]),
) -> u64 {
    let mut hash = Hash::new();
    hash.update(&tick.to_le_bytes());
    if gravity != GRAVITY {
        add_numbers(&mut hash, &[gravity]);
    }
    for generation in entities.generations() {
        hash.update(&generation.to_le_bytes());
    }
    pairs.iter().for_each(|pair| add_pair(&mut hash, pair));
    for entity in entities.iter() {
        add_id(&mut hash, entity.id);
        add_role(&mut hash, &entity.role, entity.sleep.held);
        add_body(&mut hash, entity);
        add_traits(&mut hash, entity);
    }
    if !entities.agents().is_empty() {
        hash.update(&(entities.agents().len() as u64).to_le_bytes());
        entities.agents().iter().for_each(|id| add_id(&mut hash, *id));
    }
    for number in sensors.numbers().into_iter().flatten() {
        hash.update(&number.to_le_bytes());
    }
    for (id, ArmedMove { zone, by }) in armed {
        hash.update(b"armed");
        add_id(&mut hash, *id);
        add_numbers(&mut hash, &zone.min.to_array());
        add_numbers(&mut hash, &zone.max.to_array());
        add_linear_move(&mut hash, by);
    }
    for past in history.poses() {
        add_id(&mut hash, past.player);
        hash.update(&past.shape.0.to_le_bytes());
        add_numbers(&mut hash, &past.pose.position.to_array());
        add_numbers(&mut hash, &past.pose.orientation.to_array());
    }
    hash.digest()
}

fn add_pair(hash: &mut Hash, pair: &Pair) {
    let (kind, index) = match pair.key.other {
        Blocker::Solid(index) => (0, index),
        Blocker::Entity(slot) => (1, u32::from(slot)),
    };
    hash.update(&pair.key.body.to_le_bytes());
    hash.update(&[kind]);
    hash.update(&index.to_le_bytes());
    hash.update(&pair.key.parts.0.to_le_bytes());
    hash.update(&pair.key.parts.1.to_le_bytes());
    add_numbers(hash, &pair.axis.to_array());
    pair.features.pairs().iter().flatten().for_each(|index| hash.update(&index.to_le_bytes()));
    for point in &pair.points {
        for number in point.local.to_array().into_iter().chain(point.impulse) {
            hash.update(&number.to_bits().to_le_bytes());
        }
    }
}

/// Adds the role of a body. `held` is whether the guard held the body in the last tick.
fn add_role(hash: &mut Hash, role: &Role, held: bool) {
    match role {
        Role::Player(PlayerBody::Box(walker)) => {
            let flags = u8::from(walker.grounded) | u8::from(walker.jump_held) << 1;
            let flags = flags | (walker.movement.index() as u8) << 2;
            hash.update(&[1, walker.posture as u8, flags]);
            hash.update(&walker.yaw.to_le_bytes());
            if walker.ground_velocity != Vec3::ZERO {
                add_numbers(hash, &walker.ground_velocity.as_dvec3().to_array());
            }
        }
        // The drive of a tank is left out, because it is computed again in each tick.
        Role::Player(PlayerBody::Hovertank(tank)) => {
            hash.update(&[4, tank.model.0]);
        }
        Role::Prop(model) => hash.update(&[2, model.0]),
        Role::Kinematic(Kinematic { model, slowdowns, linear_move, swing, surface, .. }) => {
            hash.update(&[6, model.0, u8::from(held), *slowdowns]);
            if let Some(linear_move) = linear_move {
                hash.update(b"moves");
                add_linear_move(hash, linear_move);
            }
            if let Some(Swing { place, way, ticks, at }) = swing {
                hash.update(b"swings");
                add_numbers(hash, &place.to_array());
                add_numbers(hash, &way.to_array());
                hash.update(&ticks.to_le_bytes());
                hash.update(&at.to_le_bytes());
            }
            if *surface != DVec3::ZERO {
                hash.update(b"conveys");
                add_numbers(hash, &surface.to_array());
            }
        }
        Role::Missile(Missile { model, motion }) => hash.update(&[3, *motion as u8, model.0]),
    }
}

fn add_linear_move(hash: &mut Hash, LinearMove { goal, speed, delay }: &LinearMove) {
    add_numbers(hash, &goal.to_array());
    add_numbers(hash, &[*speed]);
    hash.update(&delay.to_le_bytes());
}

/// Adds pose, velocities and sleep of a body.
fn add_body(hash: &mut Hash, entity: &Entity) {
    if let Some(placement) = entity.placement() {
        let pose = placement.pose();
        add_numbers(hash, &pose.position.to_array());
        add_numbers(hash, &pose.orientation.to_array());
    }
    add_numbers(hash, &entity.velocity.to_array());
    add_numbers(hash, &entity.angular.to_array());
    let sleep = &entity.sleep;
    let unchanged =
        entity.record.searched_as.is_some() && entity.record.searched_as == entity.search_state();
    let [asleep, placed] = [sleep.asleep, entity.placement().is_some()].map(u8::from);
    hash.update(&[asleep, placed, u8::from(unchanged) | u8::from(entity.record.skipped) << 1]);
    for ticks in [sleep.still_ticks, sleep.jitter_ticks, sleep.held_ticks] {
        hash.update(&ticks.to_le_bytes());
    }
    if let Some(anchor) = sleep.anchor {
        add_numbers(hash, &anchor.position.to_array());
        add_numbers(hash, &anchor.orientation.to_array());
    }
    hash.update(&sleep.island.to_le_bytes());
    if let Some(own) = entity.dynamics.own() {
        add_dynamics(hash, own);
    }
    if let Some(pocket) = entity.pocket() {
        add_numbers(hash, &pocket.min.to_array());
        add_numbers(hash, &pocket.max.to_array());
    }
}

/// Adds the traits of an entity that are not the usual ones.
fn add_traits(hash: &mut Hash, entity: &Entity) {
    let Traits { layers, visible, .. } = entity.traits();
    if layers != CollisionLayers::default() {
        hash.update(b"layers");
        hash.update(&layers.layers.to_le_bytes());
        hash.update(&layers.mask.to_le_bytes());
    }
    if !visible {
        hash.update(b"hidden");
    }
    let pose = match entity.outside {
        Outside::Waits | Outside::TakenOut => return,
        Outside::Intangible(pose) => pose,
        Outside::Attached(Attachment { to, offset, rotation }, pose) => {
            hash.update(b"attached");
            add_id(hash, to);
            add_numbers(hash, &offset.to_array());
            add_numbers(hash, &rotation.to_array());
            pose
        }
    };
    hash.update(b"intangible");
    add_numbers(hash, &pose.position.to_array());
    add_numbers(hash, &pose.orientation.to_array());
}

/// Adds the parameters and forces that a body has of its own.
fn add_dynamics(hash: &mut Hash, own: &OwnDynamics) {
    let OwnDynamics { parameters, forces, kept, .. } = own;
    let &BodyParameters { mass, gravity_scale, linear_damping, angular_damping, locked_axes } =
        parameters;
    let (kind, mass) = match mass {
        BodyMass::Density(density) => (0, [density, 0.0, 0.0, 0.0]),
        BodyMass::Mass(mass) => (1, [mass, 0.0, 0.0, 0.0]),
        BodyMass::MassAndInertia { mass, inertia } => (2, [mass, inertia.x, inertia.y, inertia.z]),
    };
    hash.update(&[kind, locked_axes.bits(), u8::from(kept.is_some())]);
    add_numbers(hash, &mass);
    add_numbers(hash, &[gravity_scale, linear_damping, angular_damping]);
    for Wrench { force, torque } in [forces.lasting, forces.of_tick] {
        add_numbers(hash, &force.to_array());
        add_numbers(hash, &torque.to_array());
    }
    kept.iter().for_each(|kept| add_numbers(hash, &kept.to_array()));
}

fn add_id(hash: &mut Hash, id: EntityId) {
    hash.update(&id.slot.to_le_bytes());
    hash.update(&id.generation.to_le_bytes());
}

fn add_numbers(hash: &mut Hash, numbers: &[f64]) {
    for number in numbers {
        hash.update(&number.to_bits().to_le_bytes());
    }
}
