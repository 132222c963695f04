//! The surface of convex solids that may touch or overlap.

use super::winding::ON_PLANE;
use super::{Aabb, ConvexSolid, Face, Plane, Winding};
use crate::box_tree::BoxTree;

/// The surface of the union of `solids`: the parts of their faces that no other solid covers, in
/// the order of the solids. Of two faces in one plane that face the same way, the first solid's is
/// kept. Where two solids touch by their faces, neither face is left. `None` if the surface, or a
/// face on the way to it, has more than `most` pieces: solids that cross each other can have very
/// many.
pub(crate) fn union_surface(solids: &[ConvexSolid], most: usize) -> Option<Vec<(Plane, Winding)>> {
    let boxes: Vec<Aabb> = solids.iter().map(|solid| *solid.bounds()).collect();
    let tree = BoxTree::new(&boxes);
    let mut surface = Vec::new();
    for (index, solid) in solids.iter().enumerate() {
        let mut near = Vec::new();
        tree.overlapping(&solid.bounds().inflated(ON_PLANE), |other| near.push(other as usize));
        near.sort_unstable();
        for face in solid.faces() {
            let mut pieces = vec![solid.winding(face)];
            for &other in near.iter().filter(|&&other| other != index) {
                let covers = &solids[other];
                let rest = pieces.into_iter();
                pieces =
                    rest.flat_map(|piece| uncovered(piece, face, covers, index < other)).collect();
                if surface.len() + pieces.len() > most {
                    return None;
                }
            }
            surface.extend(pieces.into_iter().map(|piece| (face.plane, piece)));
        }
    }
    Some(surface)
}

/// The parts of a piece of `face` that `solid` does not cover. `is_first` says that the piece
/// belongs to the first of the two solids.
fn uncovered(piece: Winding, face: &Face, solid: &ConvexSolid, is_first: bool) -> Vec<Winding> {
    let mut rest = piece.clone();
    let mut outside = Vec::new();
    for Face { plane, .. } in solid.faces() {
        let heights = || rest.vertices.iter().map(|&vertex| plane.signed_distance(vertex));
        let is_behind = heights().all(|height| height <= ON_PLANE);
        let is_in_front = heights().all(|height| height >= -ON_PLANE);
        match (is_in_front, is_behind) {
            (true, true) => {
                if is_first && face.plane.normal.dot(plane.normal) > 0.0 {
                    return vec![piece];
                }
            }
            (true, false) => return vec![piece],
            (false, true) => {}
            (false, false) => {
                let (front, back) = rest.split(plane);
                outside.extend(front);
                let Some(back) = back else { return vec![piece] };
                rest = back;
            }
        }
    }
    outside
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    fn cuboid(min: [f64; 3], max: [f64; 3]) -> ConvexSolid {
        let bounds = Aabb { min: DVec3::from(min), max: DVec3::from(max) };
        ConvexSolid::from_box(&bounds).expect("a box is a solid")
    }

    /// Volume of the union, by the divergence theorem, and the area of its surface.
    fn measured(solids: &[ConvexSolid]) -> (f64, f64) {
        union_surface(solids, 1_000).expect("few pieces").iter().fold(
            (0.0, 0.0),
            |(volume, area), (plane, winding)| {
                (volume + plane.distance * winding.area() / 3.0, area + winding.area())
            },
        )
    }

    /// Symptom: a map of a hundred slabs along each axis took a gigabyte. Cause: each slab's face
    /// was cut by all others. Cure: the number of pieces has a limit.
    #[test]
    fn solids_that_cross_each_other_too_often_are_refused() {
        let slabs: Vec<ConvexSolid> = (0..40)
            .map(|index| f64::from(index) * 4.0)
            .flat_map(|at| {
                let (low, high) = ([-8.0; 3], [168.0; 3]);
                [0, 1, 2].map(|axis| {
                    let (mut min, mut max) = (low, high);
                    (min[axis], max[axis]) = (at, at + 1.0);
                    cuboid(min, max)
                })
            })
            .collect();
        assert!(union_surface(&slabs, 8_192).is_none());
        assert!(union_surface(&slabs[..3], 8_192).is_some());
    }

    #[test]
    fn solids_that_touch_or_overlap_have_one_surface() {
        let block = || cuboid([0.0; 3], [4.0; 3]);
        for (other, volume, area) in [
            // The two share a whole face.
            (cuboid([4.0, 0.0, 0.0], [8.0, 4.0, 4.0]), 128.0, 160.0),
            // They share a part of a face.
            (cuboid([4.0, 2.0, 0.0], [8.0, 6.0, 4.0]), 128.0, 176.0),
            // They overlap, and two pairs of faces lie in one plane.
            (cuboid([2.0, 0.0, 0.0], [6.0, 4.0, 4.0]), 96.0, 128.0),
            // They overlap in a corner.
            (cuboid([2.0; 3], [6.0; 3]), 120.0, 168.0),
            // One is inside the other.
            (cuboid([1.0; 3], [2.0; 3]), 64.0, 96.0),
            // Both are the same.
            (block(), 64.0, 96.0),
            // They share an edge only.
            (cuboid([4.0, 4.0, 0.0], [8.0, 8.0, 4.0]), 128.0, 192.0),
        ] {
            for solids in [[block(), other.clone()], [other.clone(), block()]] {
                let (found, around) = measured(&solids);
                assert!((found - volume).abs() < 1e-9, "{:?}: {found}", other.bounds());
                assert!((around - area).abs() < 1e-9, "{:?}: {around}", other.bounds());
            }
        }
    }
}
