//! Seams of the world: where brushes meet, their edges are drawn but are no edges
//! of the world's surface.
//!
//! A box that slides over two floor brushes meets the second one's edge, and the
//! shortest direction to it points half sideways: a contact there would trip the
//! box on a perfectly flat floor. An edge counts only where the faces beside it
//! are open; a face that another solid covers does not count.

use glam::DVec3;
use obsp::geometry::{Aabb, Face};

use crate::bodies::near_solids::NearSolids;
use crate::collision::separation::Part;

/// How far in front of a face to test whether another solid covers it, in units:
/// more than any rounding, less than anything drawn.
const PROBE: f64 = 1.0 / 16.0;

/// A point this near to a face's plane, in units, lies on the face.
const ON_FACE: f64 = 1.0 / 64.0;

/// Which faces of a solid are part of the world's surface at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Exposure {
    /// All that meet there: the direction of the separation holds.
    AsDrawn,
    /// One face, with its outward normal.
    Face(DVec3),
    /// None: every face there is covered.
    Covered,
}

/// Tests the faces of the world's `solid` that meet at `point`. `near` are the
/// solids around the body that touches it.
pub(super) fn exposure(
    map: &obsp::World,
    near: &NearSolids,
    solid: &Part,
    point: DVec3,
) -> Exposure {
    let here = |face: &&Face| face.plane.signed_distance(point).abs() < ON_FACE;
    let normals: Vec<DVec3> =
        solid.solid.faces().iter().filter(here).map(|face| face.plane.normal).collect();
    let open = |normal: &DVec3| {
        let inward: DVec3 = normals.iter().filter(|n| *n != normal).sum();
        !is_solid(map, near, point + (*normal - inward) * PROBE)
    };
    let mut open_faces = normals.iter().filter(|normal| open(normal));
    match (normals.len(), open_faces.next(), open_faces.next()) {
        (0 | 1, ..) | (_, Some(_), Some(_)) => Exposure::AsDrawn,
        (_, Some(&only), None) => Exposure::Face(only),
        (_, None, _) => Exposure::Covered,
    }
}

fn is_solid(map: &obsp::World, near: &NearSolids, point: DVec3) -> bool {
    let mut found = false;
    near.visit(map, &Aabb { min: point, max: point }, |index| {
        found = found || map.solids()[index as usize].contains(point);
    });
    found
}
