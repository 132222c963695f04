//! Moves many bodies at once, on one time line.
//!
//! Each pair is followed through the tick with both bodies moving. So two bodies that travel
//! together do not block each other, and two bodies whose paths cross meet. Both bodies stop at the
//! time from which the pair can no longer be proven apart. The earliest pair is decided first.
//! Moving bodies are then followed past the bodies that have stopped ([`stops`](super::stops)).

use glam::DVec3;
use obsp::geometry::Aabb;

use super::beyond_search::exceed_reach;
use super::stops::stop_in_order;
use super::{Placement, Space};
use crate::bodies::blocker::Blocker;
use crate::bodies::entities::Entity;
use crate::collision::cascade::{
    Body, LastPlane, first_impact, first_impact_of_all_parts, first_impact_of_near_parts,
};
use crate::collision::distances::{MARGIN, REST_GAP, ROUNDING};
use crate::collision::pose::{Motion, Pose};
use crate::collision::shape::ShapeId;
use crate::collision::time_of_impact::{Impact, TimeOfImpact};
use crate::context::StepContext;
use crate::threads::{Threads, joined};
use crate::traits::CollisionLayers;

/// A body that completes no more than this share of its motion, or of its tick, is stuck: it was
/// pressed against another body and hardly moved.
pub(crate) const NEGLIGIBLE_SHARE: f64 = 1.0 / 128.0;

/// Extra distance, in units, that a kinematic body keeps from a standing body. Otherwise a player
/// between the kinematic body and a wall could not walk out.
const EXTRA_MARGIN: f64 = 3.0 * MARGIN;

/// Extra distance, in units, that a kinematic body, and each body that it pushes or carries, keeps
/// from a moving body. Two bodies that are pressed together at the margin have no room to turn.
const EXTRA_MARGIN_MOVING: f64 = REST_GAP;

/// Minimum number of pairs of a thread's share.
const MIN_PAIRS: usize = 48;

/// Minimum number of moving bodies of a thread's share.
const MIN_MOVERS: usize = 128;

/// The motion that a body is to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proposal {
    pub(crate) slot: u16,
    pub(crate) target: Pose,
    /// Duration of the motion, in seconds.
    pub(crate) seconds: f64,
}

/// The result of a guarded motion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Advance {
    pub(crate) slot: u16,
    /// The place to which the body may go, or `None` if it overlapped something before it moved.
    pub(crate) placement: Option<Placement>,
    /// Seconds of the motion that were not spent.
    pub(crate) seconds_left: f64,
    /// Whether the body hardly moved.
    pub(crate) stuck: bool,
    /// Upper bound of how far the body's surface moved, in units.
    pub(crate) travel: f64,
    /// The obstacle that stopped the body, and the impact.
    pub(crate) stop: Option<(Blocker, Impact)>,
}

/// A body, the motion that it is to make, and how much of that motion is free.
pub(super) struct MovingBody<'a> {
    pub(super) slot: u16,
    pub(super) layers: CollisionLayers,
    /// How far the body moves beyond its free distance, in units; below zero if it stays within
    /// that distance.
    pub(super) excess_travel: f64,
    /// Upper bound, over the whole motion, of the distance between the body's surface and the place
    /// where the search for contacts found it.
    travel: f64,
    pub(super) since_search: SinceSearch,
    shape: ShapeId,
    pub(super) body: Body<'a>,
    seconds: f64,
    /// The time at which the body stops, as a share of its motion.
    pub(super) stop_time: f64,
    pub(super) stop: Option<(Blocker, Impact)>,
    /// Upper bound of how far the body's surface moves in this motion, in units.
    pub(super) way: f64,
    /// Extra distances, in units, that the body keeps from a standing body and from a moving one.
    extra_margins: [f64; 2],
    pub(super) overlapping: bool,
    /// The box in which the world does not stop the body.
    pub(super) pocket: Option<Aabb>,
}

/// Two moving bodies that come near each other.
pub(super) struct MovingPair<P> {
    pub(super) movers: [usize; 2],
    pub(super) planes: P,
    pub(super) test: PairTest,
    /// How far the two bodies get before they meet, with the axis from the first to the second.
    pub(super) time_of_impact: TimeOfImpact,
}

/// A bound on the motion of a body since the search for contacts.
#[derive(Clone, Copy, Default)]
pub(super) struct SinceSearch {
    /// Upper bound of how far its surface moved between the search and this motion, plus an upper
    /// bound of how far any point turns in this motion, in units.
    undirected: f64,
    /// Displacement of the body's centre in this motion.
    shift: DVec3,
}

impl SinceSearch {
    /// The bound of a body that stands, and whose surface has moved by `moved` units since the
    /// search.
    pub(super) fn standing(moved: f64) -> Self {
        Self { undirected: moved, shift: DVec3::ZERO }
    }

    /// Upper bound of how far the gap along a direction to `other` has shrunk since the search, at
    /// any time of `span` of this motion. If `stops` is true, `other` stands still from the
    /// beginning of the span.
    pub(super) fn approach(
        self,
        other: Self,
        (from, to): (f64, f64),
        stops: bool,
    ) -> impl Fn(DVec3) -> f64 + Copy {
        let last = if stops { from } else { to };
        // The centres move in straight lines, so the bound is greatest at one of the two ends.
        let first = (self.shift - other.shift) * from;
        let last = self.shift * to - other.shift * last;
        move |axis| self.undirected + other.undirected + axis.dot(first).max(axis.dot(last))
    }
}

/// How a pair is tested.
#[derive(Clone, Copy)]
pub(super) enum PairTest {
    /// Tests only the parts that the search for contacts has just found near each other.
    NearParts,
    /// Tests all parts, without filters, because the search found the bodies near each other.
    AllParts,
    /// Tests the bodies by the whole cascade.
    Cascade,
}

impl PairTest {
    /// The test of two bodies that may be beyond the reach of the search. If both bodies are convex
    /// and the search found them near each other, it found their only pair of parts.
    pub(super) fn beyond_search(bodies: [&Body; 2], planes: impl LastPlane) -> Self {
        let convex = bodies.iter().all(|body| body.parts.len() == 1);
        match planes.whole() {
            Some(_) if convex => Self::NearParts,
            Some(_) => Self::AllParts,
            None => Self::Cascade,
        }
    }

    /// Runs the test: how far the two bodies get within `span`, a part of their motion.
    pub(super) fn first_impact(
        self,
        bodies: [&Body; 2],
        span: (f64, f64),
        planes: impl LastPlane,
        approach: impl Fn(DVec3) -> f64,
        context: &mut StepContext,
    ) -> TimeOfImpact {
        let [a, b] = bodies;
        match self {
            Self::NearParts => {
                first_impact_of_near_parts(a, b, span, MARGIN, planes, approach, context)
            }
            Self::AllParts => {
                first_impact_of_all_parts(a, b, span, MARGIN, planes, approach, context)
            }
            Self::Cascade => first_impact(a, b, span, MARGIN, planes, context),
        }
    }
}

impl Space<'_> {
    /// Moves each body of `proposals` as far as its motion is free. All other bodies stand. The
    /// proposals are of placed props, in ascending order of slot. `planes` gives the plane that
    /// last divided a body from a blocker. `neighbours` are the pairs that the search for contacts
    /// found, with their known planes. A body that stays within its free distance of the place
    /// where the search found it meets only its neighbours. Call [`hold`](super::hold) before.
    pub(crate) fn advance<P: LastPlane + Send + Sync>(
        &self,
        proposals: &[Proposal],
        neighbours: &[(u16, Blocker, P)],
        planes: impl Fn(u16, Blocker) -> P + Sync,
        context: &mut StepContext,
    ) -> Vec<Advance> {
        if proposals.is_empty() {
            return Vec::new();
        }
        let mut movers = self.movers(proposals, &context.threads);
        let pairs = self.first_contacts(&mut movers, neighbours, planes, context);
        stop_in_order(&mut movers, &pairs, context);
        let advance = |mover: &MovingBody| {
            let pose = mover.body.motion.at(mover.stop_time);
            let placement = (!mover.overlapping).then(|| self.placement(mover.shape, pose));
            Advance {
                slot: mover.slot,
                placement,
                seconds_left: mover.seconds * (1.0 - mover.stop_time),
                stuck: mover.stop_time < NEGLIGIBLE_SHARE,
                travel: Motion::new(mover.body.motion.start, pose).travel(mover.body.radius()),
                stop: mover.stop,
            }
        };
        let stopped = movers.iter().filter(|mover| mover.stop_time < 1.0).count();
        context.counters.blocked_moves += stopped as u64;
        let shares = context.threads.in_shares(movers.len(), MIN_MOVERS, |range| {
            movers[range].iter().map(advance).collect::<Vec<_>>()
        });
        joined(shares)
    }

    fn movers(&self, proposals: &[Proposal], threads: &Threads) -> Vec<MovingBody<'_>> {
        let mover = |proposal: &Proposal| {
            let entity = self.entities.get(proposal.slot)?;
            let placement = entity.placement()?;
            let body =
                Body::moving(self.shape(placement.shape()), *placement.pose(), proposal.target);
            let shift = body.motion.shift();
            let swing = body.motion.swing(body.radius());
            let undirected = entity.record.moved + swing;
            let since_search = SinceSearch { undirected, shift };
            let travel = undirected + shift.length();
            // Not computed as `travel` less `entity.record.moved`, because both may be infinite.
            let way = swing + shift.length();
            let extra_margins = if entity.is_kinematic() {
                [EXTRA_MARGIN, EXTRA_MARGIN_MOVING]
            } else if entity.record.driven_velocity != DVec3::ZERO {
                [0.0, EXTRA_MARGIN_MOVING]
            } else {
                [0.0; 2]
            };
            Some(MovingBody {
                excess_travel: travel - entity.record.free_distance,
                travel,
                since_search,
                slot: proposal.slot,
                layers: entity.layers,
                shape: placement.shape(),
                body,
                seconds: proposal.seconds,
                stop_time: 1.0,
                stop: None,
                way,
                extra_margins,
                overlapping: false,
                pocket: entity.pocket(),
            })
        };
        let shares = threads.in_shares(proposals.len(), MIN_MOVERS, |range| {
            let mut movers = Vec::with_capacity(range.len());
            movers.extend(proposals[range].iter().filter_map(mover));
            movers
        });
        joined(shares)
    }

    /// Stops every moving body at its first contact with a body that stands. Returns the pairs of
    /// moving bodies that come near each other, and how far the two bodies of each pair get if no
    /// other body stops them.
    fn first_contacts<P: LastPlane + Send + Sync>(
        &self,
        movers: &mut [MovingBody],
        neighbours: &[(u16, Blocker, P)],
        planes: impl Fn(u16, Blocker) -> P + Sync,
        context: &mut StepContext,
    ) -> Vec<MovingPair<P>> {
        for mover in movers.iter_mut().filter(|mover| mover.pocket.is_some()) {
            self.stop_outside_pocket(mover, context);
        }
        // For each slot: the number of its mover, counted from one; zero if the entity stands.
        let mut mover_of = vec![0u16; self.entities.slot_count()];
        for (mover, number) in movers.iter().zip(1..) {
            mover_of[usize::from(mover.slot)] = number;
        }
        let mover_of = |slot: u16| usize::from(*mover_of.get(usize::from(slot))?).checked_sub(1);
        let moving: &[MovingBody] = movers;
        let shares = context.threads.in_shares(neighbours.len(), MIN_PAIRS, |range| {
            let mut context = context.share();
            let (mut pairs, mut met) = (Vec::with_capacity(range.len()), Vec::new());
            for &(slot, other, planes) in &neighbours[range] {
                let of = [mover_of(slot), other.entity().and_then(mover_of)];
                if of == [None; 2] {
                    continue;
                }
                let bodies = of.map(|index| index.map(|index| &moving[index]));
                let tested = self.test_neighbours(bodies, (slot, other), planes, &mut context);
                let Some(time_of_impact) = tested else { continue };
                match of {
                    [Some(i), Some(j)] => {
                        let test = PairTest::NearParts;
                        pairs.push(MovingPair { movers: [i, j], planes, test, time_of_impact });
                    }
                    [Some(i), None] => met.push((i, other, time_of_impact)),
                    [None, Some(j)] => {
                        met.push((j, Blocker::Entity(slot), reversed(time_of_impact)))
                    }
                    [None, None] => {}
                }
            }
            (pairs, met, context.counters)
        });
        let mut pairs = Vec::with_capacity(neighbours.len());
        for (found, met, counters) in shares {
            pairs.extend(found);
            met.into_iter()
                .for_each(|(i, blocker, time_of_impact)| movers[i].meet(blocker, time_of_impact));
            context.counters.add_earlier(&counters);
        }
        self.test_beyond_search(movers, mover_of, planes, &mut pairs, context);
        pairs
    }

    /// How far two neighbours get in their whole motions, with the axis from the first to the
    /// second. `None` if the two cannot meet, or if they leave the reach of the search. In the
    /// latter case they are tested elsewhere.
    fn test_neighbours(
        &self,
        [first, second]: [Option<&MovingBody>; 2],
        (slot, other): (u16, Blocker),
        planes: impl LastPlane,
        context: &mut StepContext,
    ) -> Option<TimeOfImpact> {
        let excess = |mover: Option<&MovingBody>, slot| {
            mover.map_or_else(|| self.excess_travel(slot), |mover| mover.excess_travel)
        };
        let theirs = other.entity().map_or(0.0, |slot| excess(second, slot));
        if exceed_reach(excess(first, slot), theirs) {
            return None;
        }
        // The two bodies cannot meet if their distance at the search, less what both have moved
        // since, exceeds the margin.
        let ours = first.map_or_else(|| self.moved(slot), |mover| mover.travel);
        let theirs = second.map(|mover| mover.travel);
        let theirs = theirs.or_else(|| other.entity().map(|slot| self.moved(slot))).unwrap_or(0.0);
        if planes.gap() - ours - theirs > MARGIN + ROUNDING {
            return None;
        }
        let own_motion =
            first.map_or_else(|| SinceSearch::standing(ours), |mover| mover.since_search);
        let others =
            second.map_or_else(|| SinceSearch::standing(theirs), |mover| mover.since_search);
        let approach = own_motion.approach(others, (0.0, 1.0), false);
        let stands = |slot: u16| self.standing(self.entities.get(slot)?);
        let (a, b);
        let own = match first {
            Some(mover) => &mover.body,
            None => {
                a = stands(slot)?;
                &a
            }
        };
        let obstacle = match (second, other) {
            (Some(mover), _) => &mover.body,
            (None, Blocker::Entity(slot)) => {
                b = stands(slot)?;
                &b
            }
            (None, Blocker::Solid(index)) => {
                b = Body::fixed(&self.map.solids()[index as usize]);
                &b
            }
        };
        let (bodies, span) = ([own, obstacle], (0.0, 1.0));
        Some(PairTest::NearParts.first_impact(bodies, span, planes, approach, context))
    }

    /// How far the body in a slot has moved beyond its free distance.
    fn excess_travel(&self, slot: u16) -> f64 {
        self.entities.get(slot).map_or(0.0, Entity::excess_travel)
    }

    /// How far the surface of a body has moved since the search for contacts.
    pub(super) fn moved(&self, slot: u16) -> f64 {
        self.entities.get(slot).map_or(0.0, |entity| entity.record.moved)
    }
}

impl MovingBody<'_> {
    /// Stops the body at a standing `blocker`, at the `time_of_impact`, unless the body stops
    /// earlier.
    pub(super) fn meet(&mut self, blocker: Blocker, time_of_impact: TimeOfImpact) {
        match time_of_impact {
            TimeOfImpact::Free => {}
            TimeOfImpact::Overlapping => {
                self.overlapping = true;
                self.stop_time = 0.0;
            }
            TimeOfImpact::Blocked(mut impact) => {
                let [extra_margin, _] = self.extra_margins;
                if extra_margin > 0.0 && matches!(blocker, Blocker::Entity(_)) {
                    impact.time = (impact.time - extra_margin / self.way).max(0.0);
                }
                if impact.time < self.stop_time {
                    self.stop_time = impact.time;
                    self.stop = Some((blocker, impact));
                }
            }
        }
    }
}

impl<P> MovingPair<P> {
    /// The other of its two movers.
    pub(super) fn other(&self, mover: usize) -> usize {
        let [a, b] = self.movers;
        if mover == a { b } else { a }
    }

    /// How much earlier the two bodies stop than they would meet, as a share of their motion.
    pub(super) fn extra_margin_time(&self, movers: &[MovingBody]) -> f64 {
        let [a, b] = self.movers.map(|mover| &movers[mover]);
        let extra_margin = a.extra_margins[1].max(b.extra_margins[1]);
        if extra_margin > 0.0 { extra_margin / (a.way + b.way) } else { 0.0 }
    }
}

/// Exchanges the two bodies of a time of impact.
pub(super) fn reversed(time_of_impact: TimeOfImpact) -> TimeOfImpact {
    match time_of_impact {
        TimeOfImpact::Blocked(impact) => {
            TimeOfImpact::Blocked(Impact { axis: -impact.axis, ..impact })
        }
        same => same,
    }
}

#[cfg(test)]
mod tests;
