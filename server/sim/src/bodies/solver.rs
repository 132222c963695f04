//! Sequential impulses in small steps (Catto 2005; Macklin et al., "Small Steps in Physics
//! Simulation", 2019). A tick is divided into sub-steps, each with two passes over all contacts.
//! Many short steps carry a stack that many passes over one long step do not carry.
//!
//! A contact lets its bodies approach up to the rest gap
//! ([`REST_GAP`](crate::collision::distances::REST_GAP)) within a sub-step, and no nearer. So a
//! fast body is braked before it reaches a wall. Bodies nearer than the rest gap are pushed apart
//! by a soft constraint. A relaxing pass without that push then removes the added speed, because a
//! correction of position must not add energy.
//!
//! A body that touches nothing needs no solver: gravity, drag and its engine alone move it
//! ([`mod@flight`]). After the sub-steps a *projection* ([`mod@projection`]) moves the targets
//! apart that would be nearer than the rest gap.
//!
//! Islands with the same number of sub-steps share [`block`]s, and a large island is divided into
//! several blocks ([`divided`]). Threads solve one block each. The contacts of a block are colored,
//! and contacts of one color are solved four at once ([`lanes`]). The solver computes in single
//! precision, and the guard then checks the displacements in `f64`. No island depends on another,
//! even if they share blocks and lanes.

mod arms;
mod block;
mod body;
mod coloring;
mod constraint;
mod contacts;
mod divided;
mod division;
mod flight;
mod island;
mod lanes;
mod load;
mod pass;
mod projection;
mod restitution;
mod softness;
mod task;

use glam::DVec3;

use crate::bodies::blocker::Blocker;
use crate::bodies::contact::{Pair, meeting};
use crate::bodies::dynamics::LockedAxes;
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::guard::{Placement, Proposal};
use crate::bodies::mobility::{Mobility, Pace};
use crate::bodies::slots::SlotSet;
use crate::collision::pose::Pose;
use crate::collision::shape::{Shape, Shapes};
use crate::context::StepContext;
use crate::threads::Threads;

pub(crate) use flight::damped;
pub(crate) use load::MOST_FOR_LOADS;
pub(crate) use restitution::RESTITUTION_THRESHOLD;

use body::Bodies;
use contacts::SubSteps;
use division::{Division, Place};
use flight::fly;
use island::Islands;
use load::{Carrier, sub_steps};

/// Maximum number of sub-steps per tick. With four, a stack of six mixed bodies sways for ever.
/// With eight, it stands and sleeps. With ten, heaps come to rest in a tenth less time, which saves
/// more than the two added sub-steps cost. With twelve, heaps come to rest no sooner. A small
/// island gets two sub-steps more than it has bodies.
const SUB_STEPS: u32 = 10;

/// Minimum number of sub-steps per tick. A body that touches only things that stand still gets this
/// many, because there is no stack to carry.
const SUB_STEPS_ALONE: u32 = 3;

/// Islands with no more sub-steps than this in a tick of 1/60 s solve their impacts repeatedly, and
/// the landings of bodies that a kinematic body carries. At full pace such islands have up to five
/// bodies.
const REPEATED_SUB_STEPS: u32 = 7;

/// The numbers of sub-steps above are for a tick of this length, in seconds, or a shorter one. A
/// longer tick gets proportionally more sub-steps. Otherwise, at 20 Hz, bodies would stand aslant
/// on the ground and on slopes.
const SUB_STEPPED_SECONDS: f64 = 1.0 / 60.0;

/// Fewer bodies than this are not shared out over threads: waking a thread takes as long as solving
/// dozens of them.
const MIN_SHARED: usize = 128;

/// A body that would move less than this within a tick, in units, stays where it is. Nobody can see
/// the difference, and its motion need not be checked. Most bodies that are about to sleep are this
/// slow.
const MIN_DISPLACEMENT: f64 = 1.0 / 4096.0;

/// A body with contacts that the solver leaves slower than this, in units per second, is held: all
/// forces on it cancel. A falling body gains this speed in a 27th part of a tick.
const HELD_SPEED: f64 = 0.5;

/// A held body moves no farther than this within a tick, in units, nor farther than a turn by
/// [`HELD_TURN`] would move its surface.
const HELD_DISTANCE: f64 = 1.0 / 64.0;

/// Like [`HELD_DISTANCE`], but for the rotation, in radians. A small body that settles by less than
/// that distance may still turn visibly, and would sleep aslant.
const HELD_TURN: f64 = 1.0 / 4096.0;

/// Highest speed of a prop in units per second.
const MAX_SPEED: f64 = 4000.0;

/// Largest rotation within a tick, in radians, before the projection: less than the angle up to
/// which [`crate::collision::pose::arc`] is tight. The guard is safe beyond that angle as well.
const MAX_TURN: f64 = 0.98;

/// Highest angular speed in a tick of this many seconds, in radians per second.
pub(crate) fn max_spin(seconds: f64) -> f64 {
    MAX_TURN / seconds
}

/// Applies gravity and solves the contacts of all `pairs` over a tick.
/// Writes the velocities to the awake props, and the impulses to the pairs.
/// Returns the target of each awake prop that moves, in ascending order of slot.
pub(crate) fn solve(
    entities: &mut Entities,
    shapes: &Shapes,
    pairs: &mut [Pair],
    context: &StepContext,
) -> Vec<Proposal> {
    let seconds = context.seconds;
    // A pair that is not solved in this tick takes no impulse.
    for pair in pairs.iter_mut() {
        pair.points.iter_mut().for_each(|point| point.taken = 0.0);
    }
    let indices = BodyIndices::new(entities, pairs);
    let islands = Islands::new(indices.movable_end, pairs, |pair| indices.of(pair));
    if entities.moving_kinematic().next().is_some() {
        forget_squeezed(entities, pairs, &islands);
    }
    let Division { mut blocks, mut divided, places, .. } =
        divide(entities, shapes, pairs, &indices, &islands, seconds);
    let alone = Threads::default();
    let threads = if places.len() > MIN_SHARED { &context.threads } else { &alone };
    threads.for_each(&mut blocks, |block| {
        block.prepare(entities, shapes, pairs, &indices, &places);
        if block.is_whole {
            block.solve();
        }
    });
    for island in &mut divided {
        divided::solve(island, &mut blocks, pairs, &indices, &places, threads);
    }
    let mut touched = vec![false; places.len()];
    let of_islands = divided.iter().map(|island| &island.contacts);
    for contacts in blocks.iter().map(|block| &block.contacts).chain(of_islands) {
        contacts.store_impulses(pairs);
        for &pair in &contacts.pairs {
            indices.of(&pairs[pair]).into_iter().for_each(|body| touched[body] = true);
        }
    }
    let mut proposals = Vec::with_capacity(places.len() - 1);
    for slot in indices.moved(entities).iter() {
        let Some(entity) = entities.get_mut(slot) else { continue };
        let (index, shape) = (indices.by_slot[usize::from(slot)], &shapes[entity.shape]);
        let seconds = seconds * f64::from(entity.record.pace.ticks());
        let Place { block, local } = places[index];
        proposals.extend(match local as usize {
            _ if entity.is_kinematic() => driven(entity, context.seconds),
            0 if entity.is_ball() => None,
            0 => fly(entity, shape, seconds),
            local => {
                let bodies = &blocks[block as usize].bodies;
                store(bodies, local, entity, shape, touched[index], seconds)
            }
        });
    }
    proposals
}

/// The target of a kinematic body, if it moves.
fn driven(entity: &mut Entity, seconds: f64) -> Option<Proposal> {
    entity.sleep.held = false;
    // A conveyor stands still.
    let moves = entity.mobility() == Mobility::Kinematic
        && [entity.velocity, entity.angular] != [DVec3::ZERO; 2];
    let start = *entity.placement().filter(|_| moves)?.pose();
    let target = start.advanced(entity.velocity, entity.angular, seconds);
    Some(Proposal { slot: entity.id.slot, target, seconds })
}

/// Clears the impulses of the last tick in each island that has stopped a kinematic body. Otherwise
/// a body that is squeezed between the kinematic body and a wall would gather impulses without end,
/// and would jump off when it is free.
fn forget_squeezed(entities: &Entities, pairs: &mut [Pair], islands: &Islands) {
    let is_held = |slot| {
        let held = |entity: &Entity| entity.mobility() == Mobility::Kinematic && entity.sleep.held;
        entities.get(slot).is_some_and(held)
    };
    for [_, touching] in islands.iter() {
        let squeezes = |&(_, at): &(usize, usize)| {
            let key = pairs[at].key;
            is_held(key.body) || key.other.entity().is_some_and(is_held)
        };
        if touching.iter().any(squeezes) {
            for &(_, at) in touching {
                pairs[at].points.iter_mut().for_each(|point| point.impulse = [0.0; 3]);
            }
        }
    }
}

/// Sets the paces of the bodies to those of their islands, and divides the islands into blocks.
fn divide(
    entities: &mut Entities,
    shapes: &Shapes,
    pairs: &[Pair],
    indices: &BodyIndices,
    islands: &Islands,
    seconds: f64,
) -> Division {
    let mut division = Division::new(indices.slots.len());
    for [members, touching] in islands.iter() {
        let slots = || members.iter().map(|&(_, body)| indices.slots[body]);
        let paces = slots().filter_map(|slot| entities.get(slot)).map(|entity| entity.record.pace);
        let pace = island_pace(paces);
        for slot in slots() {
            if let Some(entity) = entities.get_mut(slot) {
                entity.record.pace = pace;
            }
        }
        // A body that touches nothing needs no solver.
        if touching.is_empty() {
            continue;
        }
        let steps = usual_sub_steps(members.len());
        let repeats_impacts = at_pace(steps, pace) <= REPEATED_SUB_STEPS;
        let carriers: Vec<Carrier> =
            slots().map(|slot| carrier(entities.get(slot), shapes)).collect();
        let own = touching.iter().map(|&(_, pair)| &pairs[pair]);
        let steps = sub_steps(steps, &carriers, own, |pair| {
            let local = |of: usize| members.binary_search_by_key(&of, |&(_, body)| body);
            indices.of(pair).map(|body| local(body).unwrap_or(usize::MAX))
        });
        let is_carried = || {
            let mut bodies = touching.iter().flat_map(|&(_, pair)| indices.of(&pairs[pair]));
            bodies.any(|body| indices.is_moving_kinematic(body, entities))
        };
        let repeats_landings = repeats_impacts && is_carried();
        let count = at_pace(steps, pace) * repeats(seconds);
        let seconds = seconds * f64::from(pace.ticks());
        let steps = SubSteps { count, seconds, repeats_impacts, repeats_landings };
        let position = |body: usize| {
            let placement = entities.get(indices.slots[body]).and_then(Entity::placement);
            placement.map_or(DVec3::ZERO, |placement| placement.pose().position)
        };
        let bodies_of = |pair: usize| indices.of(&pairs[pair]);
        division.add([members, touching], steps, pace.ticks(), position, bodies_of);
    }
    division
}

/// The number of sub-steps of an island of this many bodies, before the loads of its bodies count.
fn usual_sub_steps(bodies: usize) -> u32 {
    (bodies as u32 + 2).clamp(SUB_STEPS_ALONE, SUB_STEPS)
}

/// The number of sub-steps that the loads of an island add in a tick of 1/60 s. The island has the
/// bodies in the slots `members`, which are ascending, and these pairs.
pub(crate) fn added_sub_steps(
    entities: &Entities,
    shapes: &Shapes,
    members: &[u16],
    pairs: &[&Pair],
) -> u32 {
    let usual = usual_sub_steps(members.len());
    let carriers: Vec<Carrier> =
        members.iter().map(|&slot| carrier(entities.get(slot), shapes)).collect();
    let local = |slot: u16| members.binary_search(&slot).unwrap_or(usize::MAX);
    let all = sub_steps(usual, &carriers, pairs.iter().copied(), |pair| {
        [Some(pair.key.body), pair.key.other.entity()].map(|slot| slot.map_or(usize::MAX, local))
    });
    all - usual
}

/// The [`Carrier`] of an entity. Without a placed entity it is a body that nothing moves.
fn carrier(entity: Option<&Entity>, shapes: &Shapes) -> Carrier {
    let placed = entity.and_then(|entity| Some((entity, entity.placement()?)));
    let of = |(entity, placement): (&Entity, &Placement)| Carrier {
        height: placement.pose().position.z,
        velocity: entity.velocity,
        mass: 1.0 / entity.mass(&shapes[entity.shape]).inverse_mass,
    };
    placed.map_or(Carrier { height: 0.0, velocity: DVec3::ZERO, mass: f64::INFINITY }, of)
}

/// The number of sub-steps of an island at a pace. At half rate, an island gets the sub-steps of
/// both ticks: with fewer, a heap would hardly fall asleep.
fn at_pace(steps: u32, pace: Pace) -> u32 {
    match pace {
        Pace::Full | Pace::Skips => steps,
        Pace::FewerSubSteps => (3 * steps).div_ceil(4),
        Pace::Double => 2 * steps,
    }
}

/// The factor by which a tick of this length has more sub-steps than a tick of 1/60 s.
fn repeats(seconds: f64) -> u32 {
    (seconds / SUB_STEPPED_SECONDS).round().max(1.0) as u32
}

/// The pace of an island. It moves two ticks at once only if all of its bodies have skipped one,
/// and has all sub-steps if any of its bodies needs them.
fn island_pace(mut paces: impl Iterator<Item = Pace> + Clone) -> Pace {
    if paces.clone().all(|pace| pace == Pace::Double) {
        Pace::Double
    } else if paces.any(|pace| pace == Pace::Full) {
        Pace::Full
    } else {
        Pace::FewerSubSteps
    }
}

/// The numbering of the bodies of a tick: first the fixed body, then the bodies that an impulse may
/// move, then the kinematic bodies that touch anything.
struct BodyIndices {
    /// For each slot: the number of its body; zero for entities that stand still.
    by_slot: Vec<usize>,
    /// The slots of the bodies.
    slots: Vec<u16>,
    /// Index of the first kinematic body.
    movable_end: usize,
}

impl BodyIndices {
    fn new(entities: &Entities, pairs: &[Pair]) -> Self {
        let (mut slots, mut balls) = (vec![0], Vec::new());
        for entity in entities.active() {
            match entity.mobility() {
                Mobility::Dynamic => slots.push(entity.id.slot),
                Mobility::Ball => balls.push(entity.id.slot),
                _ => {}
            }
        }
        // Other code moves balls, so balls only take impulses here.
        if !balls.is_empty() {
            let others = pairs.iter().filter_map(|pair| pair.key.other.entity());
            let touched: SlotSet = others.collect();
            balls.retain(|&ball| touched.contains(ball));
        }
        slots.extend(balls);
        let movable_end = slots.len();
        if entities.has_kinematic() {
            slots.extend(touched_kinematic(entities, pairs).iter());
        }
        let mut by_slot = vec![0; entities.slot_count()];
        for (index, &slot) in slots.iter().enumerate().skip(1) {
            by_slot[usize::from(slot)] = index;
        }
        Self { by_slot, slots, movable_end }
    }

    /// The bodies that impulses or games may move.
    fn moved(&self, entities: &Entities) -> SlotSet {
        let kinematic = entities.active_kinematic().map(|entity| entity.id.slot);
        self.slots[1..self.movable_end].iter().copied().chain(kinematic).collect()
    }

    /// Whether a body is a kinematic one that moves.
    fn is_moving_kinematic(&self, body: usize, entities: &Entities) -> bool {
        body >= self.movable_end
            && entities
                .get(self.slots[body])
                .is_some_and(|entity| [entity.velocity, entity.angular] != [DVec3::ZERO; 2])
    }

    /// The kinematic bodies of some pairs, each once and ascending.
    fn kinematic_of<'a>(&self, pairs: impl Iterator<Item = &'a Pair>) -> Vec<usize> {
        if self.movable_end == self.slots.len() {
            return Vec::new();
        }
        let mut kinematic: Vec<usize> = pairs.flat_map(|pair| self.of(pair)).collect();
        kinematic.retain(|&body| body >= self.movable_end);
        kinematic.sort_unstable();
        kinematic.dedup();
        kinematic
    }

    /// Indices of the two bodies of a pair.
    fn of(&self, pair: &Pair) -> [usize; 2] {
        let second = match pair.key.other {
            Blocker::Solid(_) => 0,
            Blocker::Entity(slot) => self.by_slot[usize::from(slot)],
        };
        [self.by_slot[usize::from(pair.key.body)], second]
    }
}

/// The kinematic bodies that touch something.
fn touched_kinematic(entities: &Entities, pairs: &[Pair]) -> SlotSet {
    let is_kinematic = |slot: &u16| entities.get(*slot).is_some_and(Entity::is_kinematic);
    let touched = meeting(pairs).flat_map(|pair| [Some(pair.key.body), pair.key.other.entity()]);
    touched.flatten().filter(is_kinematic).collect()
}

/// Writes the result of a body to its entity. Returns its target, if it moves.
fn store(
    bodies: &Bodies,
    index: usize,
    entity: &mut Entity,
    shape: &Shape,
    touched: bool,
    seconds: f64,
) -> Option<Proposal> {
    let radius = shape.radius;
    let [velocity, angular] = bodies.velocity(index);
    let velocity = velocity.clamp_length_max(MAX_SPEED);
    let angular = angular.clamp_length_max(max_spin(seconds));
    if entity.is_ball() && !bodies.list[index].is_fixed() {
        entity.velocity = velocity;
    }
    let start = *entity.placement().filter(|_| entity.mobility().is_guarded())?.pose();
    let (shift, rotation) = bodies.motion(index);
    let turned = match entity.dynamics.locked().contains(LockedAxes::ROTATION_LOCKED) {
        true => start.orientation,
        false => (rotation * start.orientation).normalize(),
    };
    let target = Pose { position: start.position + shift, orientation: turned };
    let distance = distance([&start, &target], radius);
    let held = touched
        && velocity.length() + angular.length() * radius < HELD_SPEED * entity.rest_share(shape)
        && distance <= HELD_DISTANCE.min(HELD_TURN * radius);
    (entity.sleep.held, entity.sleep.held_by_solver) = (held, held);
    (entity.velocity, entity.angular) = (velocity, angular);
    proposal(entity.id.slot, [&start, &target], radius, seconds)
}

/// The proposal of a body, if its motion is long enough to be seen.
fn proposal(slot: u16, poses: [&Pose; 2], radius: f64, seconds: f64) -> Option<Proposal> {
    let moves = distance(poses, radius) > MIN_DISPLACEMENT;
    moves.then_some(Proposal { slot, target: *poses[1], seconds })
}

/// Upper bound of how far a motion moves any point of a body, from its start to its end.
fn distance([start, target]: [&Pose; 2], radius: f64) -> f64 {
    let rotation = target.orientation * start.orientation.inverse();
    (target.position - start.position).length() + 2.0 * rotation.xyz().length() * radius
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_of_more_than_one_and_a_half_sixtieths_gets_more_sub_steps() {
        let at = |rate: f64| repeats(1.0 / rate);
        assert_eq!([240.0, 60.0, 41.0].map(at), [1; 3]);
        assert_eq!([39.0, 30.0, 20.0, 10.0].map(at), [2, 2, 3, 6]);
    }
}
