//! The contact points of two parts that meet along an edge of each, like two cards that lean on
//! each other. The points are the ends of the stretch along which both edges run side by side. With
//! a single point the parts could turn about that point.

use glam::DVec3;

use super::manifold::SKEW;
use super::pair::{ContactPoint, Points};
use crate::collision::separation::Part;

/// An edge lies along the contact if its direction leans towards the contact normal by no more than
/// this (the sine of 8 degrees). The tolerance for faces is the same.
const EDGE_LEAN: f64 = 0.14;

/// Two edges are parallel if the sine of the angle between them is below this: a little more than a
/// degree. Edges at a greater angle cross at one point, and away from that point they do not touch.
const PARALLEL: f64 = 0.02;

/// Edges that run side by side for less than this, in units, meet at a point.
const SHORTEST: f64 = 0.01;

/// Finds two parallel edges, one of each part, along which the parts meet. Returns the ends of the
/// stretch along which both edges run side by side, if the gap there is no more than `reach`. The
/// result is empty if there are no such edges.
pub(super) fn edges([a, b]: [&Part; 2], axis: DVec3, reach: f64) -> Points {
    let mut points = Points::new();
    let Some([from, to]) = edge(a, axis) else { return points };
    let Some([begin, end]) = edge(b, -axis) else { return points };
    let [own, other] = [(to - from).normalize(), (end - begin).normalize()];
    if own.cross(other).length_squared() > PARALLEL * PARALLEL {
        return points;
    }
    // The mean of both directions. Its sign is chosen by `SKEW`, so the order of the parts does not
    // matter.
    let along = (own + other * own.dot(other).signum()).normalize();
    let along = along * along.dot(SKEW).signum();
    let common = [[from, to], [begin, end]].map(|ends| {
        let [first, second] = ends.map(|end| end.dot(along));
        [first.min(second), first.max(second)]
    });
    let [first, last] = [common[0][0].max(common[1][0]), common[0][1].min(common[1][1])];
    if last - first < SHORTEST {
        return points;
    }
    let on = |at: DVec3, edge: DVec3, place: f64| {
        at + edge * ((place - at.dot(along)) / edge.dot(along))
    };
    for place in [first, last] {
        let [on_a, on_b] = [on(from, own, place), on(begin, other, place)];
        let gap = (on_b - on_a).dot(axis);
        if gap <= reach {
            // Edges that are not quite parallel do not touch along their whole length, so the
            // contact is put half way between them.
            let on_body = (on_a + on_b - axis * gap) * 0.5;
            let local = a.point_to_local(on_body).as_vec3();
            points.push(ContactPoint { local, gap: gap as f32, ..ContactPoint::default() });
        }
    }
    points
}

/// The edge at the part's farthest corner along `direction` that leans least towards `direction`.
/// `None` if no edge at that corner lies along the contact.
fn edge(part: &Part, direction: DVec3) -> Option<[DVec3; 2]> {
    let (corner, at) = part.support(direction);
    let mut best = (EDGE_LEAN, None);
    for face in part.solid.faces() {
        let Some(place) = face.vertices.iter().position(|&vertex| vertex == corner) else {
            continue;
        };
        // Each edge at the corner leads to the next vertex in one of the edge's two faces, so this
        // search finds every edge.
        let next = face.vertices[(place + 1) % face.vertices.len()];
        let Some(to) = part.vertex(usize::from(next)) else { continue };
        let lean = (at - to).dot(direction) / (at - to).length();
        if lean < best.0 {
            best = (lean, Some([at, to]));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_4;

    use glam::DMat3;
    use obsp::geometry::{ConvexSolid, Plane};

    use super::*;

    /// Half the length of the bars, in units.
    const HALF: f64 = 20.0;

    /// The contact points of two bars of square section. The bars face each other with one long
    /// edge each. The lower bar lies along x, and the upper one is 0.1 units higher. The upper bar
    /// is then turned by `tilt` about y, turned by `turn` about z, and moved by `along` along x.
    fn meet(tilt: f64, turn: f64, along: f64) -> usize {
        let side =
            |axis: DVec3, reach: f64| [axis, -axis].map(|n| Plane { normal: n, distance: reach });
        let planes = [side(DVec3::X, HALF), side(DVec3::Y, 4.0), side(DVec3::Z, 4.0)].concat();
        let bar = ConvexSolid::from_planes(&planes).unwrap();
        let on_edge = DMat3::from_rotation_x(FRAC_PI_4);
        let below = Part::turned(&bar, on_edge, DVec3::ZERO);
        let turned = DMat3::from_rotation_z(turn) * DMat3::from_rotation_y(tilt) * on_edge;
        let highest = below.extent(DVec3::Z);
        let above = Part::turned(&bar, turned, DVec3::ZERO);
        let lift = highest + 0.1 + above.extent(DVec3::NEG_Z);
        let above = Part::turned(&bar, turned, DVec3::new(along, 0.0, lift));
        edges([&above, &below], DVec3::NEG_Z, 100.0).len()
    }

    #[test]
    fn parallel_edges_meet_at_two_points() {
        assert_eq!(meet(0.0, 0.0, 0.0), 2);
        assert_eq!(meet(0.0, 0.0, -HALF), 2);
    }

    #[test]
    fn an_edge_that_leans_by_more_than_the_limit_has_no_points() {
        let limit = EDGE_LEAN.asin();
        assert_eq!(meet(PARALLEL * 0.9, 0.0, 0.0), 2);
        assert_eq!(meet(limit * 1.01, 0.0, 0.0), 0);
    }

    #[test]
    fn edges_at_more_than_the_limit_of_parallels_have_no_points() {
        let limit = PARALLEL.asin();
        assert_eq!(meet(0.0, limit * 0.99, 0.0), 2);
        assert_eq!(meet(0.0, -limit * 0.99, 0.0), 2);
        assert_eq!(meet(0.0, limit * 1.01, 0.0), 0);
    }

    #[test]
    fn edges_that_run_along_each_other_for_less_than_the_limit_have_no_points() {
        assert_eq!(meet(0.0, 0.0, 2.0 * HALF - 1.01 * SHORTEST), 2);
        assert_eq!(meet(0.0, 0.0, 2.0 * HALF - 0.99 * SHORTEST), 0);
    }
}
