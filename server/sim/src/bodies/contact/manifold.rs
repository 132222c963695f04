//! The contact points of two convex parts: one face is clipped against the other.

use arrayvec::ArrayVec;
use glam::DVec3;
use obsp::geometry::Face;

use super::clip::clip;
use super::edges::edges;
use super::pair::{ContactPoint, MAX_POINTS, MUTUAL_POINTS, Points};
use crate::collision::separation::{Features, Part, Separation};

/// A face that is perpendicular to the contact normal within 8 degrees carries the contact as an
/// area. Otherwise the contact is an edge or a point.
const FACE_ALIGNMENT: f64 = 0.99;

/// Tolerance for two parts to be closest at a face, in units (a tenth of the rest gap). If the
/// plane of a face divides the parts, no two points of theirs are nearer than the gap along the
/// plane's normal. So the parts are closest at the face if the distance of the nearest contact
/// point exceeds that gap by no more than this.
const SAME_GAP: f64 = 0.01;

/// Corners nearer to each other than this, in units, are one: rounding may split a
/// corner that lies on an edge.
const SAME_CORNER: f64 = 1e-3;

/// Two faces tie if their alignment differs by no more than this. The value is much larger than the
/// rounding error of the axis when the parts are only the guard's margin apart.
const AS_ALIGNED: f64 = 1e-9;

/// Two corners tie if their scores differ by no more than this. The value is much larger than the
/// rounding error of a squared length on any map.
const TIE: f64 = 1e-6;

/// If corners or faces tie, the one farthest along this direction is chosen, so that neither
/// rounding nor the order of the two bodies decides. No face of the shipped models is perpendicular
/// to this direction.
pub(super) const SKEW: DVec3 = DVec3::new(0.516_397_8, 0.690_065_6, 0.507_093_3);

/// Lists that are refilled for each pair, because faces may have any number of corners.
#[derive(Default)]
pub(super) struct Buffers {
    polygon: Vec<DVec3>,
    rest: Vec<DVec3>,
    corners: Vec<Corner>,
    /// Whether both parts are parts of bodies.
    pub(super) is_mutual: bool,
}

/// A corner of the area in which two faces meet: the point on the first part, its distance from the
/// second part, and the point half way between the two parts.
#[derive(Clone, Copy)]
struct Corner {
    at: DVec3,
    gap: f64,
    middle: DVec3,
}

impl Corner {
    /// Whether the two corners are the same except for rounding.
    fn is(&self, other: &Self) -> bool {
        other.middle.distance_squared(self.middle) < SAME_CORNER * SAME_CORNER
    }
}

/// The points at which `a` and `b` meet along the separation's axis. Where one part lies flat on
/// the other, one face is clipped against the other. Otherwise the points are the ends of the
/// stretch along which two parallel edges run side by side. Points farther apart than `reach` are
/// left out. If none is left, the result is the closest point.
pub(super) fn manifold(
    [a, b]: [&Part; 2],
    separation: &Separation,
    reach: f64,
    buffers: &mut Buffers,
) -> Points {
    let mut points = area([a, b], separation.axis, reach, buffers);
    if points.is_empty() {
        points = edges([a, b], separation.axis, reach);
    }
    if points.is_empty() {
        points.push(point(a, separation.on_a, separation.gap));
    }
    points
}

/// The points at which `a` and `b` meet face to face along `axis`, no farther apart than `reach`.
/// The result is empty if neither part lies flat on the other, or if their faces do not overlap.
pub(super) fn area([a, b]: [&Part; 2], axis: DVec3, reach: f64, buffers: &mut Buffers) -> Points {
    let faces = Faces::along(a, b, axis);
    faces.map_or_else(Points::default, |faces| faces.points(axis, reach, buffers))
}

/// The separation and the points of two parts, if one lies flat on the other and the two are still
/// closest at that face. The face is the one best aligned with `axis`, the last normal. The caller
/// then needs no search.
pub(super) fn flat(
    [a, b]: [&Part; 2],
    axis: DVec3,
    reach: f64,
    buffers: &mut Buffers,
) -> Option<(Separation, Points)> {
    let faces = Faces::along(a, b, axis)?;
    let &Faces { normal, anchor, a_is_reference, incident, .. } = &faces;
    let gap = -incident.extent(-normal) - normal.dot(anchor);
    if gap <= 0.0 || gap > reach {
        return None;
    }
    let axis = if a_is_reference { normal } else { -normal };
    let points = faces.points(axis, reach, buffers);
    let nearest = points.iter().min_by(|p, q| p.gap.total_cmp(&q.gap))?;
    if f64::from(nearest.gap) > gap + SAME_GAP {
        return None;
    }
    let on_a = a.to_world(nearest.local.as_dvec3());
    let on_b = nearest.on_other(on_a, axis);
    Some((Separation { axis, gap, on_a, on_b, features: Features::NONE }, points))
}

/// Two faces that face each other. One of them is nearly perpendicular to the axis.
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

    /// The corners of the incident face's polygon that are in the prism over the reference face,
    /// with distances measured along `axis`.
    fn points(&self, axis: DVec3, reach: f64, buffers: &mut Buffers) -> Points {
        self.clip_incident(buffers);
        let Buffers { polygon, corners, is_mutual, .. } = buffers;
        let toward = if self.a_is_reference { axis } else { -axis };
        let scale = 1.0 / self.normal.dot(toward);
        corners.clear();
        for &corner in polygon.iter() {
            let gap = (corner - self.anchor).dot(self.normal) * scale;
            if gap <= reach {
                let at = if self.a_is_reference { corner - axis * gap } else { corner };
                let corner = Corner { at, gap, middle: at + axis * (0.5 * gap) };
                if !corners.iter().any(|other| corner.is(other)) {
                    corners.push(corner);
                }
            }
        }
        let point = |&Corner { at, gap, .. }: &Corner| point(self.a, at, gap);
        let most = if *is_mutual { MUTUAL_POINTS } else { MAX_POINTS };
        if corners.len() <= most {
            return corners.iter().map(point).collect();
        }
        reduced(corners, axis, most).iter().map(point).collect()
    }

    /// Writes the incident face's polygon, clipped at the sides of the reference face, to the
    /// buffers.
    fn clip_incident(&self, Buffers { polygon, rest, .. }: &mut Buffers) {
        let corner =
            |part: &Part, face: &Face, index: usize| part.to_world(vertex(part, face, index));
        let count = self.incident_face.vertices.len();
        let sides = self.reference_face.vertices.len();
        polygon.clear();
        polygon.extend((0..count).map(|i| corner(self.incident, self.incident_face, i)));
        let mut from = corner(self.reference, self.reference_face, sides - 1);
        for i in 0..sides {
            let to = corner(self.reference, self.reference_face, i);
            let outward = (to - from).cross(self.normal);
            if clip(polygon, outward, outward.dot(from), rest) {
                std::mem::swap(polygon, rest);
            }
            from = to;
        }
    }
}

fn point(a: &Part, on_body: DVec3, gap: f64) -> ContactPoint {
    let local = a.point_to_local(on_body).as_vec3();
    ContactPoint { local, gap: gap as f32, ..ContactPoint::default() }
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
        // If faces tie, the first one wins.
        if along > best.1 + AS_ALIGNED {
            best = (face, along);
        }
    }
    best
}

/// Keeps a ring of up to `most` points: the nearest one, the one farthest from the nearest, the two
/// that are farthest to either side, and then those that are farthest beyond a side of the ring.
///
/// Points that are about as near as the nearest tie. Otherwise the jitter of a body that lies flat
/// would choose other points in each tick, and new points begin without the last tick's impulses.
fn reduced(open: &mut Vec<Corner>, axis: DVec3, most: usize) -> ArrayVec<Corner, MAX_POINTS> {
    let least = SAME_GAP + open.iter().map(|corner| corner.gap).fold(f64::INFINITY, f64::min);
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
    let nearest = pick(&|corner| -corner.gap.max(least));
    let farthest = pick(&|corner| corner.middle.distance_squared(nearest.middle));
    let across = (farthest.middle - nearest.middle).cross(axis);
    let side = |corner: &Corner| (corner.middle - nearest.middle).dot(across);
    let left = pick(&side);
    let right = pick(&|corner| -side(corner));
    let mut ring: ArrayVec<Corner, MAX_POINTS> = ArrayVec::new();
    ring.extend([nearest, left, farthest, right]);
    while ring.len() < most && !open.is_empty() {
        let (mut best, mut place) = (TIE, None);
        for (i, corner) in open.iter().enumerate() {
            for at in 0..ring.len() {
                let (from, to) = (ring[at].middle, ring[(at + 1) % ring.len()].middle);
                let out = (to - from).cross(axis).normalize_or_zero().dot(corner.middle - from);
                if out > best + TIE {
                    (best, place) = (out, Some([i, at + 1]));
                }
            }
        }
        let Some([i, at]) = place else { break };
        ring.insert(at, open.swap_remove(i));
    }
    // The solver visits the points in this order. If two faces meet at four points, an impact loses
    // the least momentum when two opposite points come first.
    if ring.len() == MUTUAL_POINTS {
        ring.swap(1, 2);
    }
    ring
}

#[cfg(test)]
mod tests {
    use glam::DQuat;
    use obsp::model::Model;

    use super::*;
    use crate::collision::pose::Pose;

    const RADIUS: f64 = 24.0;
    const HEIGHT: f64 = 8.0;
    const GAP: f64 = 0.1;

    /// The points of a prism of this many sides on a large block. `is_mutual` says whether the
    /// block is a body. The prism is tipped by `tilt` radians about the y axis, so that its corner
    /// on the x axis is the lowest.
    fn points(sides: u32, is_mutual: bool, tilt: f64) -> Vec<ContactPoint> {
        let prism = Model::cylinder("prism", RADIUS, HEIGHT, sides).expect("a valid model");
        let block = Model::cuboid("block", DVec3::splat(100.0)).expect("a valid model");
        let orientation = DQuat::from_rotation_y(tilt);
        let height = 0.5 * HEIGHT * tilt.cos() + RADIUS * tilt.sin() + GAP;
        let above = Pose { position: DVec3::Z * height, orientation };
        let below = Pose::at(DVec3::Z * -100.0);
        let [a, b] = [(&prism, above), (&block, below)];
        let [a, b] = [a, b].map(|(model, pose)| Part::new(&model.parts()[0], &pose));
        let mut buffers = Buffers { is_mutual, ..Buffers::default() };
        area([&a, &b], DVec3::NEG_Z, 5.0, &mut buffers).to_vec()
    }

    /// The distance of the nearest side of a ring of points from the axis of the prism. The points
    /// are sorted by their directions.
    fn inner(points: &[ContactPoint]) -> f64 {
        let mut ring: Vec<DVec3> = points.iter().map(|point| point.local.as_dvec3()).collect();
        ring.sort_by(|a, b| a.y.atan2(a.x).total_cmp(&b.y.atan2(b.x)));
        let sides = (0..ring.len()).map(|i| [ring[i], ring[(i + 1) % ring.len()]]);
        let distance = |[a, b]: [DVec3; 2]| (b - a).truncate().normalize().perp_dot(-a.truncate());
        sides.map(distance).fold(f64::INFINITY, f64::min)
    }

    /// The distance from the middle of a regular polygon to the line that cuts off this many
    /// corners in a row.
    fn cut(sides: u32, left_out: u32) -> f64 {
        RADIUS * (std::f64::consts::PI * f64::from(left_out + 1) / f64::from(sides)).cos()
    }

    fn are_corners(points: &[ContactPoint]) -> bool {
        let corner = |point: &ContactPoint| {
            let [low, out] = [-point.local.z, point.local.truncate().length()].map(f64::from);
            (low - 0.5 * HEIGHT).abs() < 1e-3 && (out - RADIUS).abs() < 1e-3
        };
        points.iter().all(corner)
    }

    /// A face with no more corners than the maximum of points is carried at each corner. With one
    /// corner more, one is left out, and the ring of the others reaches as far as it can.
    #[test]
    fn a_face_of_one_corner_too_many_lacks_one_corner() {
        for (most, is_mutual) in [(MAX_POINTS, false), (MUTUAL_POINTS, true)] {
            let at = |sides: u32| points(sides, is_mutual, 0.0);
            let most = most as u32;
            for (sides, kept, left_out) in
                [(most - 1, most - 1, 0), (most, most, 0), (most + 1, most, 1)]
            {
                let points = at(sides);
                assert_eq!(points.len() as u32, kept, "{sides} corners");
                assert!(are_corners(&points), "{sides} corners: {points:?}");
                let (inner, law) = (inner(&points), cut(sides, left_out));
                assert!((inner - law).abs() < 1e-3, "{sides} corners: {inner}, by geometry {law}");
            }
        }
    }

    /// The corners that are kept are spread all around. The ring reaches farther than one of half
    /// as many corners would.
    #[test]
    fn of_many_corners_a_ring_around_the_weight_is_kept() {
        for (most, is_mutual) in [(MAX_POINTS, false), (MUTUAL_POINTS, true)] {
            for sides in [10, 12, 16, 17, 28, 33, 64, 128, 1_000] {
                let points = points(sides, is_mutual, 0.0);
                assert_eq!(points.len(), most, "{sides} corners");
                assert!(are_corners(&points), "{sides} corners: {points:?}");
                let least = RADIUS * (2.0 * std::f64::consts::PI / most as f64).cos();
                let inner = inner(&points);
                assert!(inner > least, "{sides} corners: {inner} is not beyond {least}");
            }
        }
    }

    /// The lowest corner of a tipped body is kept, or one that is hardly higher: the body stands on
    /// it.
    #[test]
    fn the_nearest_corner_is_kept() {
        for (most, is_mutual) in [(MAX_POINTS, false), (MUTUAL_POINTS, true)] {
            for sides in [most as u32, most as u32 + 1, 33] {
                for tilt in [0.002, 0.05] {
                    let points = points(sides, is_mutual, tilt);
                    let least = points.iter().map(|point| point.gap).fold(f32::INFINITY, f32::min);
                    let higher = f64::from(least) - GAP;
                    let tied = -1e-3..SAME_GAP + 1e-3;
                    assert!(tied.contains(&higher), "{sides} corners, {tilt}: {higher}");
                }
            }
        }
    }
}
