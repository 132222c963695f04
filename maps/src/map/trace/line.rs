//! The first solid leaf along a straight line.
//!
//! [`Query`] walks the tree from front to back with its own stack ([`Waiting`]). A line in a plane
//! is in solid only while both sides of the plane are solid. A line in two planes that nearly
//! coincide is searched a second time, with more care.

use std::ops::ControlFlow;

use arrayvec::ArrayVec;
use glam::Vec3;

use crate::map::onion::{Child, MAX_DEPTH, Node, OnionTree, PARALLEL, PlaneSide, Target, rounding};
use crate::spaces::SizeId;

/// A segment that lies in a plane is blocked where both sides of the plane are solid. To find that
/// place, the search alternates between the two sides. After this many rounds it takes the later of
/// the two hits. Real maps need a handful of rounds. The bound keeps one trace from visiting a
/// contrived tree over and over.
const MAX_COPLANAR_STEPS: u32 = 256;

/// If both ends of a stretch are on one side of a plane, and farther than this from it, in units,
/// the whole stretch is on that side: the rounding of ends to `f32` and [`EDGE`](super::EDGE) are
/// smaller. Against closer planes the whole line is classified.
const APART: f32 = 1.0 / 32.0;

/// A straight line through the tree.
pub(super) trait Line: Copy {
    /// A place on the line.
    type Place: Copy;

    /// The place at this time, `0..=1`.
    fn place(&self, time: f32) -> Self::Place;

    /// The child of `node` that contains the line between two places; `None` if a cheap test cannot
    /// tell.
    fn side(node: &Node, first: Self::Place, last: Self::Place) -> Option<Child>;

    /// The two ends, if the line joins points that are known exactly.
    fn ends(&self) -> Option<[Vec3; 2]>;

    /// The signed distances of the two ends from a node's plane; zero for an end that is on the
    /// plane within rounding.
    fn distances(&self, node: &Node) -> [f32; 2];
}

/// The line from one point to another.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    pub(super) start: Vec3,
    pub(super) end: Vec3,
    /// Largest errors of the ends' distances.
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

    fn ends(&self) -> Option<[Vec3; 2]> {
        Some([self.start, self.end])
    }

    #[inline]
    fn distances(&self, node: &Node) -> [f32; 2] {
        let rounded = |end, rounding| node.rounded(node.signed_distance(end), rounding);
        [rounded(self.start, self.rounding[0]), rounded(self.end, self.rounding[1])]
    }
}

/// The plane through which a line came into a leaf.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) node: u32,
    /// Whether other planes are crossed at nearly the same time.
    pub(super) tied: bool,
}

/// The first solid leaf of a stretch.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) time: f32,
    /// `None` if the line starts in the leaf that was found.
    pub(super) entry: Option<Entry>,
}

/// The result of a stretch: `Break` if it meets solid, `Continue` if it is free. `Continue`
/// contains whether the stretch ends where other planes are crossed at nearly the same time.
type Outcome = ControlFlow<Found, bool>;

/// A stretch of the line, within the space below a child.
#[derive(Clone, Copy)]
struct Stretch {
    child: Child,
    from: f32,
    to: f32,
    entry: Option<Entry>,
    /// Whether the stretch ends where other planes are crossed at nearly the same time.
    tied_at_end: bool,
}

/// Work left at a node while a child of it is searched.
enum Waiting {
    /// The stretch beyond the plane. It is searched only if the stretch before it is free.
    Beyond(Stretch),
    /// The line lies in the plane of `node`, and its front is being searched.
    BackOf { node: u32, from: f32, to: f32, entry: Option<Entry> },
    /// Like `BackOf`, except that the back is being searched. `front` was found on the front side.
    BothOf { node: u32, to: f32, front: Found },
}

/// The search gives up, because the line lies in planes that nearly coincide.
struct Coincide;

/// The search for the first solid leaf along a line.
// Functions outside the hot path take the query by value, so that no address of it is taken and it
// stays in registers.
#[derive(Clone, Copy)]
pub(super) struct Query<'a, L> {
    tree: &'a OnionTree,
    pub(super) size: SizeId,
    pub(super) line: L,
    /// Times closer to each other than this count as nearly the same.
    pub(super) edge: f32,
    /// Stretches shorter than this are skipped.
    sliver: f32,
}

impl<'a, L: Line> Query<'a, L> {
    pub(super) fn new(tree: &'a OnionTree, size: SizeId, line: L, edge: f32, sliver: f32) -> Self {
        Self { tree, size, line, edge, sliver }
    }

    /// Normal of the plane of a node that the line crosses, turned against the line.
    #[inline]
    pub(super) fn normal(&self, node: u32) -> Vec3 {
        let node = &self.tree.nodes()[node as usize];
        let [from, to] = self.line.distances(node);
        if from < to { -node.normal } else { node.normal }
    }

    /// The first solid leaf below `child` on the part of the line from time `from` on.
    // The function is inlined into its callers, so that the line stays in registers, which saves a
    // tenth of a step's time. For the same reason the loop calls no function.
    #[inline(always)]
    pub(super) fn run(&self, child: Child, from: f32) -> Option<Found> {
        match self.search::<false>(child, from) {
            Ok(found) => found,
            Err(Coincide) => Self::carefully(*self, child, from),
        }
    }

    /// [`Self::run`] for a line that lies in planes that nearly coincide.
    #[cold]
    #[inline(never)]
    fn carefully(self, child: Child, from: f32) -> Option<Found> {
        // A careful search does not give up.
        self.search::<true>(child, from).unwrap_or(None)
    }

    /// The search. Without `CAREFUL`, it gives up at a place where the line lies in planes that
    /// nearly coincide.
    #[inline(always)]
    fn search<const CAREFUL: bool>(
        &self,
        child: Child,
        from: f32,
    ) -> Result<Option<Found>, Coincide> {
        // There is at most one entry for each node above a leaf.
        let mut waiting: ArrayVec<Waiting, MAX_DEPTH> = ArrayVec::new();
        let mut stretch = Stretch { child, from, to: 1.0, entry: None, tied_at_end: false };
        let mut coplanar_steps = 0;
        loop {
            let mut outcome = self.descend(stretch, &mut waiting);
            stretch = loop {
                match (waiting.pop(), outcome) {
                    (None, outcome) => return Ok(outcome.break_value()),
                    (Some(Waiting::Beyond(mut beyond)), ControlFlow::Continue(tied)) => {
                        if let Some(entry) = &mut beyond.entry {
                            entry.tied |= tied;
                        }
                        break beyond;
                    }
                    (Some(Waiting::Beyond(_)), ControlFlow::Break(_)) => (),
                    // A line that lies in a plane is in solid only while both sides are solid. So
                    // if the front is solid, the back is also searched.
                    (Some(Waiting::BackOf { node, from, to, entry }), front) => {
                        let child = self.tree.nodes()[node as usize].back;
                        let back = Stretch { child, from, to, entry, tied_at_end: false };
                        let implied = if CAREFUL {
                            self.implied(&waiting, node)
                        } else if self.line.ends().is_some() && self.coincides(&waiting, node) {
                            return Err(Coincide);
                        } else {
                            None
                        };
                        match (implied, front) {
                            (Some(false), _) => break back,
                            (None, ControlFlow::Break(front)) => {
                                waiting.push(Waiting::BothOf { node, to, front });
                                break back;
                            }
                            (Some(true), ControlFlow::Break(_)) => (),
                            (_, ControlFlow::Continue(_)) => outcome = ControlFlow::Continue(true),
                        }
                    }
                    (Some(Waiting::BothOf { .. }), ControlFlow::Continue(_)) => {
                        outcome = ControlFlow::Continue(true);
                    }
                    (Some(Waiting::BothOf { node, to, front }), ControlFlow::Break(back)) => {
                        // A leaf without an entry contains the start, so the other leaf is later.
                        let front_later = front.time > back.time || back.entry.is_none();
                        let Found { time, entry } = if front_later { front } else { back };
                        // The surface that is hit may belong to the other side.
                        let entry = entry.map(|e| Entry { tied: true, ..e });
                        coplanar_steps += 1;
                        if front.time == back.time || coplanar_steps > MAX_COPLANAR_STEPS {
                            outcome = ControlFlow::Break(Found { time, entry });
                        } else {
                            waiting.push(Waiting::BackOf { node, from: time, to, entry });
                            let child = self.tree.nodes()[node as usize].front;
                            break Stretch { child, from: time, to, entry, tied_at_end: false };
                        }
                    }
                }
            };
        }
    }

    /// Whether a node's plane nearly coincides with a plane higher up in which the line lies.
    #[inline(always)]
    fn coincides(&self, waiting: &[Waiting], index: u32) -> bool {
        let nodes = self.tree.nodes();
        let normal = nodes[index as usize].normal;
        waiting.iter().any(|waiting| match *waiting {
            Waiting::Beyond(_) => false,
            Waiting::BackOf { node, .. } | Waiting::BothOf { node, .. } => {
                nodes[node as usize].normal.dot(normal).abs() >= PARALLEL
            }
        })
    }

    /// Whether the line, which lies in a node's plane within rounding, counts as in front of it.
    /// `None` unless this follows from the sides of planes higher up in which the line also lies.
    /// If it follows, the other side of the node does not concern the line.
    #[cold]
    #[inline(never)]
    fn implied(&self, waiting: &[Waiting], index: u32) -> Option<bool> {
        let sides = waiting.iter().filter_map(|waiting| match *waiting {
            Waiting::Beyond(_) => None,
            Waiting::BackOf { node, .. } => Some(PlaneSide { index: node, front: true }),
            Waiting::BothOf { node, .. } => Some(PlaneSide { index: node, front: false }),
        });
        self.tree.implied(sides, index, &self.line.ends()?)
    }

    /// Goes down to the leaf in which a stretch begins, and puts aside the rest of the stretch.
    // The function is inlined into its caller, which is inlined itself.
    #[inline(always)]
    fn descend(&self, stretch: Stretch, waiting: &mut ArrayVec<Waiting, MAX_DEPTH>) -> Outcome {
        let Stretch { mut child, mut from, mut to, mut entry, mut tied_at_end } = stretch;
        let (mut first, mut last) = (self.line.place(from), self.line.place(to));
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
                waiting.push(Waiting::BackOf { node: index, from, to, entry });
                (child, tied_at_end) = (node.front, false);
                continue;
            }
            let (near, far) =
                if b < 0.0 { (node.front, node.back) } else { (node.back, node.front) };
            let time = a / (a - b);
            // At the end of the line both sides count, as they do for a point.
            if time > from && to < 1.0 && to - time <= self.sliver {
                tied_at_end |= time - to < self.edge;
                child = near;
                continue;
            }
            let tied = entry.is_some() && (time - from).abs() < self.edge;
            if time > from {
                let beyond = Some(Entry { node: index, tied });
                // The leaf of the start counts, even if the line leaves it soon.
                if entry.is_none() || time - from > self.sliver {
                    let (from, entry) = (time, beyond);
                    let beyond = Stretch { child: far, from, to, entry, tied_at_end };
                    waiting.push(Waiting::Beyond(beyond));
                    (child, to, tied_at_end) = (near, time, false);
                    last = self.line.place(to);
                    continue;
                }
                (from, entry) = (time, beyond);
                first = self.line.place(from);
            } else if let Some(entry) = &mut entry {
                entry.tied |= tied;
            } else {
                entry = Some(Entry { node: index, tied });
            }
            child = far;
        }
    }
}
