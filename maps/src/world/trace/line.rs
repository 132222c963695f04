//! The leaves along a straight line.

use std::cell::Cell;
use std::ops::ControlFlow;

use glam::Vec3;

use crate::spaces::SizeId;
use crate::world::onion::{Child, Node, OnionTree, Target, rounding};

/// How often a segment that lies in a plane may change between the solids on
/// both sides before it is called blocked. Real maps need a handful; the bound
/// keeps a contrived tree from making one trace visit it over and over.
const MAX_COPLANAR_STEPS: u32 = 256;

/// A stretch of which both ends are farther than this from a plane, in units,
/// and on one side of it, is all on that side: ends are rounded to `f32`, and
/// [`EDGE`](super::EDGE) is near. Nearer planes are looked at with the whole
/// segment.
const APART: f32 = 1.0 / 32.0;

/// What goes straight through the tree.
pub(super) trait Line {
    /// A place on the line.
    type Place: Copy;

    /// The place at this time, `0..=1`.
    fn place(&self, time: f32) -> Self::Place;

    /// The child of a node in which the line lies between two places, if that
    /// is easily seen.
    fn side(node: &Node, first: Self::Place, last: Self::Place) -> Option<Child>;

    /// Its two ends' signed distances from a node's plane; zero for an end that
    /// is on the plane but for rounding.
    fn distances(&self, node: &Node) -> [f32; 2];
}

/// The line from one point to another.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    pub(super) start: Vec3,
    pub(super) end: Vec3,
    /// What the ends' distances may be off.
    rounding: [f32; 2],
}

impl Segment {
    #[inline]
    pub(super) fn new(start: Vec3, end: Vec3) -> Self {
        Self { start, end, rounding: [rounding(start), rounding(end)] }
    }

    #[inline]
    pub(super) fn at(&self, time: f32) -> Vec3 {
        if time == 0.0 {
            self.start
        } else if time == 1.0 {
            self.end
        } else {
            self.start + (self.end - self.start) * time
        }
    }
}

impl Line for Segment {
    type Place = Vec3;

    #[inline]
    fn place(&self, time: f32) -> Vec3 {
        self.at(time)
    }

    #[inline]
    fn side(node: &Node, first: Vec3, last: Vec3) -> Option<Child> {
        let (a, b) = (node.signed_distance(first), node.signed_distance(last));
        if a > APART && b > APART {
            Some(node.front)
        } else if a < -APART && b < -APART {
            Some(node.back)
        } else {
            None
        }
    }

    #[inline]
    fn distances(&self, node: &Node) -> [f32; 2] {
        let on = |distance: f32, rounding: f32| {
            if distance.abs() <= rounding { 0.0 } else { distance }
        };
        [
            on(node.signed_distance(self.start), self.rounding[0]),
            on(node.signed_distance(self.end), self.rounding[1]),
        ]
    }
}

/// The plane by which a line came into a leaf.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) node: u32,
    /// Other planes are crossed at nearly the same time.
    pub(super) tied: bool,
}

/// The first solid leaf of a stretch.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) time: f32,
    /// None if the line starts there.
    pub(super) entry: Option<Entry>,
}

/// What a stretch of the way is: broken by solid, or free; then, whether it
/// ends where other planes are crossed at nearly the same time.
type Stretch = ControlFlow<Found, bool>;

/// The search for the first solid leaf along a line.
pub(super) struct Query<'a, L> {
    tree: &'a OnionTree,
    size: SizeId,
    line: L,
    /// Times nearer to each other than this are nearly the same.
    edge: f32,
    /// What is shorter than this is not looked at.
    sliver: f32,
    coplanar_steps: Cell<u32>,
}

impl<'a, L: Line> Query<'a, L> {
    pub(super) fn new(tree: &'a OnionTree, size: SizeId, line: L, edge: f32, sliver: f32) -> Self {
        Self { tree, size, line, edge, sliver, coplanar_steps: Cell::new(0) }
    }

    /// The first solid leaf of the whole line, in what lies below `child`.
    pub(super) fn run(&self, child: Child) -> Stretch {
        self.stretch(child, 0.0, 1.0, None)
    }

    /// Normal of the plane of a node that the line crosses, against the line.
    pub(super) fn normal(&self, node: u32) -> Vec3 {
        let node = &self.tree.nodes()[node as usize];
        let [from, to] = self.line.distances(node);
        if from < to { -node.normal } else { node.normal }
    }

    /// Visits the leaves along the line between `from` and `to` until one
    /// is solid. Loops down one side and recurses only into the near half of
    /// what straddles a plane.
    fn stretch(
        &self,
        mut child: Child,
        mut from: f32,
        to: f32,
        mut entry: Option<Entry>,
    ) -> Stretch {
        let mut tied_at_end = false;
        let (mut first, last) = (self.line.place(from), self.line.place(to));
        loop {
            let index = match child.target() {
                Target::Leaf(solidity) if solidity.contains(self.size) => {
                    return ControlFlow::Break(Found { time: from, entry });
                }
                Target::Leaf(_) => return ControlFlow::Continue(tied_at_end),
                Target::Node(index) => index,
            };
            let node = &self.tree.nodes()[index as usize];
            match node.uniform(self.size) {
                Some(true) => return ControlFlow::Break(Found { time: from, entry }),
                Some(false) => return ControlFlow::Continue(tied_at_end),
                None => (),
            }
            if let Some(side) = L::side(node, first, last) {
                child = side;
                continue;
            }
            let [a, b] = self.line.distances(node);
            if a > 0.0 && b >= 0.0 {
                child = node.front;
                continue;
            }
            if a < 0.0 && b <= 0.0 {
                child = node.back;
                continue;
            }
            if a == b {
                return self.stretch_in_plane(node, from, to, entry);
            }
            let (near, far) =
                if b < 0.0 { (node.front, node.back) } else { (node.back, node.front) };
            let time = a / (a - b);
            // At the very end both sides count, as they do for a point.
            if time > from && to < 1.0 && to - time <= self.sliver {
                tied_at_end |= time - to < self.edge;
                child = near;
                continue;
            }
            let tied = entry.is_some() && (time - from).abs() < self.edge;
            if time > from {
                // The start's own leaf counts, however soon it is left.
                let look = entry.is_none() || time - from > self.sliver;
                let tied = tied | (look && self.stretch(near, from, time, entry)?);
                (from, entry) = (time, Some(Entry { node: index, tied }));
                first = self.line.place(from);
            } else if let Some(entry) = &mut entry {
                entry.tied |= tied;
            } else {
                entry = Some(Entry { node: index, tied });
            }
            child = far;
        }
    }

    /// A line that lies in a plane is in solid only while both sides are:
    /// it goes on past whichever frees it last.
    fn stretch_in_plane(
        &self,
        node: &Node,
        mut from: f32,
        to: f32,
        mut entry: Option<Entry>,
    ) -> Stretch {
        loop {
            let sides = [node.front, node.back].map(|side| self.stretch(side, from, to, entry));
            let [ControlFlow::Break(front), ControlFlow::Break(back)] = sides else {
                return ControlFlow::Continue(true);
            };
            // Without an entry it is the start's own leaf, so not the later.
            let later = if front.time > back.time || back.entry.is_none() { front } else { back };
            // The surface that is met may be that of the other side.
            let entry_here = later.entry.map(|e| Entry { tied: true, ..e });
            let steps = self.coplanar_steps.get() + 1;
            if front.time == back.time || steps > MAX_COPLANAR_STEPS {
                return ControlFlow::Break(Found { time: later.time, entry: entry_here });
            }
            self.coplanar_steps.set(steps);
            (from, entry) = (later.time, entry_here);
        }
    }
}
