use std::ops::Range;

use glam::DVec3;

use super::mover::Mover;
use super::spring::Spring;
use crate::contact::{ContactPoint, Pair, REST_GAP};

/// Coulomb friction of everything on everything: boxes stay on ramps up to
/// 31 degrees.
pub(crate) const FRICTION: f64 = 0.6;

/// Slower impacts, in units per second, do not bounce: several ticks of
/// gravity, so that nothing trembles at rest.
pub(crate) const BOUNCE_SPEED: f64 = 60.0;

/// Fastest easing, in units per second.
const EASE_SPEED: f64 = 40.0;

/// All contact points of a pair of parts: they share their bodies and axes.
pub(super) struct Manifold {
    /// The second is 0 for what no impulse moves.
    bodies: [usize; 2],
    /// Normal from the first body to the second, and two tangents.
    axes: [DVec3; 3],
    inverse_masses: [f64; 2],
    restitution: f64,
    /// Which of the island's points are its own.
    points: Range<usize>,
}

/// One contact point, prepared.
pub(super) struct Point {
    arms: [DVec3; 2],
    rows: [Row; 3],
    gap: f64,
    /// Distance to the rest gap at the moment; negative if nearer.
    room: f64,
    /// Closing speed before the tick.
    closing: f64,
    /// Greatest normal impulse of any sub-step: whether it was a hit.
    greatest: f64,
}

/// How a point answers along one axis.
struct Row {
    impulse: f64,
    /// Impulse for a unit of speed.
    mass: f64,
    /// Torque of a unit impulse on either body, and the spin it gives.
    torques: [DVec3; 2],
    spins: [DVec3; 2],
}

/// What impulses change, out of the two bodies. Where not `BOTH` of them move,
/// the second is left out of all sums: most contacts are with the world.
#[derive(Clone, Copy)]
struct Velocities {
    linear: [DVec3; 2],
    angular: [DVec3; 2],
}

impl Velocities {
    #[inline(always)]
    fn along<const BOTH: bool>(&self, axis: DVec3, row: &Row) -> f64 {
        let own = axis.dot(self.linear[0]) + row.torques[0].dot(self.angular[0]);
        if BOTH {
            axis.dot(self.linear[1]) + row.torques[1].dot(self.angular[1]) - own
        } else {
            -own
        }
    }

    #[inline(always)]
    fn push<const BOTH: bool>(&mut self, axis: DVec3, row: &Row, masses: [f64; 2], impulse: f64) {
        self.linear[0] -= axis * (impulse * masses[0]);
        self.angular[0] -= row.spins[0] * impulse;
        if BOTH {
            self.linear[1] += axis * (impulse * masses[1]);
            self.angular[1] += row.spins[1] * impulse;
        }
    }
}

impl Manifold {
    /// Prepares a pair that touches, and adds its points to `points`.
    pub(super) fn new(
        movers: &[Mover],
        bodies: [usize; 2],
        pair: &Pair,
        points: &mut Vec<Point>,
    ) -> Self {
        let [a, b] = bodies.map(|index| &movers[index]);
        let normal = pair.axis;
        let tangent = normal.any_orthonormal_vector();
        let axes = [normal, tangent, normal.cross(tangent)];
        let point = |point: &ContactPoint| {
            let arms =
                [point.on_body - a.position, point.on_body + normal * point.gap - b.position];
            let row = |k: usize| {
                let torques = arms.map(|arm| arm.cross(axes[k]));
                let spins = [a.inverse_inertia * torques[0], b.inverse_inertia * torques[1]];
                let response = a.inverse_mass
                    + b.inverse_mass
                    + torques[0].dot(spins[0])
                    + torques[1].dot(spins[1]);
                let mass = if response > 0.0 { 1.0 / response } else { 0.0 };
                Row { impulse: point.impulse[k], mass, torques, spins }
            };
            Point {
                arms,
                rows: std::array::from_fn(row),
                gap: point.gap,
                room: point.gap - REST_GAP,
                closing: (a.velocity_at(arms[0]) - b.velocity_at(arms[1])).dot(normal),
                greatest: 0.0,
            }
        };
        let first = points.len();
        points.extend(pair.points.iter().map(point));
        Self {
            bodies,
            axes,
            inverse_masses: [a.inverse_mass, b.inverse_mass],
            restitution: a.restitution.max(b.restitution),
            points: first..points.len(),
        }
    }

    /// What each point was pushed with, along the normal and two tangents.
    pub(super) fn impulses(&self, points: &[Point]) -> impl Iterator<Item = [f64; 3]> {
        points[self.points.clone()]
            .iter()
            .map(|point| std::array::from_fn(|k| point.rows[k].impulse))
    }

    /// Whether both bodies move.
    fn is_mutual(&self) -> bool {
        self.bodies[1] > 0
    }

    /// Gives the bodies the impulses of the step before.
    pub(super) fn warm_start(&self, points: &[Point], movers: &mut [Mover]) {
        if self.is_mutual() {
            self.warm_start_as::<true>(points, movers);
        } else {
            self.warm_start_as::<false>(points, movers);
        }
    }

    fn warm_start_as<const BOTH: bool>(&self, points: &[Point], movers: &mut [Mover]) {
        let mut velocities = self.velocities(movers);
        for point in &points[self.points.clone()] {
            for (row, axis) in point.rows.iter().zip(self.axes) {
                velocities.push::<BOTH>(axis, row, self.inverse_masses, row.impulse);
            }
        }
        self.store(movers, &velocities);
    }

    /// Looks anew how far the points have come.
    pub(super) fn measure(&self, points: &mut [Point], movers: &[Mover]) {
        let [(first, ours), (second, theirs)] =
            self.bodies.map(|body| movers[body].displacement(self.axes[0]));
        for point in &mut points[self.points.clone()] {
            let apart = second + theirs.dot(point.arms[1]) - first - ours.dot(point.arms[0]);
            point.room = point.gap + apart - REST_GAP;
        }
    }

    /// One pass. With `spring`, bodies nearer than the rest gap are pushed apart as
    /// softly as it says; without, friction holds them back: once a sub-step is
    /// enough, from what it held them with the step before.
    pub(super) fn solve(
        &self,
        points: &mut [Point],
        movers: &mut [Mover],
        sub_step: f64,
        spring: Option<&Spring>,
    ) {
        if self.is_mutual() {
            self.solve_as::<true>(points, movers, sub_step, spring);
        } else {
            self.solve_as::<false>(points, movers, sub_step, spring);
        }
    }

    fn solve_as<const BOTH: bool>(
        &self,
        points: &mut [Point],
        movers: &mut [Mover],
        sub_step: f64,
        spring: Option<&Spring>,
    ) {
        let mut velocities = self.velocities(movers);
        for point in &mut points[self.points.clone()] {
            let (speed, stiffness, leak) = match spring.filter(|_| point.room < 0.0) {
                Some(spring) => {
                    let speed = (-point.room * spring.rate).min(EASE_SPEED);
                    (speed, spring.stiffness, spring.leak)
                }
                None => (-point.room.max(0.0) / sub_step, 1.0, 0.0),
            };
            let wanted = [speed, stiffness, leak];
            point.reach_speed::<BOTH>(&mut velocities, self.axes[0], self.inverse_masses, wanted);
            if spring.is_none() {
                point.rub::<BOTH>(&mut velocities, &self.axes, self.inverse_masses);
            }
        }
        self.store(movers, &velocities);
    }

    /// Gives back a share of the speed of a real impact.
    pub(super) fn bounce(&self, points: &mut [Point], movers: &mut [Mover]) {
        for point in &mut points[self.points.clone()] {
            let mut velocities = self.velocities(movers);
            if point.closing > BOUNCE_SPEED && point.greatest > 0.0 {
                let wanted = [point.closing * self.restitution, 1.0, 0.0];
                let masses = self.inverse_masses;
                point.reach_speed::<true>(&mut velocities, self.axes[0], masses, wanted);
                self.store(movers, &velocities);
            }
        }
    }

    fn velocities(&self, movers: &[Mover]) -> Velocities {
        let [a, b] = self.bodies.map(|body| &movers[body]);
        Velocities { linear: [a.velocity, b.velocity], angular: [a.angular, b.angular] }
    }

    /// What is fixed has no inverse mass: it stays as it was.
    fn store(&self, movers: &mut [Mover], velocities: &Velocities) {
        for (k, body) in self.bodies.into_iter().enumerate() {
            movers[body].velocity = velocities.linear[k];
            movers[body].angular = velocities.angular[k];
        }
    }
}

impl Point {
    /// Pushes until the bodies part at the wanted speed at the least, as stiff
    /// as told and letting go the told share of the impulse so far.
    #[inline(always)]
    fn reach_speed<const BOTH: bool>(
        &mut self,
        velocities: &mut Velocities,
        normal: DVec3,
        masses: [f64; 2],
        [least_speed, stiffness, leak]: [f64; 3],
    ) {
        let row = &mut self.rows[0];
        let speed = velocities.along::<BOTH>(normal, row);
        let before = row.impulse;
        let change = (least_speed - speed) * row.mass * stiffness - before * leak;
        row.impulse = (before + change).max(0.0);
        self.greatest = self.greatest.max(row.impulse);
        velocities.push::<BOTH>(normal, row, masses, row.impulse - before);
    }

    /// Friction, within the cone that the normal impulse allows.
    #[inline(always)]
    fn rub<const BOTH: bool>(
        &mut self,
        velocities: &mut Velocities,
        axes: &[DVec3; 3],
        masses: [f64; 2],
    ) {
        let limit = FRICTION * self.rows[0].impulse;
        let [_, s, t] = &mut self.rows;
        let before = [s.impulse, t.impulse];
        let mut wanted = [
            s.impulse - velocities.along::<BOTH>(axes[1], s) * s.mass,
            t.impulse - velocities.along::<BOTH>(axes[2], t) * t.mass,
        ];
        let squared = wanted[0] * wanted[0] + wanted[1] * wanted[1];
        if squared > limit * limit {
            let share = limit / squared.sqrt();
            wanted = wanted.map(|w| w * share);
        }
        [s.impulse, t.impulse] = wanted;
        velocities.push::<BOTH>(axes[1], s, masses, wanted[0] - before[0]);
        velocities.push::<BOTH>(axes[2], t, masses, wanted[1] - before[1]);
    }
}
