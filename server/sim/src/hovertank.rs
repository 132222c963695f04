//! Players who drive a hovertank: a polyhedron that floats on cushions of air
//! and lands where it is told to, in the hollow of a repair pad too.
//!
//! A tank is a rigid body like any other: solver and guard move it together
//! with the props. What makes it a vehicle is its [`Drive`], worked out once a
//! tick by [`steer`] from what its probes feel below ([`hover`]) and what its
//! driver commands. It carries cargo ([`cargo`]): a box that turns into a
//! repair pad where it touches the ground (Blow 1997, "Let's Rock").

mod cargo;
mod hover;
mod steer;

use glam::DVec3;

pub(crate) use cargo::{Cargo, deploy, drop_cargo, remove};
pub(crate) use steer::steer;

use crate::state::{EntityId, ModelId};

/// What a driver's player carries from tick to tick besides place and speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hovertank {
    pub(crate) model: ModelId,
    /// What the engine gives this tick.
    pub(crate) drive: Drive,
    /// The cargo that is out: a box on its way down, or the pad it became.
    pub(crate) cargo: Option<EntityId>,
}

impl Hovertank {
    pub(crate) fn new(model: ModelId) -> Self {
        Self { model, drive: Drive::default(), cargo: None }
    }
}

/// What an engine gives a body throughout one tick, gravity not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Drive {
    /// Units per second squared.
    pub(crate) linear: DVec3,
    /// Radians per second squared, world axes.
    pub(crate) angular: DVec3,
}
