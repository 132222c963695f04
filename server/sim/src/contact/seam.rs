//! Seams of the world: where brushes meet, their edges are drawn but not
//! there.
//!
//! A box that slides over two floor brushes meets the second one's edge, and
//! the shortest way to it points half sideways: a contact there would trip
//! the box on a perfectly flat floor. An edge counts only where the faces
//! beside it are open; a face that another solid covers has no say.

use glam::DVec3;
use maps::geometry::{Aabb, Face};

use crate::near_solids::NearSolids;
use crate::separation::Part;

/// How far from the touched point to look for what covers a face: beyond any
/// rounding, within anything drawn.
const PROBE: f64 = 1.0 / 16.0;

/// A point this near to a face's plane lies on the face.
const ON_FACE: f64 = 1.0 / 64.0;

/// What the world really offers at a point of one of its solids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Surface {
    /// An edge or corner as drawn: the direction of the separation holds.
    AsDrawn,
    /// One open face, with its outward normal.
    Face(DVec3),
    /// Nothing: every face here is covered.
    Covered,
}

/// Looks at the faces of the world's `solid` that meet at `point`; `near` is what
/// the body that touches it knows of its surroundings.
pub(super) fn surface(map: &maps::World, near: &NearSolids, solid: &Part, point: DVec3) -> Surface {
    let here = |face: &&Face| face.plane.signed_distance(point).abs() < ON_FACE;
    let normals: Vec<DVec3> =
        solid.solid.faces().iter().filter(here).map(|face| face.plane.normal).collect();
    let open = |normal: &DVec3| {
        let inward: DVec3 = normals.iter().filter(|n| *n != normal).sum();
        !is_solid(map, near, point + (*normal - inward) * PROBE)
    };
    let mut open_faces = normals.iter().filter(|normal| open(normal));
    match (normals.len(), open_faces.next(), open_faces.next()) {
        (0 | 1, ..) | (_, Some(_), Some(_)) => Surface::AsDrawn,
        (_, Some(&only), None) => Surface::Face(only),
        (_, None, _) => Surface::Covered,
    }
}

fn is_solid(map: &maps::World, near: &NearSolids, point: DVec3) -> bool {
    let mut found = false;
    near.visit(map, &Aabb { min: point, max: point }, |index| {
        found = found || map.solids()[index as usize].contains(point);
    });
    found
}
