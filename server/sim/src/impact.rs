//! When two moving parts first come within a margin of each other: bisection
//! over time (Blow 1997), made complete.
//!
//! Looking at poses alone proves nothing about the way between them, so an
//! interval is passed only when one plane divides the pair *throughout* it:
//! the plane clears both parts at either end by more than the arcs that
//! rotation can add in between ([`arc`]). Where the best plane does
//! not clear all that is left, it is cut where that plane's room ends,
//! earliest part first, down to [`RESOLUTION`].

use glam::{DMat3, DQuat, DVec3};
use maps::geometry::ConvexSolid;

use crate::pose::{Motion, arc};
use crate::separation::{Part, Proximity, Separation, gap_along, separate, separate_from};

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
    /// Body axes in the world at the beginning and at the end of the tick.
    pub(crate) rotations: &'a [DMat3; 2],
    /// No point of the part is farther than this from the centre of rotation.
    pub(crate) radius: f64,
}

impl<'a> Traveller<'a> {
    /// Middle of the part at the beginning of the tick.
    pub(crate) fn centre(&self) -> DVec3 {
        self.motion.start.position + self.motion.start.orientation * self.solid.bounds().centre()
    }

    fn at(&self, time: f64) -> Standing<'a> {
        let pose = self.motion.at(time);
        let rotation = if time <= 0.0 {
            self.rotations[0]
        } else if time >= 1.0 {
            self.rotations[1]
        } else {
            pose.rotation()
        };
        let part = Part::turned(self.solid, rotation, pose.position);
        Standing { part, orientation: pose.orientation }
    }
}

/// A part at one time of its way.
#[derive(Clone, Copy)]
struct Standing<'a> {
    part: Part<'a>,
    orientation: DQuat,
}

/// Both parts at one time. Made once for each time that is looked at, for
/// turning a quaternion into axes costs as much as measuring a gap.
#[derive(Clone, Copy)]
struct Moment<'a> {
    time: f64,
    a: Standing<'a>,
    b: Standing<'a>,
}

impl Moment<'_> {
    fn gap_along(&self, axis: DVec3) -> f64 {
        gap_along(&self.a.part, &self.b.part, axis)
    }

    fn separate(&self, guess: DVec3) -> Proximity {
        separate(&self.a.part, &self.b.part, guess)
    }

    /// The same, with what was found at a time near by.
    fn separate_from(&self, near: &Separation) -> Proximity {
        separate_from(&self.a.part, &self.b.part, near.axis, &near.features, f64::INFINITY)
    }

    /// How far the points that are closest now are from each other `later`:
    /// the parts are no farther apart then.
    fn distance_later(&self, closest: &Separation, later: &Self) -> f64 {
        let a = later.a.part.to_world(self.a.part.point_to_local(closest.on_a));
        let b = later.b.part.to_world(self.b.part.point_to_local(closest.on_b));
        a.distance(b)
    }
}

/// Follows two parts from one time of the tick to another, keeping more than
/// `margin` units between them. `axis` proposes a dividing direction from `a`
/// to `b`; `intervals` counts the work.
///
/// A pair that starts closer than the margin may move so long as it comes no
/// closer.
pub(crate) fn passage(
    a: &Traveller,
    b: &Traveller,
    (from, to): (f64, f64),
    margin: f64,
    axis: DVec3,
    intervals: &mut u64,
) -> Passage {
    let at = |time: f64| Moment { time, a: a.at(time), b: b.at(time) };
    let arcs = |from: &Moment, to: &Moment| {
        arc(from.a.orientation, to.a.orientation, a.radius)
            + arc(from.b.orientation, to.b.orientation, b.radius)
    };
    let clears = |axis: DVec3, from: &Moment, to: &Moment, margin: f64| {
        from.gap_along(axis).min(to.gap_along(axis)) - arcs(from, to) > margin
    };
    let (mut passed, end) = (at(from), at(to));
    *intervals += 1;
    if clears(axis, &passed, &end, margin) {
        return Passage::Free;
    }
    let Proximity::Apart(mut closest) = passed.separate(axis) else {
        return Passage::Overlapping;
    };
    let margin = margin.min(closest.gap * (1.0 - 1e-6));
    *intervals += 1;
    if clears(closest.axis, &passed, &end, margin) {
        return Passage::Free;
    }
    // Who is pressed against something goes nowhere: most that is stopped.
    let soon = at(f64::min(from + RESOLUTION, to));
    if passed.distance_later(&closest, &soon) < margin {
        let Separation { axis, on_a: point, .. } = closest;
        return Passage::Blocked(Impact { time: from, axis, point });
    }
    if let Proximity::Apart(last) = end.separate_from(&closest) {
        *intervals += 1;
        if clears(last.axis, &passed, &end, margin) {
            return Passage::Free;
        }
    }
    let mut creeps = 0;
    for _ in 0..MAX_INTERVALS {
        let axis = closest.axis;
        // Along a fixed axis the gap closes evenly, but for the arcs, which
        // grow with the square of the time: leap to where both have used it
        // up, or less far where that was too bold.
        let room = passed.gap_along(axis) - margin;
        let closing = room + margin - end.gap_along(axis);
        let bend = 2.0 * arcs(&passed, &end);
        let both = closing + (closing * closing + 4.0 * bend * room.max(0.0)).sqrt();
        let share = if both > 2.0 * room { 2.0 * room / both } else { 1.0 };
        let longest = (end.time - passed.time) * share.clamp(0.0, 1.0) * LEAP;
        let leap = std::iter::successors(Some(longest), |leap| Some(leap * 0.5))
            .take_while(|&leap| leap >= RESOLUTION)
            .map(|leap| at(passed.time + leap))
            .find(|next| clears(axis, &passed, next, margin));
        let next = match leap {
            Some(next) => next,
            // Out of room along the best plane: another may still divide the
            // pair for as long as can be told apart.
            None if creeps == MAX_CREEPS => break,
            None => {
                creeps += 1;
                let next = at(f64::min(passed.time + RESOLUTION, end.time));
                match next.separate_from(&closest) {
                    Proximity::Apart(found) if clears(found.axis, &passed, &next, margin) => next,
                    _ => break,
                }
            }
        };
        if next.time >= end.time {
            return Passage::Free;
        }
        passed = next;
        match passed.separate_from(&closest) {
            Proximity::Apart(found) => closest = found,
            Proximity::Overlapping => break,
        }
        *intervals += 1;
        if clears(closest.axis, &passed, &end, margin) {
            return Passage::Free;
        }
    }
    Passage::Blocked(Impact { time: passed.time, axis: closest.axis, point: closest.on_a })
}
