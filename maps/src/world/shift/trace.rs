use glam::Vec3;

use super::{Link, MAX_WAITING, ShiftTree, Visits};
use crate::body::Support;
use crate::world::onion::inside_universe;
use crate::world::{Hit, SURFACE_DISTANCE, Trace};

/// How often a hit's end is moved nearer to the start when rounding put it
/// into solid, before the start itself is taken.
const MAX_RETREATS: u32 = 8;

/// A stretch of the way that is still to be looked at.
#[derive(Clone, Copy)]
struct Stretch {
    link: Link,
    /// When it begins and ends, as fractions of the given segment; it has a
    /// length.
    from: f32,
    to: f32,
    entry: Entry,
}

/// The shifted plane through which a stretch came in: twice the index of its
/// branch, and one more if that was from behind.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry(u32);

impl Entry {
    /// None: the stretch begins where the segment does.
    const START: Self = Self(u32::MAX);
}

impl ShiftTree {
    /// What a body meets first while its reference point moves from `start` to
    /// `end` (Melax 2000, `HitCheckBSP`).
    ///
    /// [`Hit::point`] is where the reference point is at contact; the body
    /// touches there with its [`Support::support_point`] against the normal.
    /// Times stay on the given segment. The answer is never later than the
    /// true contact, but for the rounding of `f32`; at edges and corners it may
    /// be too early, which is what bevels keep within bounds. For the same
    /// reason a start close to an edge may be called solid.
    pub fn trace(
        &self,
        body: &impl Support,
        start: Vec3,
        end: Vec3,
        visits: &mut impl Visits,
    ) -> Trace {
        if !inside_universe(start) || !inside_universe(end) {
            return Trace::StartSolid;
        }
        let motion = end - start;
        let Some((time, entry)) = self.first_contact(body, start, motion, visits) else {
            return Trace::Clear;
        };
        if entry == Entry::START {
            return Trace::StartSolid;
        }
        let normal = self.branches[(entry.0 >> 1) as usize].normal;
        // Not `-normal`, which makes negative zeros.
        let normal = if entry.0 & 1 == 1 { Vec3::ZERO - normal } else { normal };
        let point = start + motion * time;
        let stop = (time - SURFACE_DISTANCE / normal.dot(motion).abs()).max(0.0);
        let end = self.free_end(body, start, motion, stop);
        Trace::Hit(Hit { time, point, normal, end })
    }

    /// When a solid leaf is entered first, and through which plane.
    ///
    /// Where the paper recurses, what is farther waits in a list whose length
    /// was bounded when the tree was made. Only the inside of a grown cell
    /// counts: touching it, and sliding along it, is free.
    fn first_contact(
        &self,
        body: &impl Support,
        start: Vec3,
        motion: Vec3,
        visits: &mut impl Visits,
    ) -> Option<(f32, Entry)> {
        let whole = Stretch { link: self.root, from: 0.0, to: 1.0, entry: Entry::START };
        let mut waiting = [whole; MAX_WAITING];
        let mut count = 0;
        let mut now = whole;
        let (mut nearest, mut found) = (1.0, None);
        loop {
            if let Some(index) = now.link.index() {
                visits.branch();
                let branch = &self.branches[index];
                let at_start = branch.normal.dot(start) - branch.distance;
                let speed = branch.normal.dot(motion);
                // Behind the plane is what is below `upper`, in front what is
                // above `lower`; between them it is both.
                let upper = body.support(-branch.normal) - at_start;
                let lower = -body.support(branch.normal) - at_start;
                let index = index as u32;
                // A body that does not approach is within a side forever or
                // never: dividing by minus zero says so, and says no to what
                // just touches.
                let (near, far, leave, enter, entry) = if speed > 0.0 {
                    let (leave, enter) = (upper / speed, lower / speed);
                    (branch.back, branch.front, leave, enter, Entry(index << 1 | 1))
                } else {
                    let speed = -speed.abs();
                    let (leave, enter) = (lower / speed, upper / speed);
                    (branch.front, branch.back, leave, enter, Entry(index << 1))
                };
                let to = now.to.min(nearest);
                let goes_near = near != Link::EMPTY && leave > now.from;
                let goes_far = far != Link::EMPTY && enter < to;
                let entered =
                    if enter > now.from || (enter == now.from && now.entry == Entry::START) {
                        Stretch { link: far, from: enter, to, entry }
                    } else {
                        Stretch { link: far, to, ..now }
                    };
                if goes_near {
                    if goes_far {
                        waiting[count] = entered;
                        count += 1;
                    }
                    now = Stretch { link: near, to: to.min(leave), ..now };
                    continue;
                }
                if goes_far {
                    now = entered;
                    continue;
                }
            } else if now.link == Link::SOLID && now.from < nearest {
                if now.entry == Entry::START {
                    return Some((0.0, Entry::START));
                }
                (nearest, found) = (now.from, Some((now.from, now.entry)));
            }
            // Whatever begins after the nearest contact is of no interest.
            loop {
                if count == 0 {
                    return found;
                }
                count -= 1;
                now = waiting[count];
                if now.from < nearest {
                    break;
                }
            }
        }
    }

    /// The position at time `stop`, or an earlier one if that is in solid by
    /// rounding; the start is known to be free.
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
