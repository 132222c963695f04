#[cfg(test)]
mod tests;

use std::cell::Cell;

use glam::Vec3;

use super::onion::{Child, Node, OnionTree, Target, inside_universe};
use crate::spaces::SizeId;

/// Where a hit leaves a mover: this far in front of the surface, in units,
/// measured along its normal (or at the start, if that was nearer). Large
/// against the rounding of `f32` positions, small against anything drawn.
pub const SURFACE_DISTANCE: f32 = 1.0 / 32.0;

/// Planes crossed within this many units of each other, along the way, are
/// crossed at an edge: which of them is the surface is then found out by
/// looking, not by their order, which rounding decides.
const EDGE: f32 = 0.01;

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

#[derive(Clone, Copy)]
struct Found {
    time: f32,
    entry: Option<Entry>,
}

struct Query<'a> {
    nodes: &'a [Node],
    size: SizeId,
    start: Vec3,
    end: Vec3,
    /// [`EDGE`] as a fraction of the segment.
    edge: f32,
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
        // The longest component is short of the length by less than half,
        // which is near enough; a segment without length crosses nothing.
        let edge = EDGE / (end - start).abs().max_element();
        let coplanar_steps = Cell::new(0);
        let query = Query { nodes: self.nodes(), size, start, end, edge, coplanar_steps };
        let Some(found) = query.first_solid(self.root(), 0.0, 1.0, None) else {
            return Trace::Clear;
        };
        // Touching at the start is no start in solid; a leaf entered without
        // crossing a plane is the leaf that the start itself lies in.
        let Some(entry) = found.entry else { return Trace::StartSolid };
        if found.time == 0.0 && self.solidity(start).contains(size) {
            return Trace::StartSolid;
        }
        let node =
            if entry.tied { query.surface(self.root(), found.time, entry) } else { entry.node };
        let node = &self.nodes()[node as usize];
        let (from, to) = (node.signed_distance(start), node.signed_distance(end));
        let stop = (found.time - SURFACE_DISTANCE / (from - to).abs()).max(0.0);
        Trace::Hit(Hit {
            time: found.time,
            point: query.at(found.time),
            normal: if from > to { node.normal } else { -node.normal },
            end: self.free_end(&query, stop),
        })
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

impl Query<'_> {
    fn at(&self, time: f32) -> Vec3 {
        if time == 0.0 { self.start } else { self.start + (self.end - self.start) * time }
    }

    /// The first solid leaf that the segment visits between `from` and `to`.
    /// Loops down one side and recurses only into the near half of what
    /// straddles a plane.
    fn first_solid(
        &self,
        mut child: Child,
        mut from: f32,
        to: f32,
        mut entry: Option<Entry>,
    ) -> Option<Found> {
        loop {
            let index = match child.target() {
                Target::Leaf(solidity) => {
                    return solidity.contains(self.size).then_some(Found { time: from, entry });
                }
                Target::Node(index) => index,
            };
            let node = &self.nodes[index as usize];
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
                return self.first_solid_in_plane(node, from, to, entry);
            }
            let (near, far) =
                if b < 0.0 { (node.front, node.back) } else { (node.back, node.front) };
            let time = a / (a - b);
            if time > from {
                // At the very end both sides count, as they do for a point.
                if time >= to && to < 1.0 {
                    child = near;
                    continue;
                }
                if let Some(found) = self.first_solid(near, from, time, entry) {
                    return Some(found);
                }
                let tied = time - from < self.edge && entry.is_some();
                (from, entry) = (time, Some(Entry { node: index, tied }));
            } else if from - time < self.edge {
                let node = entry.map_or(index, |e| e.node);
                entry = Some(Entry { node, tied: entry.is_some() });
            }
            child = far;
        }
    }

    /// A segment that lies in a plane is in solid only while both sides are:
    /// it goes on past whichever frees it last.
    fn first_solid_in_plane(
        &self,
        node: &Node,
        mut from: f32,
        to: f32,
        mut entry: Option<Entry>,
    ) -> Option<Found> {
        loop {
            let front = self.first_solid(node.front, from, to, entry)?;
            let back = self.first_solid(node.back, from, to, entry)?;
            // Without an entry it is the start's own leaf, so not the later.
            let later = if front.time > back.time || back.entry.is_none() { front } else { back };
            let steps = self.coplanar_steps.get() + 1;
            if front.time == back.time || steps > MAX_COPLANAR_STEPS {
                return Some(later);
            }
            self.coplanar_steps.set(steps);
            (from, entry) = (later.time, later.entry);
        }
    }

    /// Of several planes crossed at nearly the same time on the way into a
    /// solid leaf, one whose near side is empty there: the surface that is
    /// met, and not a plane that goes on through the solid.
    fn surface(&self, root: Child, time: f32, entry: Entry) -> u32 {
        let after = time + self.edge;
        let mut surface = None;
        let mut child = root;
        while let Target::Node(index) = child.target() {
            let node = &self.nodes[index as usize];
            let (a, b) = (node.signed_distance(self.start), node.signed_distance(self.end));
            let near = if b < a { node.front } else { node.back };
            let crossing = if a != b { a / (a - b) } else { f32::INFINITY };
            if (crossing - time).abs() <= self.edge && !self.solid_after(near, after) {
                surface = Some(index);
                if index == entry.node {
                    break;
                }
            }
            child = self.side_after(node, after);
        }
        surface.unwrap_or(entry.node)
    }

    /// Whether the leaf below `child` that the segment is in just after
    /// `time` is solid.
    fn solid_after(&self, mut child: Child, time: f32) -> bool {
        loop {
            child = match child.target() {
                Target::Leaf(solidity) => return solidity.contains(self.size),
                Target::Node(index) => self.side_after(&self.nodes[index as usize], time),
            }
        }
    }

    /// The side of `node` that the segment is on just after `time`.
    fn side_after(&self, node: &Node, time: f32) -> Child {
        let (a, b) = (node.signed_distance(self.start), node.signed_distance(self.end));
        let front =
            if a > 0.0 { b >= 0.0 || a / (a - b) > time } else { b > 0.0 && a / (a - b) <= time };
        if front { node.front } else { node.back }
    }
}
