//! The extent of a map, and the part of a query that lies within it.
//!
//! Every query along a segment, whether of points, boxes, bodies or rays, is clipped by
//! [`clip_to_extent`] alone, so that no two of them disagree about a far end.

use glam::{DVec3, Vec3};

use super::{Hit, SURFACE_DISTANCE, Trace};
use crate::geometry::Aabb;

/// Everything that is farther from the origin than this, in units along any axis, is solid. So a
/// body that runs away is stopped, and no query overflows.
pub const UNIVERSE: f32 = 262_144.0;

/// Longest distance along an axis that is traced at once, in units: twice the greatest coordinate
/// of a map, which is the longest way through a map. The time of a hit is an `f32` share of the
/// traced piece, so this limit bounds the error of the time.
pub(crate) const LONGEST_PIECE: f32 = 65_536.0;

/// The part of a segment that lies within the extent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClippedSegment {
    /// The end of the segment, or the point at which it leaves the extent.
    pub end: DVec3,
    /// The share of the given segment that is within the extent, in `0..=1`.
    pub share: f64,
}

/// Clips a segment to the extent of maps, the cube of ±[`UNIVERSE`]: an end beyond it is
/// replaced by the point at which the segment leaves the cube. `None` if the segment starts
/// beyond the extent, where everything is solid, or if a coordinate is not finite.
///
/// ```
/// use obsp::clip_to_extent;
/// use obsp::glam::DVec3;
///
/// let far = clip_to_extent(DVec3::ZERO, DVec3::X * 1e308).expect("the start is inside");
/// assert_eq!(far.end, DVec3::X * 262_144.0);
/// assert!(clip_to_extent(DVec3::X * 262_145.0, DVec3::ZERO).is_none());
/// ```
pub fn clip_to_extent(start: DVec3, end: DVec3) -> Option<ClippedSegment> {
    let edge = f64::from(UNIVERSE);
    let within = |point: DVec3| point.abs().cmple(DVec3::splat(edge)).all();
    if !within(start) || !end.is_finite() {
        return None;
    }
    if within(end) {
        return Some(ClippedSegment { end, share: 1.0 });
    }
    // This cannot overflow, because the start is tiny compared with an end near the greatest `f64`.
    let way = end - start;
    let (mut share, mut leaves) = (1.0, 0);
    for axis in (0..3).filter(|&axis| end[axis].abs() > edge) {
        let at_edge = (edge.copysign(end[axis]) - start[axis]) / way[axis];
        if at_edge < share {
            (share, leaves) = (at_edge, axis);
        }
    }
    let mut at = (start + way * share).clamp(DVec3::splat(-edge), DVec3::splat(edge));
    if end[leaves].abs() > edge {
        at[leaves] = edge.copysign(end[leaves]);
    }
    Some(ClippedSegment { end: at, share })
}

/// Clips a box to the extent of maps. `None` if no part of it is within, or if a coordinate
/// is not a number. An infinite side is moved to the edge.
pub fn clip_box_to_extent(bounds: &Aabb) -> Option<Aabb> {
    let edge = DVec3::splat(UNIVERSE.into());
    // `max` and `min` below may drop a NaN.
    if bounds.min.is_nan() || bounds.max.is_nan() {
        return None;
    }
    let clipped = Aabb { min: bounds.min.max(-edge), max: bounds.max.min(edge) };
    (!clipped.is_empty()).then_some(clipped)
}

/// Whether a point lies within [`UNIVERSE`]; false if a coordinate is not a number.
#[inline]
pub(crate) fn inside_universe(point: Vec3) -> bool {
    point.abs().cmple(Vec3::splat(UNIVERSE)).all()
}

/// Whether a segment can be traced in one piece: whether it lies within the extent and is no longer
/// than [`LONGEST_PIECE`] along any axis.
#[inline]
pub(crate) fn is_ordinary(start: Vec3, end: Vec3) -> bool {
    inside_universe(start)
        && inside_universe(end)
        && (end - start).abs().cmple(Vec3::splat(LONGEST_PIECE)).all()
}

/// Traces a segment of any length, piece by piece. An end beyond the extent is moved to the edge of
/// the extent. A start beyond the extent is in solid, and so is a segment with a coordinate that is
/// not finite. Times are fractions of the whole segment.
#[cold]
#[inline(never)]
pub(crate) fn trace_in_pieces(
    start: Vec3,
    end: Vec3,
    mut trace: impl FnMut(Vec3, Vec3) -> Trace,
) -> Trace {
    let from = start.as_dvec3();
    let Some(clipped) = clip_to_extent(from, end.as_dvec3()) else { return Trace::StartSolid };
    let way = clipped.end - from;
    let pieces = (way.abs().max_element() / f64::from(LONGEST_PIECE)).ceil().max(1.0);
    let at = |piece: f64| {
        let place = if piece == pieces { clipped.end } else { from + way * (piece / pieces) };
        place.as_vec3()
    };
    let of_whole = |piece: f64, time: f32| {
        ((piece + f64::from(time)) / pieces * clipped.share).clamp(0.0, 1.0) as f32
    };
    for index in 0..pieces as u32 {
        let piece = f64::from(index);
        match trace(at(piece), at(piece + 1.0)) {
            Trace::Clear => (),
            Trace::Hit(hit) => return Trace::Hit(Hit { time: of_whole(piece, hit.time), ..hit }),
            Trace::StartSolid if index == 0 => return Trace::StartSolid,
            // Rounding put the free end of the previous piece into solid. The trace ends there.
            Trace::StartSolid => {
                let (point, before) = (at(piece), at(piece - 1.0));
                let back = (before - point).normalize_or_zero();
                let near = point + back * (2.0 * SURFACE_DISTANCE);
                let end = if trace(before, near) == Trace::Clear { near } else { before };
                return Trace::Hit(Hit { time: of_whole(piece, 0.0), point, normal: back, end });
            }
        }
    }
    Trace::Clear
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGE: f64 = UNIVERSE as f64;

    #[test]
    fn a_segment_is_clipped_where_it_leaves_the_extent() {
        let start = DVec3::new(10.0, -20.0, 30.0);
        let direction = DVec3::new(1.0, 0.25, -0.125);
        let once = clip_to_extent(start, start + direction * 1e6).expect("the start is inside");
        assert_eq!(once.end.x, EDGE);
        for exponent in [7, 30, 76, 77, 154, 155, 300, 307] {
            let length = 10_f64.powi(exponent);
            let clipped = clip_to_extent(start, start + direction * length);
            let clipped = clipped.expect("the start is inside");
            assert!(clipped.end.distance(once.end) < 1e-6, "1e{exponent}: {clipped:?}");
            let share = (EDGE - start.x) / length;
            assert!((clipped.share / share - 1.0).abs() < 1e-9, "1e{exponent}: {clipped:?}");
        }
    }

    /// Ends and starts one step of `f64` below the edge, at the edge and one step above it.
    #[test]
    fn the_edge_is_within_and_a_step_beyond_it_is_not() {
        let (below, above) = (EDGE.next_down(), EDGE.next_up());
        for sign in [-1.0, 1.0] {
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let at = |x: f64| axis * (x * sign);
                let ends = [(below, below), (EDGE, EDGE), (above, EDGE), (f64::MAX, EDGE)];
                for (end, expected) in ends {
                    let clipped =
                        clip_to_extent(DVec3::ZERO, at(end)).expect("the start is inside");
                    assert_eq!(clipped.end, at(expected));
                    assert_eq!(clipped.share == 1.0, end <= EDGE, "{end:e}: {clipped:?}");
                }
                assert!(clip_to_extent(at(EDGE), at(f64::MAX)).is_some_and(|c| c.end == at(EDGE)));
                assert_eq!(clip_to_extent(at(above), DVec3::ZERO), None);
                let across = clip_to_extent(at(EDGE), at(-f64::MAX)).expect("the start is inside");
                assert_eq!(across.end, at(-EDGE));
            }
        }
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(clip_to_extent(DVec3::ZERO, DVec3::new(0.0, odd, 0.0)), None);
            assert_eq!(clip_to_extent(DVec3::new(odd, 0.0, 0.0), DVec3::ZERO), None);
        }
    }
}
