use glam::{DMat3, DQuat, DVec3};

use crate::entities::Entity;
use crate::hovertank::Drive;
use crate::movement::GRAVITY;
use crate::pose::Pose;
use crate::shape::Shapes;

/// Share of spin lost per second, so that a barrel rolls out.
const SPIN_DAMPING: f64 = 0.4;

/// Fastest prop in units per second.
const MAX_SPEED: f64 = 4000.0;

/// A body as the solver sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mover {
    pub(super) inverse_mass: f64,
    pub(super) inverse_inertia: DMat3,
    pub(super) restitution: f64,
    pub(super) position: DVec3,
    pub(super) velocity: DVec3,
    pub(super) angular: DVec3,
    /// What its engine gives, gravity not counted.
    drive: Drive,
    /// Displacement since the tick began.
    pub(super) moved: DVec3,
    /// Turn since the tick began, and the same as a matrix, less identity.
    pub(super) turned: DQuat,
    twist: DMat3,
}

impl Mover {
    /// Everything that no impulse moves.
    pub(super) const FIXED: Self = Self {
        inverse_mass: 0.0,
        inverse_inertia: DMat3::ZERO,
        restitution: 0.0,
        position: DVec3::ZERO,
        velocity: DVec3::ZERO,
        angular: DVec3::ZERO,
        drive: Drive { linear: DVec3::ZERO, angular: DVec3::ZERO },
        moved: DVec3::ZERO,
        turned: DQuat::IDENTITY,
        twist: DMat3::ZERO,
    };

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

    /// The same as something thrown, which falls by itself and no impulse turns.
    pub(super) fn weightless_ball(self) -> Self {
        let drive = Drive { linear: DVec3::Z * GRAVITY, ..self.drive };
        Self { drive, angular: DVec3::ZERO, inverse_inertia: DMat3::ZERO, ..self }
    }

    pub(super) fn fall(&mut self, seconds: f64) {
        self.velocity += (self.drive.linear - DVec3::Z * GRAVITY) * seconds;
        self.angular += self.drive.angular * seconds;
        self.angular *= 1.0 - SPIN_DAMPING * seconds;
    }

    pub(super) fn go(&mut self, seconds: f64, max_spin: f64) {
        self.velocity = self.velocity.clamp_length_max(MAX_SPEED);
        self.angular = self.angular.clamp_length_max(max_spin);
        let start = Pose { position: self.moved, orientation: self.turned };
        let end = start.advanced(self.velocity, self.angular, seconds);
        self.moved = end.position;
        self.turned = end.orientation;
        self.twist = end.rotation() - DMat3::IDENTITY;
    }

    pub(super) fn velocity_at(&self, arm: DVec3) -> DVec3 {
        self.velocity + self.angular.cross(arm)
    }

    /// Whether any point within `radius` has moved by more than `distance`.
    pub(super) fn comes_farther_than(&self, distance: f64, radius: f64) -> bool {
        let turn = 2.0 * self.turned.xyz().length();
        self.moved.length() + turn * radius > distance
    }

    /// How far the points of the body have come along `normal`: the share that
    /// is the same for all, and what to multiply an arm with for the rest.
    pub(super) fn displacement(&self, normal: DVec3) -> (f64, DVec3) {
        (normal.dot(self.moved), self.twist.transpose() * normal)
    }
}
