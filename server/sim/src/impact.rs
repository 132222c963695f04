//! When a moving part first comes within a margin of another: bisection over
//! time (Blow 1997), made complete.
//!
//! Looking at poses alone proves nothing about the way between them, so an
//! interval is passed only when one plane divides the pair *throughout* it:
//! the plane clears both parts at either end by more than the arc that
//! rotation can add in between ([`Motion::arc`]). An interval that no plane
//! clears is halved, earliest half first, down to [`RESOLUTION`].

use glam::DVec3;
use maps::geometry::ConvexSolid;

use crate::pose::Motion;
use crate::separation::{Part, Proximity, gap_along, separate};

/// The shortest interval worth telling apart, as a share of the motion.
pub(crate) const RESOLUTION: f64 = 1.0 / 4096.0;

/// Intervals tried before a motion counts as blocked where it is proven to:
/// a grazing turn needs some dozens, and giving up early is always safe.
const MAX_INTERVALS: u32 = 256;

/// What stops a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Impact {
    /// All of `0..=time` is proven free, as a share of the motion.
    pub(crate) time: f64,
    /// Unit direction from the moving part to the other where it stops.
    pub(crate) axis: DVec3,
    /// The closest point of the moving part there.
    pub(crate) point: DVec3,
}

/// The answer for one pair of parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Passage {
    /// The whole motion is free.
    Free,
    /// It is free up to the impact.
    Blocked(Impact),
    /// The pair overlaps before anything moves.
    Overlapping,
}

/// Follows `solid`, whose points stay within `radius` of the centre of
/// rotation, along `motion` past the standing part `other`, keeping more than
/// `margin` units between them. `axis` proposes a dividing direction and takes
/// home the last one that worked; `intervals` counts the work.
///
/// A pair that starts closer than the margin may move so long as it comes no
/// closer.
pub(crate) fn passage(
    (solid, radius): (&ConvexSolid, f64),
    motion: &Motion,
    other: &Part,
    margin: f64,
    axis: &mut DVec3,
    intervals: &mut u64,
) -> Passage {
    let start = Part::new(solid, &motion.start);
    let clears = |axis: DVec3, from: f64, to: f64, margin: f64| {
        let (a, b) = (motion.at(from), motion.at(to));
        let (first, last) = (Part::new(solid, &a), Part::new(solid, &b));
        gap_along(&first, other, axis).min(gap_along(&last, other, axis))
            - Motion::arc(&a, &b, radius)
            > margin
    };
    *intervals += 1;
    if clears(*axis, 0.0, 1.0, margin) {
        return Passage::Free;
    }
    let Proximity::Apart(mut closest) = separate(&start, other, *axis) else {
        return Passage::Overlapping;
    };
    let margin = margin.min(closest.gap * (1.0 - 1e-6));
    *axis = closest.axis;
    let mut passed = 0.0;
    let mut step = 1.0;
    for _ in 0..MAX_INTERVALS {
        *intervals += 1;
        let next = f64::min(passed + step, 1.0);
        let ahead = || match separate(&Part::new(solid, &motion.at(next)), other, *axis) {
            Proximity::Apart(found) if clears(found.axis, passed, next, margin) => Some(found.axis),
            _ => None,
        };
        let dividing = if clears(*axis, passed, next, margin) { Some(*axis) } else { ahead() };
        if let Some(found) = dividing {
            *axis = found;
            if next >= 1.0 {
                return Passage::Free;
            }
            passed = next;
            step *= 2.0;
            continue;
        }
        step *= 0.5;
        // The plane that is best at the beginning is the last resort of a
        // short interval; it need not be the one that let us come here.
        if let Proximity::Apart(found) =
            separate(&Part::new(solid, &motion.at(passed)), other, *axis)
        {
            closest = found;
            *axis = found.axis;
        }
        if step < RESOLUTION {
            break;
        }
    }
    Passage::Blocked(Impact { time: passed, axis: closest.axis, point: closest.on_a })
}
