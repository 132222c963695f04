//! Restitution: two bodies that have met separate with a share of their approach speed, by Newton's
//! law of restitution at each point that took an impact.
//!
//! The points of an impact are solved together until they agree, so a box that falls flat stays
//! flat. The law alone may add energy where friction turns a body while it is pressed against
//! another (Kane and Levinson 1985). So the change of velocities of a whole island is shortened
//! until the island gains no energy. Islands that are divided into blocks are left out, because
//! their friction takes far more energy than this.

use arrayvec::ArrayVec;

use super::arms::{Arms, act_between, arms};
use super::body::{Bodies, Twist};
use super::constraint::{ConstraintPoint, ContactConstraint};
use super::contacts::Contacts;
use super::lanes::Lanes;
use super::pass::SpeedTarget;
use crate::bodies::contact::MAX_POINTS;

/// Impacts slower than this, in units per second, do not bounce. Several ticks of gravity give this
/// speed, so bodies at rest do not jitter.
pub(crate) const RESTITUTION_THRESHOLD: f64 = 60.0;

/// Maximum number of passes over the points of an impact. The points of one box agree after about
/// ten passes.
const PASSES: u32 = 60;

/// The points of an impact agree if their speeds miss their targets by no more than this, in units
/// per second.
const AGREED: f32 = 1e-3;

/// Maximum number of additional passes per sub-step over the points of an impact.
const MEETING_PASSES: u32 = 20;

/// Like [`AGREED`], but while bodies are pressed together. This speed turns a body of half a unit
/// by less than a thousandth of a radian within a sub-step.
const MEETING_AGREED: f32 = 0.02;

/// The constraints that may take an impact in this tick. In a heap at rest there are none.
///
/// A constraint is visited again only if one of its bodies has changed since the last visit.
/// Otherwise the visit would change nothing.
#[derive(Default)]
pub(super) struct Impacts {
    constraints: Vec<Impact>,
    /// For each body: the number of the visit that last changed it.
    changed: Vec<u32>,
    /// Number of visits so far.
    visits: u32,
}

/// A constraint that may take an impact.
struct Impact {
    constraint: u32,
    /// The number of the last visit.
    visited: u32,
    /// Its arms when the tick began.
    arms: Arms,
}

impl Impacts {
    /// Adds the constraint with number `at`, if any of its points may take an impact.
    pub(super) fn note(
        &mut self,
        at: u32,
        constraint: &mut ContactConstraint,
        points: &mut [ConstraintPoint],
        bodies: &mut Bodies,
    ) {
        if points[constraint.points.clone()].iter().any(|point| meets(point).any()) {
            let arms = arms(constraint, points);
            act_between(constraint, points, &arms, bodies);
            self.constraints.push(Impact { constraint: at, visited: 0, arms });
            for body in constraint.bodies.into_iter().flatten() {
                let count = self.changed.len().max(body as usize + 1);
                self.changed.resize(count, 0);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.constraints.is_empty()
    }

    /// Makes impulses act where the points of the constraints are now.
    pub(super) fn act_between(
        &self,
        constraints: &mut [ContactConstraint],
        points: &mut [ConstraintPoint],
        bodies: &mut Bodies,
    ) {
        for Impact { constraint, arms, .. } in &self.constraints {
            act_between(&mut constraints[*constraint as usize], points, arms, bodies);
        }
    }

    /// Lets `solve` solve the constraints until no normal impulse changes, [`MEETING_PASSES`] times
    /// at most.
    pub(super) fn until_agreed(
        &mut self,
        constraints: &[ContactConstraint],
        points: &mut [ConstraintPoint],
        solve: impl FnMut(&ContactConstraint, &mut [ConstraintPoint]),
    ) {
        self.repeat(MEETING_PASSES, constraints, points, solve);
    }

    /// Lets the bodies part at the points that took an impact.
    pub(super) fn bounce(
        &mut self,
        constraints: &[ContactConstraint],
        points: &mut [ConstraintPoint],
        velocities: &mut [Twist],
    ) {
        let part = |constraint: &ContactConstraint, points: &mut [ConstraintPoint]| {
            for point in &mut points[constraint.points.clone()] {
                let bounces = meets(point) & point.max_normal_impulse.simd_gt(Lanes::ZERO);
                if !bounces.any() {
                    continue;
                }
                let mut sum = constraint.velocities::<true>(velocities);
                let masses = point.effective_masses;
                point.effective_masses[0] = masses[0] & bounces;
                let target = SpeedTarget::rigid(point.impact_speed * constraint.restitution);
                constraint.solve_normal::<true>(point, &mut sum, &target, Lanes::splat(AGREED));
                point.effective_masses = masses;
                constraint.store::<true>(velocities, &sum);
            }
        };
        self.repeat(PASSES, constraints, points, part);
    }

    /// Makes up to this many passes of `solve` over the constraints, until no normal impulse
    /// changes.
    fn repeat(
        &mut self,
        passes: u32,
        constraints: &[ContactConstraint],
        points: &mut [ConstraintPoint],
        mut solve: impl FnMut(&ContactConstraint, &mut [ConstraintPoint]),
    ) {
        for pass in 0..passes {
            let mut agreed = true;
            for Impact { constraint: at, visited, .. } in &mut self.constraints {
                let constraint = &constraints[*at as usize];
                let bodies = || constraint.bodies.into_iter().flatten().filter(|body| *body > 0);
                let has_changed = |body: u32| self.changed[body as usize] >= *visited;
                if pass > 0 && !bodies().any(has_changed) {
                    continue;
                }
                self.visits += 1;
                *visited = self.visits;
                let impulses = |points: &[ConstraintPoint]| -> ArrayVec<Lanes, MAX_POINTS> {
                    let own = points[constraint.points.clone()].iter();
                    own.map(|point| point.impulses[0]).collect()
                };
                let before = impulses(points);
                solve(constraint, points);
                if impulses(points) != before {
                    agreed = false;
                    bodies().for_each(|body| self.changed[body as usize] = self.visits);
                }
            }
            if agreed {
                break;
            }
        }
    }
}

/// The lanes in which the bodies part at a point. The point's impulses are not kept, because the
/// next tick would take them back, one point after the other.
pub(super) fn parts(point: &ConstraintPoint, restitution: Lanes) -> Lanes {
    meets(point) & restitution.simd_gt(Lanes::ZERO)
}

/// Minimum change of a speed by a pass that is repeated over the points of a constraint, in units
/// per second. It is infinite in lanes that take no impact. So islands that agree, or have no
/// impact, do not change while others go on, and no island depends on another.
pub(super) fn least_change(points: &[ConstraintPoint]) -> Lanes {
    let meet = points.iter().fold(Lanes::ZERO, |any, point| any | meets(point));
    meet.select(Lanes::splat(MEETING_AGREED), Lanes::splat(f32::INFINITY))
}

/// The lanes in which the bodies approach at a point fast enough to bounce.
pub(super) fn meets(point: &ConstraintPoint) -> Lanes {
    point.impact_speed.simd_gt(RESTITUTION_THRESHOLD as f32)
}

/// Energies of an island, summed over its bodies, in kg·units²/s².
#[derive(Clone, Copy, Default)]
struct Energies {
    /// Kinetic energy when the tick began, and the work of forces within the tick.
    begun: f64,
    /// Kinetic energy before the bodies part.
    met: f64,
    /// Kinetic energy after the bodies have parted.
    parted: f64,
    /// Kinetic energy of the change of velocities alone.
    change: f64,
}

impl Energies {
    /// The share of the change of velocities that leaves no more energy than there was before.
    fn share(&self) -> f64 {
        let allowed = self.begun.max(self.met);
        if self.parted <= allowed {
            return 1.0;
        }
        let linear = self.parted - self.met - self.change;
        let root = (linear * linear + 4.0 * self.change * (allowed - self.met)).sqrt();
        ((root - linear) / (2.0 * self.change)).clamp(0.0, 1.0)
    }
}

/// Shortens the change of velocities since `met` in the islands that have gained energy since the
/// tick began with the velocities `begun`. `islands` gives the number of each body's island.
/// Islands that touch a moving kinematic body are left out, because the kinematic body adds energy.
pub(super) fn keep_energy(
    bodies: &mut Bodies,
    contacts: &Contacts,
    [begun, met]: [&[Twist]; 2],
    islands: &[u32],
    island_count: usize,
) {
    let mut energies = vec![Energies::default(); island_count];
    let movable_end = bodies.movable_end();
    for constraint in &contacts.constraints {
        let [first, second] = constraint.bodies;
        for [a, b] in first.into_iter().zip(second).map(|(a, b)| [a as usize, b as usize]) {
            if a.max(b) >= movable_end && bodies.moves(a.max(b)) {
                energies[islands[a.min(b)] as usize].begun = f64::INFINITY;
            }
        }
    }
    for body in 1..bodies.movable_end() {
        let of = &mut energies[islands[body] as usize];
        let parted = bodies.velocities[body];
        let change = Twist {
            linear: parted.linear - met[body].linear,
            angular: parted.angular - met[body].angular,
        };
        let kinetic = bodies.kinetic_energy(body);
        of.begun += kinetic(&begun[body]) + bodies.work(body);
        of.met += kinetic(&met[body]);
        of.parted += kinetic(&parted);
        of.change += kinetic(&change);
    }
    let shares: Vec<f64> = energies.iter().map(Energies::share).collect();
    for body in 1..bodies.movable_end() {
        let share = shares[islands[body] as usize] as f32;
        if share < 1.0 {
            let (from, to) = (met[body], &mut bodies.velocities[body]);
            to.linear = from.linear + (to.linear - from.linear) * share;
            to.angular = from.angular + (to.angular - from.angular) * share;
        }
    }
}
