//! Which surface it is that is met at an edge.

use arrayvec::ArrayVec;
use glam::{DVec3, Vec3};

use super::line::{Line, Query};
use crate::spaces::SizeId;
use crate::world::onion::{Child, MAX_DEPTH, Node, OnionTree, Target};

/// Planes this near to a point, in units, pass through it but for rounding:
/// some times what `f32` rounds at the coordinate, and what worlds are
/// compiled to where faces meet at an angle.
fn near(point: Vec3) -> f32 {
    0.004 + point.abs().max_element() * (4.0 * f32::EPSILON)
}

/// Lines that are tried: enough to find the gap between two walls that meet
/// at a few degrees.
const TRIES: u32 = 128;

/// Lines that meet a surface before it is decided.
const VOTES: usize = 5;

/// Where lines begin, evenly all about: an additive recurrence of irrational
/// steps (the inverse powers of the root of `x⁴ = x + 1`), which keeps off the
/// planes that are drawn.
fn aside(index: u32) -> Vec3 {
    let steps = Vec3::new(0.819_172_5, 0.671_043_6, 0.549_700_5);
    2.0 * (0.5 + steps * index as f32).fract() - 1.0
}

/// How far about the point faces are looked for, in units: less than answers are
/// judged by, more than splinters are wide that rounding leaves.
pub(super) const ABOUT: f64 = 0.015;

/// Where on a plane it is looked for whether there is a face, in shares of
/// [`ABOUT`]: on two circles.
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

/// A plane with a face at so many of [`SPOTS`] has one that is no splinter.
pub(super) const ENOUGH: usize = 3;

/// So far behind a face and in front of it, in units, it is looked whether it is
/// one: far above the rounding of `f64`, and below any tolerance.
const BESIDE: f64 = 1e-6;

/// How far the lines reach, in distances that they pass the point by: planes
/// that are met at less than the inverse angle are not.
const REACH: f32 = 4096.0;

/// A line that passes by a point, at a scale at which every plane near the
/// point passes right through it and all others are out of reach. Nothing is
/// left of where planes are that rounding could change.
struct Beside {
    point: Vec3,
    near: f32,
    start: Vec3,
    end: Vec3,
}

impl Line for Beside {
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

/// What lines meet, against their way.
struct Surface {
    node: u32,
    normal: Vec3,
    votes: usize,
}

/// The planes about a point, for one size.
struct Place {
    size: SizeId,
    point: Vec3,
    motion: Vec3,
    /// The part of the tree that tells what is about the point.
    about: Child,
}

impl OnionTree {
    /// Normal of the surface that a `motion` meets at `point`: of those that
    /// lines meet which begin beside the point, where it is free, the one that
    /// has most of a face there. If none has, it is the plane against the motion
    /// that has.
    ///
    /// A plane that only divides the tree, for another size or beside a face,
    /// may be met by such lines, for to them all planes about the point pass
    /// through it. It never has a face but for splinters that rounding leaves.
    // Seldom asked, so kept out of the way of those who do not.
    #[inline(never)]
    pub(super) fn surface(&self, size: SizeId, point: Vec3, motion: Vec3) -> Option<Vec3> {
        // Spots are on planes within this of the point, and so far from its foot.
        let about = self.part_about(point, 2.0 * near(point).max(ABOUT as f32));
        let place = Place { size, point, motion, about };
        let met = self.met(&place);
        // Of equals the first counts: the order is that of the lines.
        let faces = met.iter().rev().map(|surface| {
            let node = &self.nodes()[surface.node as usize];
            (self.face(&place, node, surface.normal), surface)
        });
        let best = faces.max_by_key(|(face, surface)| (*face, surface.votes));
        let (face, normal) = best.map_or((0, None), |(face, met)| (face, Some(met.normal)));
        if face >= ENOUGH {
            return normal;
        }
        match self.faced(&place) {
            Some((most, faced)) if most >= ENOUGH => Some(faced),
            _ => normal,
        }
    }

    /// What lines meet that begin beside the point.
    fn met(&self, place: &Place) -> ArrayVec<Surface, VOTES> {
        let &Place { size, point, motion, .. } = place;
        let near = near(point);
        let ahead = motion.normalize_or_zero() * REACH;
        let here = self.part_about(point, near);
        let mut met: ArrayVec<Surface, VOTES> = ArrayVec::new();
        for index in 1..=TRIES {
            let start = aside(index);
            let line = Beside { point, near, start, end: start + ahead };
            let query = Query::new(self, size, line, 0.0, 0.0);
            if let Some(leaf) = query.run(here, 0.0)
                && let Some(entry) = leaf.entry
            {
                let (node, normal) = (entry.node, query.normal(entry.node));
                match met.iter_mut().find(|known| known.normal == normal) {
                    Some(known) => known.votes += 1,
                    None => met.push(Surface { node, normal, votes: 1 }),
                }
                if met.iter().map(|surface| surface.votes).sum::<usize>() == VOTES {
                    break;
                }
            }
        }
        met
    }

    /// The plane about the point that has most of a face there, of those that
    /// are turned against the motion, and at how many spots.
    fn faced(&self, place: &Place) -> Option<(usize, Vec3)> {
        let near = near(place.point);
        let mut best: Option<(usize, Vec3)> = None;
        let mut waiting: ArrayVec<Child, MAX_DEPTH> = ArrayVec::new();
        let (mut child, mut looked_at) = (place.about, 0);
        loop {
            let Target::Node(index) = child.target() else {
                match waiting.pop() {
                    Some(next) if looked_at < TRIES => child = next,
                    _ => return best,
                }
                continue;
            };
            let node = &self.nodes()[index as usize];
            let distance = node.signed_distance(place.point);
            child = if distance > near {
                node.front
            } else if distance < -near {
                node.back
            } else {
                looked_at += 1;
                for normal in [node.normal, -node.normal] {
                    if normal.dot(place.motion) > 0.0 {
                        continue;
                    }
                    let face = self.face(place, node, normal);
                    if face > 0 && best.is_none_or(|(most, _)| face > most) {
                        best = Some((face, normal));
                    }
                }
                waiting.push(node.back);
                node.front
            };
        }
    }

    /// At how many spots about the point there is a face in a plane, solid behind
    /// it and free in front.
    fn face(&self, place: &Place, plane: &Node, normal: Vec3) -> usize {
        let (own, point) = (plane.normal.as_dvec3(), place.point.as_dvec3());
        // Its normal is of unit length but for rounding.
        let height = (own.dot(point) - f64::from(plane.distance)) / own.length_squared();
        let foot = point - own * height;
        let normal = normal.as_dvec3();
        let (across, along) = normal.any_orthonormal_pair();
        let is_face = |[x, y]: &[f64; 2]| {
            let spot = foot + (across * *x + along * *y) * ABOUT;
            self.holds(place, spot - normal * BESIDE) && !self.holds(place, spot + normal * BESIDE)
        };
        SPOTS.iter().filter(|spot| is_face(spot)).count()
    }

    /// Whether a point is in solid, decided without regard to rounding: the
    /// planes are what `f32` made of them, and the point is exact.
    fn holds(&self, place: &Place, point: DVec3) -> bool {
        let mut child = place.about;
        loop {
            let node = match child.target() {
                Target::Leaf(solidity) => return solidity.contains(place.size),
                Target::Node(index) => &self.nodes()[index as usize],
            };
            if let Some(solid) = node.uniform(place.size) {
                return solid;
            }
            let distance = node.normal.as_dvec3().dot(point) - f64::from(node.distance);
            child = if distance > 0.0 { node.front } else { node.back };
        }
    }

    /// The part of the tree whose planes tell what is about a point.
    fn part_about(&self, point: Vec3, near: f32) -> Child {
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
