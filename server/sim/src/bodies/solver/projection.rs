//! Displacements that keep the gap: the approach that few velocity passes leave
//! over is removed from the displacements.
//!
//! The guard stops a body where it stands if its motion would go below the guard's
//! margin, so a heap whose every contact lacks a hundredth of a unit would not
//! move at all. The displacements of a tick are therefore projected on those that
//! keep the gap (a position-based solve, Müller et al. 2007, with impulses
//! accumulated as in a velocity solve).

use glam::DVec3;

use super::body::SolverBody;
use super::constraint::{ConstraintPoint, ContactConstraint};
use crate::collision::distances::REST_GAP;

/// Most passes over an island's points, in either of the two solves.
const PASSES: u32 = 15;

/// The gap that is kept, in units: nearly the rest gap, and many times the guard's
/// margin.
const TARGET_GAP: f64 = 0.9 * REST_GAP;

/// Farthest that two bodies are pushed apart within a tick, in units.
const MAX_PUSH: f64 = 0.5 * REST_GAP;

/// Points that lack less than this, in units, are not corrected.
const TOLERANCE: f64 = 0.004;

/// Share of its mobility that the lower of two bodies has: a body that carries
/// others moves less, so that a heap is corrected from its ground up in few
/// passes.
const LOWER_MOBILITY: f64 = 0.25;

/// A row that is this near to what it aims for, in units, stays as it is: passes then
/// look only at the bodies around those that lack something.
const SETTLED: f64 = 0.25 * TOLERANCE;

/// The count of changes before there is any.
const FIRST_CHANGE: u32 = 1;

/// In a contact whose normal has at least this height, one body carries the other.
const CARRYING_SLOPE: f64 = 0.3;

/// One contact point as the projection sees it.
struct Row {
    normal: DVec3,
    inverse_masses: [f64; 2],
    torques: [DVec3; 2],
    spins: [DVec3; 2],
    effective_mass: f64,
    /// Missing distance before any correction, in units.
    missing: f64,
    /// Distance by which the bodies are pushed apart beyond that, in units.
    push: f64,
    impulse: f64,
}

/// The bodies of a row. Most rows of a pass need no more than this.
struct Link {
    bodies: [u32; 2],
    /// The change after which the row was last looked at.
    seen: u32,
}

/// The displacement that the projection adds to a body's motion.
#[derive(Clone, Copy, Default)]
struct Correction {
    shift: DVec3,
    turn: DVec3,
}

/// Scratch of the projection.
#[derive(Default)]
pub(super) struct Projection {
    rows: Vec<Row>,
    /// One for each row.
    links: Vec<Link>,
    corrections: Vec<Correction>,
    /// For each body the last change of its correction.
    changed: Vec<u32>,
    /// Changes so far, counted from [`FIRST_CHANGE`].
    changes: u32,
}

impl Projection {
    /// Corrects the displacements of the `members` of an island so that its points
    /// keep the gap.
    pub(super) fn project(
        &mut self,
        bodies: &mut [SolverBody],
        members: &[(usize, usize)],
        constraints: &[ContactConstraint],
        points: &[ConstraintPoint],
        seconds: f64,
    ) {
        let (push, worst) = self.prepare(constraints, points);
        if worst < TOLERANCE && push < TOLERANCE {
            return;
        }
        self.corrections.resize(bodies.len(), Correction::default());
        self.changed.resize(bodies.len(), 0);
        for &(_, member) in members {
            self.changed[member] = FIRST_CHANGE;
        }
        self.changes = FIRST_CHANGE;
        // First without the push: displacement that is removed is no velocity either.
        self.pass();
        for &(_, member) in members {
            let Correction { shift, turn } = self.corrections[member];
            bodies[member].velocity += shift / seconds;
            bodies[member].angular += turn / seconds;
        }
        if push >= TOLERANCE {
            for (row, link) in self.rows.iter_mut().zip(&mut self.links) {
                if row.push > 0.0 {
                    row.missing += row.push;
                    link.seen = 0;
                }
            }
            self.pass();
        }
        for &(_, member) in members {
            let Correction { shift, turn } = std::mem::take(&mut self.corrections[member]);
            bodies[member].displace(shift, turn);
        }
    }

    /// Prepares all points. Returns the greatest push and the greatest missing
    /// distance.
    fn prepare(
        &mut self,
        constraints: &[ContactConstraint],
        points: &[ConstraintPoint],
    ) -> (f64, f64) {
        self.rows.clear();
        self.links.clear();
        let (mut most, mut worst) = (0.0_f64, 0.0_f64);
        for constraint in constraints {
            let share = constraint.shares();
            for point in &points[constraint.points.clone()] {
                let target = TARGET_GAP.min(point.gap);
                let push = (TARGET_GAP - target).min(MAX_PUSH);
                let row = &point.rows[0];
                let spins = [row.spins[0] * share[0], row.spins[1] * share[1]];
                let inverse_masses = [
                    constraint.inverse_masses[0] * share[0],
                    constraint.inverse_masses[1] * share[1],
                ];
                let response = inverse_masses[0]
                    + inverse_masses[1]
                    + row.torques[0].dot(spins[0])
                    + row.torques[1].dot(spins[1]);
                let missing = target - (point.separation + REST_GAP);
                (most, worst) = (most.max(missing + push), worst.max(missing));
                self.links.push(Link {
                    bodies: constraint.bodies.map(|body| body as u32),
                    // A row that lacks nothing waits until one of its bodies is moved.
                    seen: if missing > SETTLED { 0 } else { FIRST_CHANGE },
                });
                self.rows.push(Row {
                    normal: constraint.axes[0],
                    inverse_masses,
                    torques: row.torques,
                    spins,
                    effective_mass: if response > 0.0 { 1.0 / response } else { 0.0 },
                    missing,
                    push,
                    impulse: 0.0,
                });
            }
        }
        (most, worst)
    }

    fn pass(&mut self) {
        for _ in 0..PASSES {
            let mut worst = 0.0_f64;
            for (row, link) in self.rows.iter_mut().zip(&mut self.links) {
                let [a, b] = link.bodies.map(|body| body as usize);
                if self.changed[a].max(self.changed[b]) <= link.seen {
                    continue;
                }
                let (missing, moves) = row.pass([a, b], &mut self.corrections);
                worst = worst.max(missing);
                if moves {
                    self.changes += 1;
                    self.changed[a] = self.changes;
                    if b > 0 {
                        self.changed[b] = self.changes;
                    }
                }
                link.seen = self.changes;
            }
            if worst < TOLERANCE {
                break;
            }
        }
    }
}

impl ContactConstraint {
    /// Shares of their mobility that the two bodies have in the projection.
    fn shares(&self) -> [f64; 2] {
        let up = self.axes[0].z;
        if self.bodies[1] == 0 || up.abs() < CARRYING_SLOPE {
            [1.0; 2]
        } else if up > 0.0 {
            [LOWER_MOBILITY, 1.0]
        } else {
            [1.0, LOWER_MOBILITY]
        }
    }
}

impl Row {
    /// Pushes the bodies apart until the point lacks nothing. Returns the distance that
    /// was missing, and whether the bodies moved.
    fn pass(&mut self, [a, b]: [usize; 2], corrections: &mut [Correction]) -> (f64, bool) {
        let (first, second) = (corrections[a], corrections[b]);
        let apart = self.normal.dot(second.shift - first.shift) + self.torques[1].dot(second.turn)
            - self.torques[0].dot(first.turn);
        let missing = self.missing - apart;
        if missing.abs() < SETTLED {
            return (missing, false);
        }
        let before = self.impulse;
        self.impulse = (before + missing * self.effective_mass).max(0.0);
        let change = self.impulse - before;
        if change != 0.0 {
            let [own, others] = self.inverse_masses;
            corrections[a].shift -= self.normal * (change * own);
            corrections[a].turn -= self.spins[0] * change;
            if b > 0 {
                corrections[b].shift += self.normal * (change * others);
                corrections[b].turn += self.spins[1] * change;
            }
        }
        (missing, change != 0.0)
    }
}
