//! Prepares the constraints of a tick from its pairs.

use glam::{DVec3, Vec3};

use super::{ConstraintPoint, ContactConstraint, Velocities};
use crate::bodies::contact::{Pair, tangents};
use crate::bodies::impulse::LEAST_RESPONSE;
use crate::bodies::solver::body::{Bodies, SolverBody, padded};
use crate::bodies::solver::lanes::{
    LANES, Lanes, SymmetricLanes, Vec3Lanes, inverse_or_zero, positive_part,
};
use crate::collision::distances::REST_GAP;

impl ContactConstraint {
    /// Prepares up to [`LANES`] pairs, each with the indices of its bodies, and adds
    /// their points to `points`.
    pub(in crate::bodies::solver) fn new(
        bodies: &Bodies,
        pairs: &[([usize; 2], &Pair)],
        points: &mut Vec<ConstraintPoint>,
    ) -> Self {
        let lane = |lane: usize| pairs.get(lane).copied();
        let indices: [[usize; LANES]; 2] = std::array::from_fn(|k| {
            std::array::from_fn(|at| lane(at).map_or(0, |(indices, _)| indices[k]))
        });
        let axes: [DVec3; LANES] =
            std::array::from_fn(|at| lane(at).map_or(DVec3::Z, |(_, pair)| pair.axis));
        let normal = Vec3Lanes::new(axes.map(|axis| axis.as_vec3().normalize()));
        let tangents = axes.map(tangents);
        let [tangent, bitangent] = [0, 1].map(|k| Vec3Lanes::new(tangents.map(|of| of[k])));
        let of_bodies = |k: usize| indices[k].map(|body| &bodies.list[body]);
        let [first, second] = [of_bodies(0), of_bodies(1)];
        let restitution =
            std::array::from_fn(|at| f32::max(first[at].restitution, second[at].restitution));
        // The geometric mean of two equal numbers is that number, to the bit.
        let friction = std::array::from_fn(|at| (first[at].friction * second[at].friction).sqrt());
        let approach = std::array::from_fn(|at| {
            let forced = first[at].acceleration() - second[at].acceleration();
            lane(at).map_or(0.0, |(_, pair)| forced.dot(pair.axis.as_vec3()))
        });
        let is_locked = first.iter().chain(&second).any(|body| body.locked.any());
        let is_conveyor = |body: &&SolverBody| body.surface != Vec3::ZERO;
        let conveys = first.iter().chain(&second).any(is_conveyor);
        let surfaces: [Vec3; LANES] =
            std::array::from_fn(|at| second[at].surface - first[at].surface);
        let begin = points.len();
        let constraint = Self {
            bodies: indices.map(|lanes| lanes.map(|body| body as u32)),
            is_mutual: pairs.iter().any(|([_, second], _)| *second > 0),
            axes: [normal, tangent, bitangent],
            inverse_masses: [0, 1].map(|k| Lanes::new(of_bodies(k).map(|b| b.inverse_mass))),
            free: is_locked.then(|| {
                let free = |body: &SolverBody| body.locked.free_translations().as_vec3();
                Box::new([0, 1].map(|k| Vec3Lanes::new(of_bodies(k).map(free))))
            }),
            inverse_inertias: [0, 1]
                .map(|k| SymmetricLanes::new(of_bodies(k).map(|b| b.inverse_inertia))),
            surface: conveys.then(|| Box::new(Vec3Lanes::new(surfaces))),
            restitution: Lanes::new(restitution),
            friction: Lanes::new(friction),
            approach: Lanes::new(approach),
            points: begin
                ..begin + pairs.iter().map(|(_, pair)| pair.points.len()).max().unwrap_or(0),
        };
        let velocities = constraint.velocities::<true>(&bodies.velocities);
        let all = 0..constraint.points.len();
        points.extend(all.map(|index| constraint.prepare(bodies, pairs, index, &velocities)));
        constraint
    }

    /// Prepares the points with this index of all `pairs`.
    #[inline(always)]
    fn prepare(
        &self,
        bodies: &Bodies,
        pairs: &[([usize; 2], &Pair)],
        index: usize,
        velocities: &Velocities,
    ) -> ConstraintPoint {
        let mut exists = [0.0; LANES];
        let mut numbers = [Lanes::ZERO; LANES];
        let mut anchors = [[Lanes::ZERO; LANES]; 2];
        for (at, ([own, other], pair)) in pairs.iter().enumerate() {
            let Some(point) = pair.points.get(index) else { continue };
            let [normal, tangent, bitangent] = point.impulse;
            exists[at] = 1.0;
            numbers[at] = Lanes::new([normal, tangent, bitangent, point.gap]);
            let on_body = bodies.point_to_world(*own, point.local);
            let on_other = point.on_other(on_body, pair.axis);
            anchors[0][at] = padded((on_body - bodies.list[*own].position).as_vec3());
            anchors[1][at] = padded((on_other - bodies.list[*other].position).as_vec3());
        }
        let (exists, anchors) = (Lanes::new(exists), anchors.map(Vec3Lanes::from_rows));
        if self.is_mutual {
            self.point::<true>(exists, numbers, anchors, velocities)
        } else {
            self.point::<false>(exists, numbers, anchors, velocities)
        }
    }

    /// Prepares one point of each lane. `numbers` has a row of the three impulses and the gap for
    /// each lane. The second body counts only if `BOTH` is true.
    #[inline(always)]
    fn point<const BOTH: bool>(
        &self,
        exists: Lanes,
        numbers: [Lanes; LANES],
        anchors: [Vec3Lanes; 2],
        velocities: &Velocities,
    ) -> ConstraintPoint {
        let [(torques, spins, normal_mass), (_, _, tangent_mass), (_, _, bitangent_mass)] =
            self.axes.map(|axis| self.response::<BOTH>(axis, &anchors));
        let [normal, tangent, bitangent, gap] = Lanes::transpose(numbers);
        let separation = gap - REST_GAP as f32;
        // Forces add to the speed on the way to the rest gap.
        let speed = -velocities.at::<BOTH>(&anchors).dot(self.axes[0]) * exists;
        let squared = speed * speed + self.approach * positive_part(separation) * 2.0;
        let impact_speed = speed.simd_gt(Lanes::ZERO) & positive_part(squared).sqrt();
        ConstraintPoint {
            anchors,
            torques,
            spins,
            effective_masses: [normal_mass, tangent_mass, bitangent_mass].map(|of| of * exists),
            impulses: [normal, tangent, bitangent],
            gap,
            separation,
            impact_speed,
            max_normal_impulse: Lanes::ZERO,
            taken: Lanes::ZERO,
        }
    }

    /// The effects of a unit impulse along an axis: the torques on both bodies, and the angular
    /// velocities that these give. The third result is the impulse that changes the relative speed
    /// by one unit per second.
    #[inline(always)]
    pub(super) fn response<const BOTH: bool>(
        &self,
        axis: Vec3Lanes,
        anchors: &[Vec3Lanes; 2],
    ) -> ([Vec3Lanes; 2], [Vec3Lanes; 2], Lanes) {
        let (mut torques, mut spins) = ([Vec3Lanes::ZERO; 2], [Vec3Lanes::ZERO; 2]);
        let mut response = match &self.free {
            None => self.inverse_masses[0] + self.inverse_masses[1],
            Some(_) => {
                let shares = self.shares_along(axis);
                self.inverse_masses[0] * shares[0] + self.inverse_masses[1] * shares[1]
            }
        };
        for k in 0..if BOTH { 2 } else { 1 } {
            torques[k] = anchors[k].cross(axis);
            spins[k] = self.inverse_inertias[k] * torques[k];
            response += torques[k].dot(spins[k]);
        }
        if self.free.is_some() {
            let free = self.inverse_masses[0] + self.inverse_masses[1];
            response = response & response.simd_ge(free * LEAST_RESPONSE);
        }
        (torques, spins, inverse_or_zero(response))
    }
}
