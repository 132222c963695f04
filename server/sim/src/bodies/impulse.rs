//! The effect of one impulse at one point of a body.

use glam::{DMat3, DVec3};

use crate::bodies::dynamics::LockedAxes;
use crate::bodies::entities::{Entities, Entity};
use crate::collision::shape::Shapes;

/// A body with locked axes counts as immovable in a direction if it responds to an impulse by less
/// than this share of the response of a free body. Otherwise the impulse that changes its speed in
/// that direction could be of any size.
pub(crate) const LEAST_RESPONSE: f32 = 1e-6;

/// A body that takes one impulse at one point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImpulseBody {
    linear: DVec3,
    angular: DVec3,
    /// The vector from the centre of mass to the point.
    arm: DVec3,
    inverse_mass: f64,
    inverse_inertia: DMat3,
    locked: LockedAxes,
    /// Whether the point moves with the body's spin. The spin of a ball ([`Entity::is_ball`])
    /// follows its own rules, and impulses do not change it.
    turns: bool,
}

impl ImpulseBody {
    /// The body of an entity, for an impulse at `point`. `None` while the entity is in limbo. No
    /// impulse turns a ball.
    pub(crate) fn new(entity: &Entity, shapes: &Shapes, point: DVec3) -> Option<Self> {
        let placement = entity.placement()?;
        let shape = &shapes[placement.shape()];
        let inverse_inertia = if entity.is_ball() {
            DMat3::ZERO
        } else {
            entity.inverse_inertia(shape, placement.pose().rotation())
        };
        Some(Self {
            linear: entity.velocity,
            angular: entity.angular,
            arm: point - placement.pose().position,
            inverse_mass: entity.mass(shape).inverse_mass,
            inverse_inertia,
            locked: entity.dynamics.locked(),
            turns: !entity.is_ball(),
        })
    }

    /// Velocity of the body at the point, in units per second.
    pub(crate) fn velocity(&self) -> DVec3 {
        let turning = if self.turns { self.angular } else { DVec3::ZERO };
        self.linear + turning.cross(self.arm)
    }

    /// Speed that the point gains along the unit vector `direction` from a unit impulse in that
    /// direction.
    pub(crate) fn response(&self, direction: DVec3) -> f64 {
        let turned = self.arm.cross(direction);
        let response = self.inverse_mass * self.locked.share_along(direction)
            + turned.dot(self.inverse_inertia * turned);
        // The response of a free body is at least its inverse mass.
        let is_held = response < self.inverse_mass * f64::from(LEAST_RESPONSE);
        if is_held { 0.0 } else { response }
    }

    /// Applies an impulse, in kg·units/s.
    pub(crate) fn apply(&mut self, impulse: DVec3) {
        self.linear += self.locked.translation(impulse) * self.inverse_mass;
        self.angular += self.inverse_inertia * self.arm.cross(impulse);
    }

    /// Linear velocity in units per second, and angular velocity in radians per second.
    pub(crate) fn velocities(&self) -> (DVec3, DVec3) {
        (self.linear, self.angular)
    }

    /// Upper bound of the speed of all points within `radius` of the centre, in units per second.
    pub(crate) fn surface_speed(&self, radius: f64) -> f64 {
        self.linear.length() + self.angular.length() * radius
    }

    /// Writes the velocities to the entity in `slot`.
    pub(crate) fn store(&self, entities: &mut Entities, slot: u16) {
        if let Some(entity) = entities.get_mut(slot) {
            entity.velocity = self.linear;
            entity.angular = self.angular;
        }
    }
}
