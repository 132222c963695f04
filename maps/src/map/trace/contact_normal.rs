//! The normal of the face that is hit where several planes meet.
//!
//! Lines that start beside the point vote for the plane that they hit first. Of these planes, the
//! one with the largest part of a face around the point counts.

use arrayvec::ArrayVec;
use glam::{DVec3, Vec3};

use super::line::{Line, Query};
use crate::map::onion::{Child, MAX_DEPTH, Node, OnionTree, Target};
use crate::spaces::SizeId;

/// Planes this close to a point, in units, count as passing through it. The value is a multiple of
/// two errors: the compiler's tolerance, where faces meet at an angle, and the rounding of `f32`.
fn near(point: Vec3) -> f32 {
    0.004 + point.abs().max_element() * (4.0 * f32::EPSILON)
}

/// Maximum number of lines that are tried: enough to find the gap between two walls that meet at a
/// few degrees.
const TRIES: u32 = 128;

/// The search ends when this many lines have hit a plane.
const VOTES: usize = 5;

/// The starts of the lines, spread evenly around the point: an additive recurrence of
/// irrational steps (the inverse powers of the root of `x⁴ = x + 1`), which stay off
/// the planes of real maps.
fn start_offset(index: u32) -> Vec3 {
    let steps = Vec3::new(0.819_172_5, 0.671_043_6, 0.549_700_5);
    2.0 * (0.5 + steps * index as f32).fract() - 1.0
}

/// Distance around the point within which faces are searched for, in units: more than the width of
/// the splinters that rounding leaves.
pub(super) const SPOT_RADIUS: f64 = 0.015;

/// Spots of a plane at which it is tested for a face, in units of [`SPOT_RADIUS`]. They lie on
/// two circles around the point.
pub(super) const SPOTS: [[f64; 2]; 8] = [
    [1.0, 0.0],
    [0.0, 1.0],
    [-1.0, 0.0],
    [0.0, -1.0],
    [0.35, 0.35],
    [-0.35, 0.35],
    [-0.35, -0.35],
    [0.35, -0.35],
];

/// A plane with a face at this many of [`SPOTS`] has more than a splinter of a face.
pub(super) const ENOUGH_SPOTS: usize = 3;

/// Distance behind and in front of a spot, in units, at which solidity decides whether the spot is
/// on a face. It is far above the rounding of `f64`, and below any tolerance.
const SPOT_DEPTH: f64 = 1e-6;

/// Length of the lines, as a multiple of their distance from the point. A line misses planes that
/// it would meet at a smaller angle than the inverse of this.
const REACH: f32 = 4096.0;

/// A line that passes a point. Every plane near the point counts as passing exactly through it, and
/// all other planes are out of reach. So the rounding of planes' distances has no effect.
#[derive(Clone, Copy)]
struct PassingLine {
    point: Vec3,
    near: f32,
    start: Vec3,
    end: Vec3,
}

impl Line for PassingLine {
    type Place = ();

    #[inline]
    fn place(&self, _: f32) {}

    #[inline]
    fn side(_: &Node, (): (), (): ()) -> Option<Child> {
        None
    }

    fn ends(&self) -> Option<[Vec3; 2]> {
        None
    }

    #[inline]
    fn distances(&self, node: &Node) -> [f32; 2] {
        let distance = node.signed_distance(self.point);
        if distance.abs() > self.near {
            [distance; 2]
        } else {
            [node.normal.dot(self.start), node.normal.dot(self.end)]
        }
    }
}

/// A plane that lines hit before any other. Its normal is turned against the lines.
struct Candidate {
    node: u32,
    normal: Vec3,
    votes: usize,
}

/// The hit whose normal is searched for.
struct Contact {
    size: SizeId,
    point: Vec3,
    motion: Vec3,
    /// The smallest part of the tree that covers the surroundings of the point.
    around: Child,
}

impl OnionTree {
    /// Normal of the surface that a `motion` hits at `point`. Lines from beside the point hit some
    /// planes. The plane with the largest part of a face at the point has the normal. If none of
    /// them has a face, all planes near the point that oppose the motion are compared in the same
    /// way.
    ///
    /// Lines may also hit a plane that only divides the tree, for another size or beside a face,
    /// because all planes near the point count as passing through it. Such a plane has no face, or
    /// only a splinter that rounding leaves.
    // This function is rare, so it is kept out of the hot path.
    #[inline(never)]
    pub(super) fn contact_normal(&self, size: SizeId, point: Vec3, motion: Vec3) -> Option<Vec3> {
        // A spot's plane is within `near` of the point, and the spot is within `SPOT_RADIUS`
        // of the point's foot on that plane.
        let around = self.part_around(point, 2.0 * near(point).max(SPOT_RADIUS as f32));
        let contact = Contact { size, point, motion, around };
        let candidates = self.candidates(&contact);
        // Among equals the candidate that was found first is taken.
        let faces = candidates.iter().rev().map(|candidate| {
            let node = &self.nodes()[candidate.node as usize];
            (self.face_spots(&contact, node, candidate.normal), candidate)
        });
        let best = faces.max_by_key(|(spots, candidate)| (*spots, candidate.votes));
        let (spots, normal) = best.map_or((0, None), |(spots, best)| (spots, Some(best.normal)));
        if spots >= ENOUGH_SPOTS {
            return normal;
        }
        match self.largest_face(&contact) {
            Some((spots, face)) if spots >= ENOUGH_SPOTS => Some(face),
            _ => normal,
        }
    }

    /// The planes that lines from beside the point hit first.
    fn candidates(&self, contact: &Contact) -> ArrayVec<Candidate, VOTES> {
        let &Contact { size, point, motion, .. } = contact;
        let near = near(point);
        let ahead = motion.normalize_or_zero() * REACH;
        let here = self.part_around(point, near);
        let mut candidates: ArrayVec<Candidate, VOTES> = ArrayVec::new();
        for index in 1..=TRIES {
            let start = start_offset(index);
            let line = PassingLine { point, near, start, end: start + ahead };
            let query = Query::new(self, size, line, 0.0, 0.0);
            if let Some(leaf) = query.run(here, 0.0)
                && let Some(entry) = leaf.entry
            {
                let (node, normal) = (entry.node, query.normal(entry.node));
                match candidates.iter_mut().find(|known| known.normal == normal) {
                    Some(known) => known.votes += 1,
                    None => candidates.push(Candidate { node, normal, votes: 1 }),
                }
                if candidates.iter().map(|candidate| candidate.votes).sum::<usize>() == VOTES {
                    break;
                }
            }
        }
        candidates
    }

    /// Of all planes near the point that oppose the motion, the one with the largest part of a face
    /// at the point. Returns the number of its spots, and its normal.
    fn largest_face(&self, contact: &Contact) -> Option<(usize, Vec3)> {
        let near = near(contact.point);
        let mut best: Option<(usize, Vec3)> = None;
        let mut waiting: ArrayVec<Child, MAX_DEPTH> = ArrayVec::new();
        let (mut child, mut tested) = (contact.around, 0);
        loop {
            let Target::Node(index) = child.target() else {
                match waiting.pop() {
                    Some(next) if tested < TRIES => child = next,
                    _ => return best,
                }
                continue;
            };
            let node = &self.nodes()[index as usize];
            let distance = node.signed_distance(contact.point);
            child = if distance > near {
                node.front
            } else if distance < -near {
                node.back
            } else {
                tested += 1;
                for normal in [node.normal, -node.normal] {
                    if normal.dot(contact.motion) > 0.0 {
                        continue;
                    }
                    let spots = self.face_spots(contact, node, normal);
                    if spots > 0 && best.is_none_or(|(most, _)| spots > most) {
                        best = Some((spots, normal));
                    }
                }
                waiting.push(node.back);
                node.front
            };
        }
    }

    /// The number of spots around the point at which a plane has a face: solid behind it and
    /// free in front.
    fn face_spots(&self, contact: &Contact, plane: &Node, normal: Vec3) -> usize {
        let (own, point) = (plane.normal.as_dvec3(), contact.point.as_dvec3());
        // The division corrects for the rounding of the normal, whose length is not exactly one.
        let height = (own.dot(point) - f64::from(plane.distance)) / own.length_squared();
        let foot = point - own * height;
        let normal = normal.as_dvec3();
        let (across, along) = normal.any_orthonormal_pair();
        let is_face = |[x, y]: &[f64; 2]| {
            let spot = foot + (across * *x + along * *y) * SPOT_RADIUS;
            let depth = normal * SPOT_DEPTH;
            self.is_solid_exactly(contact, spot - depth)
                && !self.is_solid_exactly(contact, spot + depth)
        };
        SPOTS.iter().filter(|spot| is_face(spot)).count()
    }

    /// Whether a point is in solid, decided in `f64` by the planes as they are stored.
    fn is_solid_exactly(&self, contact: &Contact, point: DVec3) -> bool {
        let mut child = contact.around;
        loop {
            let node = match child.target() {
                Target::Leaf(solidity) => return solidity.contains(contact.size),
                Target::Node(index) => &self.nodes()[index as usize],
            };
            if let Some(solid) = node.uniform(contact.size) {
                return solid;
            }
            let distance = node.normal.as_dvec3().dot(point) - f64::from(node.distance);
            child = if distance > 0.0 { node.front } else { node.back };
        }
    }

    /// The smallest part of the tree that covers everything within `near` of a point.
    fn part_around(&self, point: Vec3, near: f32) -> Child {
        let mut child = self.root();
        while let Target::Node(index) = child.target() {
            let node = &self.nodes()[index as usize];
            let distance = node.signed_distance(point);
            if distance.abs() <= near {
                break;
            }
            child = if distance > 0.0 { node.front } else { node.back };
        }
        child
    }
}
