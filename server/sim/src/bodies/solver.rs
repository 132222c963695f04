//! Sequential impulses in small steps (Catto 2005; Macklin et al., "Small
//! Steps in Physics Simulation", 2019): a tick is cut into sub-steps, each with
//! two passes over all contacts, because many short steps carry a stack that many
//! passes over one long step do not.
//!
//! A contact lets its bodies approach no faster than brings them to the rest gap
//! ([`REST_GAP`](crate::collision::distances::REST_GAP)), so a fast body is braked
//! before it reaches a wall. Bodies nearer than the rest gap are pushed apart by a
//! soft constraint, and a relaxing pass without that push removes the added speed
//! again: a correction of position must not become energy.
//!
//! Islands that take the same number of sub-steps are a [`Batch`]. Its contacts are
//! colored, and those of one color are solved four at once, in single precision
//! ([`lanes`]): the guard checks the displacements that come out in `f64`.

mod body;
mod coloring;
mod constraint;
mod island;
mod lanes;
mod projection;
mod softness;

use arrayvec::ArrayVec;

use crate::bodies::blocker::Blocker;
use crate::bodies::contact::Pair;
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::guard::Proposal;
use crate::bodies::overload::Pace;
use crate::collision::pose::Pose;
use crate::collision::shape::Shapes;

pub(crate) use constraint::{FRICTION, RESTITUTION_THRESHOLD};

use body::Bodies;
use coloring::Edge;
use constraint::{ConstraintPoint, ContactConstraint};
use island::Islands;
use lanes::LANES;
use projection::Projection;
use softness::Softness;

/// Most sub-steps of a tick: with eight a stack of six mixed bodies stands and
/// sleeps; with four it sways for ever. An island of fewer bodies gets two
/// sub-steps more than it has bodies.
const SUB_STEPS: u32 = 8;

/// Sub-steps of a body that touches no other moving body: there is no stack to
/// carry.
const SUB_STEPS_ALONE: u32 = 3;

/// A body that would move less than this within a tick, in units, stays where it
/// is: nobody can see the difference, and its motion need not be checked. Most
/// bodies that are about to sleep are so slow.
const MIN_DISPLACEMENT: f64 = 1.0 / 4096.0;

/// A body with contacts that the solver leaves slower than this, in units per
/// second, is held: all forces on it cancel. A falling body gains as much in a
/// 27th part of a tick.
const HELD_SPEED: f64 = 0.5;

/// A body that is held moves no farther than this within a tick, in units.
const HELD_DISTANCE: f64 = 1.0 / 64.0;

/// Highest angular speed in radians per second.
const MAX_SPIN: f64 = 20.0;

/// Greatest rotation within a tick, in radians, before the projection: the bound up to
/// which [`crate::collision::pose::arc`] is tight. The guard is safe beyond it.
const MAX_TURN: f64 = 1.0;

/// Highest angular speed in a tick of this many seconds, in radians per second.
pub(crate) fn max_spin(seconds: f64) -> f64 {
    MAX_SPIN.min(MAX_TURN / seconds)
}

/// Applies gravity and solves the contacts of all `pairs` over `seconds`.
/// Writes the velocities of awake props and the impulses into the pairs.
/// Returns the target of each awake prop that moves, in ascending order of slot.
pub(crate) fn solve(
    entities: &mut Entities,
    shapes: &Shapes,
    pairs: &mut [Pair],
    seconds: f64,
) -> Vec<Proposal> {
    let mut indices = BodyIndices::default();
    let mut bodies = indices.collect(entities, shapes, pairs);
    let mut touched = vec![false; bodies.list.len()];
    let islands = Islands::new(bodies.list.len(), pairs, |pair| indices.of(pair));
    // By the number of ticks and of sub-steps.
    let mut batches: [[Batch; 2 * SUB_STEPS as usize + 1]; 3] = Default::default();
    let mut paces = vec![Pace::Full; bodies.list.len()];
    for [members, touching] in islands.iter() {
        let steps = (members.len() as u32 + 2).clamp(SUB_STEPS_ALONE, SUB_STEPS);
        let pace = island_pace(members.iter().map(|&(_, body)| bodies.list[body].pace));
        // With fewer than its own, a heap at half rate would hardly fall asleep.
        let steps = match pace {
            Pace::Full | Pace::Skips => steps,
            Pace::FewerSubSteps => (3 * steps).div_ceil(4),
            Pace::Double => 2 * steps,
        };
        members.iter().for_each(|&(_, body)| paces[body] = pace);
        let batch = &mut batches[usize::from(pace.ticks())][steps as usize];
        batch.members.extend(members.iter().map(|&(_, body)| body));
        batch.pairs.extend(touching.iter().map(|&(_, pair)| pair));
    }
    let batches = batches.iter_mut().enumerate().flat_map(|(ticks, batches)| {
        let used = batches.iter_mut().enumerate().filter(|(_, batch)| !batch.members.is_empty());
        used.map(move |(steps, batch)| (ticks, steps, batch))
    });
    for (ticks, steps, batch) in batches {
        batch.prepare(&bodies, pairs, &indices);
        batch.solve(&mut bodies, steps as u32, seconds * ticks as f64);
        batch.store_impulses(pairs);
        for &pair in &batch.pairs {
            indices.of(&pairs[pair]).into_iter().for_each(|body| touched[body] = true);
        }
    }
    let mut proposals = Vec::with_capacity(bodies.list.len() - 1);
    for entity in entities.iter_mut() {
        let index = indices.by_slot[usize::from(entity.id.slot)];
        let radius = shapes[entity.shape].radius;
        if index > 0 {
            entity.pace = paces[index];
        }
        let seconds = seconds * f64::from(entity.pace.ticks());
        proposals.extend(store(&bodies, index, entity, radius, touched[index], seconds));
    }
    proposals
}

/// How an island is simulated: by two ticks only if all of its bodies have skipped one,
/// and with all sub-steps if any body is to have them.
fn island_pace(mut paces: impl Iterator<Item = Pace> + Clone) -> Pace {
    if paces.clone().all(|pace| pace == Pace::Double) {
        Pace::Double
    } else if paces.any(|pace| pace == Pace::Full) {
        Pace::Full
    } else {
        Pace::FewerSubSteps
    }
}

/// Where the bodies are among those of the solver.
#[derive(Default)]
struct BodyIndices {
    /// By slot; zero for entities that no impulse moves.
    by_slot: Vec<usize>,
}

impl BodyIndices {
    /// All bodies that an impulse may move this tick.
    fn collect(&mut self, entities: &Entities, shapes: &Shapes, pairs: &[Pair]) -> Bodies {
        self.by_slot = vec![0; entities.slot_count()];
        let mut bodies = Bodies::with_capacity(entities.iter().count());
        let mut add = |entity: &Entity| {
            if let Some(index) = bodies.add(entity, shapes) {
                self.by_slot[usize::from(entity.id.slot)] = index;
            }
        };
        entities.iter().filter(|entity| entity.is_awake_body()).for_each(&mut add);
        // Grenades are moved elsewhere: here they only take impulses.
        let mut balls: Vec<u16> = pairs.iter().filter_map(|pair| pair.key.other.entity()).collect();
        balls.retain(|&other| entities.get(other).is_some_and(|e| e.is_ball() && e.yields()));
        balls.sort_unstable();
        balls.dedup();
        balls.into_iter().filter_map(|ball| entities.get(ball)).for_each(add);
        bodies
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

/// Writes the result of a body to its entity. Returns its target, if it moves.
fn store(
    bodies: &Bodies,
    index: usize,
    entity: &mut Entity,
    radius: f64,
    touched: bool,
    seconds: f64,
) -> Option<Proposal> {
    let [velocity, angular] = bodies.velocity(index);
    if entity.is_ball() && !bodies.list[index].is_fixed() {
        entity.velocity = velocity;
    }
    let start = *entity.placement().filter(|_| entity.is_awake_body())?.pose();
    let (shift, rotation) = bodies.motion(index);
    let turn = 2.0 * rotation.xyz().length();
    // No point of the body moves farther than this.
    let distance = shift.length() + turn * radius;
    let held = touched
        && velocity.length() + angular.length() * radius < HELD_SPEED
        && distance <= HELD_DISTANCE;
    (entity.sleep.held, entity.sleep.held_by_solver) = (held, held);
    (entity.velocity, entity.angular) = (velocity, angular);
    let target = Pose {
        position: start.position + shift,
        orientation: (rotation * start.orientation).normalize(),
    };
    (distance > MIN_DISPLACEMENT).then_some(Proposal { slot: entity.id.slot, target, seconds })
}

/// Islands that take the same number of sub-steps.
#[derive(Default)]
struct Batch {
    /// Indices of its bodies.
    members: Vec<usize>,
    /// Indices of its pairs that touch.
    pairs: Vec<usize>,
    /// Which of these pairs are solved at once.
    groups: Vec<Vec<u32>>,
    /// One for each group.
    constraints: Vec<ContactConstraint>,
    points: Vec<ConstraintPoint>,
}

impl Batch {
    fn prepare(&mut self, bodies: &Bodies, pairs: &[Pair], indices: &BodyIndices) {
        let pair = |&at: &usize| (indices.of(&pairs[at]), &pairs[at]);
        let own: Vec<([usize; 2], &Pair)> = self.pairs.iter().map(pair).collect();
        let edge =
            |&(bodies, pair): &([usize; 2], &Pair)| Edge { bodies, points: pair.points.len() };
        let edges: Vec<Edge> = own.iter().map(edge).collect();
        self.groups = coloring::group(bodies.list.len(), &edges);
        for group in &self.groups {
            let lanes: ArrayVec<_, LANES> = group.iter().map(|&at| own[at as usize]).collect();
            self.constraints.push(ContactConstraint::new(bodies, &lanes, &mut self.points));
        }
    }

    /// Advances the members by a tick of `seconds` in this many sub-steps.
    fn solve(&mut self, bodies: &mut Bodies, steps: u32, seconds: f64) {
        if self.members.is_empty() {
            return;
        }
        let Self { members, constraints, points, .. } = self;
        let softness = Softness::new(seconds / f64::from(steps));
        let sub_step = (seconds / f64::from(steps)) as f32;
        let max_spin = max_spin(seconds) as f32;
        for step in 0..steps {
            members.iter().for_each(|&body| bodies.integrate_velocity(body, sub_step));
            if step == 0 {
                for constraint in &*constraints {
                    constraint.warm_start(points, &mut bodies.velocities);
                }
            }
            for constraint in &*constraints {
                constraint.solve(points, &mut bodies.velocities, sub_step, Some(&softness));
            }
            for &body in &*members {
                bodies.integrate_position(body, sub_step, max_spin);
            }
            for constraint in &*constraints {
                constraint.update_separations(points, bodies);
                constraint.solve(points, &mut bodies.velocities, sub_step, None);
            }
            members.iter().for_each(|&body| bodies.end_sub_step(body));
        }
        for constraint in &*constraints {
            constraint.apply_restitution(points, &mut bodies.velocities);
        }
        Projection::default().project(bodies, members, constraints, points, seconds as f32);
    }

    /// Writes the impulses into the pairs, for the next tick to begin with.
    fn store_impulses(&self, pairs: &mut [Pair]) {
        for (group, constraint) in self.groups.iter().zip(&self.constraints) {
            for (lane, &at) in group.iter().enumerate() {
                let points = &mut pairs[self.pairs[at as usize]].points;
                let impulses = constraint.impulses(&self.points, lane);
                points.iter_mut().zip(impulses).for_each(|(point, to)| point.impulse = to);
            }
        }
    }
}
