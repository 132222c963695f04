use glam::DVec3;

use super::{Plane, Winding};

/// A polygon of a surface, with the sphere around it for quick rejection.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    /// Corners, counter-clockwise from outside.
    pub winding: Winding,
    /// Outward plane.
    pub plane: Plane,
    /// Middle of the corners.
    pub centre: DVec3,
    /// Maximum distance of a corner from `centre`.
    pub radius: f64,
}

impl Polygon {
    /// The polygon of these corners on its outward plane.
    pub fn new(winding: Winding, plane: Plane) -> Self {
        let centre = winding.centre();
        let radius = winding.vertices.iter().map(|v| v.distance(centre)).fold(0.0, f64::max);
        Self { winding, plane, centre, radius }
    }
}
