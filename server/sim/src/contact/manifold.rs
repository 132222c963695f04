use arrayvec::ArrayVec;
use glam::DVec3;
use maps::geometry::Face;

use super::{ContactPoint, MAX_POINTS, Points};
use crate::separation::{Features, Part, Separation};

/// A face this well aligned with the contact normal (within 8 degrees)
/// carries the contact as an area; otherwise it is a point.
const FACE_ALIGNMENT: f64 = 0.99;

/// Where the plane of a face divides two parts, the points on it are no nearer
/// than the plane says. If the nearest of them is no farther either, but for
/// this (a tenth of the rest gap), the face is where the parts are closest.
const SAME_GAP: f64 = 0.01;

/// Polygon of a clipped face: one more than those of the two faces together.
/// Larger faces than this lie on each other at the closest points only.
const MAX_CORNERS: usize = 32;

/// Corners nearer to each other than this, in units, are one: a clipped polygon
/// has two where a corner lies on an edge, but for rounding.
const SAME_CORNER: f64 = 1e-3;

/// Faces whose alignment differs by no more than this are as good as each other:
/// many times what rounding does to the axis of two parts that keep
/// no more than the guard's margin apart.
const AS_ALIGNED: f64 = 1e-9;

/// Corners that are told apart by no more than this are as good as each other:
/// many times what rounding adds to the square of a length on any map.
const TIE: f64 = 1e-6;

/// Of corners and faces that are as good, the farthest along this direction is
/// taken, so that neither rounding nor which of two bodies is asked first
/// decides. Nothing that is drawn lies across it.
const SKEW: DVec3 = DVec3::new(0.516_397_8, 0.690_065_6, 0.507_093_3);

type Polygon = ArrayVec<DVec3, MAX_CORNERS>;

/// A corner of the area in which two faces meet: where on the first part, how
/// far from the second, and the middle between the two.
#[derive(Clone, Copy)]
struct Corner {
    at: DVec3,
    gap: f64,
    middle: DVec3,
}

/// The points at which `a` and `b` meet along the separation's axis, no
/// farther apart than `reach`: face clipped against face where one of them
/// lies flat, the closest points otherwise.
pub(super) fn manifold(a: &Part, b: &Part, separation: &Separation, reach: f64) -> Points {
    let mut points = Points::default();
    if let Some(faces) = Faces::along(a, b, separation.axis) {
        points = faces.points(separation.axis, reach);
    }
    if points.is_empty() {
        points.push(point(a, separation.on_a, separation.gap));
    }
    points
}

/// The separation of two parts of which one lies flat on the other, and where
/// they meet, if the face that is nearest to `axis` (the one they met at last
/// time) is still the one. Spares the search.
pub(super) fn flat(a: &Part, b: &Part, axis: DVec3, reach: f64) -> Option<(Separation, Points)> {
    let faces = Faces::along(a, b, axis)?;
    let &Faces { normal, anchor, a_is_reference, incident, .. } = &faces;
    let gap = -incident.extent(-normal) - normal.dot(anchor);
    if gap <= 0.0 || gap > reach {
        return None;
    }
    let axis = if a_is_reference { normal } else { -normal };
    let points = faces.points(axis, reach);
    let nearest = points.iter().min_by(|p, q| p.gap.total_cmp(&q.gap))?;
    if nearest.gap > gap + SAME_GAP {
        return None;
    }
    let (on_a, on_b) = (nearest.on_body, nearest.on_body + axis * nearest.gap);
    Some((Separation { axis, gap, on_a, on_b, features: Features::new() }, points))
}

/// Two faces that look at each other, one of them nearly along the axis.
struct Faces<'a, 'p> {
    a: &'p Part<'a>,
    reference: &'p Part<'a>,
    reference_face: &'a Face,
    incident: &'p Part<'a>,
    incident_face: &'a Face,
    a_is_reference: bool,
    /// Outward normal of the reference face and a point on it.
    normal: DVec3,
    anchor: DVec3,
}

impl<'a, 'p> Faces<'a, 'p> {
    fn along(a: &'p Part<'a>, b: &'p Part<'a>, axis: DVec3) -> Option<Self> {
        let (face_a, aligned_a) = most_aligned(a, axis);
        let (face_b, aligned_b) = most_aligned(b, -axis);
        if aligned_a.max(aligned_b) < FACE_ALIGNMENT {
            return None;
        }
        let a_is_reference = if (aligned_a - aligned_b).abs() > AS_ALIGNED {
            aligned_a > aligned_b
        } else {
            let [skew_a, skew_b] = [(a, face_a), (b, face_b)]
                .map(|(part, face)| part.direction_to_world(face.plane.normal).dot(SKEW));
            skew_a > skew_b
        };
        let (reference, reference_face, incident, incident_face) =
            if a_is_reference { (a, face_a, b, face_b) } else { (b, face_b, a, face_a) };
        let normal = reference.direction_to_world(reference_face.plane.normal);
        let anchor = reference.to_world(vertex(reference, reference_face, 0));
        Some(Self {
            a,
            reference,
            reference_face,
            incident,
            incident_face,
            a_is_reference,
            normal,
            anchor,
        })
    }

    /// The incident face's polygon inside the prism over the reference face,
    /// with distances measured along `axis`.
    fn points(&self, axis: DVec3, reach: f64) -> Points {
        let toward = if self.a_is_reference { axis } else { -axis };
        let scale = 1.0 / self.normal.dot(toward);
        let mut corners = ArrayVec::<Corner, MAX_CORNERS>::new();
        for corner in self.clipped() {
            let gap = (corner - self.anchor).dot(self.normal) * scale;
            if gap <= reach {
                let at = if self.a_is_reference { corner - axis * gap } else { corner };
                corners.push(Corner { at, gap, middle: at + axis * (0.5 * gap) });
            }
        }
        let corners = reduced(corners, axis);
        corners.into_iter().map(|Corner { at, gap, .. }| point(self.a, at, gap)).collect()
    }

    fn clipped(&self) -> Polygon {
        let corner =
            |part: &Part, face: &Face, index: usize| part.to_world(vertex(part, face, index));
        let count = self.incident_face.vertices.len();
        let sides = self.reference_face.vertices.len();
        let (mut polygon, mut rest) = (&mut Polygon::new(), &mut Polygon::new());
        if count + sides > MAX_CORNERS {
            return polygon.clone();
        }
        polygon.extend((0..count).map(|i| corner(self.incident, self.incident_face, i)));
        let mut from = corner(self.reference, self.reference_face, sides - 1);
        for i in 0..sides {
            let to = corner(self.reference, self.reference_face, i);
            let outward = (to - from).cross(self.normal);
            if clip(polygon, outward, outward.dot(from), rest) {
                std::mem::swap(&mut polygon, &mut rest);
            }
            from = to;
        }
        polygon.clone()
    }
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
        // Of faces that are as good the first, whatever rounding says.
        if along > best.1 + AS_ALIGNED {
            best = (face, along);
        }
    }
    best
}

/// Writes what of a convex polygon lies behind a plane, unless that is all of it;
/// returns whether it has. Each plane adds one corner at the most.
fn clip(polygon: &Polygon, normal: DVec3, distance: f64, kept: &mut Polygon) -> bool {
    let height = |corner: DVec3| normal.dot(corner) - distance;
    let (Some(&last), true) = (polygon.last(), polygon.iter().any(|&corner| height(corner) > 0.0))
    else {
        return false;
    };
    kept.clear();
    let (mut from, mut before) = (last, height(last));
    for &to in polygon {
        let after = height(to);
        if (before > 0.0) != (after > 0.0) && !kept.is_full() {
            kept.push(from + (to - from) * (before / (before - after)));
        }
        if after <= 0.0 && !kept.is_full() {
            kept.push(to);
        }
        (from, before) = (to, after);
    }
    true
}

/// Keeps the four points that matter: the nearest, the one farthest from it,
/// and the two that spread widest to either side.
fn reduced(corners: ArrayVec<Corner, MAX_CORNERS>, axis: DVec3) -> ArrayVec<Corner, MAX_POINTS> {
    let mut open = ArrayVec::<Corner, MAX_CORNERS>::new();
    for corner in corners {
        let known = |other: &Corner| {
            other.middle.distance_squared(corner.middle) < SAME_CORNER * SAME_CORNER
        };
        if !open.iter().any(known) {
            open.push(corner);
        }
    }
    if open.len() <= MAX_POINTS {
        return open.into_iter().collect();
    }
    let mut pick = |score: &dyn Fn(&Corner) -> f64| {
        let best = open.iter().map(score).fold(f64::NEG_INFINITY, f64::max);
        let (mut picked, mut along) = (0, f64::NEG_INFINITY);
        for (i, corner) in open.iter().enumerate() {
            let farther = corner.middle.dot(SKEW);
            if score(corner) >= best - TIE && farther > along {
                (picked, along) = (i, farther);
            }
        }
        open.swap_remove(picked)
    };
    let nearest = pick(&|corner| -corner.gap);
    let farthest = pick(&|corner| corner.middle.distance_squared(nearest.middle));
    let across = (farthest.middle - nearest.middle).cross(axis);
    let side = |corner: &Corner| (corner.middle - nearest.middle).dot(across);
    let left = pick(&side);
    let right = pick(&|corner| -side(corner));
    [nearest, farthest, left, right].into()
}
