//! The contacts of bodies that are solved together, in groups of four.

use arrayvec::ArrayVec;

use super::body::Bodies;
use super::coloring::{self, Edge, Group};
use super::constraint::{ConstraintPoint, ContactConstraint};
use super::lanes::LANES;
use super::pass::Pass;
use super::restitution::Impacts;
use super::softness::Softness;
use crate::bodies::contact::Pair;

/// How a tick is cut into sub-steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct SubSteps {
    pub(super) count: u32,
    /// Simulated time of all sub-steps, in seconds: two ticks of the match at half rate.
    pub(super) seconds: f64,
    /// Whether impacts are solved repeatedly in each sub-step.
    pub(super) repeats_impacts: bool,
    /// Whether landings are solved repeatedly in each sub-step.
    pub(super) repeats_landings: bool,
}

impl SubSteps {
    /// Length of a sub-step in seconds.
    pub(super) fn length(self) -> f64 {
        self.seconds / f64::from(self.count)
    }

    /// Number of additional passes over all points. A lift changes its speed when a tick begins,
    /// but its riders change theirs only within the tick. So they part and land again in each tick.
    /// Until the points agree, the order of the corners turns a rider. Friction would act on that
    /// turn as if the rider slipped, and would move the rider aside.
    fn landing_passes(self) -> u32 {
        if self.repeats_landings { LANDING_PASSES } else { 0 }
    }
}

/// Number of additional passes per sub-step over the points of a body that a kinematic body
/// carries. The points of one box agree after about ten passes.
const LANDING_PASSES: u32 = 10;

/// Pairs that touch, prepared for the solver.
#[derive(Default)]
pub(super) struct Contacts {
    /// Indices of the pairs among all pairs.
    pub(super) pairs: Vec<usize>,
    /// The pairs that are solved at once, by index in `pairs`.
    groups: Vec<Group>,
    /// The constraints, one for each group.
    pub(super) constraints: Vec<ContactConstraint>,
    pub(super) points: Vec<ConstraintPoint>,
    pub(super) impacts: Impacts,
}

impl Contacts {
    /// Prepares the pairs. `bodies_of` gives the indices of a pair's bodies, with zero for a body
    /// that stands still.
    pub(super) fn prepare(
        &mut self,
        bodies: &mut Bodies,
        pairs: &[Pair],
        bodies_of: impl Fn(&Pair) -> [usize; 2],
    ) {
        let pair = |&at: &usize| (bodies_of(&pairs[at]), &pairs[at]);
        let own: Vec<([usize; 2], &Pair)> = self.pairs.iter().map(pair).collect();
        let edge =
            |&(bodies, pair): &([usize; 2], &Pair)| Edge { bodies, points: pair.points.len() };
        let edges: Vec<Edge> = own.iter().map(edge).collect();
        self.groups = coloring::group(bodies.movable_end(), &edges);
        self.constraints.reserve(self.groups.len());
        let points_of = |&at: &u32| edges[at as usize].points;
        let points = |group: &Group| group.iter().map(points_of).max().unwrap_or(0);
        self.points.reserve(self.groups.iter().map(points).sum());
        for group in &self.groups {
            let lanes: ArrayVec<_, LANES> = group.iter().map(|&at| own[at as usize]).collect();
            let mut constraint = ContactConstraint::new(bodies, &lanes, &mut self.points);
            let at = self.constraints.len() as u32;
            self.impacts.note(at, &mut constraint, &mut self.points, bodies);
            self.constraints.push(constraint);
        }
    }

    /// Applies the impulses of the last tick.
    pub(super) fn warm_start(&self, bodies: &mut Bodies) {
        for constraint in &self.constraints {
            constraint.warm_start(&self.points, &mut bodies.velocities);
        }
    }

    /// The first pass of a sub-step: pushes bodies apart that are nearer than the rest gap.
    pub(super) fn push(&mut self, bodies: &mut Bodies, steps: SubSteps) {
        let softness = Softness::new(steps.length());
        self.solve(bodies, steps, &Pass::Push(softness));
        for _ in 0..steps.landing_passes() {
            self.solve(bodies, steps, &Pass::Push(softness));
        }
        self.meet(bodies, steps, &Pass::PushOn(softness));
    }

    /// The second pass, after the bodies have moved: without the push, and with friction.
    pub(super) fn relax(&mut self, bodies: &mut Bodies, steps: SubSteps) {
        for constraint in &self.constraints {
            constraint.update_separations(&mut self.points, bodies);
        }
        self.impacts.act_between(&mut self.constraints, &mut self.points, bodies);
        self.meet(bodies, steps, &Pass::Meet);
        for _ in 0..steps.landing_passes() {
            self.solve(bodies, steps, &Pass::Land);
        }
        self.solve(bodies, steps, &Pass::Relax);
        // Each sub-step applies the impulses of the last one again, and changes them.
        for point in &mut self.points {
            point.taken += point.impulses[0];
        }
    }

    fn solve(&mut self, bodies: &mut Bodies, steps: SubSteps, pass: &Pass) {
        for constraint in &self.constraints {
            let velocities = &mut bodies.velocities;
            constraint.solve(&mut self.points, velocities, steps.length() as f32, pass);
        }
    }

    /// Repeats a pass over the points that may take an impact until they agree. Otherwise the order
    /// of the corners would turn a box that falls flat, and friction would act on that turn as if
    /// the box slipped. Larger islands have more sub-steps and need no repetition.
    fn meet(&mut self, bodies: &mut Bodies, steps: SubSteps, pass: &Pass) {
        if !steps.repeats_impacts {
            return;
        }
        let Self { impacts, constraints, points, .. } = self;
        impacts.until_agreed(constraints, points, |constraint, points| {
            constraint.solve(points, &mut bodies.velocities, steps.length() as f32, pass);
        });
    }

    /// Applies restitution to the points that took an impact.
    pub(super) fn bounce(&mut self, bodies: &mut Bodies) {
        for point in &mut self.points {
            point.taken -= point.impulses[0];
        }
        self.impacts.bounce(&self.constraints, &mut self.points, &mut bodies.velocities);
        for point in &mut self.points {
            point.taken += point.impulses[0];
        }
    }

    /// Writes the impulses into the pairs. The next tick begins with them.
    pub(super) fn store_impulses(&self, pairs: &mut [Pair]) {
        for (group, constraint) in self.groups.iter().zip(&self.constraints) {
            for (lane, &at) in group.iter().enumerate() {
                let points = &mut pairs[self.pairs[at as usize]].points;
                let impulses = constraint.impulses(&self.points, lane);
                points.iter_mut().zip(impulses).for_each(|(point, to)| point.impulse = to);
                let taken = constraint.taken(&self.points, lane);
                points.iter_mut().zip(taken).for_each(|(point, taken)| point.taken = taken);
            }
        }
    }
}
