//! Seams of the world: the places where two brushes meet. A map draws edges there that are not
//! edges of the world's surface.
//!
//! A box that slides over two floor brushes meets the edge of the second one, and the shortest
//! direction to that edge points half sideways. A contact in that direction would trip the box on a
//! perfectly flat floor. So an edge counts only if the faces beside it are open. A face that
//! another solid covers does not count.

use glam::DVec3;
use obsp::geometry::{Aabb, Face};

use crate::bodies::near_solids::NearSolids;
use crate::collision::separation::Part;

/// Distance in front of a face, in units, at which a solid that covers the face is looked for. It
/// exceeds any rounding and is less than any detail of a map.
const PROBE: f64 = 1.0 / 16.0;

/// A point this near to a face's plane, in units, lies on the face.
const ON_FACE: f64 = 1.0 / 64.0;

/// A direction belongs to a face if it is this near to the face's normal, and to an edge if it is
/// this near to the arc between the normals of the edge's two faces.
const SAME_DIRECTION: f64 = 1e-6;

/// The faces of a solid that are on the world's surface at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Exposure {
    /// At least two of the faces that support the direction of the separation, or fewer than two
    /// faces support it. The direction is kept.
    AsDrawn,
    /// Only one face, with its outward normal.
    Face(DVec3),
    /// No face, because other solids cover all of them.
    Covered,
}

/// Tests which faces of the world's `solid` are open at `point`, the point of the solid that is
/// nearest to a body. The unit `direction` points from the solid to the body. `near` are the solids
/// around that body.
pub(super) fn exposure(
    map: &obsp::Map,
    near: &NearSolids,
    solid: &Part,
    point: DVec3,
    direction: DVec3,
) -> Exposure {
    let here = |face: &&Face| face.plane.signed_distance(point).abs() < ON_FACE;
    let normals: Vec<DVec3> =
        solid.solid.faces().iter().filter(here).map(|face| face.plane.normal).collect();
    let supporting = supporting(&normals, direction);
    if supporting.len() < 2 {
        return Exposure::AsDrawn;
    }
    let open = |normal: &DVec3| {
        let inward: DVec3 = normals.iter().filter(|n| *n != normal).sum();
        !is_solid(map, near, point + (*normal - inward) * PROBE)
    };
    let mut open_faces = supporting.iter().filter(|normal| open(normal));
    match (open_faces.next(), open_faces.next()) {
        (Some(_), Some(_)) => Exposure::AsDrawn,
        (Some(&only), None) => Exposure::Face(only),
        (None, _) => Exposure::Covered,
    }
}

/// Selects, from the `normals` of the faces that meet at a point, those that support a direction:
/// the normal along the direction, or the two between which it lies, or all. Where an edge of the
/// body runs along an edge of the solid, rounding decides whether a corner at its end is the
/// nearest point. So the other faces of that corner must not matter.
fn supporting(normals: &[DVec3], direction: DVec3) -> Vec<DVec3> {
    if normals.len() < 2 {
        return normals.to_vec();
    }
    let is_along = |normal: &&DVec3| normal.distance(direction) < SAME_DIRECTION;
    if let Some(&along) = normals.iter().find(is_along) {
        return vec![along];
    }
    for (index, &first) in normals.iter().enumerate() {
        for &second in &normals[index + 1..] {
            let edge = first.cross(second);
            let is_between = direction.dot(edge).abs() < SAME_DIRECTION * edge.length()
                && first.cross(direction).dot(edge) > 0.0
                && direction.cross(second).dot(edge) > 0.0;
            if is_between {
                return vec![first, second];
            }
        }
    }
    normals.to_vec()
}

fn is_solid(map: &obsp::Map, near: &NearSolids, point: DVec3) -> bool {
    let mut found = false;
    near.visit(map, &Aabb { min: point, max: point }, |index| {
        found = found || map.solids()[index as usize].contains(point);
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Symptom: a contact over the foot of a ramp had another plane once the whole scene was
    /// shifted. Cause: an edge of the body ran along the edge of the foot, and rounding decided
    /// whether the foot's corner was the nearest point. At the corner the ramp's side counted as
    /// well. Cure: a face counts only if the direction lies between it and another counted face.
    #[test]
    fn the_end_of_an_edge_is_like_its_middle() {
        let slope = DVec3::new(-0.4, 0.0, 1.0).normalize();
        let (bottom, side) = (DVec3::NEG_Z, DVec3::Y);
        let over_the_edge = DVec3::new(-1.0, 0.0, 1.0).normalize();
        let all = [slope, bottom, side];
        assert_eq!(supporting(&all, over_the_edge), supporting(&[slope, bottom], over_the_edge));
        assert_eq!(supporting(&all, slope), [slope]);
        let over_the_corner = (over_the_edge + side).normalize();
        assert_eq!(supporting(&all, over_the_corner), all);
    }
}
