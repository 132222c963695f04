#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::ops::ControlFlow;

use glam::Vec3;

use super::onion::{Child, Node, OnionTree, Target, inside_universe};
use crate::spaces::SizeId;

/// Where a hit leaves a mover: this far in front of the surface, in units,
/// measured along its normal (or at the start, if that was nearer). Large
/// against the rounding of `f32` positions, small against anything drawn.
pub const SURFACE_DISTANCE: f32 = 1.0 / 32.0;

/// Planes crossed within this many units of each other along the way are
/// crossed at an edge. Which of them is the surface is then found out by
/// looking around: their order is up to rounding, and the one that comes first
/// may be a plane that only divides the tree there.
const EDGE: f32 = 0.01;

/// To find out whether a plane is a surface at a point, the plane is looked at
/// this far to every side, in units: near enough for what is narrow, far
/// enough to tell planes apart that hardly differ, and not along an edge that
/// is drawn.
const ASIDE: [[f32; 2]; 8] = [
    [0.28, 0.11],
    [0.5, 1.1],
    [-0.11, 0.28],
    [-1.1, 0.5],
    [-0.28, -0.11],
    [-0.5, -1.1],
    [0.11, -0.28],
    [1.1, -0.5],
];

/// There, it is a surface if it is empty so far in front and solid so far
/// behind. Above the rounding of positions.
const ACROSS: f32 = 0.003;

/// Stretches of the way shorter than this, in units, are not looked at: where
/// planes meet, rounding makes such that lie in no cell at all. So much of a
/// solid's edge a path may cut off, which is the tolerance that worlds are
/// compiled to.
const SLIVER: f32 = 0.001;

/// A stretch of which both ends are farther than this from a plane, in units,
/// and on one side of it, is all on that side: ends are rounded to `f32`, and
/// [`EDGE`] is near. Nearer planes are looked at with the whole segment.
const APART: f32 = 1.0 / 32.0;

/// How often a segment that lies in a plane may change between the solids on
/// both sides before it is called blocked. Real maps need a handful; the bound
/// keeps a contrived tree from making one trace visit it over and over.
const MAX_COPLANAR_STEPS: u32 = 256;

/// How often a hit's end is moved nearer to the start when rounding put it
/// into solid, before the start itself is taken.
const MAX_RETREATS: u32 = 8;

/// What a box meets along a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trace {
    /// Nothing: the whole segment is free.
    Clear,
    /// A surface.
    Hit(Hit),
    /// The start is already in solid, and not just touching it.
    StartSolid,
}

/// First contact of a segment with a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Contact time as a fraction of the given segment, `0..=1`.
    pub time: f32,
    /// Where the box's centre is at contact.
    pub point: Vec3,
    /// Unit normal of the surface, against the motion.
    pub normal: Vec3,
    /// Where a mover stops: on the segment, [`SURFACE_DISTANCE`] in front of
    /// the surface or at the start, and empty by a point test.
    pub end: Vec3,
}

/// The plane by which a segment came into a leaf.
#[derive(Clone, Copy)]
struct Entry {
    node: u32,
    /// Other planes are crossed at nearly the same time.
    tied: bool,
}

/// The first solid leaf of a stretch.
#[derive(Clone, Copy)]
struct Found {
    time: f32,
    /// None if the segment starts there.
    entry: Option<Entry>,
}

/// What a stretch of the way is: broken by solid, or free; then, whether it
/// ends where other planes are crossed at nearly the same time.
type Stretch = ControlFlow<Found, bool>;

struct Query<'a> {
    nodes: &'a [Node],
    size: SizeId,
    start: Vec3,
    end: Vec3,
    /// [`EDGE`] as a fraction of the segment.
    edge: f32,
    /// [`SLIVER`] as a fraction of the segment.
    sliver: f32,
    coplanar_steps: Cell<u32>,
}

impl OnionTree {
    /// First transition from empty to solid for one size (Golodetz 2013,
    /// Listing 5). Times stay on the given segment all the way down, so
    /// nothing drifts.
    pub(crate) fn trace(&self, size: SizeId, start: Vec3, end: Vec3) -> Trace {
        if !inside_universe(start) || !inside_universe(end) {
            return Trace::StartSolid;
        }
        let query = Query::new(self, size, start, end);
        let ControlFlow::Break(found) = query.stretch(self.root(), 0.0, 1.0, None) else {
            return Trace::Clear;
        };
        // Touching at the start is no start in solid; a leaf entered without
        // crossing a plane is the leaf that the start itself lies in.
        let Some(entry) = found.entry else { return Trace::StartSolid };
        if found.time == 0.0 && self.solidity(start).contains(size) {
            return Trace::StartSolid;
        }
        let point = query.at(found.time);
        let met = entry.tied.then(|| self.surface(size, point, end - start)).flatten();
        let normal = met.unwrap_or_else(|| {
            let node = &self.nodes()[entry.node as usize];
            let inward = node.signed_distance(start) < node.signed_distance(end);
            if inward { -node.normal } else { node.normal }
        });
        let approach = normal.dot(end - start).abs();
        let stop = (found.time - SURFACE_DISTANCE / approach).max(0.0);
        Trace::Hit(Hit { time: found.time, point, normal, end: self.free_end(&query, stop) })
    }

    /// Normal of the surface at `point` that faces `motion`: of several, the
    /// one that is there to most sides, and of those the nearest.
    fn surface(&self, size: SizeId, point: Vec3, motion: Vec3) -> Option<Vec3> {
        let mut met = (0, 0.0, None);
        self.look_around(self.root(), point, &mut |node| {
            let inward = node.normal.dot(motion);
            if inward == 0.0 {
                return;
            }
            let normal = if inward > 0.0 { -node.normal } else { node.normal };
            let distance = node.signed_distance(point);
            let on = point - node.normal * distance;
            let (u, v) = normal.any_orthonormal_pair();
            let solid = |p: Vec3| self.solidity(p).contains(size);
            let is_surface = |[a, b]: &&[f32; 2]| {
                let at = on + u * *a + v * *b;
                solid(at - normal * ACROSS) && !solid(at + normal * ACROSS)
            };
            let sides = ASIDE.iter().filter(is_surface).count();
            if sides > met.0 || (sides == met.0 && distance.abs() < met.1) {
                met = (sides, distance.abs(), Some(normal));
            }
        });
        met.2
    }

    /// Visits the nodes whose planes pass within [`EDGE`] of `point` there.
    fn look_around(&self, mut child: Child, point: Vec3, visit: &mut impl FnMut(&Node)) {
        while let Target::Node(index) = child.target() {
            let node = &self.nodes()[index as usize];
            let distance = node.signed_distance(point);
            if distance.abs() <= EDGE {
                visit(node);
                self.look_around(node.back, point, visit);
            }
            child = if distance < -EDGE { node.back } else { node.front };
        }
    }

    /// The position at time `stop`, or an earlier one if that is in solid by
    /// rounding; the start is known to be empty.
    fn free_end(&self, query: &Query<'_>, mut stop: f32) -> Vec3 {
        for _ in 0..MAX_RETREATS {
            let end = query.at(stop);
            if stop == 0.0 || !self.solidity(end).contains(query.size) {
                return end;
            }
            stop *= 0.5;
        }
        query.start
    }
}

impl<'a> Query<'a> {
    fn new(tree: &'a OnionTree, size: SizeId, start: Vec3, end: Vec3) -> Self {
        // The longest component is short of the length by less than half,
        // which is near enough; a segment without length crosses nothing.
        let length = (end - start).abs().max_element();
        let (edge, sliver) = (EDGE / length, SLIVER / length);
        let coplanar_steps = Cell::new(0);
        Self { nodes: tree.nodes(), size, start, end, edge, sliver, coplanar_steps }
    }

    fn at(&self, time: f32) -> Vec3 {
        if time == 0.0 {
            self.start
        } else if time == 1.0 {
            self.end
        } else {
            self.start + (self.end - self.start) * time
        }
    }

    /// Visits the leaves along the segment between `from` and `to` until one
    /// is solid. Loops down one side and recurses only into the near half of
    /// what straddles a plane.
    fn stretch(
        &self,
        mut child: Child,
        mut from: f32,
        to: f32,
        mut entry: Option<Entry>,
    ) -> Stretch {
        let (mut tied_at_end, mut first, last) = (false, self.at(from), self.at(to));
        loop {
            let index = match child.target() {
                Target::Leaf(solidity) if solidity.contains(self.size) => {
                    return ControlFlow::Break(Found { time: from, entry });
                }
                Target::Leaf(_) => return ControlFlow::Continue(tied_at_end),
                Target::Node(index) => index,
            };
            let node = &self.nodes[index as usize];
            match node.uniform(self.size) {
                Some(true) => return ControlFlow::Break(Found { time: from, entry }),
                Some(false) => return ControlFlow::Continue(tied_at_end),
                None => (),
            }
            let (a, b) = (node.signed_distance(first), node.signed_distance(last));
            if a > APART && b > APART {
                child = node.front;
                continue;
            }
            if a < -APART && b < -APART {
                child = node.back;
                continue;
            }
            let (a, b) = (node.signed_distance(self.start), node.signed_distance(self.end));
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
                let look = from == 0.0 || time - from > self.sliver;
                let tied = tied | (look && self.stretch(near, from, time, entry)?);
                (from, entry) = (time, Some(Entry { node: index, tied }));
                first = self.at(from);
            } else if let Some(entry) = &mut entry {
                entry.tied |= tied;
            } else {
                entry = Some(Entry { node: index, tied });
            }
            child = far;
        }
    }

    /// A segment that lies in a plane is in solid only while both sides are:
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
