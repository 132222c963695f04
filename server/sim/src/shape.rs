use glam::{DMat3, DVec3};
use maps::SizeId;
use maps::geometry::{Aabb, ConvexSolid};
use maps::model::Model;

/// Mass of a cubic unit in kilograms: a 32-unit crate (about 80 cm) then
/// weighs 66 kg, as much as the player who shoves it.
const DENSITY: f64 = 0.002;

/// Rounding of a rotated coordinate is below 1e-11 of a unit on any map;
/// bounds grow by far more than that and far less than anything drawn.
pub(crate) const ROUNDING: f64 = 1e-6;

/// Index of a [`Shape`] in the match's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShapeId(pub(crate) u16);

/// What a body is made of, in body axes about its centre of mass.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Convex parts whose union is the body.
    pub(crate) parts: Vec<ConvexSolid>,
    /// Bounding sphere about the centre of mass.
    pub(crate) radius: f64,
    /// Bounding box in body axes.
    pub(crate) bounds: Aabb,
    /// The size in which the onion knows this box, for an agent's box.
    pub(crate) size: Option<SizeId>,
    /// Zero for what no impulse moves.
    pub(crate) inverse_mass: f64,
    /// Inverse inertia about the centre of mass, in body axes.
    pub(crate) inverse_inertia: DMat3,
}

impl Shape {
    /// A rigid prop.
    pub(crate) fn prop(model: &Model) -> Self {
        let mass = model.volume() * DENSITY;
        Self {
            parts: model.parts().to_vec(),
            radius: model.radius() + ROUNDING,
            bounds: model.bounds().inflated(ROUNDING),
            size: None,
            inverse_mass: 1.0 / mass,
            inverse_inertia: (model.inertia() * mass).inverse(),
        }
    }

    /// An agent's box, which never turns. `None` if it has no volume.
    pub(crate) fn agent(size: SizeId, half_extents: DVec3) -> Option<Self> {
        let bounds = Aabb::from_centre(DVec3::ZERO, half_extents);
        Some(Self {
            parts: vec![ConvexSolid::from_box(&bounds).ok()?],
            radius: half_extents.length() + ROUNDING,
            bounds,
            size: Some(size),
            inverse_mass: 0.0,
            inverse_inertia: DMat3::ZERO,
        })
    }
}
