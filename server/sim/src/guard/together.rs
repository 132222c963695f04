//! Many bodies moved at once, all along one time line.
//!
//! Each pair is followed through the tick with both on their way, so two that
//! travel together do not block each other, and two whose ways cross meet.
//! Where a pair cannot be proven apart any longer, both stop; whoever goes on
//! is then followed past the one that has stopped, until nothing changes any
//! more. At time zero everybody is free, so this always ends.

use super::{Blocker, MARGIN, Placement, Space};
use crate::cascade::{Body, Planes, Reversed, pass};
use crate::counters::Counters;
use crate::impact::{Impact, Passage};
use crate::pose::Pose;
use crate::shape::ShapeId;

/// Rounds of following the ones that go on past those that stopped; who still
/// changes then, in a heap all of which stops and goes, stays where it was.
const MAX_ROUNDS: usize = 8;

/// Who gets no farther than this share of its way, or of its tick, has not moved
/// to speak of: it was pressed against something and crept up to it.
pub(crate) const CREPT: f64 = 1.0 / 128.0;

/// Where a body wants to be at the end of the tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proposal {
    pub(crate) slot: u16,
    pub(crate) target: Pose,
    /// How long the way there takes.
    pub(crate) seconds: f64,
}

/// How a guarded move went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Advance {
    pub(crate) slot: u16,
    /// Where the body may go, or `None` if it overlapped something before it
    /// moved.
    pub(crate) placement: Option<Placement>,
    /// Seconds that it could not spend.
    pub(crate) left: f64,
    /// Whether it could hardly move at all.
    pub(crate) hindered: bool,
    /// What stopped it.
    pub(crate) stop: Option<(Blocker, Impact)>,
}

struct Mover<'a> {
    slot: u16,
    shape: ShapeId,
    body: Body<'a>,
    seconds: f64,
    /// When it stops.
    until: f64,
    stop: Option<(Blocker, Impact)>,
    overlapping: bool,
}

/// Two movers that come near each other.
struct Meeting<P> {
    movers: [usize; 2],
    planes: P,
}

impl Space<'_> {
    /// Moves the bodies of `proposals` (ascending slots, placed props) as far
    /// as each can get, everybody else standing. `planes` knows what divided
    /// a body from a blocker last time.
    pub(crate) fn advance<P: Planes>(
        &self,
        proposals: &[Proposal],
        planes: impl Fn(u16, Blocker) -> P,
        counters: &mut Counters,
    ) -> Vec<Advance> {
        let mut movers = self.movers(proposals);
        let meetings = self.first_contacts(&mut movers, planes, counters);
        if movers.iter().any(|mover| mover.until < 1.0) {
            follow_past_stopped(&mut movers, &meetings, counters);
        }
        let advance = |mover: Mover| {
            counters.blocked_moves += u64::from(mover.until < 1.0);
            let pose = mover.body.motion.at(mover.until);
            let placement = (!mover.overlapping).then(|| self.placement(mover.shape, pose));
            Advance {
                slot: mover.slot,
                placement,
                left: mover.seconds * (1.0 - mover.until),
                hindered: mover.until < CREPT,
                stop: mover.stop,
            }
        };
        movers.into_iter().map(advance).collect()
    }

    fn movers(&self, proposals: &[Proposal]) -> Vec<Mover<'_>> {
        let mover = |proposal: &Proposal| {
            let placement = self.entities.get(proposal.slot)?.placement()?;
            let body =
                Body::moving(self.shape(placement.shape()), *placement.pose(), proposal.target);
            Some(Mover {
                slot: proposal.slot,
                shape: placement.shape(),
                body,
                seconds: proposal.seconds,
                until: 1.0,
                stop: None,
                overlapping: false,
            })
        };
        proposals.iter().filter_map(mover).collect()
    }

    /// Stops every mover at its first contact with anything, as if all others
    /// went all their way, and returns the pairs of movers that came near.
    fn first_contacts<P: Planes>(
        &self,
        movers: &mut [Mover],
        planes: impl Fn(u16, Blocker) -> P,
        counters: &mut Counters,
    ) -> Vec<Meeting<P>> {
        let speedboxes: Vec<_> =
            movers.iter().map(|mover| mover.body.speedbox().inflated(MARGIN)).collect();
        // The grid knows where bodies are, not where they go: look as far
        // around as the fastest of them travels.
        let mut travel: f64 = 0.0;
        for (mover, speedbox) in movers.iter().zip(&speedboxes) {
            let Some(placement) = self.entities.get(mover.slot).and_then(|e| e.placement()) else {
                continue;
            };
            let bounds = placement.bounds();
            travel = travel
                .max((bounds.min - speedbox.min).max_element())
                .max((speedbox.max - bounds.max).max_element());
        }
        let mut meetings = Vec::new();
        let (mut near, mut solids) = (Vec::new(), Vec::new());
        for i in 0..movers.len() {
            let slot = movers[i].slot;
            solids.clear();
            let Some(entity) = self.entities.get(slot) else { continue };
            entity.near_solids.visit(self.map, &speedboxes[i], |index| solids.push(index));
            for &index in &solids {
                let solid = Body::fixed(&self.map.solids()[index as usize]);
                let blocker = Blocker::Solid(index);
                let planes = planes(slot, blocker);
                let passage = pass(&movers[i].body, &solid, (0.0, 1.0), MARGIN, planes, counters);
                movers[i].meet(blocker, passage);
            }
            self.entities.near(&speedboxes[i].inflated(travel), &mut near);
            for &other in near.iter().filter(|&&other| other != slot) {
                let blocker = Blocker::Entity(other);
                match movers.binary_search_by_key(&other, |mover| mover.slot) {
                    Ok(j) if j < i || !speedboxes[i].overlaps(&speedboxes[j]) => {}
                    Ok(j) => {
                        let planes = planes(slot, blocker);
                        let (a, b) = (&movers[i].body, &movers[j].body);
                        let passage = pass(a, b, (0.0, 1.0), MARGIN, planes, counters);
                        movers[i].meet(blocker, passage);
                        movers[j].meet(Blocker::Entity(slot), reversed(passage));
                        meetings.push(Meeting { movers: [i, j], planes });
                    }
                    Err(_) => {
                        let Some(entity) = self.entities.get(other) else { continue };
                        let touched = entity
                            .placement()
                            .is_some_and(|placement| placement.bounds().overlaps(&speedboxes[i]));
                        let Some(body) = self.standing(entity).filter(|_| touched) else {
                            continue;
                        };
                        let planes = planes(slot, blocker);
                        let passage =
                            pass(&movers[i].body, &body, (0.0, 1.0), MARGIN, planes, counters);
                        movers[i].meet(blocker, passage);
                    }
                }
            }
        }
        meetings
    }
}

/// Follows each mover that goes on past the ones that have stopped.
fn follow_past_stopped(
    movers: &mut [Mover],
    meetings: &[Meeting<impl Planes>],
    counters: &mut Counters,
) {
    for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        for meeting in meetings {
            let [a, b] = meeting.movers;
            let (early, late) = if movers[a].until <= movers[b].until { (a, b) } else { (b, a) };
            let span = (movers[early].until, movers[late].until);
            if span.0 == span.1 {
                continue;
            }
            let pose = movers[early].body.motion.at(span.0);
            let stopped = movers[early].body.stopped(pose);
            let (body, planes) = (&movers[late].body, meeting.planes);
            let passage = if late == a {
                pass(body, &stopped, span, MARGIN, planes, counters)
            } else {
                pass(body, &stopped, span, MARGIN, Reversed(planes), counters)
            };
            let blocker = Blocker::Entity(movers[early].slot);
            let before = movers[late].until;
            movers[late].meet(blocker, passage);
            changed |= movers[late].until < before;
        }
        if !changed {
            return;
        }
    }
    // Still not settled: everybody who met anybody stays, which is free.
    for meeting in meetings {
        for index in meeting.movers {
            movers[index].until = 0.0;
        }
    }
}

impl Mover<'_> {
    fn meet(&mut self, blocker: Blocker, passage: Passage) {
        match passage {
            Passage::Free => {}
            Passage::Overlapping => {
                self.overlapping = true;
                self.until = 0.0;
            }
            Passage::Blocked(impact) => {
                if impact.time < self.until {
                    self.until = impact.time;
                    self.stop = Some((blocker, impact));
                }
            }
        }
    }
}

/// The same passage as the other body sees it.
fn reversed(passage: Passage) -> Passage {
    match passage {
        Passage::Blocked(impact) => Passage::Blocked(Impact { axis: -impact.axis, ..impact }),
        same => same,
    }
}
