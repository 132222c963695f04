//! Sequential impulses in small steps (Catto 2005; Macklin et al., "Small
//! Steps in Physics Simulation", 2019): a tick is cut into sub-steps, each with
//! one pass over all contacts, because many short steps carry a stack that many
//! passes over one long step do not.
//!
//! A contact lets its bodies approach no faster than brings them to the rest gap
//! ([`REST_GAP`](crate::collision::distances::REST_GAP)), so a fast body is braked
//! before it reaches a wall. Bodies nearer than the rest gap are pushed apart by a
//! soft constraint, and a relaxing pass without that push removes the added speed
//! again: a correction of position must not become energy.

mod body;
mod constraint;
mod island;
mod projection;
mod softness;

use crate::bodies::blocker::Blocker;
use crate::bodies::contact::Pair;
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::guard::Proposal;
use crate::collision::pose::Pose;
use crate::collision::shape::Shapes;

pub(crate) use constraint::{FRICTION, RESTITUTION_THRESHOLD};

use body::SolverBody;
use constraint::{ConstraintPoint, ContactConstraint};
use island::Islands;
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

/// Greatest rotation within a tick, in radians: the bound for which
/// [`crate::collision::pose::arc`] is proven.
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
    let mut bodies = SolverBodies::new(entities, shapes, pairs);
    // The working memory of one island at a time fits the cache.
    let mut island = Island::default();
    let mut touched = vec![false; bodies.list.len()];
    for [members, touching] in Islands::new(bodies.list.len(), pairs, |p| bodies.of(p)).iter() {
        let constraints = touching.iter().map(|&(_, at)| (bodies.of(&pairs[at]), &pairs[at]));
        island.prepare(&bodies.list, constraints);
        island.solve(&mut bodies.list, members, seconds);
        for (constraint, &(_, at)) in island.constraints.iter().zip(touching) {
            let impulses = constraint.impulses(&island.points);
            pairs[at].points.iter_mut().zip(impulses).for_each(|(point, to)| point.impulse = to);
            bodies.of(&pairs[at]).into_iter().for_each(|body| touched[body] = true);
        }
    }
    let mut proposals = Vec::with_capacity(bodies.list.len() - 1);
    for entity in entities.iter_mut() {
        let index = bodies.index_of[usize::from(entity.id.slot)];
        let radius = shapes[entity.shape].radius;
        proposals.extend(bodies.list[index].store(entity, radius, touched[index], seconds));
    }
    proposals
}

/// All bodies that an impulse may move this tick, and the fixed one.
struct SolverBodies {
    /// The first is fixed and stands for everything that no impulse moves.
    list: Vec<SolverBody>,
    /// By slot; zero for entities that no impulse moves.
    index_of: Vec<usize>,
}

impl SolverBodies {
    fn new(entities: &Entities, shapes: &Shapes, pairs: &[Pair]) -> Self {
        let count = entities.iter().count();
        let mut bodies =
            Self { list: Vec::with_capacity(count + 1), index_of: vec![0; entities.slot_count()] };
        bodies.list.push(SolverBody::FIXED);
        for entity in entities.iter().filter(|entity| entity.is_awake_body()) {
            bodies.add(entity, SolverBody::new(entity, shapes));
        }
        // Grenades are moved elsewhere: here they only take impulses.
        for other in pairs.iter().filter_map(|pair| pair.key.other.entity()) {
            if bodies.index_of[usize::from(other)] == 0
                && let Some(ball) = entities.get(other).filter(|e| e.is_ball() && e.yields())
            {
                bodies.add(ball, SolverBody::new(ball, shapes).map(SolverBody::weightless_ball));
            }
        }
        bodies
    }

    fn add(&mut self, entity: &Entity, body: Option<SolverBody>) {
        if let Some(body) = body {
            self.index_of[usize::from(entity.id.slot)] = self.list.len();
            self.list.push(body);
        }
    }

    /// Indices of the two bodies of a pair.
    fn of(&self, pair: &Pair) -> [usize; 2] {
        let second = match pair.key.other {
            Blocker::Solid(_) => 0,
            Blocker::Entity(slot) => self.index_of[usize::from(slot)],
        };
        [self.index_of[usize::from(pair.key.body)], second]
    }
}

impl SolverBody {
    /// Writes the result to the body's entity. Returns its target, if it moves.
    fn store(
        &self,
        entity: &mut Entity,
        radius: f64,
        touched: bool,
        seconds: f64,
    ) -> Option<Proposal> {
        if entity.is_ball() && !self.is_fixed() {
            entity.velocity = self.velocity;
        }
        let start = *entity.placement().filter(|_| entity.is_awake_body())?.pose();
        let target = Pose {
            position: start.position + self.delta_position,
            orientation: (self.delta_rotation * start.orientation).normalize(),
        };
        let held = touched
            && self.velocity.length() + self.angular.length() * radius < HELD_SPEED
            && !self.moves_farther_than(HELD_DISTANCE, radius);
        (entity.sleep.held, entity.sleep.held_by_solver) = (held, held);
        entity.velocity = self.velocity;
        entity.angular = self.angular;
        let moves = self.moves_farther_than(MIN_DISPLACEMENT, radius);
        moves.then_some(Proposal { slot: entity.id.slot, target, seconds })
    }
}

/// The prepared contacts of one island.
#[derive(Default)]
struct Island {
    constraints: Vec<ContactConstraint>,
    points: Vec<ConstraintPoint>,
    projection: Projection,
}

impl Island {
    fn prepare<'a>(
        &mut self,
        bodies: &[SolverBody],
        pairs: impl Iterator<Item = ([usize; 2], &'a Pair)>,
    ) {
        self.constraints.clear();
        self.points.clear();
        for (indices, pair) in pairs {
            self.constraints.push(ContactConstraint::new(bodies, indices, pair, &mut self.points));
        }
    }

    /// Advances the `members` of the island, each given with its island, by a
    /// tick of `seconds`.
    fn solve(&mut self, bodies: &mut [SolverBody], members: &[(usize, usize)], seconds: f64) {
        let steps = (members.len() as u32 + 2).clamp(SUB_STEPS_ALONE, SUB_STEPS);
        let sub_step = seconds / f64::from(steps);
        let softness = Softness::new(sub_step);
        let max_spin = max_spin(seconds);
        let points = &mut self.points;
        for step in 0..steps {
            members.iter().for_each(|&(_, body)| bodies[body].integrate_velocities(sub_step));
            if step == 0 {
                let constraints = self.constraints.iter();
                constraints.for_each(|constraint| constraint.warm_start(points, bodies));
            } else {
                members.iter().for_each(|&(_, body)| bodies[body].warm_start());
            }
            for constraint in &self.constraints {
                constraint.solve(points, bodies, sub_step, Some(&softness));
            }
            for &(_, body) in members {
                bodies[body].integrate_positions(sub_step, max_spin);
            }
            for constraint in &self.constraints {
                constraint.update_separations(points, bodies);
                constraint.solve(points, bodies, sub_step, None);
            }
            members.iter().for_each(|&(_, body)| bodies[body].end_sub_step());
        }
        let constraints = self.constraints.iter();
        constraints.for_each(|constraint| constraint.apply_restitution(points, bodies));
        self.projection.project(bodies, members, &self.constraints, &self.points, seconds);
    }
}
