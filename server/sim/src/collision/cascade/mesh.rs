//! The surface of a body in the form that the BSP stages need.

use obsp::geometry::{ConvexSolid, Face, PolygonBsp};
use obsp::model::{Model, Polygon};

/// The faces of a body and, for a body of several parts, their BSP.
#[derive(Clone, Debug)]
pub(crate) struct Mesh {
    /// Every face with its own centre and radius.
    pub(super) polygons: Vec<Polygon>,
    /// The tree of a body of several parts. A convex body needs none, because its tree is the list
    /// of its faces. A body that is drawn in a map as several brushes has none.
    pub(super) bsp: Option<PolygonBsp>,
    /// Whether some face is not aligned with the body's axes.
    pub(super) is_angled: bool,
}

impl Mesh {
    pub(crate) fn of_model(model: &Model) -> Self {
        let convex = model.parts().len() == 1;
        Self {
            polygons: model.polygons().to_vec(),
            bsp: model.bsp().filter(|_| !convex).cloned(),
            is_angled: model.parts().iter().flat_map(ConvexSolid::faces).any(is_angled),
        }
    }

    pub(crate) fn of_solid(solid: &ConvexSolid) -> Self {
        let polygon = |face| {
            let winding = solid.winding(face);
            let centre = winding.centre();
            let radius = winding.vertices.iter().map(|v| v.distance(centre)).fold(0.0, f64::max);
            Polygon { plane: face.plane, centre, radius, winding }
        };
        Self {
            polygons: solid.faces().iter().map(polygon).collect(),
            bsp: None,
            is_angled: solid.faces().iter().any(is_angled),
        }
    }
}

/// Whether a face is aligned with none of the axes.
pub(super) fn is_angled(face: &Face) -> bool {
    face.plane.normal.abs().max_element() < 1.0
}
