mod along;
mod line;
mod surface;
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

/// Planes crossed within this many units of each other along the way are
/// crossed at an edge. Which of them is the surface is then found out by
/// looking around: their order is up to rounding, and the one that comes first
/// may be a plane that only divides the tree there.
const EDGE: f32 = 0.01;

/// Stretches of the way shorter than this, in units, are not looked at: where
/// planes meet, rounding makes such that lie in no cell at all. So much of a
/// solid's edge a path may cut off, which is the tolerance that worlds are
/// compiled to.
const SLIVER: f32 = 0.001;

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

impl OnionTree {
    /// First transition from empty to solid for one size (Golodetz 2013,
    /// Listing 5). Times stay on the given segment all the way down, so
    /// nothing drifts.
    pub(crate) fn trace(&self, size: SizeId, start: Vec3, end: Vec3) -> Trace {
        match self.straight(size, start, end) {
            (Trace::Hit(hit), true) => self.along(size, start, end, hit),
            (trace, _) => trace,
        }
    }

    /// What the segment meets in the tree as it is; and, of a hit, whether it ends
    /// beside a plane.
    #[inline(always)]
    fn straight(&self, size: SizeId, start: Vec3, end: Vec3) -> (Trace, bool) {
        if !inside_universe(start) || !inside_universe(end) {
            return (Trace::StartSolid, false);
        }
        // The longest component is short of the length by less than half,
        // which is near enough; a segment without length crosses nothing.
        let length = (end - start).abs().max_element();
        let segment = Segment::new(start, end);
        let edge = EDGE / length;
        let query = Query::new(self, size, segment, edge, SLIVER / length);
        let Some(mut found) = query.run(self.root(), 0.0) else {
            return (Trace::Clear, false);
        };
        // Touching at the start is no start in solid; a leaf entered without
        // crossing a plane is the leaf that the start itself lies in.
        let Some(entry) = found.entry else { return (Trace::StartSolid, false) };
        if found.time == 0.0 && self.is_solid(size, start) {
            return (Trace::StartSolid, false);
        }
        let mut normal = self.normal(size, &query, found.time, entry, edge);
        if found.time < edge && self.is_free_at(size, &segment, edge) {
            // On the way out of a surface that the start is nearer to than worlds
            // are compiled to: that is not met. Nor is a splinter of it that ends
            // within an edge's width.
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
            Some((end, beside)) => {
                (Trace::Hit(Hit { time: found.time, point, normal, end }), beside)
            }
            None => (Trace::StartSolid, false),
        }
    }

    /// Normal of the surface that is met at this time; `None` if no face there is
    /// turned against the motion.
    fn normal(
        &self,
        size: SizeId,
        query: &Query<'_, Segment>,
        time: f32,
        entry: Entry,
        edge: f32,
    ) -> Option<Vec3> {
        // What passes by the start is crossed with no leaf in between.
        if entry.tied || time < edge {
            let Segment { start, end, .. } = query.line;
            self.surface(size, query.line.at(time), end - start)
        } else {
            Some(query.normal(entry.node))
        }
    }

    /// The hit at or after a given time, if the trace gets so far.
    // Seldom asked, so that the search is in the caller only once.
    #[inline(never)]
    fn beyond(&self, query: &Query<'_, Segment>, from: f32) -> Option<Found> {
        if from < 1.0 { query.run(self.root(), from) } else { None }
    }

    fn is_free_at(&self, size: SizeId, segment: &Segment, time: f32) -> bool {
        !self.is_solid(size, segment.at(time.min(1.0)))
    }

    /// The position at time `stop`, or an earlier one if that is in solid by
    /// rounding, and whether it is beside a plane; `None` if even the start is in
    /// solid, as in no tree that was compiled.
    fn free_end(&self, size: SizeId, segment: &Segment, mut stop: f32) -> Option<(Vec3, bool)> {
        for _ in 0..MAX_RETREATS {
            let end = segment.at(stop);
            let (solid, beside) = self.is_solid_near(size, end, along::BESIDE_END);
            if !solid {
                return Some((end, beside));
            }
            if stop == 0.0 {
                return None;
            }
            stop *= 0.5;
        }
        (!self.is_solid(size, segment.start)).then_some((segment.start, true))
    }
}
