//! The check that a closed surface does not intersect itself: no edge touches a
//! face that it does not bound.

use glam::DVec3;

use super::ModelError;
use super::surface::FLATNESS;
use crate::box_tree::BoxTree;
use crate::geometry::{Aabb, Winding};

/// Two faces that share an edge are folded into a sheet without thickness if the dot product of
/// their normals is below this.
const FOLDED: f64 = -1.0 + 1e-9;

/// A face, prepared for the search.
struct Candidate<'a> {
    corners: &'a [DVec3],
    normal: DVec3,
    bounds: Aabb,
}

/// Rejects a surface if an edge comes within reading precision of a face that it does not bound.
/// The polygons must be flat and convex, and `normals` are their outward normals.
pub(super) fn check(
    model: &str,
    windings: &[Winding],
    normals: &[DVec3],
) -> Result<(), ModelError> {
    let faces: Vec<Candidate> = windings
        .iter()
        .zip(normals)
        .map(|(winding, &normal)| Candidate {
            corners: &winding.vertices,
            normal,
            bounds: Aabb::around(winding.vertices.iter().copied()).inflated(FLATNESS),
        })
        .collect();
    let bounds: Vec<Aabb> = faces.iter().map(|face| face.bounds).collect();
    let (tree, mut near) = (BoxTree::new(&bounds), Vec::new());
    for (i, face) in faces.iter().enumerate() {
        near.clear();
        tree.overlapping(&face.bounds, |other| near.push(other as usize));
        // The first of several faults is reported.
        near.sort_unstable();
        for &j in near.iter().filter(|&&j| j != i) {
            let other = &faces[j];
            let count = face.corners.len();
            let mut edges = (0..count).map(|k| (face.corners[k], face.corners[(k + 1) % count]));
            if let Some((from, to)) = edges.find(|&(from, to)| meets(face, from, to, other)) {
                return Err(ModelError::SelfIntersecting {
                    model: model.to_owned(),
                    from,
                    to,
                    face: windings[j].centre(),
                });
            }
        }
    }
    Ok(())
}

/// Whether the edge of `face` meets `other` anywhere but at a shared corner or edge.
fn meets(face: &Candidate, from: DVec3, to: DVec3, other: &Candidate) -> bool {
    let place = |corner: DVec3| other.corners.iter().position(|&c| c == corner);
    match (place(from), place(to)) {
        (Some(i), Some(j)) => {
            let count = other.corners.len();
            let is_edge = (i + 1) % count == j || (j + 1) % count == i;
            !is_edge || face.normal.dot(other.normal) < FOLDED
        }
        (None, None) => touches(from, to, other, FLATNESS),
        // The edge and the face share a corner, which is on the face's plane. If the edge's other
        // end is off the plane, edge and face do not meet elsewhere.
        _ => {
            let leaves = other.normal.dot(to - from).abs() > FLATNESS;
            !leaves && touches(from, to, other, -FLATNESS)
        }
    }
}

/// Whether the segment comes within reading precision of the face, whose
/// sides are moved outward by `reach`.
fn touches(from: DVec3, to: DVec3, face: &Candidate, reach: f64) -> bool {
    let along = to - from;
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    // Keeps the part of the segment where `direction · (x − corner) <= reach`.
    let mut clip = |direction: DVec3, corner: DVec3, reach: f64| {
        let (start, speed) = (direction.dot(from - corner), direction.dot(along));
        if speed.abs() <= f64::EPSILON {
            if start > reach {
                leave = -1.0;
            }
            return;
        }
        let time = (reach - start) / speed;
        if speed > 0.0 {
            leave = leave.min(time);
        } else {
            enter = enter.max(time);
        }
    };
    clip(face.normal, face.corners[0], FLATNESS);
    clip(-face.normal, face.corners[0], FLATNESS);
    for (k, &corner) in face.corners.iter().enumerate() {
        let next = face.corners[(k + 1) % face.corners.len()];
        clip((next - corner).cross(face.normal).normalize(), corner, reach);
    }
    enter <= leave
}
