//! Rounds of guarded motion. In the first round all bodies move together, as far as the guard lets
//! them. An impact changes the velocities of a stopped body and of the body that stopped it.
//! Further rounds are for bodies that were stopped:
//!
//! 1. [`retry`]: a body in flight, or one that a kinematic body drives, spends the rest of its tick
//!    once its neighbours have moved.
//! 2. [`carry`]: a kinematic body carries along the bodies that are wedged against it. Kinematic
//!    bodies take no part in the next step.
//! 3. [`in_part`]: a body that hardly moved tries the translation alone. If the translation is
//!    blocked, it tries the rotation alone.
//!
//! A supported body that was stopped half-way keeps its place until the next tick.

mod carry;
mod impact;
mod in_part;
mod retry;

use glam::DQuat;

use crate::bodies::blocker::Blocker;
use crate::bodies::contact::{KnownPairs, Pair, PairIndex};
use crate::bodies::entities::{Entities, Entity, Stopped};
use crate::bodies::guard::{Advance, Proposal, Space, hold};
use crate::bodies::islands::Islands;
use crate::bodies::mobility::Mobility;
use crate::bodies::sleep;
use crate::bodies::slots::SlotSet;
use crate::collision::pose::Pose;
use crate::collision::shape::Shapes;
use crate::collision::time_of_impact::Impact;
use crate::context::StepContext;

pub(crate) use impact::Strike;

/// A body whose remaining motion is shorter than this, in units, gets no further attempt. Settling
/// heaps are full of such jitter.
const MIN_RETRY_DISTANCE: f64 = 1.0 / 64.0;

/// The rest of the motion of a body that was stopped.
pub(crate) struct Remainder {
    slot: u16,
    /// Seconds of its motion that the body has not spent.
    seconds: f64,
    /// Duration of the whole motion, in seconds.
    whole: f64,
    /// Whether the body hardly moved.
    stuck: bool,
    /// The obstacle that stopped the body.
    blocker: Option<Blocker>,
}

/// The rounds of a tick.
pub(crate) struct Rounds<'a> {
    map: &'a obsp::Map,
    shapes: &'a Shapes,
    entities: &'a mut Entities,
    pairs: PairIndex<'a>,
    /// The pairs of bodies that the search for contacts found, if either body may still move.
    neighbours: Vec<(u16, Blocker, KnownPairs<'a>)>,
    islands: &'a Islands,
    context: &'a mut StepContext,
    /// The bodies that moved in the last round, or took an impulse.
    changed: SlotSet,
    outcome: Outcome,
}

/// The results of the rounds besides the motion.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Slots of the bodies that overlapped something before they moved.
    pub(crate) overlapping: Vec<u16>,
    /// Slots of the sleeping bodies that took an impulse. They wake at the end of the tick. The
    /// search for contacts has skipped them, so they must not move before the next search.
    pub(crate) struck: Vec<u16>,
    /// The impulses of the impacts, in order. The simulation does not depend on this list.
    pub(crate) strikes: Vec<Strike>,
}

impl<'a> Rounds<'a> {
    /// Prepares the rounds of a tick. `pairs` are those that the search for contacts found.
    pub(crate) fn new(
        map: &'a obsp::Map,
        shapes: &'a Shapes,
        entities: &'a mut Entities,
        pairs: &'a [Pair],
        islands: &'a Islands,
        context: &'a mut StepContext,
    ) -> Self {
        let pairs = PairIndex::new(pairs, entities.slot_count());
        Self {
            neighbours: pairs.neighbours().collect(),
            map,
            shapes,
            entities,
            pairs,
            islands,
            context,
            changed: SlotSet::EMPTY,
            outcome: Outcome::default(),
        }
    }

    /// Moves stopped bodies again, each as far as it can still get in this tick. Returns the
    /// outcome of all rounds.
    pub(crate) fn retry(mut self, stopped: Vec<Remainder>) -> Outcome {
        self.keep_neighbours_of(&stopped);
        let stopped = self.spend(stopped);
        let stopped = self.carry(stopped);
        let stopped = self.without_kinematic(stopped);
        self.advance_in_part(stopped);
        self.outcome
    }

    /// Moves bodies towards the targets of `proposals`, and applies the impacts that stop them.
    /// Returns the bodies that were stopped.
    pub(crate) fn advance(&mut self, proposals: &[Proposal]) -> Vec<Remainder> {
        hold(self.shapes, self.entities, proposals);
        let space = Space { map: self.map, shapes: self.shapes, entities: self.entities };
        let planes = |slot, other| self.pairs.known(slot, other);
        let mut stopped = Vec::new();
        self.changed = SlotSet::EMPTY;
        for advance in space.advance(proposals, &self.neighbours, planes, self.context) {
            let Some(placement) = advance.placement else {
                self.outcome.overlapping.push(advance.slot);
                continue;
            };
            let stopped_at = placement.pose().orientation;
            self.entities.commit(advance.slot, placement);
            if advance.seconds_left > 0.0
                && let Ok(at) = proposals.binary_search_by_key(&advance.slot, |p| p.slot)
            {
                let target = proposals[at].target.orientation;
                self.keep_momentum(advance.slot, [target, stopped_at]);
            }
            if let Some(entity) = self.entities.get_mut(advance.slot) {
                entity.record.moved += advance.travel;
            }
            if !advance.stuck {
                self.changed.insert(advance.slot);
            }
            if let Some((blocker, impact)) = &advance.stop {
                self.note_stop(&advance, *blocker, impact);
                self.apply_impact(advance.slot, *blocker, impact);
            }
            if advance.seconds_left > 0.0 {
                let Advance { slot, seconds_left: seconds, stuck, stop, .. } = advance;
                let blocker = stop.map(|(blocker, _)| blocker);
                let whole = self.whole(slot);
                stopped.push(Remainder { slot, seconds, whole, stuck, blocker });
            }
        }
        stopped
    }

    /// Keeps only the neighbours of the bodies that were stopped: no other body moves again in this
    /// tick.
    fn keep_neighbours_of(&mut self, stopped: &[Remainder]) {
        let moving: SlotSet = stopped.iter().map(|remainder| remainder.slot).collect();
        let moves = |slot| moving.contains(slot);
        self.neighbours
            .retain(|(slot, other, _)| moves(*slot) || other.entity().is_some_and(moves));
    }

    /// Duration of the whole motion of a body in this tick, in seconds.
    fn whole(&self, slot: u16) -> f64 {
        let pace = self.entities.get(slot).map(|entity| entity.record.pace).unwrap_or_default();
        self.context.seconds * f64::from(pace.ticks())
    }

    /// Notes on a body the obstacle that has stopped it, for games that ask for it.
    fn note_stop(&mut self, advance: &Advance, by: Blocker, impact: &Impact) {
        let share = (1.0 - advance.seconds_left / self.whole(advance.slot)).clamp(0.0, 1.0);
        if let Some(entity) = self.entities.get_mut(advance.slot) {
            entity.record.stopped = Some(Stopped { by, normal: impact.axis, share });
        }
    }

    /// Converts the angular velocity of a body in flight from the first orientation to the second.
    /// No torque acts on a body in flight, so its angular momentum stays the same.
    fn keep_momentum(&mut self, slot: u16, orientations: [DQuat; 2]) {
        if self.islands.is_supported(slot) {
            return;
        }
        let Some(entity) = self.entities.get_mut(slot) else { return };
        if entity.mobility() == Mobility::Dynamic && !entity.dynamics.locked().any_rotation() {
            let top = &entity.mass(&self.shapes[entity.shape]).top;
            entity.angular = top.turned(entity.angular, orientations);
        }
    }

    /// Moves stopped bodies at their present velocities for the rest of their tick. `part` gets the
    /// start and the target of the motion, and returns the target of the part that is tried.
    fn advance_remainders(
        &mut self,
        stopped: &[Remainder],
        part: impl Fn(Pose, Pose) -> Pose,
    ) -> Vec<Remainder> {
        let proposal = |remainder: &Remainder| {
            let Remainder { slot, seconds, .. } = *remainder;
            let entity = self.entities.get(slot)?;
            let way = sleep::surface_speed(entity, self.shapes) * seconds;
            // A kinematic body gets its attempt even for a short motion. Without the attempt it
            // would count as free.
            if way < MIN_RETRY_DISTANCE && !entity.is_kinematic() {
                return None;
            }
            let start = *entity.placement()?.pose();
            let target = start.advanced(entity.velocity, entity.angular, seconds);
            Some(Proposal { slot, target: part(start, target), seconds })
        };
        let proposals: Vec<Proposal> = stopped.iter().filter_map(proposal).collect();
        for Proposal { slot, target, .. } in &proposals {
            if let Some(start) = self.entities.get(*slot).and_then(Entity::placement) {
                let start = start.pose().orientation;
                self.keep_momentum(*slot, [start, target.orientation]);
            }
        }
        self.advance(&proposals)
    }
}
