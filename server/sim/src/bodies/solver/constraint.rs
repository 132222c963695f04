//! The contact constraints of up to four pairs of convex parts, and their solution. `prepare` makes
//! them from the pairs of a tick.

mod prepare;

use std::ops::Range;

use super::body::{Bodies, Twist};
use super::lanes::{LANES, Lanes, SymmetricLanes, Vec3Lanes, positive_part};
use super::pass::{Pass, SpeedTarget};
use super::restitution::{least_change, parts};
use crate::collision::distances::REST_GAP;

/// Highest speed at which bodies are pushed apart, in units per second.
const MAX_PUSH_SPEED: f32 = 40.0;

/// Contacts of up to four pairs that have no moving body in common, one in each lane.
pub(super) struct ContactConstraint {
    /// Indices of the bodies. The second index is 0 if the second body stands still. Both are 0 in
    /// a lane without a pair.
    pub(super) bodies: [[u32; LANES]; 2],
    /// Whether both bodies of its pairs move. For contacts with the world, which are the most, the
    /// sums leave out the second body.
    pub(super) is_mutual: bool,
    /// Normal from the first body to the second, and two tangents.
    pub(super) axes: [Vec3Lanes; 3],
    pub(super) inverse_masses: [Lanes; 2],
    /// The axes along which the bodies move, if any of them is locked: one for each axis that is
    /// free, and zero for the others.
    pub(super) free: Option<Box<[Vec3Lanes; 2]>>,
    pub(super) inverse_inertias: [SymmetricLanes; 2],
    /// Velocity of the second surface relative to that of the first, beyond the velocities of the
    /// bodies, if either body is a conveyor. Only friction uses it, so only its part along the
    /// surface counts.
    surface: Option<Box<Vec3Lanes>>,
    pub(super) restitution: Lanes,
    friction: Lanes,
    /// Acceleration by which forces make the bodies approach, in units per second squared.
    approach: Lanes,
    /// The range of the constraint's points in the list of all points. Its length is the largest
    /// number of points of any pair.
    pub(super) points: Range<usize>,
}

/// One contact point of each lane. A lane without a point has no mass.
pub(super) struct ConstraintPoint {
    /// The vectors from the centres of both bodies to the place where impulses act.
    pub(super) anchors: [Vec3Lanes; 2],
    /// Torque of a unit impulse along the normal on either body, and the angular
    /// velocity that it gives.
    pub(super) torques: [Vec3Lanes; 2],
    pub(super) spins: [Vec3Lanes; 2],
    /// Impulses that change the relative speed along each axis by one unit per second.
    pub(super) effective_masses: [Lanes; 3],
    /// Accumulated impulses along each axis.
    pub(super) impulses: [Lanes; 3],
    pub(super) gap: Lanes,
    /// Current distance less the rest gap.
    pub(super) separation: Lanes,
    /// Relative speed along the normal with which the bodies reach the rest gap if nothing stops
    /// them; positive if they approach.
    pub(super) impact_speed: Lanes,
    /// Maximum normal impulse of any sub-step: zero if the bodies did not touch.
    pub(super) max_normal_impulse: Lanes,
    /// Sum of the normal impulses of all sub-steps. The solver does not depend on it.
    pub(super) taken: Lanes,
}

impl ConstraintPoint {
    /// The mask of lanes that have this point.
    pub(super) fn exists(&self) -> Lanes {
        self.effective_masses[0].simd_gt(Lanes::ZERO)
    }
}

/// Velocities of the two bodies of each lane.
pub(super) struct Velocities {
    pub(super) linear: [Vec3Lanes; 2],
    pub(super) angular: [Vec3Lanes; 2],
}

impl Velocities {
    /// The velocity of the second body relative to the first at a contact point.
    #[inline(always)]
    fn at<const BOTH: bool>(&self, anchors: &[Vec3Lanes; 2]) -> Vec3Lanes {
        let own = self.linear[0] + self.angular[0].cross(anchors[0]);
        if BOTH { self.linear[1] + self.angular[1].cross(anchors[1]) - own } else { -own }
    }
}

impl ContactConstraint {
    /// Makes the impulses at a point act at the ends of `arms`, which begin at the centres of the
    /// bodies. `before` are the inverse inertias with which the accumulated impulses acted. Returns
    /// by how much both angular velocities would differ had these impulses acted at the new arms.
    pub(super) fn set_arms(
        &self,
        point: &mut ConstraintPoint,
        arms: [Vec3Lanes; 2],
        before: &[SymmetricLanes; 2],
    ) -> [Vec3Lanes; 2] {
        let [normal, tangent, bitangent] = point.impulses;
        let impulse = self.axes[0] * normal + self.axes[1] * tangent + self.axes[2] * bitangent;
        let spin = |k: usize| {
            self.inverse_inertias[k] * arms[k].cross(impulse)
                - before[k] * point.anchors[k].cross(impulse)
        };
        let changes = [-spin(0), spin(1)];
        let exists = point.exists();
        let responses = self.axes.map(|axis| self.response::<true>(axis, &arms));
        point.effective_masses = responses.map(|(_, _, mass)| mass & exists);
        (point.torques, point.spins) = (responses[0].0, responses[0].1);
        point.anchors = arms;
        changes
    }

    /// Accumulated impulses of the pair in a lane: for each of its points, along the normal and the
    /// two tangents. They are zero at points where the bodies part.
    pub(super) fn impulses(
        &self,
        points: &[ConstraintPoint],
        lane: usize,
    ) -> impl Iterator<Item = [f32; 3]> {
        points[self.points.clone()].iter().map(move |point| {
            let parts = parts(point, self.restitution);
            point.impulses.map(|of| parts.select(Lanes::ZERO, of).to_array()[lane])
        })
    }

    /// The impulse along the normal that the pair in a lane took in the tick at each of its points.
    pub(super) fn taken(
        &self,
        points: &[ConstraintPoint],
        lane: usize,
    ) -> impl Iterator<Item = f32> {
        points[self.points.clone()].iter().map(move |point| point.taken.to_array()[lane])
    }

    /// Applies the impulses of the last tick.
    pub(super) fn warm_start(&self, points: &[ConstraintPoint], velocities: &mut [Twist]) {
        if self.is_mutual {
            self.warm_start_as::<true>(points, velocities);
        } else {
            self.warm_start_as::<false>(points, velocities);
        }
    }

    #[inline(always)]
    fn warm_start_as<const BOTH: bool>(
        &self,
        points: &[ConstraintPoint],
        velocities: &mut [Twist],
    ) {
        let mut sum = self.velocities::<BOTH>(velocities);
        for point in &points[self.points.clone()] {
            let [normal, tangent, bitangent] = point.impulses;
            let impulse = self.axes[0] * normal + self.axes[1] * tangent + self.axes[2] * bitangent;
            self.apply::<BOTH>(&mut sum, point, impulse);
        }
        self.store::<BOTH>(velocities, &sum);
    }

    /// Updates the separations of the points from the motion of the bodies.
    pub(super) fn update_separations(&self, points: &mut [ConstraintPoint], bodies: &Bodies) {
        let normal = self.axes[0];
        // The displacement of a point along the normal has two terms. One is the shift of the body,
        // which is the same for all points. The other is the dot product of a vector of the body
        // with the point's arm.
        let displacement = |k: usize| {
            let (shift, [x, y, z]) = bodies.displacements_of(self.bodies[k]);
            let columns = [x.dot(normal), y.dot(normal), z.dot(normal)];
            (shift.dot(normal), Vec3Lanes::from_components(columns))
        };
        let (first, ours) = displacement(0);
        if self.is_mutual {
            let (second, theirs) = displacement(1);
            for point in &mut points[self.points.clone()] {
                let apart =
                    second + theirs.dot(point.anchors[1]) - first - ours.dot(point.anchors[0]);
                point.separation = point.gap + apart - REST_GAP as f32;
            }
        } else {
            for point in &mut points[self.points.clone()] {
                let apart = -first - ours.dot(point.anchors[0]);
                point.separation = point.gap + apart - REST_GAP as f32;
            }
        }
    }

    /// One pass over the points. The function is not inlined: browsers download its code, and one
    /// copy is enough.
    #[inline(never)]
    pub(super) fn solve(
        &self,
        points: &mut [ConstraintPoint],
        velocities: &mut [Twist],
        sub_step: f32,
        pass: &Pass,
    ) {
        if self.is_mutual {
            self.solve_as::<true>(points, velocities, sub_step, pass);
        } else {
            self.solve_as::<false>(points, velocities, sub_step, pass);
        }
    }

    #[inline(always)]
    fn solve_as<const BOTH: bool>(
        &self,
        points: &mut [ConstraintPoint],
        velocities: &mut [Twist],
        sub_step: f32,
        pass: &Pass,
    ) {
        let rate = Lanes::splat(-1.0 / sub_step);
        let least = match pass {
            Pass::Push(_) | Pass::Land | Pass::Relax => Lanes::splat(-1.0),
            Pass::PushOn(_) | Pass::Meet => least_change(&points[self.points.clone()]),
        };
        let mut sum = self.velocities::<BOTH>(velocities);
        for point in &mut points[self.points.clone()] {
            let rigid = positive_part(point.separation) * rate;
            let target = match pass {
                Pass::Push(softness) | Pass::PushOn(softness) => {
                    let near = point.separation.simd_lt(Lanes::ZERO);
                    let push = (-point.separation * softness.bias_rate as f32)
                        .fast_min(Lanes::splat(MAX_PUSH_SPEED));
                    let mass_scale = Lanes::splat(softness.mass_scale as f32);
                    SpeedTarget {
                        speed: near.select(push, rigid),
                        mass_scale: near.select(mass_scale, Lanes::ONE),
                        impulse_scale: near & Lanes::splat(softness.impulse_scale as f32),
                    }
                }
                Pass::Meet | Pass::Land | Pass::Relax => SpeedTarget::rigid(rigid),
            };
            self.solve_normal::<BOTH>(point, &mut sum, &target, least);
            if matches!(pass, Pass::Relax) {
                self.solve_friction::<BOTH>(point, &mut sum);
            }
        }
        self.store::<BOTH>(velocities, &sum);
    }

    /// Changes the normal impulse so that the bodies separate at the target's speed or faster.
    /// Nothing changes if they miss this speed by no more than `least_change`, in units per second.
    #[inline(always)]
    pub(super) fn solve_normal<const BOTH: bool>(
        &self,
        point: &mut ConstraintPoint,
        velocities: &mut Velocities,
        target: &SpeedTarget,
        least_change: Lanes,
    ) {
        let normal = self.axes[0];
        let own = normal.dot(velocities.linear[0]) + point.torques[0].dot(velocities.angular[0]);
        let speed = if BOTH {
            normal.dot(velocities.linear[1]) + point.torques[1].dot(velocities.angular[1]) - own
        } else {
            -own
        };
        let before = point.impulses[0];
        let change = (target.speed - speed) * point.effective_masses[0] * target.mass_scale
            - before * target.impulse_scale;
        let settled = change.abs().simd_le(point.effective_masses[0] * least_change);
        let impulse = settled.select(before, positive_part(before + change));
        point.impulses[0] = impulse;
        point.max_normal_impulse = point.max_normal_impulse.fast_max(impulse);
        let change = impulse - before;
        velocities.linear[0] -= normal * (change * self.inverse_masses[0]);
        velocities.angular[0] -= point.spins[0] * change;
        if BOTH {
            velocities.linear[1] += normal * (change * self.inverse_masses[1]);
            velocities.angular[1] += point.spins[1] * change;
        }
        self.keep_locked(&mut velocities.linear);
    }

    /// Removes the velocities along locked axes, because impulses must not give any.
    #[inline(always)]
    pub(super) fn keep_locked(&self, linear: &mut [Vec3Lanes; 2]) {
        if let Some(free) = &self.free {
            mask(free, linear);
        }
    }

    /// For each body: the share of its mobility that is left along an axis.
    pub(super) fn shares_along(&self, axis: Vec3Lanes) -> [Lanes; 2] {
        match &self.free {
            Some(free) => [0, 1].map(|k: usize| axis.scaled(free[k]).dot(axis)),
            None => [Lanes::ONE; 2],
        }
    }

    /// Applies friction, within the cone that the normal impulse allows.
    #[inline(always)]
    fn solve_friction<const BOTH: bool>(
        &self,
        point: &mut ConstraintPoint,
        velocities: &mut Velocities,
    ) {
        let [_, tangent, bitangent] = self.axes;
        let limit = point.impulses[0] * self.friction;
        let before = [point.impulses[1], point.impulses[2]];
        let mut slip = velocities.at::<BOTH>(&point.anchors);
        if let Some(surface) = &self.surface {
            slip += **surface;
        }
        let mut impulses = [
            before[0] - slip.dot(tangent) * point.effective_masses[1],
            before[1] - slip.dot(bitangent) * point.effective_masses[2],
        ];
        let squared = impulses[0] * impulses[0] + impulses[1] * impulses[1];
        let slides = squared.simd_gt(limit * limit);
        if slides.any() {
            // Friction acts against the slip, even if one tangent has a smaller effective mass than
            // the other.
            let mass = point.effective_masses[1].fast_min(point.effective_masses[2]);
            let against =
                [before[0] - slip.dot(tangent) * mass, before[1] - slip.dot(bitangent) * mass];
            let squared = against[0] * against[0] + against[1] * against[1];
            let positive = squared.simd_gt(Lanes::ZERO);
            let share = limit / positive.select(squared, Lanes::ONE).sqrt();
            let share = share.fast_min(Lanes::ONE);
            for (impulse, against) in impulses.iter_mut().zip(against) {
                *impulse = slides.select(against * share, *impulse);
            }
        }
        [point.impulses[1], point.impulses[2]] = impulses;
        let change = tangent * (impulses[0] - before[0]) + bitangent * (impulses[1] - before[1]);
        self.apply::<BOTH>(velocities, point, change);
    }

    /// Applies an impulse at a point: to the second body, and its opposite to the first.
    #[inline(always)]
    fn apply<const BOTH: bool>(
        &self,
        velocities: &mut Velocities,
        point: &ConstraintPoint,
        impulse: Vec3Lanes,
    ) {
        velocities.linear[0] -= impulse * self.inverse_masses[0];
        velocities.angular[0] -= self.inverse_inertias[0] * point.anchors[0].cross(impulse);
        if BOTH {
            velocities.linear[1] += impulse * self.inverse_masses[1];
            velocities.angular[1] += self.inverse_inertias[1] * point.anchors[1].cross(impulse);
        }
        self.keep_locked(&mut velocities.linear);
    }

    /// The velocities of both bodies; zero for the second unless `BOTH`.
    #[inline(always)]
    pub(super) fn velocities<const BOTH: bool>(&self, velocities: &[Twist]) -> Velocities {
        let of = |k: usize| {
            let rows = self.bodies[k].map(|body| velocities[body as usize]);
            let [linear, angular] = [rows.map(|of| of.linear), rows.map(|of| of.angular)];
            (Vec3Lanes::from_rows(linear), Vec3Lanes::from_rows(angular))
        };
        let (linear, angular) = of(0);
        let second = if BOTH { of(1) } else { (Vec3Lanes::ZERO, Vec3Lanes::ZERO) };
        Velocities { linear: [linear, second.0], angular: [angular, second.1] }
    }

    /// Writes the velocities back. The fixed body has no inverse mass, so its velocities did not
    /// change.
    #[inline(always)]
    pub(super) fn store<const BOTH: bool>(&self, velocities: &mut [Twist], of: &Velocities) {
        for k in 0..if BOTH { 2 } else { 1 } {
            let (linear, angular) = (of.linear[k].to_rows(), of.angular[k].to_rows());
            for (lane, body) in self.bodies[k].into_iter().enumerate() {
                velocities[body as usize] = Twist { linear: linear[lane], angular: angular[lane] };
            }
        }
    }
}

/// Multiplies vectors component by component. It is not inlined, because few bodies have locked
/// axes.
#[inline(never)]
fn mask(free: &[Vec3Lanes; 2], linear: &mut [Vec3Lanes; 2]) {
    for (linear, free) in linear.iter_mut().zip(free) {
        *linear = linear.scaled(*free);
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::bodies::blocker::Blocker;
    use crate::bodies::contact::{ContactPoint, Pair, PairKey};
    use crate::bodies::solver::body::SolverBody;
    use crate::bodies::solver::restitution::Impacts;
    use crate::bodies::solver::softness::Softness;

    /// Bodies that fly at random, after the fixed one, and the contacts between them. Each body
    /// with an odd index touches the next one, and the last body touches the world.
    fn crowd() -> (Bodies, Vec<([usize; 2], Pair)>) {
        let mut random = crate::Random::new(11);
        let mut vector =
            |reach: f64| DVec3::from_array(std::array::from_fn(|_| random.between(-reach, reach)));
        let mut bodies = Bodies::with_capacity(7, 1.0 / 60.0);
        for index in 1..=7 {
            let body = SolverBody::box_at(vector(40.0), 1.0 / (10.0 + f64::from(index)));
            bodies.push_moving(body, vector(200.0), vector(3.0));
        }
        let pairs = [[1, 2], [3, 4], [5, 6], [7, 0]].map(|[a, b]| {
            let axis = vector(1.0).normalize();
            let point = |k: usize| ContactPoint {
                local: vector(16.0).as_vec3(),
                gap: 0.05 * k as f32,
                impulse: [40.0, 3.0, -2.0],
                ..ContactPoint::default()
            };
            // Not all pairs have the same number of points.
            let points = (0..1 + a % 4).map(point).collect();
            let key = PairKey { body: a as u16, other: Blocker::Solid(0), parts: (0, 0) };
            ([a, b], Pair { key, axis, features: Default::default(), gap: 0.0, points })
        });
        (bodies, pairs.to_vec())
    }

    /// Velocities after a warm start, passes of both kinds and restitution.
    fn solved(mut bodies: Bodies, groups: &[&[([usize; 2], Pair)]]) -> Vec<[DVec3; 2]> {
        let passes = [Pass::Push(Softness::new(1.0 / 480.0)), Pass::Relax];
        for group in groups {
            let mut points = Vec::new();
            let lanes: Vec<_> = group.iter().map(|(bodies, pair)| (*bodies, pair)).collect();
            let mut constraint = ContactConstraint::new(&bodies, &lanes, &mut points);
            constraint.warm_start(&points, &mut bodies.velocities);
            for pass in &passes {
                constraint.solve(&mut points, &mut bodies.velocities, 1.0 / 480.0, pass);
            }
            let mut impacts = Impacts::default();
            impacts.note(0, &mut constraint, &mut points, &mut bodies);
            impacts.bounce(&[constraint], &mut points, &mut bodies.velocities);
        }
        (0..bodies.list.len()).map(|body| bodies.velocity(body)).collect()
    }

    #[test]
    fn contacts_solved_at_once_come_out_as_each_alone() {
        let (bodies, pairs) = crowd();
        let (mutual, with_world) = pairs.split_at(3);
        let together = solved(bodies, &[mutual, with_world]);
        let alone: Vec<_> = pairs.chunks(1).collect();
        let (bodies, _) = crowd();
        let before: Vec<_> = (0..bodies.list.len()).map(|body| bodies.velocity(body)).collect();
        assert_eq!(together, solved(bodies, &alone));
        assert_eq!(together[0], [DVec3::ZERO; 2], "nothing moves the fixed body");
        assert!(together[1..].iter().zip(&before[1..]).all(|(after, before)| after != before));
    }
}
