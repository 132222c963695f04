use glam::{DMat3, DVec3};

use crate::entities::{Entities, Entity};
use crate::shape::Shapes;

/// A body that takes one impulse at one point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Struck {
    linear: DVec3,
    angular: DVec3,
    /// From the centre of mass to the point.
    arm: DVec3,
    inverse_mass: f64,
    inverse_inertia: DMat3,
}

impl Struck {
    /// An entity that is struck at `point`; `None` while it is in limbo. What is
    /// thrown is a ball: no impulse turns it.
    pub(crate) fn new(entity: &Entity, shapes: &Shapes, point: DVec3) -> Option<Self> {
        let placement = entity.placement()?;
        let shape = &shapes[placement.shape()];
        let inverse_inertia = if entity.is_ball() {
            DMat3::ZERO
        } else {
            let rotation = placement.pose().rotation();
            rotation * shape.inverse_inertia * rotation.transpose()
        };
        Some(Self {
            linear: entity.velocity,
            angular: entity.angular,
            arm: point - placement.pose().position,
            inverse_mass: shape.inverse_mass,
            inverse_inertia,
        })
    }

    /// Of the body at the point, in units per second.
    pub(crate) fn velocity(&self) -> DVec3 {
        let turning = if self.inverse_inertia == DMat3::ZERO { DVec3::ZERO } else { self.angular };
        self.linear + turning.cross(self.arm)
    }

    /// Speed at the point along the unit vector `direction` that a unit impulse
    /// gives.
    pub(crate) fn response(&self, direction: DVec3) -> f64 {
        let turned = self.arm.cross(direction);
        self.inverse_mass + turned.dot(self.inverse_inertia * turned)
    }

    /// Takes an impulse, in kilogram units per second.
    pub(crate) fn push(&mut self, impulse: DVec3) {
        self.linear += impulse * self.inverse_mass;
        self.angular += self.inverse_inertia * self.arm.cross(impulse);
    }

    /// No point of the body, which lies within `radius`, is faster than this.
    pub(crate) fn surface_speed(&self, radius: f64) -> f64 {
        self.linear.length() + self.angular.length() * radius
    }

    /// Writes down what has come of it.
    pub(crate) fn store(&self, entities: &mut Entities, slot: u16) {
        if let Some(entity) = entities.get_mut(slot) {
            entity.velocity = self.linear;
            entity.angular = self.angular;
        }
    }
}
