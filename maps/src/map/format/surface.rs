use std::collections::BTreeMap;

use bincode::{BorrowDecode, Encode};
use glam::DVec3;

use super::error::FormatError;
use super::list::List;
use crate::geometry::{ConvexSolid, Polygon, Winding};
use crate::map::surface::{FaceIndex, Surface};

/// The surface of the union of all solids. Each corner is stored once, in the order
/// in which the polygons first refer to it.
#[derive(Encode, BorrowDecode)]
pub(super) struct SurfaceRecord {
    corners: List<[f64; 3]>,
    polygons: List<PolygonRecord>,
}

#[derive(Encode, BorrowDecode)]
struct PolygonRecord {
    /// The solid, and the solid's face on whose plane the polygon lies.
    solid: u32,
    face: u32,
    corners: List<u32>,
}

/// Maximum distance of a corner from its face's plane, in units: ten times the tolerance of the
/// compiler.
const OFF_PLANE: f64 = 0.01;

impl SurfaceRecord {
    pub(super) fn of(surface: &Surface) -> Self {
        let mut known = BTreeMap::new();
        let mut corners = Vec::new();
        let mut index = |corner: &DVec3| {
            *known.entry(corner.to_array().map(f64::to_bits)).or_insert_with(|| {
                corners.push(corner.to_array());
                corners.len() as u32 - 1
            })
        };
        let mut record = |(face, polygon): (FaceIndex, &Polygon)| {
            let corners = List(polygon.winding.vertices.iter().map(&mut index).collect());
            PolygonRecord { solid: face.solid, face: face.face, corners }
        };
        let polygons = List(surface.iter().map(&mut record).collect());
        Self { corners: List(corners), polygons }
    }

    pub(super) fn into_surface(self, solids: &[ConvexSolid]) -> Result<Surface, FormatError> {
        let mut surface = Surface::default();
        for (i, record) in self.polygons.0.into_iter().enumerate() {
            let face = FaceIndex { solid: record.solid, face: record.face };
            let polygon = on_face(face, &record.corners.0, &self.corners.0, solids);
            if !surface.add(face, polygon.ok_or(FormatError::Polygon(i))?) {
                return Err(FormatError::Corners);
            }
        }
        Ok(surface)
    }
}

fn on_face(
    index: FaceIndex,
    indices: &[u32],
    corners: &[[f64; 3]],
    solids: &[ConvexSolid],
) -> Option<Polygon> {
    let solid = solids.get(index.solid as usize)?;
    let plane = solid.faces().get(index.face as usize)?.plane;
    let bounds = solid.bounds().inflated(OFF_PLANE);
    let corner = |&i: &u32| corners.get(i as usize).map(|&corner| DVec3::from(corner));
    let vertices: Vec<DVec3> = indices.iter().map(corner).collect::<Option<_>>()?;
    let lies = |&v: &DVec3| bounds.contains(v) && plane.signed_distance(v).abs() <= OFF_PLANE;
    let sound = vertices.len() >= 3 && vertices.iter().all(lies);
    sound.then(|| Polygon::new(Winding { vertices }, plane))
}
