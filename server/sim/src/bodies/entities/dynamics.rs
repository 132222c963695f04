//! How an entity responds to forces: by its material, or by parameters and forces of its own.

use glam::{DMat3, DVec3};

use super::Entity;
use crate::bodies::dynamics::{Buoyancy, world_inverse_inertia};
use crate::bodies::roles::{Drive, Role};
use crate::collision::mass::MassProperties;
use crate::collision::shape::Shape;
use crate::conventions::GRAVITY;

/// Minimum of [`Entity::rest_share`].
const LEAST_REST_SHARE: f64 = 1.0 / 64.0;

/// [`Entity::rest_share`] of a body at the surface of a liquid that is not in balance, because it
/// bobs, carries others or is carried. A body that bobs is slow where it turns back.
const BOBBING_REST_SHARE: f64 = 1.0 / 16.0;

/// Accelerations below this, in units per second squared, count as none: the body floats.
pub(crate) const WEIGHTLESS: f64 = 1e-6;

impl Entity {
    /// Whether the entity may have parameters and forces of its own.
    pub(crate) fn has_dynamics(&self) -> bool {
        matches!(self.role, Role::Prop(_))
    }

    /// The mass and inertia of the body, which has this shape.
    pub(crate) fn mass<'a>(&'a self, shape: &'a Shape) -> &'a MassProperties {
        self.dynamics.own().map_or(&shape.mass, |own| &own.mass)
    }

    /// The downward acceleration by gravity, in units per second squared. Vehicles fall like
    /// players, no matter what they are made of.
    pub(crate) fn gravity(&self, shape: &Shape) -> f64 {
        let scale = match self.dynamics.own() {
            Some(own) => own.parameters.gravity_scale,
            None if self.player().is_some() => 1.0,
            None => shape.material.gravity_scale(),
        };
        shape.gravity * scale
    }

    /// The linear and the angular damping, per second.
    pub(crate) fn damping(&self, shape: &Shape) -> [f64; 2] {
        let [linear, angular] = match self.dynamics.own() {
            Some(own) => [own.parameters.linear_damping, own.parameters.angular_damping],
            None => [shape.material.linear_damping(), shape.material.angular_damping()],
        };
        match &self.record.buoyancy {
            Some(buoyancy) => [linear + buoyancy.damping[0], angular + buoyancy.damping[1]],
            None => [linear, angular],
        }
    }

    /// The inverse inertia in the world's axes, when the body is turned by `rotation`.
    pub(crate) fn inverse_inertia(&self, shape: &Shape, rotation: DMat3) -> DMat3 {
        world_inverse_inertia(self.mass(shape), rotation, self.dynamics.locked())
    }

    /// The acceleration by the entity's own engine, or by the forces of a game and the lift of
    /// liquids.
    pub(crate) fn drive(&self) -> Drive {
        let Drive { linear, angular } = self.forced();
        match &self.record.buoyancy {
            Some(Buoyancy { drive, .. }) => {
                Drive { linear: linear + drive.linear, angular: angular + drive.angular }
            }
            None => Drive { linear, angular },
        }
    }

    /// The acceleration by the entity's own engine, or by the forces of a game.
    fn forced(&self) -> Drive {
        if self.dynamics.own().is_none() {
            return self.hovertank().map_or_else(Drive::default, |tank| tank.drive);
        }
        let rotation = self.placement().map_or(DMat3::IDENTITY, |at| at.pose().rotation());
        self.dynamics.drive(rotation, self.record.pace.ticks()).unwrap_or_default()
    }

    /// The share of the usual speeds below which the body counts as resting. The share is smaller
    /// for a body that hardly falls, because it is slow even while it falls. It is 1 for a body on
    /// which no force acts, and for a body that floats in balance.
    pub(crate) fn rest_share(&self, shape: &Shape) -> f64 {
        let gravity = self.gravity(shape);
        match self.record.buoyancy {
            Some(buoyancy) if buoyancy.rests => return 1.0,
            Some(buoyancy) if buoyancy.surfaces => return BOBBING_REST_SHARE,
            None if gravity == GRAVITY && self.dynamics.own().is_none() => return 1.0,
            _ => {}
        }
        let forced = if self.player().is_some() { DVec3::ZERO } else { self.drive().linear };
        let falls = forced - DVec3::Z * gravity;
        let acceleration = self.dynamics.locked().translation(falls).length();
        match acceleration < WEIGHTLESS {
            true => 1.0,
            false => (acceleration / GRAVITY).clamp(LEAST_REST_SHARE, 1.0),
        }
    }
}
