//! Two predicates on triangles, by the exact signs of determinants.

use glam::DVec3;
use robust::{Coord3D, orient3d};

use super::Shape;

/// The exact side of the plane through `a`, `b` and `c` on which `d` is: -1, 0 or 1.
fn side(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i8 {
    let coord = |v: DVec3| Coord3D { x: v.x, y: v.y, z: v.z };
    let determinant = orient3d(coord(a), coord(b), coord(c), coord(d));
    i8::from(determinant > 0.0) - i8::from(determinant < 0.0)
}

/// Whether the open segment passes through the inside of the triangle, from one side to the other.
pub(super) fn crosses(p: DVec3, q: DVec3, [a, b, c]: [DVec3; 3]) -> bool {
    if side(a, b, c, p) * side(a, b, c, q) != -1 {
        return false;
    }
    let turns = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)];
    turns == [1; 3] || turns == [-1; 3]
}

/// Far ends of the rays that are cast from a point, outside any world. A ray that meets an edge or a
/// corner, or that ends in the plane of a triangle, is given up, and the next one is cast. With these
/// coordinates that is unlikely.
const FAR: [DVec3; 6] = [
    DVec3::new(1_048_573.3, 611_953.7, 824_633.1),
    DVec3::new(-917_519.9, 1_039_763.3, 402_653.7),
    DVec3::new(333_667.1, -1_001_311.9, 786_433.3),
    DVec3::new(-524_287.7, -777_781.1, -1_046_527.3),
    DVec3::new(899_981.3, 257_641.9, -1_048_189.7),
    DVec3::new(-131_071.1, 950_111.3, -990_001.9),
];

/// Whether the point is strictly inside the closed surface, by the parity of the number of
/// triangles between it and a point far outside.
///
/// # Panics
/// If all six rays line up with edges, which does not happen by chance.
pub(super) fn holds(shape: &Shape, corners: &[DVec3], point: DVec3) -> bool {
    let answer = FAR.iter().find_map(|&far| parity(shape, corners, point, far));
    answer.expect("one of the rays misses all edges")
}

/// Whether the ray from `point` to `far` meets an odd number of triangles. `None` if it meets an
/// edge or a corner away from `point`.
fn parity(shape: &Shape, corners: &[DVec3], point: DVec3, far: DVec3) -> Option<bool> {
    let mut inside = false;
    for triangle in shape.triangles() {
        let [a, b, c] = triangle.map(|i| corners[i]);
        let start = side(a, b, c, point);
        let end = side(a, b, c, far);
        if end == 0 {
            return None;
        }
        if start == end {
            continue;
        }
        let turns = [side(point, far, a, b), side(point, far, b, c), side(point, far, c, a)];
        let (left, right) = (turns.contains(&1), turns.contains(&-1));
        if left && right {
            continue;
        }
        if start == 0 {
            // A point on a triangle or its edges is on the surface, so it is not inside.
            return Some(false);
        }
        if turns.contains(&0) {
            return None;
        }
        inside = !inside;
    }
    Some(inside)
}
