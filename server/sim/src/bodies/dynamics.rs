//! A tick of the rigid bodies: contacts, velocities, guarded motion, sleep.
//!
//! The solver proposes a target for every body, and all bodies then move together under guard. An
//! impact changes the velocity of a stopped body. A stopped body may spend the rest of its tick
//! once its neighbours have moved, if it is in flight or a kinematic body drives it. A body that
//! hardly moved tries the translation alone. If the translation is blocked, it tries the rotation
//! alone.

mod carry;

use glam::DVec3;

use crate::bodies::blocker::Blocker;
use crate::bodies::contact::{
    FREE_AT_REST, KnownPairs, Pair, PairIndex, find, find_woken, look_around,
};
use crate::bodies::driven::{self, Driven};
use crate::bodies::entities::{Entities, Entity, Stopped};
use crate::bodies::guard::{Advance, NEGLIGIBLE_SHARE, Proposal, Space};
use crate::bodies::impulse::ImpulseBody;
use crate::bodies::overload;
use crate::bodies::sleep;
use crate::bodies::slots::flags_by_slot;
use crate::bodies::solver::{RESTITUTION_THRESHOLD, solve};
use crate::bodies::supported::supported;
use crate::collision::pose::Pose;
use crate::collision::shape::Shapes;
use crate::collision::time_of_impact::Impact;
use crate::context::StepContext;
use crate::conventions::GRAVITY;
use crate::threads::Threads;

/// Maximum number of rounds of waking per tick. Within a tick an impact propagates through a heap
/// of sleeping bodies by this many bodies.
const MAX_WAKE_ROUNDS: usize = 3;

/// A body whose remaining motion is shorter than this, in units, gets no further attempt. Settling
/// heaps are full of such jitter.
const MIN_RETRY_DISTANCE: f64 = 1.0 / 64.0;

/// Maximum number of attempts per tick in which a body in flight spends the rest of its motion.
const MAX_FLIGHT_ATTEMPTS: usize = 6;

/// Minimum cost ([`crate::Counters::bodies_cost`]) of a tick whose work is divided among threads.
/// Waking the threads takes as long as simulating dozens of bodies.
const MIN_GATHERED: u64 = 100;

/// The rest of the motion of a body that was stopped.
struct Remainder {
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

/// Moves all awake props by a tick. Returns the slots of bodies that already overlapped something
/// before they moved.
pub(crate) fn step(
    map: &obsp::World,
    shapes: &Shapes,
    entities: &mut Entities,
    pairs: &mut Vec<Pair>,
    context: &mut StepContext,
) -> Vec<u16> {
    overload::set_paces(entities, shapes, pairs, context);
    let is_small = context.counters.bodies_cost < MIN_GATHERED;
    let threads = if is_small { Threads::default() } else { context.threads };
    let slowed = driven::begin_tick(entities, pairs);
    let overlapping = threads.gathered(|| step_with_paces(map, shapes, entities, pairs, context));
    driven::end_tick(entities, slowed);
    overload::reset_paces(entities);
    overlapping
}

/// The work of [`step`] after each body has its pace.
fn step_with_paces(
    map: &obsp::World,
    shapes: &Shapes,
    entities: &mut Entities,
    pairs: &mut Vec<Pair>,
    context: &mut StepContext,
) -> Vec<u16> {
    let seconds = context.seconds;
    find_and_wake(map, shapes, entities, pairs, context);
    let proposals = solve(entities, shapes, pairs, context);
    let is_supported = supported(entities, pairs);
    let driven = Driven::new(entities, pairs);
    let pairs_known = PairIndex::new(pairs, entities.slot_count());
    let mut step = BodyStep {
        map,
        shapes,
        entities,
        neighbours: pairs_known.neighbours().collect(),
        is_supported,
        driven,
        pairs: pairs_known,
        context,
        overlapping: Vec::new(),
        changed: Vec::new(),
        struck: Vec::new(),
    };
    let stopped = step.advance(&proposals);
    step.keep_neighbours_of(&stopped);
    let stopped = step.retry(stopped);
    let stopped = step.carry(stopped);
    let stopped = step.without_kinematic(stopped);
    step.advance_in_part(stopped);
    let BodyStep { overlapping, struck, .. } = step;
    sleep::wake_all(entities, &struck);
    sleep::settle(entities, shapes, pairs, seconds);
    overlapping
}

/// Replaces `pairs` by the pairs of this tick, and wakes sleeping bodies that a moving body touches
/// or has left.
fn find_and_wake(
    map: &obsp::World,
    shapes: &Shapes,
    entities: &mut Entities,
    pairs: &mut Vec<Pair>,
    context: &mut StepContext,
) {
    look_around(map, shapes, entities, context.seconds);
    let found = find(&Space { map, shapes, entities }, pairs, context);
    let before = std::mem::replace(pairs, found.pairs);
    overload::keep_pairs(entities, &before, pairs);
    note_search(entities, &found.free_distances);
    let index = PairIndex::new(pairs, entities.slot_count());
    let mut woken = sleep::wake_parted(entities, &before, &index);
    // The last search wakes no body. A body that moves without a search could leave a sleeping one
    // in the air, and no pair would show that.
    for _ in 0..MAX_WAKE_ROUNDS {
        woken |= sleep::wake_touched(entities, shapes, pairs, context.seconds);
        if !woken {
            break;
        }
        woken = false;
        look_around(map, shapes, entities, context.seconds);
        let found = find_woken(&Space { map, shapes, entities }, std::mem::take(pairs), context);
        *pairs = found.pairs;
        note_search(entities, &found.free_distances);
    }
}

/// Notes on each body the state in which the search found it, and clears the note of what stopped
/// it.
fn note_search(entities: &mut Entities, free_distances: &[(u16, f64)]) {
    for entity in entities.iter_mut() {
        (entity.searched_as, entity.moved) = (entity.search_state(), 0.0);
        entity.stopped = None;
        if !entity.is_awake_body() {
            entity.free_distance = FREE_AT_REST;
        }
    }
    for &(slot, free_distance) in free_distances {
        if let Some(entity) = entities.get_mut(slot) {
            entity.free_distance = free_distance;
            // An overlap makes no pair, so the next search has to find it again.
            if free_distance == f64::NEG_INFINITY {
                entity.searched_as = None;
            }
        }
    }
}

struct BodyStep<'a> {
    map: &'a obsp::World,
    shapes: &'a Shapes,
    entities: &'a mut Entities,
    pairs: PairIndex<'a>,
    /// All pairs of bodies that the search for contacts found.
    neighbours: Vec<(u16, Blocker, KnownPairs<'a>)>,
    /// For each slot: whether its body touches something that does not yield, directly or through
    /// other bodies.
    is_supported: Vec<bool>,
    /// The bodies that kinematic bodies push or carry, by the pairs of this tick.
    driven: Driven,
    context: &'a mut StepContext,
    overlapping: Vec<u16>,
    /// Slots of the bodies that moved in the last round, or took an impulse;
    /// ascending.
    changed: Vec<u16>,
    /// Slots of the sleeping bodies that took an impulse. They wake at the end of the tick. The
    /// search for contacts has skipped them, so they must not move before the next search.
    struck: Vec<u16>,
}

impl BodyStep<'_> {
    /// Moves bodies towards the targets of `proposals`, and applies the impacts that stop them.
    /// Returns the bodies that were stopped.
    fn advance(&mut self, proposals: &[Proposal]) -> Vec<Remainder> {
        let space = Space { map: self.map, shapes: self.shapes, entities: self.entities };
        let planes = |slot, other| self.pairs.known(slot, other);
        let mut stopped = Vec::new();
        self.changed.clear();
        for advance in space.advance(proposals, &self.neighbours, planes, self.context) {
            let Some(placement) = advance.placement else {
                self.overlapping.push(advance.slot);
                continue;
            };
            self.entities.commit(advance.slot, placement);
            if let Some(entity) = self.entities.get_mut(advance.slot) {
                entity.moved += advance.travel;
            }
            if !advance.stuck {
                self.changed.push(advance.slot);
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
        self.changed.sort_unstable();
        stopped
    }

    /// Keeps only the neighbours of the bodies that were stopped: no other body moves again in this
    /// tick.
    fn keep_neighbours_of(&mut self, stopped: &[Remainder]) {
        let slots = stopped.iter().map(|remainder| remainder.slot);
        let moves = flags_by_slot(slots, self.entities.slot_count());
        let moves = |slot: u16| moves[usize::from(slot)];
        self.neighbours
            .retain(|(slot, other, _)| moves(*slot) || other.entity().is_some_and(moves));
    }

    /// Duration of the whole motion of a body in this tick, in seconds.
    fn whole(&self, slot: u16) -> f64 {
        let pace = self.entities.get(slot).map(|entity| entity.pace).unwrap_or_default();
        self.context.seconds * f64::from(pace.ticks())
    }

    /// Notes on a body the obstacle that has stopped it, for games that ask for it.
    fn note_stop(&mut self, advance: &Advance, by: Blocker, impact: &Impact) {
        let share = (1.0 - advance.seconds_left / self.whole(advance.slot)).clamp(0.0, 1.0);
        if let Some(entity) = self.entities.get_mut(advance.slot) {
            entity.stopped = Some(Stopped { by, normal: impact.axis, share });
        }
    }

    /// Lets bodies that were stopped spend the rest of their tick. A body in flight may be stopped
    /// several times: two bodies that meet may touch once more, elsewhere, before they part.
    fn retry(&mut self, stopped: Vec<Remainder>) -> Vec<Remainder> {
        let (mut retried, mut ended) = self.split_by_retry(stopped);
        for _ in 1..MAX_FLIGHT_ATTEMPTS {
            let stopped = self.advance_remainders(&retried, |_, target| target);
            let others;
            (retried, others) =
                stopped.into_iter().partition(|remainder| !self.is_supported(remainder.slot));
            ended.extend(others);
            if retried.is_empty() {
                break;
            }
        }
        ended.extend(self.advance_remainders(&retried, |_, target| target));
        ended.sort_unstable_by_key(|remainder| remainder.slot);
        ended
    }

    fn is_supported(&self, slot: u16) -> bool {
        self.is_supported[usize::from(slot)]
    }

    /// Divides the bodies that were stopped: the first list gets a further attempt, the second does
    /// not.
    ///
    /// A body gets a further attempt if the body or its blocker has moved or taken an impulse since
    /// the stop, so that the attempt may end otherwise. In addition the body must be in flight,
    /// where it would visibly lose the rest of its tick, or a kinematic body must drive it or its
    /// blocker. For any other body the solver has proposed a motion that keeps its contacts. Most
    /// stopped bodies of a heap would be stopped again.
    fn split_by_retry(&self, stopped: Vec<Remainder>) -> (Vec<Remainder>, Vec<Remainder>) {
        let changed = |slot: u16| self.changed.binary_search(&slot).is_ok();
        // A body that was driven in the last tick still counts as driven: it may be a hair away
        // from its driver. A body that a driver touches for the first time in this tick counts as
        // driven as well.
        let moves_with_driver = |slot: u16| {
            let driven = |e: &Entity| e.is_driven() || e.driven_velocity != DVec3::ZERO;
            self.driven.contains(slot) || self.entities.get(slot).is_some_and(driven)
        };
        stopped.into_iter().partition(|&Remainder { slot, blocker, .. }| {
            let blocker = blocker.and_then(Blocker::entity);
            let may_go_on = changed(slot) || blocker.is_some_and(changed);
            let is_driven = moves_with_driver(slot) || blocker.is_some_and(moves_with_driver);
            may_go_on && (is_driven || !self.is_supported(slot))
        })
    }

    /// Moves bodies that were stopped for the rest of their tick, at their present velocity. From
    /// the start and the target, `part` selects the part of the motion that is tried.
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
        self.advance(&proposals)
    }

    /// Removes the kinematic bodies from those that were stopped, and adjusts their speeds. They
    /// move by their velocity alone, never in part, and keep that velocity for the next tick.
    fn without_kinematic(&mut self, mut stopped: Vec<Remainder>) -> Vec<Remainder> {
        if !self.entities.has_kinematic() {
            return stopped;
        }
        for slot in self.entities.slots_where(Entity::is_driven) {
            let stop = stopped.binary_search_by_key(&slot, |remainder| remainder.slot);
            let stop = stop.map(|at| &stopped[at]).ok();
            let made = stop.map_or(1.0, |stop| 1.0 - stop.seconds / stop.whole);
            let blocker = stop.and_then(|stop| stop.blocker?.entity());
            let gives_way = |slot| self.entities.get(slot).is_some_and(Entity::is_solved);
            let gives_way = blocker.is_some_and(gives_way);
            if let Some(entity) = self.entities.get_mut(slot) {
                driven::adjust_speed(entity, made, gives_way);
            }
        }
        let is_kinematic = |slot| self.entities.get(slot).is_some_and(Entity::is_kinematic);
        stopped.retain(|remainder| !is_kinematic(remainder.slot));
        stopped
    }

    /// For bodies that hardly moved, tries the translation alone, then the rotation alone. Motion
    /// that is impossible is removed from the velocity of supported bodies. Otherwise a wedged body
    /// would gather speed from gravity until it breaks loose, and would never sleep.
    fn advance_in_part(&mut self, mut stuck: Vec<Remainder>) {
        self.take_back_gravity(&stuck);
        let is_stuck = |remainder: &Remainder| {
            remainder.stuck || remainder.seconds > (1.0 - NEGLIGIBLE_SHARE) * remainder.whole
        };
        stuck.retain(is_stuck);
        let translated = |start, target: Pose| Pose { position: target.position, ..start };
        let mut still_stuck = self.advance_remainders(&stuck, translated);
        still_stuck.retain(is_stuck);
        for Remainder { slot, seconds: left, whole, .. } in &stuck {
            let kept = if self.is_supported(*slot) { 1.0 - left / whole } else { 1.0 };
            let Some(entity) = self.entities.get_mut(*slot) else { continue };
            if still_stuck.iter().any(|remainder| remainder.slot == *slot) {
                entity.velocity *= kept;
            } else {
                entity.angular *= kept;
            }
        }
        let turned = |start, target: Pose| Pose { orientation: target.orientation, ..start };
        for remainder in self.advance_remainders(&still_stuck, turned) {
            let is_supported = self.is_supported(remainder.slot);
            let Some(entity) = self.entities.get_mut(remainder.slot) else { continue };
            if is_supported {
                entity.angular *= 1.0 - remainder.seconds / remainder.whole;
                entity.sleep.held |= is_stuck(&remainder);
            }
        }
    }

    /// Removes the gravity of the unspent part of the tick from the velocity of supported bodies
    /// that fall. Otherwise bodies that stop each other while falling would land too fast.
    fn take_back_gravity(&mut self, stopped: &[Remainder]) {
        for Remainder { slot, seconds: left, .. } in stopped {
            if !self.is_supported(*slot) {
                continue;
            }
            if let Some(entity) = self.entities.get_mut(*slot)
                && entity.velocity.z < 0.0
            {
                // The upward acceleration of an engine has already cancelled its share of gravity.
                let falls = (GRAVITY - entity.drive().linear.z).max(0.0);
                entity.velocity.z = (entity.velocity.z + falls * left).min(0.0);
            }
        }
    }

    /// Removes the approach speed of an impact that the solver did not foresee. If the impact is
    /// fast, the bodies part again with a share of that speed, by the law of restitution. A body
    /// that is blocked but does not approach takes no impulse.
    fn apply_impact(&mut self, slot: u16, blocker: Blocker, impact: &Impact) {
        let other = blocker.entity();
        let impulse_body = |slot| {
            let entity = self.entities.get(slot).filter(|entity| entity.has_velocity())?;
            ImpulseBody::new(entity, self.shapes, impact.point)
        };
        let Some(mut body) = impulse_body(slot) else { return };
        let sleeper = other.filter(|_| body.velocity().dot(impact.axis) > sleep::WAKING_SPEED);
        let sleeper =
            sleeper.filter(|&slot| self.entities.get(slot).is_some_and(Entity::is_at_rest));
        let partner = other.and_then(impulse_body).or_else(|| {
            let entity = self.entities.get(sleeper?)?;
            ImpulseBody::new(entity, self.shapes, impact.point)
        });
        let partner_velocity = partner.as_ref().map_or(DVec3::ZERO, ImpulseBody::velocity);
        let approach = (body.velocity() - partner_velocity).dot(impact.axis);
        let response = body.response(impact.axis)
            + partner.as_ref().map_or(0.0, |partner| partner.response(impact.axis));
        if approach <= 0.0 || response <= 0.0 {
            return;
        }
        let restitution = |slot| {
            let entity = self.entities.get(slot)?;
            Some(self.shapes[entity.shape].material.restitution())
        };
        let shares = [Some(slot), other].into_iter().flatten().filter_map(restitution);
        let bounces = approach > RESTITUTION_THRESHOLD;
        let share = if bounces { shares.fold(0.0, f64::max) } else { 0.0 };
        let impulse = impact.axis * (approach * (1.0 + share) / response);
        body.apply(-impulse);
        body.store(self.entities, slot);
        self.changed.push(slot);
        if let (Some(mut partner), Some(other)) = (partner, other) {
            self.changed.push(other);
            partner.apply(impulse);
            partner.store(self.entities, other);
            self.struck.extend(sleeper);
        }
    }
}
