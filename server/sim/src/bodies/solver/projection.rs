//! Displacements that keep the gap: the approach that few velocity passes leave
//! over is removed from the displacements.
//!
//! The guard stops a body where it stands if its motion would go below the guard's
//! margin, so a heap whose every contact lacks a hundredth of a unit would not
//! move at all. The displacements of a tick are therefore projected on those that
//! keep the gap (a position-based solve, Müller et al. 2007, with impulses
//! accumulated as in a velocity solve).

use super::body::{Bodies, Twist, unpadded};
use super::constraint::{ConstraintPoint, ContactConstraint};
use super::lanes::{Lanes, Vec3Lanes, inverse_or_zero, positive_part};
use crate::collision::distances::REST_GAP;

/// Most passes over a batch's points, in either of the two solves.
const PASSES: u32 = 15;

/// The gap that is kept, in units: nearly the rest gap, and many times the guard's
/// margin.
const TARGET_GAP: f32 = 0.9 * REST_GAP as f32;

/// Farthest that two bodies are pushed apart within a tick, in units.
const MAX_PUSH: f32 = 0.5 * REST_GAP as f32;

/// Points that lack less than this, in units, are not corrected.
const TOLERANCE: f32 = 0.004;

/// Share of its mobility that the lower of two bodies has: a body that carries
/// others moves less, so that a heap is corrected from its ground up in few
/// passes.
const LOWER_MOBILITY: f32 = 0.25;

/// A point that is this near to what it aims for, in units, stays as it is: passes then
/// look only at the bodies around those that lack something.
const SETTLED: f32 = 0.25 * TOLERANCE;

/// The count of changes before there is any.
const FIRST_CHANGE: u32 = 1;

/// In a contact whose normal has at least this height, one body carries the other.
const CARRYING_SLOPE: f32 = 0.3;

/// The contacts of one constraint as the projection sees them.
struct ProjectedConstraint {
    inverse_masses: [Lanes; 2],
    /// The change after which the rows were last looked at.
    seen: u32,
}

/// One contact point of each lane.
struct ProjectedPoint {
    /// As the point's, by the share of the mobility.
    spins: [Vec3Lanes; 2],
    effective_mass: Lanes,
    /// Missing distance before any correction, in units.
    missing: Lanes,
    /// Distance by which the bodies are pushed apart beyond that, in units.
    push: Lanes,
    impulse: Lanes,
}

/// Scratch of the projection.
#[derive(Default)]
pub(super) struct Projection {
    /// One for each constraint.
    constraints: Vec<ProjectedConstraint>,
    /// One for each point.
    points: Vec<ProjectedPoint>,
    /// The displacements that the projection adds to the bodies' motions.
    corrections: Vec<Twist>,
    /// For each body the last change of its correction.
    changed: Vec<u32>,
    /// Changes so far, counted from [`FIRST_CHANGE`].
    changes: u32,
}

impl Projection {
    /// Corrects the displacements of `members` so that the points keep the gap.
    pub(super) fn project(
        &mut self,
        bodies: &mut Bodies,
        members: &[usize],
        constraints: &[ContactConstraint],
        points: &[ConstraintPoint],
        seconds: f32,
    ) {
        let (pushed, missing) = self.prepare(constraints, points);
        if missing < TOLERANCE && pushed < TOLERANCE {
            return;
        }
        self.corrections.clear();
        self.corrections.resize(bodies.list.len(), Twist::default());
        self.changed.clear();
        self.changed.resize(bodies.list.len(), FIRST_CHANGE);
        self.changes = FIRST_CHANGE;
        // First without the push: displacement that is removed is no velocity either.
        self.passes(constraints, points);
        for &member in members {
            let (correction, velocity) = (self.corrections[member], &mut bodies.velocities[member]);
            velocity.linear += correction.linear * (1.0 / seconds);
            velocity.angular += correction.angular * (1.0 / seconds);
        }
        if pushed >= TOLERANCE {
            for (projected, constraint) in self.constraints.iter_mut().zip(constraints) {
                for point in &mut self.points[constraint.points.clone()] {
                    if point.push.simd_gt(Lanes::ZERO).any() {
                        point.missing += point.push;
                        projected.seen = 0;
                    }
                }
            }
            self.passes(constraints, points);
        }
        for &member in members {
            let Twist { linear, angular } = self.corrections[member];
            if [linear, angular].iter().any(|vector| vector.to_array() != [0.0; 4]) {
                bodies.displace(member, linear, unpadded(angular));
            }
        }
    }

    /// Prepares all points. Returns the greatest sum of missing distance and push, and
    /// the greatest missing distance.
    fn prepare(
        &mut self,
        constraints: &[ContactConstraint],
        points: &[ConstraintPoint],
    ) -> (f32, f32) {
        self.constraints.clear();
        self.points.clear();
        let (mut most, mut worst) = (Lanes::ZERO, Lanes::ZERO);
        for constraint in constraints {
            let shares = constraint.shares();
            let inverse_masses = [0, 1].map(|k| constraint.inverse_masses[k] * shares[k]);
            let mut lacks = Lanes::ZERO;
            for point in &points[constraint.points.clone()] {
                let target = point.gap.fast_min(Lanes::splat(TARGET_GAP));
                let push = (TARGET_GAP - target).fast_min(Lanes::splat(MAX_PUSH));
                let exists = point.exists();
                let spins = [0, 1].map(|k| point.spins[k] * shares[k]);
                let response = inverse_masses[0]
                    + inverse_masses[1]
                    + point.torques[0].dot(spins[0])
                    + point.torques[1].dot(spins[1]);
                let missing = (target - (point.separation + REST_GAP as f32)) & exists;
                let push = push & exists;
                lacks = lacks.fast_max(missing);
                most = most.fast_max(missing + push);
                let effective_mass = inverse_or_zero(response) & exists;
                self.points.push(ProjectedPoint {
                    spins,
                    effective_mass,
                    missing,
                    push,
                    impulse: Lanes::ZERO,
                });
            }
            worst = worst.fast_max(lacks);
            // Rows that lack nothing wait until one of their bodies is moved.
            let seen = if lacks.simd_gt(SETTLED).any() { 0 } else { FIRST_CHANGE };
            self.constraints.push(ProjectedConstraint { inverse_masses, seen });
        }
        let greatest = |lanes: Lanes| lanes.to_array().into_iter().fold(0.0, f32::max);
        (greatest(most), greatest(worst))
    }

    /// Passes over all rows until none lacks more than the tolerance.
    fn passes(&mut self, constraints: &[ContactConstraint], points: &[ConstraintPoint]) {
        for _ in 0..PASSES {
            let mut worst = Lanes::ZERO;
            for (projected, constraint) in self.constraints.iter_mut().zip(constraints) {
                let changed = constraint.bodies.as_flattened().iter();
                let changed = changed.map(|&body| self.changed[body as usize]).max();
                if changed.is_some_and(|changed| changed <= projected.seen) {
                    continue;
                }
                let own = constraint.points.clone();
                let (missing, moved) = constraint.push_apart(
                    &points[own.clone()],
                    &mut self.points[own],
                    projected.inverse_masses,
                    &mut self.corrections,
                );
                worst = worst.fast_max(missing);
                if moved != 0 {
                    self.changes += 1;
                    for (lane, body) in
                        constraint.bodies.iter().flat_map(|of| of.iter().enumerate())
                    {
                        if moved & 1 << lane != 0 && *body > 0 {
                            self.changed[*body as usize] = self.changes;
                        }
                    }
                }
                projected.seen = self.changes;
            }
            if !worst.simd_ge(TOLERANCE).any() {
                break;
            }
        }
    }
}

impl ContactConstraint {
    /// Shares of their mobility that the two bodies of each lane have in the projection.
    fn shares(&self) -> [Lanes; 2] {
        if !self.is_mutual {
            return [Lanes::ONE; 2];
        }
        let up = self.axes[0].z();
        let lower = Lanes::splat(LOWER_MOBILITY);
        let carries = |up: Lanes| up.simd_ge(CARRYING_SLOPE).select(lower, Lanes::ONE);
        [carries(up), carries(-up)]
    }

    /// Pushes the bodies apart until each point lacks nothing. Returns the distance that
    /// was missing in each lane, and the mask of lanes whose bodies moved.
    fn push_apart(
        &self,
        points: &[ConstraintPoint],
        rows: &mut [ProjectedPoint],
        inverse_masses: [Lanes; 2],
        corrections: &mut [Twist],
    ) -> (Lanes, u32) {
        let normal = self.axes[0];
        let mut sum = self.velocities(corrections);
        let (mut worst, mut moved) = (Lanes::ZERO, Lanes::ZERO);
        for (row, point) in rows.iter_mut().zip(points) {
            let apart = normal.dot(sum.linear[1] - sum.linear[0])
                + point.torques[1].dot(sum.angular[1])
                - point.torques[0].dot(sum.angular[0]);
            let missing = row.missing - apart;
            worst = worst.fast_max(missing);
            let corrected = missing.abs().simd_ge(SETTLED);
            let impulse = positive_part(row.impulse + (missing & corrected) * row.effective_mass);
            let change = impulse - row.impulse;
            row.impulse = impulse;
            moved |= change.simd_ne(Lanes::ZERO);
            sum.linear[0] -= normal * (change * inverse_masses[0]);
            sum.angular[0] -= row.spins[0] * change;
            sum.linear[1] += normal * (change * inverse_masses[1]);
            sum.angular[1] += row.spins[1] * change;
        }
        let moved = moved.to_bitmask();
        if moved != 0 {
            self.store::<true>(corrections, &sum);
        }
        (worst, moved)
    }
}
