//! Parameters of single bodies, and forces on them.

use glam::DVec3;
use obsp_sim::{BodyError, BodyParameters, EntityId, ForceSpan};

use crate::world_mut::WorldMut;

impl WorldMut<'_> {
    /// As [`World::set_body_parameters`](obsp_sim::World::set_body_parameters).
    ///
    /// # Errors
    /// [`BodyError`]; nothing changes then.
    pub fn set_body_parameters(
        &mut self,
        id: EntityId,
        parameters: BodyParameters,
    ) -> Result<(), BodyError> {
        self.world.set_body_parameters(id, parameters)
    }

    /// As [`World::add_force`](obsp_sim::World::add_force).
    ///
    /// # Errors
    /// [`BodyError`]; nothing changes then.
    pub fn add_force(
        &mut self,
        id: EntityId,
        force: DVec3,
        span: ForceSpan,
    ) -> Result<(), BodyError> {
        self.world.add_force(id, force, span)
    }

    /// As [`World::add_force_at_point`](obsp_sim::World::add_force_at_point).
    ///
    /// # Errors
    /// [`BodyError`]; nothing changes then.
    pub fn add_force_at_point(
        &mut self,
        id: EntityId,
        force: DVec3,
        point: DVec3,
        span: ForceSpan,
    ) -> Result<(), BodyError> {
        self.world.add_force_at_point(id, force, point, span)
    }

    /// As [`World::add_torque`](obsp_sim::World::add_torque).
    ///
    /// # Errors
    /// [`BodyError`]; nothing changes then.
    pub fn add_torque(
        &mut self,
        id: EntityId,
        torque: DVec3,
        span: ForceSpan,
    ) -> Result<(), BodyError> {
        self.world.add_torque(id, torque, span)
    }

    /// As [`World::reset_forces`](obsp_sim::World::reset_forces).
    ///
    /// # Errors
    /// [`BodyError`]; nothing changes then.
    pub fn reset_forces(&mut self, id: EntityId) -> Result<(), BodyError> {
        self.world.reset_forces(id)
    }
}
