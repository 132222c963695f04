//! The contact points of two parts that meet along an edge of each, like two cards that lean on
//! each other. The points are the ends of the stretch along which both edges run. With a single
//! point the parts could turn about it.

use glam::DVec3;

use super::pair::{ContactPoint, Points};
use crate::collision::separation::Part;

/// An edge lies along the contact if its direction leans towards the contact normal by no more than
/// this (the sine of 8 degrees). A face has the same tolerance.
const EDGE_LEAN: f64 = 0.14;

/// Two edges are parallel if the sine of the angle between them is below this: 8 degrees.
const PARALLEL: f64 = 0.14;

/// Edges that run along each other for less than this, in units, meet at a point.
const SHORTEST: f64 = 0.01;

/// Finds two parallel edges, one of each part, along which the parts meet. Returns the ends of the
/// stretch along which both edges run, if their gap is no more than `reach`. The result is empty if
/// there are no such edges.
pub(super) fn edges([a, b]: [&Part; 2], axis: DVec3, reach: f64) -> Points {
    let mut points = Points::new();
    let Some([from, to]) = edge(a, axis) else { return points };
    let Some([begin, end]) = edge(b, -axis) else { return points };
    let length = (to - from).length();
    let along = (to - from) / length;
    let other = end - begin;
    if other.cross(along).length_squared() > PARALLEL * PARALLEL * other.length_squared() {
        return points;
    }
    let [begins, ends] = [begin, end].map(|at| (at - from).dot(along));
    let (first, last) = (begins.min(ends).max(0.0), begins.max(ends).min(length));
    if last - first < SHORTEST {
        return points;
    }
    for at in [first, last] {
        let on_a = from + along * at;
        let on_b = begin + other * ((at - begins) / (ends - begins));
        let gap = (on_b - on_a).dot(axis);
        if gap <= reach {
            let local = a.point_to_local(on_a).as_vec3();
            points.push(ContactPoint { local, gap: gap as f32, impulse: [0.0; 3] });
        }
    }
    points
}

/// The edge that leans least towards a direction, of those at the part's farthest corner along that
/// direction. `None` if none of them lies along the contact.
fn edge(part: &Part, direction: DVec3) -> Option<[DVec3; 2]> {
    let (corner, at) = part.support(direction);
    let mut best = (EDGE_LEAN, None);
    for face in part.solid.faces() {
        let Some(place) = face.vertices.iter().position(|&vertex| vertex == corner) else {
            continue;
        };
        // Each edge at the corner leads to the next vertex in one of its two faces, so no edge is
        // missed.
        let next = face.vertices[(place + 1) % face.vertices.len()];
        let Some(to) = part.vertex(usize::from(next)) else { continue };
        let lean = (at - to).dot(direction) / (at - to).length();
        if lean < best.0 {
            best = (lean, Some([at, to]));
        }
    }
    best.1
}
