//! Which surface it is that is met at an edge.

use arrayvec::ArrayVec;
use glam::Vec3;

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

/// Where lines disagree, each surface's face is looked for on a circle of this
/// radius about the point, in distances within which planes pass through it:
/// wide enough for planes that nearly coincide at the point to have parted.
const CIRCLE: f32 = 32.0;

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

impl OnionTree {
    /// Normal of the surface that a `motion` meets at `point`: of those that
    /// lines meet which begin beside the point, where it is free, the one that
    /// has most of a face there.
    // Seldom asked, so kept out of the way of those who do not.
    #[inline(never)]
    pub(super) fn surface(&self, size: SizeId, point: Vec3, motion: Vec3) -> Option<Vec3> {
        let near = near(point);
        let ahead = motion.normalize_or_zero() * REACH;
        let here = self.part_about(point, near);
        let mut met: ArrayVec<Surface, VOTES> = ArrayVec::new();
        for index in 1..=TRIES {
            let start = aside(index);
            let line = Beside { point, near, start, end: start + ahead };
            let query = Query::new(self, size, line, 0.0, 0.0);
            if let Some(leaf) = query.run(here)
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
        match &met[..] {
            [] => self.faced(size, point, motion, near, here),
            [only] => Some(only.normal),
            _ => {
                let face = |surface: &Surface| {
                    self.face(
                        size,
                        point,
                        &self.nodes()[surface.node as usize],
                        surface.normal,
                        near,
                    )
                };
                // Of equals the first counts: the order is that of the lines.
                let all = met.iter().rev();
                let best = all.max_by_key(|surface| (face(surface), surface.votes));
                best.map(|surface| surface.normal)
            }
        }
    }

    /// The plane through the point that has most of a face there, if possible one
    /// that is turned against the motion: what is met by a motion so nearly along
    /// it that no line meets it.
    fn faced(
        &self,
        size: SizeId,
        point: Vec3,
        motion: Vec3,
        near: f32,
        here: Child,
    ) -> Option<Vec3> {
        let mut best: Option<((bool, usize), Vec3)> = None;
        let mut waiting: ArrayVec<Child, MAX_DEPTH> = ArrayVec::new();
        let (mut child, mut looked_at) = (here, 0);
        loop {
            let Target::Node(index) = child.target() else {
                match waiting.pop() {
                    Some(next) if looked_at < TRIES => child = next,
                    _ => return best.map(|(_, normal)| normal),
                }
                continue;
            };
            let node = &self.nodes()[index as usize];
            let distance = node.signed_distance(point);
            child = if distance > near {
                node.front
            } else if distance < -near {
                node.back
            } else {
                looked_at += 1;
                for normal in [node.normal, -node.normal] {
                    let against = normal.dot(motion) < 0.0;
                    let face = self.face(size, point, node, normal, near);
                    if face > 0 && best.is_none_or(|(most, _)| (against, face) > most) {
                        best = Some(((against, face), normal));
                    }
                }
                waiting.push(node.back);
                node.front
            };
        }
    }

    /// How much of a circle about the point has a face in a plane, in eighths:
    /// solid behind and none in front. A plane that only divides the tree beside
    /// a face bounds solid nowhere else.
    fn face(&self, size: SizeId, point: Vec3, plane: &Node, normal: Vec3, near: f32) -> usize {
        let foot = point - plane.normal * plane.signed_distance(point);
        let (across, along) = normal.any_orthonormal_pair();
        let diagonal = std::f32::consts::FRAC_1_SQRT_2;
        let eighths = [(1.0, 0.0), (diagonal, diagonal), (0.0, 1.0), (-diagonal, diagonal)];
        let on_circle = eighths.iter().flat_map(|&(x, y)| {
            let aside = (across * x + along * y) * (near * CIRCLE);
            [foot + aside, foot - aside]
        });
        let is_face = |at: &Vec3| {
            self.is_solid(size, at - normal * near) && !self.is_solid(size, at + normal * near)
        };
        on_circle.filter(is_face).count()
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
