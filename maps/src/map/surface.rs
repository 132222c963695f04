use crate::geometry::Polygon;

/// Maximum number of corners that the polygons of a surface may have. A corner counts once for
/// every polygon. This many take twenty-four megabytes, far more than any map that was measured.
pub(crate) const MAX_CORNERS: usize = 1 << 20;

/// The surface of the union of all solids, as drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Surface {
    polygons: Vec<Polygon>,
    /// The face that each polygon is a part of.
    faces: Vec<FaceIndex>,
    corners: usize,
}

/// A face of one of the map's solids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FaceIndex {
    pub(crate) solid: u32,
    pub(crate) face: u32,
}

impl Surface {
    /// Adds a part of a face. Returns false if the surface then has too many corners.
    #[must_use]
    pub(crate) fn add(&mut self, face: FaceIndex, polygon: Polygon) -> bool {
        self.corners += polygon.winding.vertices.len();
        self.faces.push(face);
        self.polygons.push(polygon);
        self.corners <= MAX_CORNERS
    }

    pub(crate) fn polygons(&self) -> &[Polygon] {
        &self.polygons
    }

    /// Every polygon with the face that it is a part of.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (FaceIndex, &Polygon)> {
        self.faces.iter().copied().zip(&self.polygons)
    }
}
