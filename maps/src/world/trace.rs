//! Traces of the boxes of `spaces.toml` through the onion BSP.
//!
//! `line` finds the first solid leaf along a line (Golodetz 2013, Listing 5). Where planes
//! are crossed too close together for `f32` to order them, `contact_normal` finds the
//! face that was hit. `grazing` traces lines that run along a surface once more, beside it.

mod contact_normal;
mod grazing;
mod line;
#[cfg(test)]
mod tests;

use glam::Vec3;

use super::onion::{OnionTree, inside_universe};
use crate::spaces::SizeId;
use line::{Entry, Found, Query, Segment};

/// Where a hit leaves a mover: this far in front of the surface, in units,
/// measured along its normal (or at the start, if that was nearer). Large
/// against the rounding of `f32` positions, small against anything drawn.
pub const SURFACE_DISTANCE: f32 = 1.0 / 32.0;

/// Planes crossed within this many units of each other along the segment are
/// crossed at an edge. Their order depends on rounding, and the first may be a plane
/// that only divides the tree there, so the face is searched for around the point.
const EDGE: f32 = 0.01;

/// Intervals of the segment shorter than this, in units, are skipped: where planes
/// meet, rounding makes intervals that lie in no cell at all. A path may cut off this
/// much of a solid's edge, which is the tolerance that worlds are compiled to.
const SLIVER: f32 = 0.001;

/// How often a hit's end is moved nearer to the start if rounding put it
/// into solid, before the start itself is used.
const MAX_RETREATS: u32 = 8;

/// The result of moving a box along a segment.
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

impl OnionTree {
    /// First transition from empty to solid for one size (Golodetz 2013,
    /// Listing 5). Times stay on the given segment all the way down, so
    /// nothing drifts.
    pub(crate) fn trace(&self, size: SizeId, start: Vec3, end: Vec3) -> Trace {
        match self.straight(size, start, end) {
            (Trace::Hit(hit), true) => self.grazing(size, start, end, hit),
            (trace, _) => trace,
        }
    }

    /// The trace through the tree as it is; and, for a hit, whether it ends close to a
    /// plane.
    #[inline(always)]
    fn straight(&self, size: SizeId, start: Vec3, end: Vec3) -> (Trace, bool) {
        if !inside_universe(start) || !inside_universe(end) {
            return (Trace::StartSolid, false);
        }
        // The longest component is at least 0.57 of the length, which is close
        // enough; a segment without length crosses nothing.
        let length = (end - start).abs().max_element();
        let segment = Segment::new(start, end);
        let edge = EDGE / length;
        let query = Query::new(self, size, segment, edge, SLIVER / length);
        let Some(mut found) = query.run(self.root(), 0.0) else {
            return (Trace::Clear, false);
        };
        // A start that touches a surface is not in solid; a leaf entered without
        // crossing a plane is the leaf that contains the start.
        let Some(entry) = found.entry else { return (Trace::StartSolid, false) };
        if found.time == 0.0 && self.is_solid(size, start) {
            return (Trace::StartSolid, false);
        }
        let mut normal = self.normal(size, &query, found.time, entry, edge);
        if found.time < edge && self.is_free_at(size, &segment, edge) {
            // The segment leaves a surface that the start is closer to than the
            // compiler's tolerance: that surface is not hit, nor is a splinter of it
            // that ends within the width of an edge.
            match (self.beyond(&query, edge), normal) {
                (Some(beyond), None) => {
                    let Some(entry) = beyond.entry else { return (Trace::StartSolid, false) };
                    normal = self.normal(size, &query, beyond.time, entry, edge);
                    found = beyond;
                }
                (Some(Found { time, entry: Some(entry) }), Some(_)) if time > edge => {
                    normal = self.normal(size, &query, time, entry, edge);
                    found = Found { time, entry: Some(entry) };
                }
                (Some(_), Some(_)) => (),
                (None, _) => return (Trace::Clear, false),
            }
        }
        let point = segment.at(found.time);
        let crossed = || found.entry.map_or(Vec3::Z, |entry| query.normal(entry.node));
        let normal = normal.unwrap_or_else(crossed);
        let approach = normal.dot(end - start).abs();
        let stop = (found.time - SURFACE_DISTANCE / approach).max(0.0);
        match self.free_end(size, &segment, stop) {
            Some((end, near_plane)) => {
                (Trace::Hit(Hit { time: found.time, point, normal, end }), near_plane)
            }
            None => (Trace::StartSolid, false),
        }
    }

    /// Normal of the surface that is hit at this time; `None` if no face there
    /// opposes the motion.
    fn normal(
        &self,
        size: SizeId,
        query: &Query<'_, Segment>,
        time: f32,
        entry: Entry,
        edge: f32,
    ) -> Option<Vec3> {
        // Planes that pass through the start are crossed with no leaf in between.
        if entry.tied || time < edge {
            let Segment { start, end, .. } = query.line;
            self.contact_normal(size, query.line.at(time), end - start)
        } else {
            Some(query.normal(entry.node))
        }
    }

    /// The hit at or after a given time, if the segment extends that far.
    // Not inlined, so that the search is inlined into `straight` only once.
    #[inline(never)]
    fn beyond(&self, query: &Query<'_, Segment>, from: f32) -> Option<Found> {
        if from < 1.0 { query.run(self.root(), from) } else { None }
    }

    fn is_free_at(&self, size: SizeId, segment: &Segment, time: f32) -> bool {
        !self.is_solid(size, segment.at(time.min(1.0)))
    }

    /// The position at time `stop`, or an earlier one if that is in solid due to
    /// rounding, and whether it is close to a plane; `None` if even the start is in
    /// solid, which no compiled tree gives.
    fn free_end(&self, size: SizeId, segment: &Segment, mut stop: f32) -> Option<(Vec3, bool)> {
        for _ in 0..MAX_RETREATS {
            let end = segment.at(stop);
            let (solid, near_plane) = self.is_solid_near(size, end, grazing::END_DISTANCE);
            if !solid {
                return Some((end, near_plane));
            }
            if stop == 0.0 {
                return None;
            }
            stop *= 0.5;
        }
        (!self.is_solid(size, segment.start)).then_some((segment.start, true))
    }
}
