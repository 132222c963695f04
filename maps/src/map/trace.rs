//! Traces of the boxes of `spaces.toml` through the onion BSP.
//!
//! `line` finds the first solid leaf along a line (Golodetz 2013, Listing 5). If planes are crossed
//! too close together for `f32` to order them, `contact_normal` finds the face that was hit.
//! `grazing` repeats the trace of a line that runs along a surface, beside that surface.

mod contact_normal;
mod grazing;
mod line;
#[cfg(test)]
mod tests;

use glam::Vec3;

use super::extent::{inside_universe, is_ordinary, trace_in_pieces};
use super::onion::{Child, OnionTree};
use crate::spaces::SizeId;
use line::{Entry, Found, Query, Segment};

/// A hit leaves a mover this far in front of the surface, in units along the normal. If the start
/// was nearer than this, the mover is left at the start. This is much more than the rounding of
/// `f32` positions, and much less than any detail of a map.
pub const SURFACE_DISTANCE: f32 = 1.0 / 32.0;

/// Planes that are crossed within this many units of each other along the segment meet in an edge.
/// Their order depends on rounding, and the first of them may be a plane that only divides the tree
/// at that place. So the face is searched for around the point.
const EDGE: f32 = 0.01;

/// Intervals of the segment shorter than this, in units, are skipped. If planes meet, rounding
/// makes intervals that lie in no cell at all. A path may cut off this much of a solid's edge,
/// which is the compiler's tolerance.
const SLIVER: f32 = 0.001;

/// Maximum number of times that a hit's end is moved nearer to the start because rounding put the
/// end into solid. After that the start is used.
const MAX_RETREATS: u32 = 8;

/// The result of moving a box or another body along a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trace {
    /// The whole segment is free, as far as it lies within the extent.
    Clear,
    /// The body meets a surface.
    Hit(Hit),
    /// The start is in solid and does not just touch it, or it is beyond the extent, or a
    /// coordinate is not finite.
    StartSolid,
}

/// First contact of a segment with a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Contact time as a fraction of the given segment, `0..=1`, even if the segment ends
    /// beyond the extent.
    pub time: f32,
    /// Position of the box's centre, or the body's reference point, at contact.
    pub point: Vec3,
    /// Unit normal of the surface, against the motion.
    pub normal: Vec3,
    /// Position at which a mover stops: on the segment, [`SURFACE_DISTANCE`] in front of
    /// the surface or at the start, and empty by a point test.
    pub end: Vec3,
}

impl OnionTree {
    /// First transition from empty to solid for one size (Golodetz 2013, Listing 5). Times are
    /// fractions of the given segment at every depth of the tree, so rounding does not add up. An
    /// end beyond the extent is moved to the edge of the extent. The search begins at `root`, below
    /// which the whole segment lies.
    pub(crate) fn trace(&self, root: Child, size: SizeId, start: Vec3, end: Vec3) -> Trace {
        if is_ordinary(start, end) {
            return self.trace_piece(root, size, start, end);
        }
        trace_in_pieces(start, end, |from, to| self.trace_piece(self.root(), size, from, to))
    }

    /// [`Self::trace`] for a segment within the extent.
    #[inline]
    fn trace_piece(&self, root: Child, size: SizeId, start: Vec3, end: Vec3) -> Trace {
        let mut near_plane = false;
        match self.straight(root, size, start, end, &mut near_plane) {
            Trace::Hit(hit) if near_plane => self.grazing(size, start, end, hit),
            trace => trace,
        }
    }

    /// The trace along exactly this segment. `near_plane` is set if a hit ends close to a
    /// plane.
    #[inline(always)]
    fn straight(
        &self,
        root: Child,
        size: SizeId,
        start: Vec3,
        end: Vec3,
        near_plane: &mut bool,
    ) -> Trace {
        if !inside_universe(start) || !inside_universe(end) {
            return Trace::StartSolid;
        }
        // The greatest component stands for the length. It is at least 0.57 of the length, which is
        // close enough. A segment without length crosses nothing.
        let length = (end - start).abs().max_element();
        let segment = Segment::new(start, end);
        let edge = EDGE / length;
        let query = Query::new(self, size, segment, edge, SLIVER / length);
        let Some(Found { time, entry }) = query.run(root, 0.0) else {
            return Trace::Clear;
        };
        // A start that touches a surface is not in solid. A leaf that is entered without crossing a
        // plane contains the start.
        let Some(entry) = entry else { return Trace::StartSolid };
        if time == 0.0 && self.is_solid(size, start) {
            return Trace::StartSolid;
        }
        let mut contact = Contact { time, entry, normal: self.normal(&query, time, entry) };
        if time < edge && !self.is_solid(size, segment.at(edge.min(1.0))) {
            match self.beyond_start(query, contact) {
                Ok(beyond) => contact = beyond,
                Err(trace) => return trace,
            }
        }
        let Contact { time, entry, normal } = contact;
        let normal = normal.unwrap_or_else(|| crossed(query, entry));
        let approach = normal.dot(end - start).abs();
        let stop = (time - SURFACE_DISTANCE / approach).max(0.0);
        match self.free_end(root, size, segment, stop, near_plane) {
            Some(end) => Trace::Hit(Hit { time, point: segment.at(time), normal, end }),
            None => Trace::StartSolid,
        }
    }

    /// Normal of the surface that is hit at this time; `None` if no face at the point opposes the
    /// motion.
    #[inline]
    fn normal(&self, query: &Query<'_, Segment>, time: f32, entry: Entry) -> Option<Vec3> {
        // Planes that pass through the start are crossed with no leaf in between.
        if entry.tied || time < query.edge {
            let Segment { start, end, .. } = query.line;
            self.contact_normal(query.size, query.line.at(time), end - start)
        } else {
            Some(query.normal(entry.node))
        }
    }

    /// The contact of a segment that starts closer to a surface than the compiler's tolerance
    /// and leaves it. That surface does not count as hit, nor does a splinter of it that ends
    /// within the width of an edge.
    // This function is rare. It is not inlined, so that the search is inlined into `straight` only
    // once.
    #[cold]
    #[inline(never)]
    fn beyond_start(&self, query: Query<'_, Segment>, at_start: Contact) -> Result<Contact, Trace> {
        let edge = query.edge;
        let beyond = if edge < 1.0 { query.run(self.root(), edge) } else { None };
        let Some(Found { time, entry }) = beyond else { return Err(Trace::Clear) };
        match (entry, at_start.normal) {
            (Some(entry), normal) if normal.is_none() || time > edge => {
                Ok(Contact { time, entry, normal: self.normal(&query, time, entry) })
            }
            (None, None) => Err(Trace::StartSolid),
            _ => Ok(at_start),
        }
    }

    /// The position at time `stop`, or an earlier one if rounding put that position into solid.
    /// `None` if even the start is in solid, which never happens in a compiled tree. `near_plane`
    /// is set to whether the position is close to a plane.
    #[inline(always)]
    fn free_end(
        &self,
        root: Child,
        size: SizeId,
        segment: Segment,
        stop: f32,
        near_plane: &mut bool,
    ) -> Option<Vec3> {
        let end = segment.at(stop);
        let (solid, near) = self.is_solid_near(root, size, end, grazing::END_DISTANCE);
        *near_plane = near;
        if solid { self.retreat(size, segment, stop, near_plane) } else { Some(end) }
    }

    /// [`Self::free_end`] for a position at time `stop` that is in solid.
    #[cold]
    #[inline(never)]
    fn retreat(
        &self,
        size: SizeId,
        segment: Segment,
        mut stop: f32,
        near_plane: &mut bool,
    ) -> Option<Vec3> {
        for _ in 1..MAX_RETREATS {
            if stop == 0.0 {
                return None;
            }
            stop *= 0.5;
            let end = segment.at(stop);
            let (solid, near) = self.is_solid_near(self.root(), size, end, grazing::END_DISTANCE);
            *near_plane = near;
            if !solid {
                return Some(end);
            }
        }
        *near_plane = true;
        (stop != 0.0 && !self.is_solid(size, segment.start)).then_some(segment.start)
    }
}

/// A surface that a segment hits.
#[derive(Clone, Copy)]
struct Contact {
    time: f32,
    /// The plane through which the segment entered solid.
    entry: Entry,
    /// Normal of the face; `None` if no face at the point opposes the motion.
    normal: Option<Vec3>,
}

/// Normal of the plane through which the segment entered solid, for a hit without a face.
#[cold]
#[inline(never)]
fn crossed(query: Query<'_, Segment>, entry: Entry) -> Vec3 {
    query.normal(entry.node)
}
