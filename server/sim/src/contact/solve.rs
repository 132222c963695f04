//! Sequential impulses in small steps (Catto 2005; Macklin et al., "Small
//! Steps in Physics Simulation", 2019): a tick is cut into sub-steps, each
//! with one pass over all contacts, because many short steps carry a stack
//! that many passes over one long step do not.
//!
//! A contact lets its bodies close no faster than brings them to the rest gap,
//! so a fast body is braked on the way, not stopped in the wall. Bodies nearer
//! than the rest gap are eased apart, and a second pass without that push
//! takes it out of the velocities again: a correction of place must not become
//! energy.

mod island;
mod manifold;
mod mover;
mod spring;

use super::Pair;
use crate::entities::Entities;
use crate::guard::{Blocker, Proposal};
use crate::pose::Pose;
use crate::shape::Shapes;

pub(crate) use manifold::{BOUNCE_SPEED, FRICTION};

use island::Islands;
use manifold::{Manifold, Point};
use mover::Mover;
use spring::Spring;

/// Most sub-steps of a tick: with eight a stack of six mixed bodies stands and
/// sleeps; with four it sways for ever. Fewer bodies need fewer, two more than
/// there are of them.
const SUB_STEPS: u32 = 8;

/// The same for a body that touches nothing else that moves: there is no stack
/// to carry.
const SUB_STEPS_ALONE: u32 = 3;

/// Who would move less than this within a tick, in units, stands: nobody can
/// see it, and no way need be looked at. Most who wait for sleep are so still.
const SLIGHT: f64 = 1.0 / 4096.0;

/// Whom something touches and the solver leaves slower than this, in units per
/// second, it holds: all forces on the body add up to nothing. A falling body
/// gains as much in a 27th part of a tick.
const POISED: f64 = 0.5;

/// And so far, in units, it may still be eased within a tick.
const EASED: f64 = 1.0 / 64.0;

/// Fastest spin in radians per second.
const MAX_SPIN: f64 = 20.0;

/// Farthest turn within a tick, in radians: that for which
/// [`crate::pose::arc`] is proven.
const MAX_TURN: f64 = 1.0;

/// Fastest spin in a tick of this many seconds, in radians per second.
pub(crate) fn max_spin(seconds: f64) -> f64 {
    MAX_SPIN.min(MAX_TURN / seconds)
}

/// Applies gravity and solves the contacts of all `pairs` over `seconds`.
/// Writes the velocities of awake props and the impulses into the pairs, and
/// returns where each awake prop should go that goes anywhere, in ascending
/// order of slot.
pub(crate) fn solve(
    entities: &mut Entities,
    shapes: &Shapes,
    pairs: &mut [Pair],
    seconds: f64,
) -> Vec<Proposal> {
    let count = entities.iter().count();
    let mut movers = Vec::with_capacity(count + 1);
    movers.push(Mover::FIXED);
    let mut index_of = Vec::with_capacity(count);
    for entity in entities.iter() {
        let slot = usize::from(entity.id.slot);
        index_of.resize(slot + 1, 0);
        if entity.is_awake_body()
            && let Some(mover) = Mover::new(entity, shapes)
        {
            index_of[slot] = movers.len();
            movers.push(mover);
        }
    }
    for other in pairs.iter().filter_map(|pair| pair.key.other.entity()) {
        if index_of[usize::from(other)] == 0
            && let Some(ball) = entities.get(other).filter(|e| e.is_ball() && e.yields())
            && let Some(mover) = Mover::new(ball, shapes)
        {
            index_of[usize::from(other)] = movers.len();
            movers.push(mover.weightless_ball());
        }
    }
    let bodies = |pair: &Pair| {
        let second = match pair.key.other {
            Blocker::Solid(_) => 0,
            Blocker::Entity(slot) => index_of[usize::from(slot)],
        };
        [index_of[usize::from(pair.key.body)], second]
    };
    // One island fits the cache, with all that is prepared for it.
    let mut island = Island::default();
    let mut touched = vec![false; movers.len()];
    for [members, touching] in Islands::new(movers.len(), pairs, bodies).iter() {
        island.prepare(&movers, touching.iter().map(|&(_, at)| (bodies(&pairs[at]), &pairs[at])));
        island.solve(&mut movers, members, seconds);
        for (manifold, &(_, at)) in island.manifolds.iter().zip(touching) {
            let impulses = manifold.impulses(&island.points);
            pairs[at].points.iter_mut().zip(impulses).for_each(|(point, to)| point.impulse = to);
            bodies(&pairs[at]).into_iter().for_each(|mover| touched[mover] = true);
        }
    }
    let mut proposals = Vec::with_capacity(movers.len() - 1);
    for entity in entities.iter_mut() {
        let index = index_of[usize::from(entity.id.slot)];
        let mover = &movers[index];
        if entity.is_ball() && index > 0 {
            entity.velocity = mover.velocity;
        }
        let Some(placement) = entity.placement().filter(|_| entity.is_awake_body()) else {
            continue;
        };
        let start = *placement.pose();
        let target = Pose {
            position: start.position + mover.moved,
            orientation: (mover.turned * start.orientation).normalize(),
        };
        let radius = shapes[entity.shape].radius;
        if mover.comes_farther_than(SLIGHT, radius) {
            proposals.push(Proposal { slot: entity.id.slot, target, seconds });
        }
        entity.rest.held = touched[index]
            && mover.velocity.length() + mover.angular.length() * radius < POISED
            && !mover.comes_farther_than(EASED, radius);
        entity.velocity = mover.velocity;
        entity.angular = mover.angular;
    }
    proposals
}

/// The contacts of one island, prepared.
#[derive(Default)]
struct Island {
    manifolds: Vec<Manifold>,
    points: Vec<Point>,
}

impl Island {
    fn prepare<'a>(
        &mut self,
        movers: &[Mover],
        pairs: impl Iterator<Item = ([usize; 2], &'a Pair)>,
    ) {
        self.manifolds.clear();
        self.points.clear();
        for (bodies, pair) in pairs {
            self.manifolds.push(Manifold::new(movers, bodies, pair, &mut self.points));
        }
    }

    fn solve(&mut self, movers: &mut [Mover], members: &[(usize, usize)], seconds: f64) {
        let steps = (members.len() as u32 + 2).clamp(SUB_STEPS_ALONE, SUB_STEPS);
        let sub_step = seconds / f64::from(steps);
        let spring = Spring::new(sub_step);
        let max_spin = max_spin(seconds);
        let points = &mut self.points;
        for _ in 0..steps {
            members.iter().for_each(|&(_, mover)| movers[mover].fall(sub_step));
            self.manifolds.iter().for_each(|manifold| manifold.warm_start(points, movers));
            for manifold in &self.manifolds {
                manifold.solve(points, movers, sub_step, Some(&spring));
            }
            members.iter().for_each(|&(_, mover)| movers[mover].go(sub_step, max_spin));
            for manifold in &self.manifolds {
                manifold.measure(points, movers);
                manifold.solve(points, movers, sub_step, None);
            }
        }
        self.manifolds.iter().for_each(|manifold| manifold.bounce(points, movers));
    }
}
