use glam::DVec3;
use maps::geometry::{Face, Plane};

use super::{ContactPoint, MAX_POINTS};
use crate::separation::{Part, Separation};

/// A face this well aligned with the contact normal (within 8 degrees)
/// carries the contact as an area; otherwise it is a point.
const FACE_ALIGNMENT: f64 = 0.99;

/// The points at which `a` and `b` meet along the separation's axis, no
/// farther apart than `reach`: face clipped against face where one of them
/// lies flat, the closest points otherwise.
pub(super) fn manifold(
    a: &Part,
    b: &Part,
    separation: &Separation,
    reach: f64,
) -> Vec<ContactPoint> {
    let mut points = Vec::new();
    let axis = separation.axis;
    let (face_a, aligned_a) = most_aligned(a, axis);
    let (face_b, aligned_b) = most_aligned(b, -axis);
    if aligned_a.max(aligned_b) < FACE_ALIGNMENT {
        return vec![point(a, separation.on_a, separation.gap)];
    }
    let a_is_reference = aligned_a >= aligned_b;
    let (reference, reference_face, incident, incident_face) =
        if a_is_reference { (a, face_a, b, face_b) } else { (b, face_b, a, face_a) };
    let normal = reference.direction_to_world(reference_face.plane.normal);
    let anchor = reference.to_world(vertex(reference, reference_face, 0));
    let toward = if a_is_reference { axis } else { -axis };
    for corner in clipped(reference, reference_face, normal, incident, incident_face) {
        let gap = (corner - anchor).dot(normal) / normal.dot(toward);
        if gap <= reach {
            let on_a = if a_is_reference { corner - axis * gap } else { corner };
            points.push(point(a, on_a, gap));
        }
    }
    if points.is_empty() {
        points.push(point(a, separation.on_a, separation.gap));
    }
    reduce(&mut points);
    points
}

fn point(a: &Part, on_body: DVec3, gap: f64) -> ContactPoint {
    ContactPoint { on_body, local: a.point_to_local(on_body), gap, impulse: [0.0; 3] }
}

fn vertex(part: &Part, face: &Face, index: usize) -> DVec3 {
    part.solid.vertices()[usize::from(face.vertices[index])]
}

fn most_aligned<'a>(part: &Part<'a>, direction: DVec3) -> (&'a Face, f64) {
    let local = part.direction_to_local(direction);
    let faces = part.solid.faces();
    let mut best = (&faces[0], f64::NEG_INFINITY);
    for face in faces {
        let along = face.plane.normal.dot(local);
        if along > best.1 {
            best = (face, along);
        }
    }
    best
}

/// The incident face's polygon inside the prism over the reference face.
fn clipped(
    reference: &Part,
    reference_face: &Face,
    normal: DVec3,
    incident: &Part,
    incident_face: &Face,
) -> Vec<DVec3> {
    let count = incident_face.vertices.len();
    let mut polygon: Vec<DVec3> =
        (0..count).map(|i| incident.to_world(vertex(incident, incident_face, i))).collect();
    let sides = reference_face.vertices.len();
    let mut from = reference.to_world(vertex(reference, reference_face, sides - 1));
    for i in 0..sides {
        let to = reference.to_world(vertex(reference, reference_face, i));
        let outward = (to - from).cross(normal);
        polygon = clip(&polygon, &Plane::through(outward, from));
        from = to;
    }
    polygon
}

fn clip(polygon: &[DVec3], plane: &Plane) -> Vec<DVec3> {
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (i, &to) in polygon.iter().enumerate() {
        let from = polygon[(i + polygon.len() - 1) % polygon.len()];
        let (before, after) = (plane.signed_distance(from), plane.signed_distance(to));
        if (before > 0.0) != (after > 0.0) {
            kept.push(from + (to - from) * (before / (before - after)));
        }
        if after <= 0.0 {
            kept.push(to);
        }
    }
    kept
}

/// Keeps the four points that matter: the nearest, the one farthest from it,
/// and the two that spread widest to either side.
fn reduce(points: &mut Vec<ContactPoint>) {
    if points.len() <= MAX_POINTS {
        return;
    }
    let pick = |points: &mut Vec<ContactPoint>, score: &dyn Fn(&ContactPoint) -> f64| {
        let mut best = 0;
        for i in 1..points.len() {
            if score(&points[i]) > score(&points[best]) {
                best = i;
            }
        }
        points.swap_remove(best)
    };
    let nearest = pick(points, &|p| -p.gap);
    let farthest = pick(points, &|p| p.on_body.distance_squared(nearest.on_body));
    let along = farthest.on_body - nearest.on_body;
    let across = along.cross(points[0].on_body - nearest.on_body).cross(along);
    let side = |p: &ContactPoint| (p.on_body - nearest.on_body).dot(across);
    let left = pick(points, &side);
    let right = pick(points, &|p| -side(p));
    *points = vec![nearest, farthest, left, right];
}
