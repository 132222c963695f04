//! When two moving parts first come within a margin of each other: bisection
//! over time (Blow 1997), made complete.
//!
//! Looking at poses alone proves nothing about the way between them, so an
//! interval is passed only when one plane divides the pair *throughout* it:
//! the plane clears both parts at either end by more than what rotation can add
//! in between ([`arc`], [`bend`]). The plane may stand still or ride on either
//! part: a face that turns divides its body from what it slides over all the
//! while. Where a plane does not clear all that is left, the interval is cut
//! where that plane's room ends, earliest part first, down to a [`Resolution`],
//! and another plane is looked for there.

use glam::{DMat3, DVec3};
use maps::geometry::ConvexSolid;

use crate::pose::{Motion, Pose, arc, bend};
use crate::separation::{Part, Proximity, Separation, gap_along, separate, separate_from};

/// How finely times of impact are told apart, as parts of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution(u32);

impl Resolution {
    /// Fewest and most parts: coarser, bodies would stop visibly early; finer,
    /// rounding has the say.
    pub const PARTS: std::ops::RangeInclusive<u32> = 16..=1 << 20;

    /// So many parts to a tick; `None` outside [`Resolution::PARTS`].
    pub fn new(parts: u32) -> Option<Self> {
        Self::PARTS.contains(&parts).then_some(Self(parts))
    }

    /// The shortest interval worth telling apart, as a share of the tick.
    pub(crate) fn shortest(self) -> f64 {
        1.0 / f64::from(self.0)
    }
}

impl Default for Resolution {
    /// 4096 parts: what crosses a room within a tick is stopped an eighth of a
    /// unit from where it would touch.
    fn default() -> Self {
        Self(4096)
    }
}

/// Intervals tried before a motion counts as blocked where it is proven to:
/// a grazing turn needs some dozens, and giving up early is always safe.
const MAX_INTERVALS: u32 = 64;

/// Shortest intervals passed one by one before a motion counts as blocked:
/// who creeps so is pressed against something.
const MAX_CREEPS: u32 = 6;

/// Times tried until a plane's room is taken to be used up: a look at a plane
/// costs a tenth of a search for a better one.
const MAX_LEAPS: u32 = 8;

/// Share of the way to where a plane's room would end evenly that is tried: all
/// of it would end just where rounding decides.
const LEAP: f64 = 0.999;

/// Who has less than this share of a plane's room left has used it up.
const USED_UP: f64 = 0.1;

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
        Standing { part, pose }
    }
}

/// A part at one time of its way.
#[derive(Clone, Copy)]
struct Standing<'a> {
    part: Part<'a>,
    pose: Pose,
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

/// What a dividing plane moves with.
#[derive(Clone, Copy)]
enum Rides {
    Nothing,
    First,
    Second,
}

/// Two parts on their way, and how near they may come.
struct Pair<'a> {
    a: &'a Traveller<'a>,
    b: &'a Traveller<'a>,
    margin: f64,
    shortest: f64,
}

impl<'a> Pair<'a> {
    fn at(&self, time: f64) -> Moment<'a> {
        Moment { time, a: self.a.at(time), b: self.b.at(time) }
    }

    /// By how much a plane divides the pair all the time between two moments, the
    /// margin set aside; `gap` is its width at the first, across `axis`.
    fn room(&self, rides: Rides, axis: DVec3, gap: f64, first: &Moment, last: &Moment) -> f64 {
        let (a, b) = (&self.a.radius, &self.b.radius);
        let ways = [[&first.a.pose, &last.a.pose], [&first.b.pose, &last.b.pose]];
        let [ours, theirs] = ways;
        let turned =
            |first: &Part, last: &Part| last.direction_to_world(first.direction_to_local(axis));
        let (axis, astray) = match rides {
            Rides::Nothing => {
                let arc =
                    |[from, to]: [&Pose; 2], radius| arc(from.orientation, to.orientation, radius);
                (axis, Some(arc(ours, *a) + arc(theirs, *b)))
            }
            Rides::First => {
                let astray = bend((theirs, *b), (ours, *a), self.margin);
                (turned(&first.a.part, &last.a.part), astray)
            }
            Rides::Second => {
                let astray = bend((ours, *a), (theirs, *b), self.margin);
                (turned(&first.b.part, &last.b.part), astray)
            }
        };
        let astray = astray.unwrap_or(f64::INFINITY);
        gap.min(last.gap_along(axis)) - astray - self.margin
    }

    /// Whether the plane across `axis` divides the pair all the time between two
    /// moments.
    fn clears(&self, axis: DVec3, first: &Moment, last: &Moment) -> bool {
        self.room(Rides::Nothing, axis, first.gap_along(axis), first, last) > 0.0
    }

    /// What the plane across `axis` best rides on from one moment to another, and
    /// the room that it then has.
    fn best_ride(&self, axis: DVec3, gap: f64, first: &Moment, last: &Moment) -> (Rides, f64) {
        let turns = |body: &Traveller| body.motion.start.orientation != body.motion.end.orientation;
        let room = |rides| (rides, self.room(rides, axis, gap, first, last));
        let mut best = room(Rides::Nothing);
        for (body, rides) in [(self.a, Rides::First), (self.b, Rides::Second)] {
            if best.1 <= 0.0 && turns(body) {
                let other = room(rides);
                if other.1 > best.1 {
                    best = other;
                }
            }
        }
        best
    }

    /// The last moment up to which the plane across `axis` is seen to divide the
    /// pair, where it does not until `end`, by `missing`. A plane's room shrinks
    /// evenly until another vertex takes the lead: so false position and halves
    /// in turn.
    fn leap(
        &self,
        (rides, axis): (Rides, DVec3),
        gap: f64,
        passed: &Moment<'a>,
        (end, missing): (&Moment<'a>, f64),
    ) -> Option<Moment<'a>> {
        let all = gap - self.margin;
        let (mut low, mut high) = ((passed.time, all), (end.time, missing));
        let mut reached = None;
        for step in 0..MAX_LEAPS {
            let span = high.0 - low.0;
            if span < self.shortest || low.1 < USED_UP * all {
                break;
            }
            let even = if high.1.is_finite() { LEAP * low.1 / (low.1 - high.1) } else { 0.5 };
            let share = if step % 2 == 0 { even } else { 0.5 };
            let next = self.at(low.0 + (span * share).max(self.shortest).min(span));
            let left = self.room(rides, axis, gap, passed, &next);
            if left > 0.0 {
                low = (next.time, left);
                reached = Some(next);
            } else {
                high = (next.time, left);
            }
        }
        reached
    }

    /// The next moment, the shortest interval on, if the pair is divided until
    /// then by the plane that divides it there.
    fn creep(
        &self,
        closest: &Separation,
        passed: &Moment<'a>,
        end: &Moment<'a>,
    ) -> Option<(Moment<'a>, Separation)> {
        let next = self.at(f64::min(passed.time + self.shortest, end.time));
        match next.separate_from(closest) {
            Proximity::Apart(found) if self.clears(found.axis, passed, &next) => {
                Some((next, found))
            }
            _ => None,
        }
    }
}

/// Follows two parts from one time of the tick to another, keeping more than
/// `margin` units between them. `axis` proposes a dividing direction from `a`
/// to `b`, of unit length; `intervals` counts the work.
///
/// A pair that starts closer than the margin may move so long as it comes no
/// closer.
pub(crate) fn passage(
    a: &Traveller,
    b: &Traveller,
    (from, to): (f64, f64),
    margin: f64,
    axis: DVec3,
    resolution: Resolution,
    intervals: &mut u64,
) -> Passage {
    let mut pair = Pair { a, b, margin, shortest: resolution.shortest() };
    let (mut passed, end) = (pair.at(from), pair.at(to));
    *intervals += 1;
    if pair.clears(axis, &passed, &end) {
        return Passage::Free;
    }
    let Proximity::Apart(mut closest) = passed.separate(axis) else {
        return Passage::Overlapping;
    };
    pair.margin = margin.min(closest.gap * (1.0 - 1e-6));
    let mut creeps = 0;
    for _ in 0..MAX_INTERVALS {
        *intervals += 1;
        let axis = closest.axis;
        let gap = passed.gap_along(axis);
        let (rides, room) = pair.best_ride(axis, gap, &passed, &end);
        if room > 0.0 {
            return Passage::Free;
        }
        if passed.time == from {
            // Who is pressed against something goes nowhere: most that is stopped.
            let soon = pair.at(f64::min(from + pair.shortest, to));
            if passed.distance_later(&closest, &soon) < pair.margin {
                break;
            }
        }
        if let Some(next) = pair.leap((rides, axis), gap, &passed, (&end, room)) {
            passed = next;
            match passed.separate_from(&closest) {
                Proximity::Apart(found) => closest = found,
                Proximity::Overlapping => break,
            }
            continue;
        }
        // Out of room along the best plane: another may still divide the pair for
        // as long as can be told apart.
        creeps += 1;
        let next = (creeps <= MAX_CREEPS).then(|| pair.creep(&closest, &passed, &end)).flatten();
        match next {
            Some((next, _)) if next.time >= end.time => return Passage::Free,
            Some((next, found)) => (passed, closest) = (next, found),
            None => break,
        }
    }
    Passage::Blocked(Impact { time: passed.time, axis: closest.axis, point: closest.on_a })
}
