//! Mass properties by volume integration. The solid is the signed sum of the tetrahedra that the
//! origin makes with the surface's triangles. Each integral over a tetrahedron is a polynomial of
//! its corners, so the result is exact for a polyhedron.

use glam::{DMat3, DVec3};

use crate::geometry::Winding;

pub(super) struct MassProperties {
    /// Volume in cubic units; negative if the surface is inside out.
    pub(super) volume: f64,
    /// Centre of mass.
    pub(super) centre: DVec3,
    /// Inertia about the centre of mass, for a mass of 1.
    pub(super) inertia: DMat3,
}

pub(super) fn integrate(surface: &[Winding]) -> MassProperties {
    let mut volume = 0.0;
    let mut first = DVec3::ZERO; // ∫ x dV
    let mut second = DMat3::ZERO; // ∫ x xᵀ dV
    for winding in surface {
        let a = winding.vertices[0];
        for pair in winding.vertices[1..].windows(2) {
            let (b, c) = (pair[0], pair[1]);
            let tetrahedron = a.dot(b.cross(c)) / 6.0;
            let sum = a + b + c;
            volume += tetrahedron;
            first += sum * (tetrahedron / 4.0);
            // For corners p₀ = 0, p₁..p₃: ∫ x xᵀ dV = V/20 (Σ pᵢpᵢᵀ + (Σ pᵢ)(Σ pᵢ)ᵀ).
            let moment = outer(a) + outer(b) + outer(c) + outer(sum);
            second += moment * (tetrahedron / 20.0);
        }
    }
    let centre = first / volume;
    let covariance = second * (1.0 / volume) - outer(centre);
    let trace = covariance.x_axis.x + covariance.y_axis.y + covariance.z_axis.z;
    let inertia = DMat3::from_diagonal(DVec3::splat(trace)) - covariance;
    MassProperties { volume, centre, inertia }
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}
