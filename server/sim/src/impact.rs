//! When two moving parts first come within a margin of each other: bisection
//! over time (Blow 1997), made complete.
//!
//! Looking at poses alone proves nothing about the way between them, so an
//! interval is passed only when one plane divides the pair *throughout* it:
//! the plane clears both parts at either end by more than the arcs that
//! rotation can add in between ([`Motion::arc`]). Where the best plane does
//! not clear all that is left, it is cut where that plane's room ends,
//! earliest part first, down to [`RESOLUTION`].

use glam::DVec3;
use maps::geometry::ConvexSolid;

use crate::pose::Motion;
use crate::separation::{Part, Proximity, gap_along, separate};

/// The shortest interval worth telling apart, as a share of the tick.
pub(crate) const RESOLUTION: f64 = 1.0 / 4096.0;

/// Intervals tried before a motion counts as blocked where it is proven to:
/// a grazing turn needs some dozens, and giving up early is always safe.
const MAX_INTERVALS: u32 = 128;

/// Shortest intervals passed one by one before a motion counts as blocked:
/// who creeps so is pressed against something.
const MAX_CREEPS: u32 = 6;

/// Share of the room along an axis that a leap takes: all of it would end
/// just where rounding decides.
const LEAP: f64 = 0.999;

/// What stops a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Impact {
    /// All of the motion before this time is proven free.
    pub(crate) time: f64,
    /// Unit direction from the first part to the second where they stop.
    pub(crate) axis: DVec3,
    /// The closest point of the first part there.
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

impl Passage {
    /// The one that ends first.
    pub(crate) fn earlier(self, other: Self) -> Self {
        match (self, other) {
            (Self::Overlapping, _) | (_, Self::Overlapping) => Self::Overlapping,
            (Self::Free, other) => other,
            (this, Self::Free) => this,
            (Self::Blocked(a), Self::Blocked(b)) => {
                Self::Blocked(if b.time < a.time { b } else { a })
            }
        }
    }
}

/// A convex part on its way.
#[derive(Clone, Copy)]
pub(crate) struct Traveller<'a> {
    pub(crate) solid: &'a ConvexSolid,
    pub(crate) motion: &'a Motion,
    /// No point of the part is farther than this from the centre of rotation.
    pub(crate) radius: f64,
}

impl<'a> Traveller<'a> {
    fn at(&self, time: f64) -> Part<'a> {
        Part::new(self.solid, &self.motion.at(time))
    }

    fn arc(&self, from: f64, to: f64) -> f64 {
        self.motion.arc(from, to, self.radius)
    }
}

/// Follows two parts from one time of the tick to another, keeping more than
/// `margin` units between them. `axis` proposes a dividing direction from `a`
/// to `b` and takes home the last one that worked; `intervals` counts the
/// work.
///
/// A pair that starts closer than the margin may move so long as it comes no
/// closer.
pub(crate) fn passage(
    a: &Traveller,
    b: &Traveller,
    (from, to): (f64, f64),
    margin: f64,
    axis: &mut DVec3,
    intervals: &mut u64,
) -> Passage {
    let clears = |axis: DVec3, from: f64, to: f64, margin: f64| {
        let first = gap_along(&a.at(from), &b.at(from), axis);
        let last = gap_along(&a.at(to), &b.at(to), axis);
        first.min(last) - a.arc(from, to) - b.arc(from, to) > margin
    };
    *intervals += 1;
    if clears(*axis, from, to, margin) {
        return Passage::Free;
    }
    let Proximity::Apart(mut closest) = separate(&a.at(from), &b.at(from), *axis) else {
        return Passage::Overlapping;
    };
    let margin = margin.min(closest.gap * (1.0 - 1e-6));
    *axis = closest.axis;
    if let Proximity::Apart(last) = separate(&a.at(to), &b.at(to), *axis) {
        *intervals += 1;
        if clears(last.axis, from, to, margin) {
            *axis = last.axis;
            return Passage::Free;
        }
    }
    let mut passed = from;
    let mut creeps = 0;
    for _ in 0..MAX_INTERVALS {
        *intervals += 1;
        *axis = closest.axis;
        if clears(*axis, passed, to, margin) {
            return Passage::Free;
        }
        // Along a fixed axis the gap closes evenly, but for the arcs: leap to
        // where it is used up, or less far if the arcs say so.
        let (first, last) = (
            gap_along(&a.at(passed), &b.at(passed), *axis),
            gap_along(&a.at(to), &b.at(to), *axis),
        );
        let share = if last < first { (first - margin) / (first - last) } else { 1.0 };
        let even = (to - passed) * share.clamp(0.0, 1.0) * LEAP;
        let leap = std::iter::successors(Some(even), |leap| Some(leap * 0.25))
            .take_while(|&leap| leap >= RESOLUTION)
            .find(|&leap| clears(*axis, passed, passed + leap, margin));
        let next = match leap {
            Some(leap) => passed + leap,
            // Out of room along the best plane: another may still divide the
            // pair for as long as can be told apart.
            None if creeps == MAX_CREEPS => break,
            None => {
                creeps += 1;
                let next = f64::min(passed + RESOLUTION, to);
                match separate(&a.at(next), &b.at(next), *axis) {
                    Proximity::Apart(found) if clears(found.axis, passed, next, margin) => next,
                    _ => break,
                }
            }
        };
        if next >= to {
            return Passage::Free;
        }
        passed = next;
        match separate(&a.at(passed), &b.at(passed), *axis) {
            Proximity::Apart(found) => closest = found,
            Proximity::Overlapping => break,
        }
    }
    Passage::Blocked(Impact { time: passed, axis: closest.axis, point: closest.on_a })
}
