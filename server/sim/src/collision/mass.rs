//! Mass and inertia of a body.

use glam::DMat3;

use crate::collision::top::Top;

/// The mass and the inertia of a body, in the body's own axes about its centre of mass.
#[derive(Clone, Debug)]
pub(crate) struct MassProperties {
    /// Inverse of the mass, in 1/kg; zero for a body that no impulse moves.
    pub(crate) inverse_mass: f64,
    /// Inertia in kg·units²; zero for a body that no impulse moves.
    pub(crate) inertia: DMat3,
    /// Inverse of the inertia; zero for a body that no impulse moves.
    pub(crate) inverse_inertia: DMat3,
    /// The numbers for the spin of the body while nothing touches it.
    pub(crate) top: Top,
}

impl Default for MassProperties {
    /// The properties of a body that no impulse moves.
    fn default() -> Self {
        let none = DMat3::ZERO;
        Self { inverse_mass: 0.0, inertia: none, inverse_inertia: none, top: Top::default() }
    }
}

impl MassProperties {
    /// The properties of a body of `mass` kilograms whose inertia per kilogram is `unit_inertia`.
    pub(crate) fn new(mass: f64, unit_inertia: DMat3) -> Self {
        let inertia = unit_inertia * mass;
        Self {
            inverse_mass: 1.0 / mass,
            inertia,
            inverse_inertia: inertia.inverse(),
            top: Top::new(unit_inertia),
        }
    }

    /// The inertia per kilogram.
    pub(crate) fn unit_inertia(&self) -> DMat3 {
        self.inertia * self.inverse_mass
    }
}
