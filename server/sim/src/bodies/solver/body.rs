//! A rigid body while the solver works on it.

use glam::{DMat3, DQuat, DVec3};

use crate::bodies::entities::Entity;
use crate::bodies::roles::Drive;
use crate::collision::pose::Pose;
use crate::collision::shape::Shapes;
use crate::conventions::GRAVITY;

/// Share of angular velocity lost per second, so that a rolling barrel stops.
const ANGULAR_DAMPING: f64 = 0.4;

/// Highest speed of a prop in units per second.
const MAX_SPEED: f64 = 4000.0;

/// A body as the solver sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SolverBody {
    pub(super) inverse_mass: f64,
    pub(super) inverse_inertia: DMat3,
    pub(super) restitution: f64,
    pub(super) position: DVec3,
    pub(super) velocity: DVec3,
    pub(super) angular: DVec3,
    /// Acceleration by its own engine, gravity not counted.
    drive: Drive,
    /// Displacement since the tick began.
    pub(super) delta_position: DVec3,
    /// Rotation since the tick began.
    pub(super) delta_rotation: DQuat,
    /// The same as a matrix, less identity.
    delta_matrix: DMat3,
    /// Linear and angular velocity before the impulses of the current sub-step.
    base: [DVec3; 2],
    /// Change of both by all impulses of the last sub-step.
    impulses: [DVec3; 2],
}

impl SolverBody {
    /// Stands for everything that no impulse moves.
    pub(super) const FIXED: Self = Self {
        inverse_mass: 0.0,
        inverse_inertia: DMat3::ZERO,
        restitution: 0.0,
        position: DVec3::ZERO,
        velocity: DVec3::ZERO,
        angular: DVec3::ZERO,
        drive: Drive { linear: DVec3::ZERO, angular: DVec3::ZERO },
        delta_position: DVec3::ZERO,
        delta_rotation: DQuat::IDENTITY,
        delta_matrix: DMat3::ZERO,
        base: [DVec3::ZERO; 2],
        impulses: [DVec3::ZERO; 2],
    };

    /// `None` while the entity is in limbo.
    pub(super) fn new(entity: &Entity, shapes: &Shapes) -> Option<Self> {
        let placement = entity.placement()?;
        let shape = &shapes[placement.shape()];
        let rotation = placement.pose().rotation();
        Some(Self {
            inverse_mass: shape.inverse_mass,
            inverse_inertia: rotation * shape.inverse_inertia * rotation.transpose(),
            restitution: shape.restitution,
            position: placement.pose().position,
            velocity: entity.velocity,
            angular: entity.angular,
            drive: entity.drive(),
            ..Self::FIXED
        })
    }

    /// The same as a grenade, whose gravity is applied elsewhere and which no
    /// impulse turns.
    pub(super) fn weightless_ball(self) -> Self {
        let drive = Drive { linear: DVec3::Z * GRAVITY, ..self.drive };
        Self { drive, angular: DVec3::ZERO, inverse_inertia: DMat3::ZERO, ..self }
    }

    /// Whether no impulse moves it.
    pub(super) fn is_fixed(&self) -> bool {
        self.inverse_mass == 0.0
    }

    pub(super) fn integrate_velocities(&mut self, seconds: f64) {
        self.velocity += (self.drive.linear - DVec3::Z * GRAVITY) * seconds;
        self.angular += self.drive.angular * seconds;
        self.angular *= 1.0 - ANGULAR_DAMPING * seconds;
        self.base = [self.velocity, self.angular];
    }

    /// Applies all impulses of the last sub-step again: bodies do not turn within a
    /// tick as far as impulses are concerned, so their sum has the same effect.
    pub(super) fn warm_start(&mut self) {
        self.velocity += self.impulses[0];
        self.angular += self.impulses[1];
    }

    /// Ends a sub-step, and remembers its impulses.
    pub(super) fn end_sub_step(&mut self) {
        self.impulses = [self.velocity - self.base[0], self.angular - self.base[1]];
    }

    pub(super) fn integrate_positions(&mut self, seconds: f64, max_spin: f64) {
        let before = [self.velocity, self.angular];
        self.velocity = self.velocity.clamp_length_max(MAX_SPEED);
        self.angular = self.angular.clamp_length_max(max_spin);
        // The limits are no impulses.
        self.base[0] += self.velocity - before[0];
        self.base[1] += self.angular - before[1];
        let start = Pose { position: self.delta_position, orientation: self.delta_rotation };
        let end = start.advanced(self.velocity, self.angular, seconds);
        self.delta_position = end.position;
        self.delta_rotation = end.orientation;
        self.delta_matrix = end.rotation() - DMat3::IDENTITY;
    }

    /// Adds a displacement and a rotation vector to its motion.
    pub(super) fn displace(&mut self, shift: DVec3, turn: DVec3) {
        if shift != DVec3::ZERO || turn != DVec3::ZERO {
            let start = Pose { position: self.delta_position, orientation: self.delta_rotation };
            let end = start.advanced(shift, turn, 1.0);
            (self.delta_position, self.delta_rotation) = (end.position, end.orientation);
        }
    }

    /// Velocity of the point at `arm` from the centre of mass.
    pub(super) fn velocity_at(&self, arm: DVec3) -> DVec3 {
        self.velocity + self.angular.cross(arm)
    }

    /// Whether any point within `radius` has moved by more than `distance`.
    pub(super) fn moves_farther_than(&self, distance: f64, radius: f64) -> bool {
        let turn = 2.0 * self.delta_rotation.xyz().length();
        self.delta_position.length() + turn * radius > distance
    }

    /// Displacement of the body's points along `normal` since the tick began: the
    /// share that is the same for all points, and the vector whose dot product
    /// with a point's arm is the rest.
    pub(super) fn displacement(&self, normal: DVec3) -> (f64, DVec3) {
        (normal.dot(self.delta_position), self.delta_matrix.transpose() * normal)
    }
}
