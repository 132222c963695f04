//! Tests of triangles by the exact signs of determinants (Shewchuk's adaptive
//! predicates).

use glam::DVec3;
use robust::{Coord3D, orient3d};

/// A triangle, given by its corners.
pub(super) type Triangle = [DVec3; 3];

/// The side of a triangle's plane on which a point lies, as an exact sign.
fn side([a, b, c]: Triangle, point: DVec3) -> i8 {
    let coordinates = |v: DVec3| Coord3D { x: v.x, y: v.y, z: v.z };
    let volume = orient3d(coordinates(a), coordinates(b), coordinates(c), coordinates(point));
    i8::from(volume > 0.0) - i8::from(volume < 0.0)
}

/// For each of the triangle's three edges, the side on which the line from `p` to `q` passes it.
/// The line goes through the triangle, its rim included, unless two of the signs are opposite.
fn turns(p: DVec3, q: DVec3, [a, b, c]: Triangle) -> [i8; 3] {
    [side([p, q, a], b), side([p, q, b], c), side([p, q, c], a)]
}

fn disagree(turns: [i8; 3]) -> bool {
    turns.contains(&1) && turns.contains(&-1)
}

/// Whether the segment from `p` to `q` and the triangle share a point, ends and rim included. A
/// segment in the triangle's plane does not count. If two closed surfaces meet in that plane, other
/// edges and triangles of theirs meet as well.
pub(super) fn meets(p: DVec3, q: DVec3, triangle: Triangle) -> bool {
    let (start, end) = (side(triangle, p), side(triangle, q));
    start * end <= 0 && (start, end) != (0, 0) && !disagree(turns(p, q, triangle))
}

/// Ends of rays, outside every map, in directions that no edge of a map is likely to have.
const OUTSIDE: [DVec3; 5] = [
    DVec3::new(1_203_411.7, 702_113.9, 911_777.3),
    DVec3::new(-1_107_093.1, 511_237.7, 1_301_027.9),
    DVec3::new(421_019.3, -1_403_177.1, 600_011.7),
    DVec3::new(-803_501.9, -900_107.3, -1_200_809.1),
    DVec3::new(1_009_117.3, -350_731.1, -1_101_101.9),
];

/// Whether `point` is inside the closed surface. A ray from an inner point crosses the surface an
/// odd number of times. If a ray grazes an edge, the next ray is tried. All rays from a point on
/// the surface fail, and the point counts as inside.
pub(super) fn holds(surface: impl Iterator<Item = Triangle> + Clone, point: DVec3) -> bool {
    let parity = |&far: &DVec3| {
        let mut inside = false;
        for triangle in surface.clone() {
            let (start, end) = (side(triangle, point), side(triangle, far));
            if start * end > 0 {
                continue;
            }
            let turns = turns(point, far, triangle);
            if disagree(turns) {
                continue;
            }
            if start * end == 0 || turns.contains(&0) {
                return None;
            }
            inside = !inside;
        }
        Some(inside)
    };
    OUTSIDE.iter().find_map(parity).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAT: Triangle = [DVec3::ZERO, DVec3::X, DVec3::Y];

    #[test]
    fn a_segment_meets_a_triangle_through_its_inside_its_rim_and_its_corner() {
        let through = |x: f64, y: f64| meets(DVec3::new(x, y, 1.0), DVec3::new(x, y, -1.0), FLAT);
        assert!(through(0.25, 0.25) && through(0.5, 0.5) && through(0.0, 0.0));
        assert!(!through(0.5, 0.5 + 1e-15) && !through(-1e-300, 0.0));
        assert!(
            meets(DVec3::new(0.2, 0.2, 0.0), DVec3::Z, FLAT),
            "the segment ends on the \
            triangle"
        );
        assert!(!meets(DVec3::new(0.2, 0.2, 1e-300), DVec3::Z, FLAT));
    }

    #[test]
    fn inside_is_told_from_outside_to_the_last_bit() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(|f| f.map(|i| corners[i]));
        let inside = |p: DVec3| holds(faces.iter().copied(), p);
        assert!(inside(DVec3::splat(0.2)) && inside(DVec3::new(0.2, 0.2, 1e-200)));
        assert!(!inside(DVec3::splat(0.34)) && !inside(DVec3::new(0.2, 0.2, -1e-200)));
        assert!(inside(DVec3::new(0.2, 0.2, 0.0)), "the point is on the surface");
    }
}
