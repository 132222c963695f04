//! Falling asleep: which bodies have rested for long enough, and which islands they make.

use arrayvec::ArrayVec;
use glam::{DVec2, DVec3};

use super::{STILL_SECONDS, STILL_SPEED, TOUCH, surface_speed, ticks, touches};
use crate::bodies::contact::{Pair, meeting, meeting_bodies};
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::islands::{Driven, roots};
use crate::bodies::mobility::Mobility;
use crate::bodies::slots::SlotSet;
use crate::collision::pose::Pose;
use crate::collision::shape::Shapes;
use crate::counters::AwakeReason;

/// A body jitters if its surface stays within this many units of its anchor (`SleepState::anchor`),
/// at any speed. A body that is wedged in a heap may jitter for ever.
const JITTER_DISTANCE: f64 = 1.0;

/// A small body jitters only within this share of its radius. [`JITTER_DISTANCE`] would be too
/// far: a small domino falls by less than a unit in the time in which a heap comes to rest.
const JITTER_SHARE: f64 = 0.125;

/// Minimum number of ticks for which a body of a heap must jitter before it sleeps. A body that
/// begins to fall has hardly moved in the first ticks.
const JITTER_TICKS: u16 = 6;

/// A tick in which a body jitters counts as this many, or as one if the body balances. In a heap,
/// jitter counts as being still. So a body that has balanced for four times [`STILL_SECONDS`], and
/// then touches another body, rests at once.
pub(crate) const JITTER_WEIGHT: u16 = 4;

/// A body that touches no other body and is faster than this, in units per second, rocks: it would
/// fall asleep aslant if this counted as jitter.
const ROCKING_SPEED: f64 = 6.0;

/// How long a body that touches no other body must jitter before it sleeps, in seconds, if its
/// weight does not act between the points that carry it. Such a body balances on an edge or a
/// corner, or rocks on its rim. It is slow just before it turns over or back. A body that balances
/// exactly sleeps after this time.
const BALANCE_SECONDS: f64 = 4.0;

/// A body that touches no other body sleeps after this time of jitter, in seconds, if it lies on
/// its points in that tick. A tick in which it lies counts as [`JITTER_WEIGHT`], so a body that
/// lies all the time sleeps after half a second. This is longer than [`STILL_SECONDS`], so that the
/// body has time to begin to slide. A rocking body lies flat for a tick while it swings from one
/// side to the other. Between this time and [`BALANCE_SECONDS`] that happens at least once, so the
/// body sleeps flat.
const LYING_SECONDS: f64 = 2.0;

/// Points whose gaps differ by no more than this, in units, carry their body together. The gap of a
/// point depends a little on its load.
const SAME_GAP: f64 = 1.0 / 128.0;

/// Like [`SAME_GAP`], for each unit of distance between the points: a body that lies on points
/// whose gaps differ by this much leans by a twentieth of a degree.
const SAME_SLOPE: f64 = 1.0 / 1146.0;

/// How long a body must have been held by the solver or the guard before it sleeps, in seconds.
/// This is short, because only a push from outside moves it again.
const HELD_SECONDS: f64 = 0.03;

/// Minimum number of ticks for which a body must have been held before it sleeps. A rocking body
/// stands for one tick where it turns back.
const HELD_TICKS: u16 = 2;

/// A contact carries the upper body if its normal rises by at least this much (the sine of six
/// degrees).
const CARRYING: f64 = 0.1;

/// Whether a body may sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The body is not awake.
    NotAwake,
    /// The body does not rest, or nothing carries it. Bodies that touch it stay awake with it.
    Awake(AwakeReason),
    /// The body rests, but another body keeps it awake.
    KeptAwake(AwakeReason),
    /// The body may sleep.
    MaySleep,
}

/// Counts the ticks of rest. A body falls asleep if it has rested for long enough and touches no
/// body that moves. A resting body that touches a moving body stays awake, but does not keep its
/// other neighbours awake.
pub(crate) fn settle(
    entities: &mut Entities,
    shapes: &Shapes,
    pairs: &[Pair],
    driven: &Driven,
    seconds: f64,
) {
    let awake = entities.slots_where(|entity| entity.mobility().is_guarded());
    if awake.is_empty() {
        return;
    }
    let slot_count = entities.slot_count();
    let mut states = vec![State::NotAwake; slot_count];
    let (in_heap, carried) = (in_heap(pairs), carried(entities, shapes, pairs));
    let balances = balances(entities, shapes, pairs, &in_heap);
    for &slot in &awake {
        let Some(entity) = entities.get_mut(slot) else { continue };
        states[usize::from(slot)] = match entity.mobility() {
            Mobility::Kinematic => State::Awake(AwakeReason::Moves),
            Mobility::Dynamic => {
                let lies = [&in_heap, &carried, &balances].map(|bodies| bodies.contains(slot));
                count_rest(entity, shapes, lies, seconds)
            }
            _ => State::NotAwake,
        };
    }
    keep_awake(&mut states, entities, pairs, driven);
    let islands = roots(slot_count, pairs, |slot| states[usize::from(slot)] == State::MaySleep);
    for slot in awake {
        let Some(entity) = entities.get_mut(slot) else { continue };
        let slot = usize::from(slot);
        match states[slot] {
            State::NotAwake => {}
            State::Awake(reason) | State::KeptAwake(reason) => entity.sleep.awake_because = reason,
            State::MaySleep => {
                entity.sleep.asleep = true;
                entity.sleep.island = islands[slot];
                // The body gets a new anchor after it wakes.
                entity.sleep.anchor = None;
                (entity.velocity, entity.angular) = (DVec3::ZERO, DVec3::ZERO);
            }
        }
    }
}

/// Counts a body's ticks of rest, and says whether the body may sleep by itself.
fn count_rest(
    entity: &mut Entity,
    shapes: &Shapes,
    [in_heap, carried, balances]: [bool; 3],
    seconds: f64,
) -> State {
    let ticks = |least| ticks(least, seconds);
    let enough = ticks(STILL_SECONDS);
    let rest_share = entity.rest_share(&shapes[entity.shape]);
    let jitters = jitters(entity, shapes, rest_share);
    if !jitters {
        entity.sleep.anchor = entity.placement().map(|placement| *placement.pose());
    }
    let speed = surface_speed(entity, shapes);
    let is_still = speed < STILL_SPEED * rest_share;
    let is_vehicle = entity.hovertank().is_some();
    let sleep = &mut entity.sleep;
    let in_air = !carried && !sleep.held_by_solver && !is_vehicle;
    let count = |so_far: u16, goes_on, ticks| {
        if goes_on { so_far.saturating_add(ticks) } else { 0 }
    };
    let passed = entity.record.pace.ticks();
    sleep.still_ticks = count(sleep.still_ticks, is_still, passed);
    let rests = jitters && (in_heap || speed < ROCKING_SPEED * rest_share);
    // The ticks in which a body balances count as well, but for less.
    let weight = if balances { 1 } else { JITTER_WEIGHT };
    sleep.jitter_ticks = count(sleep.jitter_ticks, rests, passed * weight);
    sleep.held_ticks = count(sleep.held_ticks, sleep.held, 1);
    let jitter_ticks = match (in_heap, balances) {
        (true, _) => heap_jitter(seconds),
        (false, true) => ticks(BALANCE_SECONDS),
        (false, false) => ticks(LYING_SECONDS),
    };
    // A body that lies alone does not sleep just because it is still: it has to reach its rest gap
    // first.
    let stands = (in_heap || is_vehicle) && sleep.still_ticks >= enough;
    let held = !balances && sleep.held_ticks >= ticks(HELD_SECONDS).max(HELD_TICKS);
    let moves = !stands && sleep.jitter_ticks < jitter_ticks && !held;
    let settles = is_still || jitters && in_heap || sleep.held;
    match (moves, in_air) {
        (true, _) if settles => State::Awake(AwakeReason::Settles),
        (true, _) => State::Awake(AwakeReason::Moves),
        (false, true) => State::Awake(AwakeReason::InAir),
        (false, false) => State::MaySleep,
    }
}

/// The weighted ticks for which a body of a heap must jitter before it sleeps.
pub(super) fn heap_jitter(seconds: f64) -> u16 {
    // Ticks may be so short that their weighted number does not fit into the count.
    ticks(STILL_SECONDS, seconds).max(JITTER_TICKS).saturating_mul(JITTER_WEIGHT)
}

/// Whether a body has stayed near its anchor. `rest_share` is [`Entity::rest_share`].
fn jitters(entity: &Entity, shapes: &Shapes, rest_share: f64) -> bool {
    let (Some(anchor), Some(placement)) = (entity.sleep.anchor, entity.placement()) else {
        return false;
    };
    let pose = placement.pose();
    let radius = shapes[entity.shape].radius;
    let jitter_distance = JITTER_DISTANCE.min(JITTER_SHARE * radius);
    // The dot product is the cosine of half the angle.
    let half_versine = (1.0 - pose.orientation.dot(anchor.orientation).abs()).max(0.0);
    let turned = (8.0 * half_versine).sqrt() * radius;
    pose.position.distance(anchor.position) + turned < jitter_distance * rest_share
}

/// The bodies that touch another body.
fn in_heap(pairs: &[Pair]) -> SlotSet {
    meeting_bodies(pairs).flat_map(|(body, other)| [body, other]).collect()
}

/// The bodies outside of heaps that touch the world, but do not lie on it: their weight does not
/// act between the points that carry them.
fn balances(entities: &Entities, shapes: &Shapes, pairs: &[Pair], in_heap: &SlotSet) -> SlotSet {
    let mut balancing = SlotSet::EMPTY;
    let mut near: Vec<(DVec2, f64)> = Vec::new();
    for pairs in pairs.chunk_by(|a, b| a.key.body == b.key.body) {
        let slot = pairs[0].key.body;
        if in_heap.contains(slot) {
            continue;
        }
        let Some(entity) =
            entities.get(slot).filter(|entity| entity.mobility() == Mobility::Dynamic)
        else {
            continue;
        };
        let Some(placement) = entity.placement() else { continue };
        near.clear();
        // A wall carries nothing, and may be nearer than the ground.
        let carrying = pairs.iter().filter(|pair| pair.axis.z.abs() > CARRYING);
        near.extend(carrying.flat_map(|pair| points(entity, placement.pose(), pair)));
        let falls = entity.gravity(&shapes[entity.shape]) > 0.0
            && entity.record.buoyancy.is_none()
            && entity.drive().linear == DVec3::ZERO;
        if falls {
            keep_carrying(&mut near);
        }
        let lies = match near.len() {
            0 => true,
            1 | 2 => false,
            _ => !falls || surrounds(&near),
        };
        if !lies {
            balancing.insert(slot);
        }
    }
    balancing
}

/// The touching points of a pair with the world. Each has its horizontal position relative to the
/// body's centre of mass, and its gap after the tick.
fn points(entity: &Entity, pose: &Pose, pair: &Pair) -> impl Iterator<Item = (DVec2, f64)> {
    let rotation = pose.rotation();
    let touching = pair.points.iter().filter(|point| f64::from(point.gap) < TOUCH);
    touching.map(move |point| {
        let arm = rotation * point.local.as_dvec3();
        let now = pose.position + arm;
        let moved = now - entity.searched_point(point.local).unwrap_or(now);
        (arm.truncate(), f64::from(point.gap) - moved.dot(pair.axis))
    })
}

/// Keeps the points that carry a body: the point with the smallest gap, and then each point that is
/// level with all points kept so far. A body that rocks on a narrow face touches the ground with
/// the whole face, but stands on one of its edges.
fn keep_carrying(points: &mut Vec<(DVec2, f64)>) {
    points.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut kept = 0;
    for at in 0..points.len() {
        let (place, gap) = points[at];
        let is_level = |&(of, least): &(DVec2, f64)| {
            gap - least <= SAME_GAP.max(SAME_SLOPE * place.distance(of))
        };
        if points[..kept].iter().all(is_level) {
            points[kept] = (place, gap);
            kept += 1;
        }
    }
    points.truncate(kept);
}

/// Whether the origin is one of the points, or inside their convex hull.
fn surrounds(points: &[(DVec2, f64)]) -> bool {
    let places = || points.iter().map(|(at, _)| *at);
    places().any(|at| at == DVec2::ZERO) || places().all(|a| places().any(|b| a.perp_dot(b) < 0.0))
}

/// The bodies that something touches from below, or from above if they fall upward or a liquid
/// presses them up. A body that the guard stops beside another body is not carried. If it counted
/// as carried, it would fall asleep in the air.
fn carried(entities: &Entities, shapes: &Shapes, pairs: &[Pair]) -> SlotSet {
    let rises = |slot: u16| {
        let lift = |entity: &Entity| entity.record.buoyancy.map_or(0.0, |of| of.drive.linear.z);
        let weight = |entity: &Entity| entity.gravity(&shapes[entity.shape]) - lift(entity);
        entities.get(slot).is_some_and(|entity| weight(entity) < 0.0)
    };
    let touching = pairs.iter().filter(|pair| touches(pair));
    let carried = touching.flat_map(|pair| {
        let carried = |slot: u16, below: f64| {
            let below = if rises(slot) { -below } else { below };
            (below > CARRYING).then_some(slot)
        };
        // The axis points from the body to the other. A level contact carries neither.
        let level = pair.axis.z.abs() <= CARRYING;
        let sides = [(Some(pair.key.body), -pair.axis.z), (pair.key.other.entity(), pair.axis.z)];
        let sides = sides.into_iter().filter(move |_| !level);
        sides.filter_map(move |(slot, below)| carried(slot?, below)).collect::<ArrayVec<u16, 2>>()
    });
    carried.collect()
}

/// Keeps resting bodies awake if they touch a moving one, or if a kinematic body drives them.
fn keep_awake(states: &mut [State], entities: &Entities, pairs: &[Pair], driven: &Driven) {
    for pair in meeting(pairs) {
        let (body, Some(other)) = (pair.key.body, pair.key.other.entity()) else { continue };
        let [a, b] = [body, other].map(usize::from);
        // A body that leans on a player on foot stays awake, because the player may walk away
        // at any time. A body that leans on a missile may sleep, because it is woken when the
        // missile is removed.
        let leans = pair.points.iter().any(|point| point.impulse[0] > 0.0);
        let on_player = entities.get(other).is_some_and(|entity| entity.walker().is_some());
        let moves = |state: State| matches!(state, State::Awake(_));
        if states[a] == State::MaySleep {
            if moves(states[b]) {
                states[a] = State::KeptAwake(AwakeReason::TouchesMoving);
            } else if leans && on_player {
                states[a] = State::KeptAwake(AwakeReason::LeansOnPlayer);
            }
        }
        if states[b] == State::MaySleep && moves(states[a]) {
            states[b] = State::KeptAwake(AwakeReason::TouchesMoving);
        }
    }
    for (slot, state) in states.iter_mut().enumerate() {
        if *state == State::MaySleep && driven.contains(slot as u16) {
            *state = State::KeptAwake(AwakeReason::TouchesMoving);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The corners of a face of 12 by 90 units. One long side is higher by `higher`.
    fn face(higher: f64) -> Vec<(DVec2, f64)> {
        let corners = [(-6.0, -45.0), (6.0, -45.0), (6.0, 45.0), (-6.0, 45.0)];
        let gap = |x: f64| if x > 0.0 { 0.1 + higher } else { 0.1 };
        corners.map(|(x, y)| (DVec2::new(x, y), gap(x))).to_vec()
    }

    /// Symptom: a wheel that rocked on its rim slept a third of a degree aslant. Cause: all four
    /// corners of the narrow face touched the ground.
    #[test]
    fn a_body_that_leans_stands_on_an_edge() {
        let carrying = |mut points: Vec<(DVec2, f64)>| {
            keep_carrying(&mut points);
            (points.len(), surrounds(&points))
        };
        let leans = |narrow: f64| f64::max(SAME_GAP, SAME_SLOPE * narrow);
        assert_eq!(carrying(face(0.0)), (4, true));
        assert_eq!(carrying(face(0.99 * leans(12.0))), (4, true));
        assert_eq!(carrying(face(1.01 * leans(12.0))), (2, false));
        assert_eq!(carrying(face(-1.01 * leans(12.0))), (2, false));
        let small =
            |higher: f64| face(higher).into_iter().map(|(at, gap)| (0.1 * at, gap)).collect();
        assert_eq!(carrying(small(0.99 * SAME_GAP)), (4, true));
        assert_eq!(carrying(small(1.01 * SAME_GAP)), (2, false));
    }

    /// The count of jitter has 16 bits. Ticks may be so short that four times their number does not
    /// fit. The count then is `u16::MAX`.
    #[test]
    fn jitter_of_a_heap_is_counted_for_ticks_of_any_length() {
        let ticks = |count: f64| heap_jitter(STILL_SECONDS / count);
        assert_eq!(ticks(9.5), 10 * JITTER_WEIGHT);
        assert_eq!([ticks(2.5), ticks(5.5), ticks(6.5)], [6, 6, 7].map(|n| n * JITTER_WEIGHT));
        assert_eq!(ticks(16_382.5), 65_532, "the greatest number that fits");
        assert_eq!(ticks(16_383.5), u16::MAX, "one tick more");
        assert_eq!([1e-9, f64::MIN_POSITIVE].map(heap_jitter), [u16::MAX; 2]);
    }
}
