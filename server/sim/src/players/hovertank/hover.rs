//! The air cushions of a hovertank.

use glam::{DMat3, DVec3};

use crate::arena::Arena;
use crate::arena::ray::Ray;
use crate::bodies::entities::Entities;
use crate::bodies::guard::Seeker;
use crate::bodies::roles::Drive;
use crate::collision::pose::Pose;
use crate::collision::shape::Shape;

/// Length of the cushions without a load, in units. The tank's weight compresses them to about 32,
/// which is higher than the rim of a repair pad (24).
const LENGTH: f64 = 38.0;

/// Reach of the probes below the underside, in units: enough to brake a fall of 500
/// units per second.
const REACH: f64 = 96.0;

/// Probes start this far inside the hull, in units. The hull may lie on the ground. From the hull's
/// surface, rounding would decide on which side of the ground a probe starts.
const INSIDE: f64 = 4.0;

/// Positions of the probes, as a share of the distance from the middle of the underside to its
/// corners. The share is below 1 because the hull of the shipped tank is an octagon.
const SPREAD: f64 = 0.7;

/// Frequency of the cushions in hertz. The cushions are soft enough for crates and steps under the
/// tank, and stiff enough to carry it.
const FREQUENCY: f64 = 2.0;

/// Damping ratio of the cushions: critical, so that the tank does not bob.
const DAMPING: f64 = 1.0;

/// Maximum force of one cushion, as a share of the tank's weight. All four together brake the
/// fastest glide well within reach. They do not press the tank against a low ceiling so hard that
/// friction holds it there: friction of 0.6 times the remaining 0.8 gravities is less than the
/// engine's push.
const STRENGTH: f64 = 0.45;

/// Number of rounds over the four cushions. In each round, each cushion takes the forces of the
/// others into account.
const ROUNDS: usize = 2;

/// A tank while its forces are summed.
pub(super) struct Craft<'a> {
    shape: &'a Shape,
    pub(super) pose: Pose,
    rotation: DMat3,
    inverse_inertia: DMat3,
    seconds: f64,
    before: [DVec3; 2],
    /// Velocity at the end of the tick, with the forces summed so far.
    pub(super) velocity: DVec3,
    pub(super) angular: DVec3,
}

impl<'a> Craft<'a> {
    pub(super) fn new(
        shape: &'a Shape,
        pose: Pose,
        velocity: DVec3,
        angular: DVec3,
        seconds: f64,
    ) -> Self {
        let rotation = pose.rotation();
        let falling = velocity - DVec3::Z * (shape.gravity * seconds);
        Self {
            shape,
            pose,
            rotation,
            inverse_inertia: rotation * shape.mass.inverse_inertia * rotation.transpose(),
            seconds,
            before: [falling, angular],
            velocity: falling,
            angular,
        }
    }

    /// The tank's own upward direction.
    pub(super) fn up(&self) -> DVec3 {
        self.rotation.z_axis
    }

    /// The direction of the tank's gun.
    pub(super) fn ahead(&self) -> DVec3 {
        self.rotation.x_axis
    }

    /// The sum of the forces, as a constant acceleration over the tick.
    pub(super) fn drive(&self) -> Drive {
        Drive {
            linear: (self.velocity - self.before[0]) / self.seconds,
            angular: (self.angular - self.before[1]) / self.seconds,
        }
    }

    /// Distance of the ground below each corner of the underside, in units; `None` if the ground is
    /// out of reach.
    pub(super) fn probe(
        &self,
        arena: &Arena,
        entities: &Entities,
        seeker: Seeker,
    ) -> [Option<f64>; 4] {
        self.corners().map(|arm| {
            let from = self.pose.position + arm + DVec3::Z * INSIDE;
            let ray = Ray { from, direction: -DVec3::Z, reach: REACH + INSIDE };
            let distance = ray.cast(&arena.space(entities), arena.sight, seeker).distance;
            (distance < ray.reach).then_some(distance - INSIDE)
        })
    }

    /// Corners of the underside, from the centre of mass.
    fn corners(&self) -> [DVec3; 4] {
        let bounds = &self.shape.bounds;
        let (centre, half) = (bounds.centre(), bounds.half_extents() * SPREAD);
        [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].map(|(x, y)| {
            self.rotation * DVec3::new(centre.x + x * half.x, centre.y + y * half.y, bounds.min.z)
        })
    }

    /// Adds the forces of the cushions. Each cushion is a soft constraint (Catto, "Soft
    /// Constraints", 2011) that keeps its corner from sinking and never pulls it down.
    pub(super) fn float(&mut self, ground: &[Option<f64>; 4]) {
        let omega = std::f64::consts::TAU * FREQUENCY;
        let a1 = 2.0 * DAMPING + self.seconds * omega;
        let a2 = self.seconds * omega * a1;
        let (bias_rate, mass_scale, impulse_scale) =
            (omega / a1, a2 / (1.0 + a2), 1.0 / (1.0 + a2));
        let strongest = STRENGTH * self.shape.gravity * self.seconds / self.shape.mass.inverse_mass;
        let mut given = [0.0; 4];
        for _ in 0..ROUNDS {
            for ((arm, distance), given) in self.corners().into_iter().zip(ground).zip(&mut given) {
                let Some(distance) = distance else { continue };
                let turned = arm.cross(DVec3::Z);
                let response =
                    self.shape.mass.inverse_mass + turned.dot(self.inverse_inertia * turned);
                let speed = (self.velocity + self.angular.cross(arm)).z;
                let wanted = (LENGTH - distance) * bias_rate;
                let change = (wanted - speed) * mass_scale / response - *given * impulse_scale;
                let impulse = (*given + change).clamp(0.0, strongest);
                let push = DVec3::Z * (impulse - *given);
                *given = impulse;
                self.velocity += push * self.shape.mass.inverse_mass;
                self.angular += self.inverse_inertia * arm.cross(push);
            }
        }
    }
}
