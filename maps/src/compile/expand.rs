//! Expansion of a solid by a box: the exact Minkowski sum.

use glam::DVec3;

use crate::geometry::{ConvexSolid, DegenerateSolid, Plane};

/// Two unit vectors whose cross product is shorter than this are parallel. An edge that is
/// parallel to an axis has no bevel about that axis.
const PARALLEL: f64 = 1e-9;

/// The centres of all boxes of these half extents that touch or overlap `solid`. The planes of this
/// sum are of three kinds: planes of the solid, moved outward; planes of the box (axial bevels);
/// and a plane for each pair of an edge of the solid and an edge of the box that meet on the sum's
/// surface (edge bevels).
pub(super) fn expanded(
    solid: &ConvexSolid,
    half_extents: DVec3,
) -> Result<ConvexSolid, DegenerateSolid> {
    if half_extents == DVec3::ZERO {
        return Ok(solid.clone());
    }
    let mut planes: Vec<Plane> = Vec::new();
    for face in solid.faces() {
        add(&mut planes, solid, half_extents, face.plane.normal);
    }
    for axis in DVec3::AXES {
        add(&mut planes, solid, half_extents, axis);
        add(&mut planes, solid, half_extents, -axis);
    }
    for [first, second] in edge_normals(solid)? {
        let Some(along) = first.cross(second).try_normalize() else { continue };
        for axis in DVec3::AXES {
            let bevel = along.cross(axis);
            let length = bevel.length();
            if length < PARALLEL {
                continue;
            }
            for normal in [bevel / length, -bevel / length] {
                // The normal supports the edge only if it lies between the normals of the edge's
                // two faces.
                let between = first.cross(normal).dot(along) > PARALLEL
                    && normal.cross(second).dot(along) > PARALLEL;
                if between {
                    add(&mut planes, solid, half_extents, normal);
                }
            }
        }
    }
    ConvexSolid::from_planes(&planes)
}

/// Adds the sum's supporting plane with this normal, unless the list has it already.
fn add(planes: &mut Vec<Plane>, solid: &ConvexSolid, half_extents: DVec3, normal: DVec3) {
    if planes.iter().any(|known| known.normal.abs_diff_eq(normal, PARALLEL)) {
        return;
    }
    let own = solid.faces().iter().find(|face| face.plane.normal == normal);
    let support = own.map_or_else(
        || solid.vertices().iter().map(|v| v.dot(normal)).fold(f64::NEG_INFINITY, f64::max),
        |face| face.plane.distance,
    );
    planes.push(Plane { normal, distance: support + half_extents.dot(normal.abs()) });
}

/// Normals of the two faces at each edge.
fn edge_normals(solid: &ConvexSolid) -> Result<Vec<[DVec3; 2]>, DegenerateSolid> {
    let mut sides: Vec<(u16, u16, DVec3)> = Vec::new();
    for face in solid.faces() {
        for i in 0..face.vertices.len() {
            let (a, b) = (face.vertices[i], face.vertices[(i + 1) % face.vertices.len()]);
            sides.push((a.min(b), a.max(b), face.plane.normal));
        }
    }
    sides.sort_by_key(|&(a, b, _)| (a, b));
    let mut edges = Vec::with_capacity(sides.len() / 2);
    for edge in sides.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
        let [(_, _, first), (_, _, second)] = *edge else { return Err(DegenerateSolid::Open) };
        edges.push([first, second]);
    }
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::geometry::Aabb;

    fn wedge(height: f64) -> ConvexSolid {
        let base = Aabb { min: DVec3::ZERO, max: DVec3::new(64.0, 32.0, height) };
        let mut planes: Vec<Plane> =
            ConvexSolid::from_box(&base).expect("a box").faces().iter().map(|f| f.plane).collect();
        let slope = DVec3::new(-height, 0.0, 64.0).normalize();
        planes.push(Plane { normal: slope, distance: 0.0 });
        ConvexSolid::from_planes(&planes).expect("a wedge")
    }

    #[test]
    fn a_box_grows_by_the_half_extents() {
        let bounds = Aabb { min: DVec3::splat(-3.0), max: DVec3::new(1.0, 2.0, 3.0) };
        let solid = ConvexSolid::from_box(&bounds).expect("a box");
        let half = DVec3::new(16.0, 8.0, 4.0);
        let sum = expanded(&solid, half).expect("a box");
        assert_eq!(sum.faces().len(), 6);
        assert_eq!((sum.bounds().min, sum.bounds().max), (bounds.min - half, bounds.max + half));
    }

    #[test]
    fn a_wedge_gets_its_axial_bevels() {
        let sum = expanded(&wedge(32.0), DVec3::splat(8.0)).expect("a solid");
        // The sum has the wedge's five faces, and the box's top and its low end.
        assert_eq!(sum.faces().len(), 7);
    }

    proptest! {
        /// The sum of two convex bodies is the hull of the sums of vertices. It holds all these
        /// sums, and each of its planes touches one of them.
        #[test]
        fn the_sum_is_the_hull_of_vertex_sums(
            normals in prop::collection::vec(prop::array::uniform3(-8i8..=8), 4..14),
            half in prop::array::uniform3(0u8..20),
        ) {
            let planes: Vec<Plane> = normals.iter().filter(|n| **n != [0; 3]).map(|n| {
                let n = DVec3::from_array(n.map(f64::from));
                Plane { normal: n.normalize(), distance: 32.0 + n.length() }
            }).collect();
            let Ok(solid) = ConvexSolid::from_planes(&planes) else { return Ok(()) };
            let half = DVec3::from_array(half.map(f64::from));
            let sum = expanded(&solid, half).expect("a sum of solids");
            let corners: Vec<DVec3> = solid.vertices().iter().flat_map(|&v| {
                (0..8).map(move |i| {
                    let sign = |bit: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
                    v + half * DVec3::new(sign(0), sign(1), sign(2))
                })
            }).collect();
            for face in sum.faces() {
                let reach = corners.iter().map(|&c| face.plane.signed_distance(c));
                prop_assert!(reach.fold(f64::NEG_INFINITY, f64::max).abs() < 1e-6);
            }
            for &v in sum.vertices() {
                // Every vertex of the sum is one of the vertex sums.
                let nearest = corners.iter().map(|&c| c.distance(v)).fold(f64::INFINITY, f64::min);
                prop_assert!(nearest < 0.01, "{v} is {nearest} from the hull");
            }
        }
    }
}
