//! Traces of a moving body through the shifted planes.

use glam::Vec3;

use super::{FEW_WAITING, Link, MAX_WAITING, ShiftTree, Visits};
use crate::body::Support;
use crate::map::extent::{is_ordinary, trace_in_pieces};
use crate::map::{Hit, SURFACE_DISTANCE, Trace};

/// Maximum number of times that a hit's end is moved nearer to the start because rounding put the
/// end into solid. After that the start is used.
const MAX_RETREATS: u32 = 8;

/// A stretch of the segment, within the space below a link.
#[derive(Clone, Copy)]
struct Stretch {
    link: Link,
    /// The beginning and end, as fractions of the given segment. They are never equal.
    from: f32,
    to: f32,
    entry: Entry,
}

impl Stretch {
    const NOWHERE: Self = Self { link: Link::EMPTY, from: 0.0, to: 0.0, entry: Entry::START };
}

/// The shifted plane through which a stretch entered: twice the index of its
/// branch, plus one if it entered from behind.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry(u32);

impl Entry {
    /// No plane: the stretch begins at the start of the segment.
    const START: Self = Self(u32::MAX);
}

impl ShiftTree {
    /// The first contact of a body while its reference point moves from `start` to
    /// `end` (Melax 2000, `HitCheckBSP`).
    ///
    /// [`Hit::point`] is the position of the reference point at contact. The point of the body that
    /// touches is its [`Support::support_point`] against the normal. Times are fractions of the
    /// given segment. Except for the rounding of `f32`, the contact is never too late. At edges and
    /// corners it may be too early, within the bounds that bevels set. So a start close to an edge
    /// may count as solid. An end beyond [`UNIVERSE`](crate::UNIVERSE) is moved to its edge.
    pub fn trace(
        &self,
        body: &impl Support,
        start: Vec3,
        end: Vec3,
        visits: &mut impl Visits,
    ) -> Trace {
        if is_ordinary(start, end) {
            return self.trace_piece(body, start, end, visits);
        }
        trace_in_pieces(start, end, |from, to| self.trace_piece(body, from, to, visits))
    }

    /// [`Self::trace`] for a segment within the extent.
    fn trace_piece(
        &self,
        body: &impl Support,
        start: Vec3,
        end: Vec3,
        visits: &mut impl Visits,
    ) -> Trace {
        let motion = end - start;
        let Some((time, entry)) = self.first_contact(body, start, motion, visits) else {
            return Trace::Clear;
        };
        if entry == Entry::START {
            return Trace::StartSolid;
        }
        let normal = self.branches[(entry.0 >> 1) as usize].normal;
        // A subtraction, because `-normal` would make negative zeros.
        let normal = if entry.0 & 1 == 1 { Vec3::ZERO - normal } else { normal };
        let point = start + motion * time;
        let stop = (time - SURFACE_DISTANCE / normal.dot(motion).abs()).max(0.0);
        let end = self.free_end(body, start, motion, stop);
        Trace::Hit(Hit { time, point, normal, end })
    }

    fn first_contact(
        &self,
        body: &impl Support,
        start: Vec3,
        motion: Vec3,
        visits: &mut impl Visits,
    ) -> Option<(f32, Entry)> {
        // Clearing a long stack would take as long as the query itself.
        if self.waiting <= FEW_WAITING {
            self.walk::<FEW_WAITING>(body, start, motion, visits)
        } else {
            self.walk::<MAX_WAITING>(body, start, motion, visits)
        }
    }

    /// The time at which a solid leaf is entered first, and the plane through which it is
    /// entered.
    ///
    /// At the places where the paper recurses, the farther part is pushed on a stack, whose length
    /// was checked when the tree was made. Only the inside of a grown cell counts. Touching the
    /// cell, or sliding along it, is free.
    fn walk<const WAITING: usize>(
        &self,
        body: &impl Support,
        start: Vec3,
        motion: Vec3,
        visits: &mut impl Visits,
    ) -> Option<(f32, Entry)> {
        let mut waiting = [Stretch::NOWHERE; WAITING];
        let mut count = 0;
        let mut now = Stretch { link: self.root, from: 0.0, to: 1.0, entry: Entry::START };
        let (mut nearest, mut found) = (1.0, None);
        loop {
            while let Some(index) = now.link.index() {
                visits.branch();
                let branch = &self.branches[index];
                let at_start = branch.normal.dot(start) - branch.distance;
                let speed = branch.normal.dot(motion);
                let at_end = at_start + speed;
                // The body is behind the plane below `upper` and in front of it above
                // `lower`; between them it is on both sides.
                let upper = body.support(-branch.normal);
                let lower = -body.support(branch.normal);
                if at_start.min(at_end) >= upper {
                    now.link = branch.front;
                    continue;
                }
                if at_start.max(at_end) <= lower {
                    now.link = branch.back;
                    continue;
                }
                let index = index as u32;
                // A body that does not move across the plane, and is on both sides of it, stays
                // there. The division by minus zero gives that result: the body entered long ago
                // and never leaves.
                let (near, far, leave, enter, entry) = if speed > 0.0 {
                    let (leave, enter) = ((upper - at_start) / speed, (lower - at_start) / speed);
                    (branch.back, branch.front, leave, enter, Entry(index << 1 | 1))
                } else {
                    let speed = -speed.abs();
                    let (leave, enter) = ((lower - at_start) / speed, (upper - at_start) / speed);
                    (branch.front, branch.back, leave, enter, Entry(index << 1))
                };
                let mut beyond = Stretch { link: far, ..now };
                if enter > now.from || (enter == now.from && now.entry == Entry::START) {
                    (beyond.from, beyond.entry) = (enter, entry);
                }
                let goes_far = far != Link::EMPTY && enter < now.to;
                if near != Link::EMPTY && leave > now.from {
                    if goes_far {
                        waiting[count] = beyond;
                        count += 1;
                    }
                    (now.link, now.to) = (near, now.to.min(leave));
                } else if goes_far {
                    now = beyond;
                } else {
                    now.link = Link::EMPTY;
                }
            }
            if now.link == Link::SOLID {
                if now.entry == Entry::START {
                    return Some((0.0, Entry::START));
                }
                (nearest, found) = (now.from, Some((now.from, now.entry)));
            }
            // Stretches that begin after the nearest contact do not matter, but
            // the start may still turn out to be inside another cell.
            loop {
                if count == 0 {
                    return found;
                }
                count -= 1;
                now = waiting[count];
                if now.from < nearest || now.entry == Entry::START {
                    break;
                }
            }
            now.to = now.to.min(nearest);
        }
    }

    /// The position at time `stop`, or an earlier one if rounding put that position into solid. The
    /// start is known to be free.
    fn free_end(&self, body: &impl Support, start: Vec3, motion: Vec3, mut stop: f32) -> Vec3 {
        for _ in 0..MAX_RETREATS {
            let end = start + motion * stop;
            if stop == 0.0 || !self.overlaps(body, end, &mut ()) {
                return end;
            }
            stop *= 0.5;
        }
        start
    }
}
