//! Which surface it is that is met at an edge.

use glam::Vec3;

use super::line::{Line, Query};
use crate::spaces::SizeId;
use crate::world::onion::{Child, Node, OnionTree, Target};

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

impl OnionTree {
    /// Normal of the surface that a `motion` meets at `point`: the one that
    /// most lines meet which begin beside the point, where it is free.
    pub(super) fn surface(&self, size: SizeId, point: Vec3, motion: Vec3) -> Option<Vec3> {
        let near = near(point);
        let ahead = motion.normalize_or_zero() * REACH;
        let here = self.around(point, near);
        let mut met = [None; VOTES];
        let mut found = 0;
        for index in 1..=TRIES {
            let start = aside(index);
            let line = Beside { point, near, start, end: start + ahead };
            let query = Query::new(self, size, line, 0.0, 0.0);
            if let Some(leaf) = query.run(here)
                && let Some(entry) = leaf.entry
            {
                met[found] = Some(query.normal(entry.node));
                found += 1;
                if found == VOTES {
                    break;
                }
            }
        }
        let votes = |normal: &Vec3| met.iter().filter(|&&other| other == Some(*normal)).count();
        // Of as many votes the first counts: the order is that of the lines.
        met.iter().rev().flatten().copied().max_by_key(votes)
    }

    /// The part of the tree whose planes tell what is about a point.
    fn around(&self, point: Vec3, near: f32) -> Child {
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
