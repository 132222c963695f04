//! The contact constraint between two convex parts, and its solution.

use std::ops::Range;

use glam::DVec3;

use super::body::SolverBody;
use super::softness::Softness;
use crate::bodies::contact::{ContactPoint, Pair};
use crate::collision::distances::REST_GAP;

/// Coefficient of friction of all bodies: boxes stay on ramps up to 31 degrees.
pub(crate) const FRICTION: f64 = 0.6;

/// Impacts slower than this, in units per second, do not bounce: it is several
/// ticks of gravity, so that bodies at rest do not jitter.
pub(crate) const RESTITUTION_THRESHOLD: f64 = 60.0;

/// Highest speed at which bodies are pushed apart, in units per second.
const MAX_PUSH_SPEED: f64 = 40.0;

/// All contact points of a pair of parts, which share their bodies and axes.
pub(super) struct ContactConstraint {
    /// Indices of the bodies. The second is 0 if no impulse moves it.
    pub(super) bodies: [usize; 2],
    /// Normal from the first body to the second, and two tangents.
    pub(super) axes: [DVec3; 3],
    pub(super) inverse_masses: [f64; 2],
    restitution: f64,
    /// Its points among those of the island.
    pub(super) points: Range<usize>,
}

/// One contact point, prepared.
pub(super) struct ConstraintPoint {
    anchors: [DVec3; 2],
    pub(super) rows: [Row; 3],
    pub(super) gap: f64,
    /// Current distance less the rest gap.
    pub(super) separation: f64,
    /// Relative speed along the normal before the tick, positive if approaching.
    approach_speed: f64,
    /// Greatest normal impulse of any sub-step: zero if the bodies did not touch.
    max_normal_impulse: f64,
}

/// The response of a point along one axis.
pub(super) struct Row {
    impulse: f64,
    /// Impulse that changes the relative speed by one unit per second.
    pub(super) effective_mass: f64,
    /// Torque of a unit impulse on either body, and the angular velocity it gives.
    pub(super) torques: [DVec3; 2],
    pub(super) spins: [DVec3; 2],
}

/// Velocities of the two bodies. Where not `BOTH` bodies move, the second is left
/// out of all sums: most contacts are with the world.
#[derive(Clone, Copy)]
struct Velocities {
    linear: [DVec3; 2],
    angular: [DVec3; 2],
}

impl Velocities {
    /// Relative speed along `axis`, positive if the bodies separate.
    #[inline(always)]
    fn relative_speed<const BOTH: bool>(&self, axis: DVec3, row: &Row) -> f64 {
        let own = axis.dot(self.linear[0]) + row.torques[0].dot(self.angular[0]);
        if BOTH {
            axis.dot(self.linear[1]) + row.torques[1].dot(self.angular[1]) - own
        } else {
            -own
        }
    }

    #[inline(always)]
    fn apply<const BOTH: bool>(&mut self, axis: DVec3, row: &Row, masses: [f64; 2], impulse: f64) {
        self.linear[0] -= axis * (impulse * masses[0]);
        self.angular[0] -= row.spins[0] * impulse;
        if BOTH {
            self.linear[1] += axis * (impulse * masses[1]);
            self.angular[1] += row.spins[1] * impulse;
        }
    }
}

impl ContactConstraint {
    /// Prepares a pair that touches, and adds its points to `points`.
    pub(super) fn new(
        bodies: &[SolverBody],
        indices: [usize; 2],
        pair: &Pair,
        points: &mut Vec<ConstraintPoint>,
    ) -> Self {
        let [a, b] = indices.map(|index| &bodies[index]);
        let normal = pair.axis;
        let tangent = normal.any_orthonormal_vector();
        let axes = [normal, tangent, normal.cross(tangent)];
        let point = |point: &ContactPoint| {
            let anchors =
                [point.on_body - a.position, point.on_body + normal * point.gap - b.position];
            let row = |k: usize| {
                let torques = anchors.map(|arm| arm.cross(axes[k]));
                let spins = [a.inverse_inertia * torques[0], b.inverse_inertia * torques[1]];
                let response = a.inverse_mass
                    + b.inverse_mass
                    + torques[0].dot(spins[0])
                    + torques[1].dot(spins[1]);
                let effective_mass = if response > 0.0 { 1.0 / response } else { 0.0 };
                Row { impulse: point.impulse[k], effective_mass, torques, spins }
            };
            ConstraintPoint {
                anchors,
                rows: std::array::from_fn(row),
                gap: point.gap,
                separation: point.gap - REST_GAP,
                approach_speed: (a.velocity_at(anchors[0]) - b.velocity_at(anchors[1])).dot(normal),
                max_normal_impulse: 0.0,
            }
        };
        let first = points.len();
        points.extend(pair.points.iter().map(point));
        Self {
            bodies: indices,
            axes,
            inverse_masses: [a.inverse_mass, b.inverse_mass],
            restitution: a.restitution.max(b.restitution),
            points: first..points.len(),
        }
    }

    /// Accumulated impulses of each point along the normal and two tangents.
    pub(super) fn impulses(&self, points: &[ConstraintPoint]) -> impl Iterator<Item = [f64; 3]> {
        points[self.points.clone()]
            .iter()
            .map(|point| std::array::from_fn(|k| point.rows[k].impulse))
    }

    /// Whether both bodies move.
    fn is_mutual(&self) -> bool {
        self.bodies[1] > 0
    }

    /// Applies the impulses of the sub-step before.
    pub(super) fn warm_start(&self, points: &[ConstraintPoint], bodies: &mut [SolverBody]) {
        if self.is_mutual() {
            self.warm_start_as::<true>(points, bodies);
        } else {
            self.warm_start_as::<false>(points, bodies);
        }
    }

    fn warm_start_as<const BOTH: bool>(
        &self,
        points: &[ConstraintPoint],
        bodies: &mut [SolverBody],
    ) {
        let mut velocities = self.velocities(bodies);
        for point in &points[self.points.clone()] {
            for (row, axis) in point.rows.iter().zip(self.axes) {
                velocities.apply::<BOTH>(axis, row, self.inverse_masses, row.impulse);
            }
        }
        self.store(bodies, &velocities);
    }

    /// Updates the separations of the points from the motion of the bodies.
    pub(super) fn update_separations(&self, points: &mut [ConstraintPoint], bodies: &[SolverBody]) {
        let [(first, ours), (second, theirs)] =
            self.bodies.map(|body| bodies[body].displacement(self.axes[0]));
        for point in &mut points[self.points.clone()] {
            let apart = second + theirs.dot(point.anchors[1]) - first - ours.dot(point.anchors[0]);
            point.separation = point.gap + apart - REST_GAP;
        }
    }

    /// One pass over the points. With `softness`, bodies nearer than the rest gap are
    /// pushed apart by a soft constraint; without, the pass relaxes that push and
    /// applies friction: once a sub-step is enough, because friction is warm
    /// started.
    pub(super) fn solve(
        &self,
        points: &mut [ConstraintPoint],
        bodies: &mut [SolverBody],
        sub_step: f64,
        softness: Option<&Softness>,
    ) {
        if self.is_mutual() {
            self.solve_as::<true>(points, bodies, sub_step, softness);
        } else {
            self.solve_as::<false>(points, bodies, sub_step, softness);
        }
    }

    fn solve_as<const BOTH: bool>(
        &self,
        points: &mut [ConstraintPoint],
        bodies: &mut [SolverBody],
        sub_step: f64,
        softness: Option<&Softness>,
    ) {
        let mut velocities = self.velocities(bodies);
        for point in &mut points[self.points.clone()] {
            let target = match softness.filter(|_| point.separation < 0.0) {
                Some(softness) => SpeedTarget {
                    speed: (-point.separation * softness.bias_rate).min(MAX_PUSH_SPEED),
                    mass_scale: softness.mass_scale,
                    impulse_scale: softness.impulse_scale,
                },
                None => SpeedTarget::rigid(-point.separation.max(0.0) / sub_step),
            };
            point.solve_normal::<BOTH>(&mut velocities, self.axes[0], self.inverse_masses, &target);
            if softness.is_none() {
                point.solve_friction::<BOTH>(&mut velocities, &self.axes, self.inverse_masses);
            }
        }
        self.store(bodies, &velocities);
    }

    /// Applies restitution to the points that took an impact.
    pub(super) fn apply_restitution(
        &self,
        points: &mut [ConstraintPoint],
        bodies: &mut [SolverBody],
    ) {
        for point in &mut points[self.points.clone()] {
            let mut velocities = self.velocities(bodies);
            if point.approach_speed > RESTITUTION_THRESHOLD && point.max_normal_impulse > 0.0 {
                let target = SpeedTarget::rigid(point.approach_speed * self.restitution);
                let masses = self.inverse_masses;
                point.solve_normal::<true>(&mut velocities, self.axes[0], masses, &target);
                self.store(bodies, &velocities);
            }
        }
    }

    fn velocities(&self, bodies: &[SolverBody]) -> Velocities {
        let [a, b] = self.bodies.map(|body| &bodies[body]);
        Velocities { linear: [a.velocity, b.velocity], angular: [a.angular, b.angular] }
    }

    /// The fixed body has no inverse mass: its velocities did not change.
    fn store(&self, bodies: &mut [SolverBody], velocities: &Velocities) {
        for (k, body) in self.bodies.into_iter().enumerate() {
            bodies[body].velocity = velocities.linear[k];
            bodies[body].angular = velocities.angular[k];
        }
    }
}

/// The relative speed that a normal impulse aims for, and how softly.
struct SpeedTarget {
    speed: f64,
    mass_scale: f64,
    impulse_scale: f64,
}

impl SpeedTarget {
    fn rigid(speed: f64) -> Self {
        Self { speed, mass_scale: 1.0, impulse_scale: 0.0 }
    }
}

impl ConstraintPoint {
    /// Changes the normal impulse so that the bodies separate at no less than the
    /// target's speed.
    #[inline(always)]
    fn solve_normal<const BOTH: bool>(
        &mut self,
        velocities: &mut Velocities,
        normal: DVec3,
        masses: [f64; 2],
        target: &SpeedTarget,
    ) {
        let row = &mut self.rows[0];
        let speed = velocities.relative_speed::<BOTH>(normal, row);
        let before = row.impulse;
        let change = (target.speed - speed) * row.effective_mass * target.mass_scale
            - before * target.impulse_scale;
        row.impulse = (before + change).max(0.0);
        // Half of the points only come near.
        if row.impulse == 0.0 && before == 0.0 {
            return;
        }
        self.max_normal_impulse = self.max_normal_impulse.max(row.impulse);
        velocities.apply::<BOTH>(normal, row, masses, row.impulse - before);
    }

    /// Friction within the cone of the normal impulse.
    #[inline(always)]
    fn solve_friction<const BOTH: bool>(
        &mut self,
        velocities: &mut Velocities,
        axes: &[DVec3; 3],
        masses: [f64; 2],
    ) {
        let limit = FRICTION * self.rows[0].impulse;
        let [_, s, t] = &mut self.rows;
        let before = [s.impulse, t.impulse];
        if limit == 0.0 && before == [0.0; 2] {
            return;
        }
        let mut wanted = [
            s.impulse - velocities.relative_speed::<BOTH>(axes[1], s) * s.effective_mass,
            t.impulse - velocities.relative_speed::<BOTH>(axes[2], t) * t.effective_mass,
        ];
        let squared = wanted[0] * wanted[0] + wanted[1] * wanted[1];
        if squared > limit * limit {
            let share = limit / squared.sqrt();
            wanted = wanted.map(|w| w * share);
        }
        [s.impulse, t.impulse] = wanted;
        velocities.apply::<BOTH>(axes[1], s, masses, wanted[0] - before[0]);
        velocities.apply::<BOTH>(axes[2], t, masses, wanted[1] - before[1]);
    }
}
