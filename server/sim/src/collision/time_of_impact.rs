//! Finds when two moving parts first come within a margin of each other: bisection
//! over time (Blow 1997), made complete.
//!
//! Testing poses alone proves nothing about the motion between them. So an interval of time is free
//! only if one plane divides the pair *throughout* it. The plane clears both parts at both ends by
//! more than rotation can add in between ([`sagitta`], [`relative_sagitta`]). The plane may be
//! fixed in the world or in the frame of either part. For example, the face of a turning body
//! divides the body from a surface that it slides over, for the whole motion. If a plane does not
//! clear all of the remaining interval, the interval is divided where the plane's room ends. The
//! earliest part comes first, and parts get no shorter than a [`Resolution`]. At the end of the
//! plane's room, a search finds another plane.

use std::cell::OnceCell;

use glam::{DMat3, DVec3};
use obsp::geometry::ConvexSolid;

use crate::collision::cascade::NearParts;
use crate::collision::distances::ROUNDING;
use crate::collision::oriented_box::OrientedBox;
use crate::collision::pose::{Motion, Pose, least_between, relative_sagitta, sagitta};
use crate::collision::separation::{
    FacePlane, Features, Part, Proximity, Separation, gap_along, separate, separate_from,
};

/// How finely times of impact are distinguished, as parts of a tick.
///
/// ```
/// use obsp_sim::Resolution;
///
/// assert_eq!(Resolution::new(4096), Some(Resolution::default()));
/// assert_eq!(Resolution::new(8), None, "fewer than 16 parts");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution(u32);

impl Resolution {
    /// The allowed numbers of parts. With fewer parts, bodies would stop visibly early; with more,
    /// rounding would decide.
    pub const PARTS: std::ops::RangeInclusive<u32> = 16..=1 << 20;

    /// A resolution of this many parts to a tick; `None` outside
    /// [`Resolution::PARTS`].
    pub fn new(parts: u32) -> Option<Self> {
        Self::PARTS.contains(&parts).then_some(Self(parts))
    }

    /// The shortest interval that is distinguished, as a share of the tick.
    pub(crate) fn shortest(self) -> f64 {
        1.0 / f64::from(self.0)
    }
}

impl Default for Resolution {
    /// 4096 parts. A body that crosses a room within a tick is then stopped an eighth of a unit
    /// before it would touch.
    fn default() -> Self {
        Self(4096)
    }
}

/// Maximum number of intervals that are examined. After that number a motion counts as blocked
/// where its proof ends. A grazing rotation needs dozens of intervals, and giving up early is
/// always safe.
const MAX_INTERVALS: u32 = 64;

/// Maximum number of steps of the shortest interval before a motion counts as blocked: a body that
/// advances only by such steps is pressed against something.
const MAX_MINIMUM_STEPS: u32 = 6;

/// Maximum number of times that are probed with one plane: testing a plane costs a fifth of a
/// search for a better one.
const MAX_PROBES: u32 = 8;

/// The end of a plane's room is estimated linearly. The probed time lies at this share of the way
/// to the estimate. At the estimate itself rounding would decide.
const PROBE_SHARE: f64 = 0.999;

/// A plane with less than this share of its room left counts as used up.
const EXHAUSTED_SHARE: f64 = 0.3;

/// A pair that is farther apart than this many margins is not pressed together. Only for such a
/// pair is it worth testing how far the proposed plane divides it.
const UNPRESSED: f64 = 2.0;

/// The impact that stops a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Impact {
    /// All of the motion before this time is proven free.
    pub(crate) time: f64,
    /// Unit direction from the first part to the second at the time of the impact.
    pub(crate) axis: DVec3,
    /// The closest point of the first part at the time of the impact.
    pub(crate) point: DVec3,
}

/// How far the motion of a pair of parts, or of bodies, is free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TimeOfImpact {
    /// The whole motion is free.
    Free,
    /// The motion is free up to the impact.
    Blocked(Impact),
    /// The pair overlaps before anything moves.
    Overlapping,
}

impl TimeOfImpact {
    /// The earlier of two results for the same motion.
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

/// The sweep of a convex part through a tick.
#[derive(Clone, Copy)]
pub(crate) struct Sweep<'a> {
    pub(crate) solid: &'a ConvexSolid,
    pub(crate) motion: &'a Motion,
    /// Body axes in the world at the beginning and at the end of the tick.
    pub(crate) rotations: &'a [DMat3; 2],
    /// No point of the part is farther than this from the centre of rotation.
    pub(crate) radius: f64,
    /// How far any point can leave its chord over the whole tick, for [`least_between`].
    pub(crate) sagitta: f64,
}

impl<'a> Sweep<'a> {
    /// No point of the part is farther than this from its middle, in units.
    pub(crate) fn radius_about_centre(&self) -> f64 {
        self.solid.bounds().half_extents().length()
    }

    /// Middle of the part at the beginning of the tick.
    pub(crate) fn centre(&self) -> DVec3 {
        self.motion.start.position + self.rotations[0] * self.solid.bounds().centre()
    }

    /// A box that holds the part at the beginning of the tick.
    pub(crate) fn oriented_box(&self) -> OrientedBox {
        let half_extents = self.solid.bounds().half_extents();
        OrientedBox { axes: self.rotations[0], centre: self.centre(), half_extents }
    }

    /// A unit vector, roughly in the direction in which the two are closest at the beginning of
    /// the tick.
    pub(crate) fn direction_to(&self, other: &Self) -> DVec3 {
        self.oriented_box().direction_to(&other.oriented_box())
    }

    fn turns(&self) -> bool {
        self.motion.start.orientation != self.motion.end.orientation
    }

    #[inline]
    fn at(&self, time: f64) -> Part<'a> {
        let Motion { start, end } = self.motion;
        if time <= 0.0 {
            return Part::turned(self.solid, self.rotations[0], start.position);
        }
        if time >= 1.0 {
            return Part::turned(self.solid, self.rotations[1], end.position);
        }
        let pose = self.motion.at(time);
        let rotation = if self.turns() { pose.rotation() } else { self.rotations[0] };
        Part::turned(self.solid, rotation, pose.position)
    }
}

/// Both parts at one time. A moment is made once for each time that is examined, because turning a
/// quaternion into a matrix costs as much as measuring a gap.
#[derive(Clone, Copy)]
struct Moment<'a> {
    time: f64,
    a: Part<'a>,
    b: Part<'a>,
}

impl Moment<'_> {
    fn gap_along(&self, axis: DVec3) -> f64 {
        gap_along(&self.a, &self.b, axis)
    }

    fn face_plane(&self, guess: DVec3) -> FacePlane {
        FacePlane::between(&self.a, &self.b, guess)
    }

    /// The separation, by a search that starts from the `features` that were closest at another
    /// time. The features may be a bad start at this time, so an overlap is confirmed by a search
    /// without them.
    fn separate(&self, guess: DVec3, features: Features) -> Proximity {
        let (a, b) = (&self.a, &self.b);
        match separate_from(a, b, guess, features, f64::INFINITY) {
            Proximity::Overlapping => separate(a, b, guess),
            apart => apart,
        }
    }

    /// The separation, by a search that starts from the result at a nearby time.
    fn separate_from(&self, near: &Separation) -> Proximity {
        separate_from(&self.a, &self.b, near.axis, near.features, f64::INFINITY)
    }

    /// The distance, at a `later` moment, of the two points that are closest at this moment. It is
    /// an upper bound of the distance of the parts at the later moment.
    fn distance_later(&self, closest: &Separation, later: &Self) -> f64 {
        let a = later.a.to_world(self.a.point_to_local(closest.on_a));
        let b = later.b.to_world(self.b.point_to_local(closest.on_b));
        a.distance(b)
    }
}

/// The frame in which a dividing plane is fixed.
#[derive(Clone, Copy)]
enum PlaneFrame {
    World,
    First,
    Second,
}

/// The sweeps of two parts, and how near they may come.
struct SweepPair<'a> {
    a: &'a Sweep<'a>,
    b: &'a Sweep<'a>,
    margin: f64,
    shortest: f64,
    /// How far points can leave their chords over the whole tick, for [`least_between`]: in the
    /// frame of the first part, and in the frame of the second. Computed when first needed.
    relative: OnceCell<[f64; 2]>,
}

impl<'a> SweepPair<'a> {
    fn new(a: &'a Sweep<'a>, b: &'a Sweep<'a>, margin: f64, resolution: Resolution) -> Self {
        Self { a, b, margin, shortest: resolution.shortest(), relative: OnceCell::new() }
    }

    fn at(&self, time: f64) -> Moment<'a> {
        Moment { time, a: self.a.at(time), b: self.b.at(time) }
    }

    /// How far points can leave their chords in a frame while the parts move from one pose to
    /// another; infinite if a part turns farther than is proven.
    fn astray_between(&self, frame: PlaneFrame, ours: [&Pose; 2], theirs: [&Pose; 2]) -> f64 {
        let (ours, theirs) = ((ours, self.a.radius), (theirs, self.b.radius));
        let astray = match frame {
            PlaneFrame::World => {
                let [ours, theirs] = [ours, theirs].map(|(poses, radius)| sagitta(poses, radius));
                ours.zip(theirs).map(|(ours, theirs)| ours + theirs)
            }
            PlaneFrame::First => relative_sagitta(theirs, ours, self.margin),
            PlaneFrame::Second => relative_sagitta(ours, theirs, self.margin),
        };
        astray.unwrap_or(f64::INFINITY)
    }

    /// How far points can leave their chords in a frame between two times. The bound comes from a
    /// second derivative, so over a part of the tick it shrinks with the square of that part's
    /// length.
    fn astray(&self, frame: PlaneFrame, from: f64, to: f64) -> f64 {
        let relative = || {
            self.relative.get_or_init(|| {
                let [ours, theirs] = [self.a, self.b].map(|of| [&of.motion.start, &of.motion.end]);
                [PlaneFrame::First, PlaneFrame::Second]
                    .map(|frame| self.astray_between(frame, ours, theirs))
            })
        };
        let whole = match frame {
            PlaneFrame::World => self.a.sagitta + self.b.sagitta,
            PlaneFrame::First => relative()[0],
            PlaneFrame::Second => relative()[1],
        };
        if whole < f64::INFINITY {
            return whole * (to - from) * (to - from);
        }
        // A body turns farther in the whole tick than the bound is proven for. Between these two
        // times it may turn less.
        let [ours, theirs] = [self.a, self.b].map(|of| [from, to].map(|at| of.motion.at(at)));
        self.astray_between(frame, ours.each_ref(), theirs.each_ref())
    }

    /// Lower bound of the gap that a plane leaves between the parts at all times
    /// between two moments, less the margin. `gap` is the gap along `axis` at the
    /// first moment.
    fn room(&self, frame: PlaneFrame, axis: DVec3, gap: f64, first: &Moment, last: &Moment) -> f64 {
        let turned =
            |first: &Part, last: &Part| last.direction_to_world(first.direction_to_local(axis));
        let axis = match frame {
            PlaneFrame::World => axis,
            PlaneFrame::First => turned(&first.a, &last.a),
            PlaneFrame::Second => turned(&first.b, &last.b),
        };
        let astray = self.astray(frame, first.time, last.time);
        least_between(gap, last.gap_along(axis), astray) - self.margin
    }

    /// Whether the plane with normal `axis`, fixed in the world, divides the pair at
    /// all times between two moments.
    fn clears(&self, axis: DVec3, first: &Moment, last: &Moment) -> bool {
        self.room(PlaneFrame::World, axis, first.gap_along(axis), first, last) > 0.0
    }

    /// The frame in which the plane with normal `axis` has the most room from one
    /// moment to another, and that room.
    fn best_frame(
        &self,
        axis: DVec3,
        gap: f64,
        first: &Moment,
        last: &Moment,
    ) -> (PlaneFrame, f64) {
        let room = |frame| (frame, self.room(frame, axis, gap, first, last));
        let mut best = room(PlaneFrame::World);
        for (body, frame) in [(self.a, PlaneFrame::First), (self.b, PlaneFrame::Second)] {
            if best.1 <= 0.0 && body.turns() {
                let other = room(frame);
                if other.1 > best.1 {
                    best = other;
                }
            }
        }
        best
    }

    /// The last moment found up to which the plane with normal `axis` divides the pair, given that
    /// its room at `end` is `missing`, below zero. The search is by the method of false position:
    /// the room shrinks linearly until another vertex becomes the nearest, and then faster, so most
    /// times that are probed are free. Where the room shrinks fast and then slowly, probe after
    /// probe has no room. Each of these probes halves the weight of the last room that was above
    /// zero (the Illinois method). Otherwise the probes would move only slowly towards that time.
    fn advance_within_room(
        &self,
        (frame, axis): (PlaneFrame, DVec3),
        gap: f64,
        passed: &Moment<'a>,
        (end, missing): (&Moment<'a>, f64),
    ) -> Option<Moment<'a>> {
        let all = gap - self.margin;
        let (mut low, mut high) = ((passed.time, all), (end.time, missing));
        let (mut reached, mut weight) = (None, 1.0);
        for _ in 0..MAX_PROBES {
            let span = high.0 - low.0;
            if span < self.shortest || low.1 < EXHAUSTED_SHARE * all {
                break;
            }
            let known = weight * low.1;
            let share =
                if high.1.is_finite() { PROBE_SHARE * known / (known - high.1) } else { 0.5 };
            let step = (span * share).max(self.shortest).min(span);
            let next = self.at(low.0 + step);
            let left = self.room(frame, axis, gap, passed, &next);
            if left > 0.0 {
                (low, weight) = ((next.time, left), 1.0);
                reached = Some(next);
            } else if step > self.shortest {
                (high, weight) = ((next.time, left), 0.5 * weight);
            } else {
                break;
            }
        }
        reached
    }

    /// The separation one shortest interval later, if the plane that divides the pair
    /// there divides it throughout that interval.
    fn minimum_step(
        &self,
        closest: &Separation,
        passed: &Moment,
        next: &Moment,
    ) -> Option<Separation> {
        match next.separate_from(closest) {
            Proximity::Apart(found) if self.clears(found.axis, passed, next) => Some(found),
            _ => None,
        }
    }
}

/// How far two parts may move from one time of the tick to another while they keep more than
/// `margin` units between them. `near` proposes a dividing direction from `a` to `b`, and features
/// from which a search starts. `intervals` counts the work.
///
/// A pair that starts closer than the margin may move as long as it comes no closer.
pub(crate) fn time_of_impact(
    a: &Sweep,
    b: &Sweep,
    (from, to): (f64, f64),
    margin: f64,
    near: &NearParts,
    resolution: Resolution,
    intervals: &mut u64,
) -> TimeOfImpact {
    *intervals += 1;
    let mut pair = SweepPair::new(a, b, margin, resolution);
    let (mut passed, end) = (pair.at(from), pair.at(to));
    let (mut axis, mut gap) = (near.axis, passed.gap_along(near.axis));
    let mut way = (gap > margin).then(|| pair.best_frame(axis, gap, &passed, &end));
    if way.is_some_and(|(_, room)| room > 0.0) {
        return TimeOfImpact::Free;
    }
    // If a body has turned since the plane was proposed, its faces have turned with it. Where two
    // edges were closest, a face is seldom a better plane.
    let plane = near.features.may_be_at_face().then(|| passed.face_plane(axis));
    if let Some(plane) = plane.as_ref().filter(|plane| plane.gap > gap + ROUNDING) {
        (axis, gap) = (plane.axis, plane.gap);
        way = (gap > margin).then(|| pair.best_frame(axis, gap, &passed, &end));
        if way.is_some_and(|(_, room)| room > 0.0) {
            return TimeOfImpact::Free;
        }
    }
    let mut closest = plane.and_then(|plane| plane.separation());
    // As far as the plane divides the pair, no better one is needed.
    if gap > UNPRESSED * margin
        && let Some((frame, room)) = way
        && let Some(next) = pair.advance_within_room((frame, axis), gap, &passed, (&end, room))
    {
        (passed, closest) = (next, None);
    }
    let found = closest.map_or_else(|| passed.separate(axis, near.features), Proximity::Apart);
    let mut closest = match found {
        Proximity::Apart(found) => found,
        Proximity::Overlapping if passed.time == from => return TimeOfImpact::Overlapping,
        // The parts are proven apart at this time, so the overlap is a rounding error.
        Proximity::Overlapping => {
            let point = passed.a.support(axis).1;
            return TimeOfImpact::Blocked(Impact { time: passed.time, axis, point });
        }
    };
    pair.margin = margin.min(closest.gap * (1.0 - 1e-6));
    let mut minimum_steps = 0;
    for _ in 0..MAX_INTERVALS {
        *intervals += 1;
        let axis = closest.axis;
        let gap = passed.gap_along(axis);
        let (frame, room) = pair.best_frame(axis, gap, &passed, &end);
        if room > 0.0 {
            return TimeOfImpact::Free;
        }
        // If two points come too near within the shortest interval, no plane has room. This is
        // common: a body is pressed against another. The points are measured only where the plane's
        // room seems to end that soon.
        let mut soon = None;
        let shortly_after = |passed: &Moment| pair.at((passed.time + pair.shortest).min(to));
        let all = gap - pair.margin;
        if all * (end.time - passed.time) < pair.shortest * (all - room) {
            let soon = soon.insert(shortly_after(&passed));
            if passed.distance_later(&closest, soon) < pair.margin {
                break;
            }
        }
        if let Some(next) = pair.advance_within_room((frame, axis), gap, &passed, (&end, room)) {
            passed = next;
            match passed.separate_from(&closest) {
                Proximity::Apart(found) => closest = found,
                Proximity::Overlapping => break,
            }
            continue;
        }
        // The best plane has no room left. Another plane may still divide the pair for the shortest
        // interval.
        let soon = soon.unwrap_or_else(|| shortly_after(&passed));
        minimum_steps += 1;
        let found = (minimum_steps <= MAX_MINIMUM_STEPS)
            .then(|| pair.minimum_step(&closest, &passed, &soon))
            .flatten();
        match found {
            Some(_) if soon.time >= end.time => return TimeOfImpact::Free,
            Some(found) => (passed, closest) = (soon, found),
            None => break,
        }
    }
    TimeOfImpact::Blocked(Impact { time: passed.time, axis: closest.axis, point: closest.on_a })
}
