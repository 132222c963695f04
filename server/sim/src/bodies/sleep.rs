//! Sleep and waking. A prop falls asleep after the prop and all props that it touches have hardly
//! moved for a while. A sleeping prop costs nothing until a moving body touches it or takes its
//! support away. Props that touch each other and fall asleep in the same tick are an island.

mod reason;

use std::collections::BTreeSet;

use glam::DVec3;

use crate::bodies::blocker::Blocker;
use crate::bodies::contact::{Pair, PairIndex};
use crate::bodies::driven::Driven;
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::slots::flags_by_slot;
use crate::collision::distances::REST_GAP;
use crate::collision::shape::Shapes;

pub use reason::AwakeReason;

/// A body is still if every point of its surface is slower than this, in units per second. Gravity
/// adds about six times as much in a tick of 1/60 s.
pub(crate) const STILL_SPEED: f64 = 2.0;

/// A body jitters if its surface stays within this many units of its anchor (`SleepState::anchor`),
/// at any speed. A body that is wedged in a heap may jitter for ever.
const JITTER_DISTANCE: f64 = 1.0;

/// A body whose surface is faster than this, in units per second, wakes the bodies it touches. The
/// last jitter of a heap that settles is slower.
pub(crate) const WAKING_SPEED: f64 = 2.0;

/// A body whose surface is faster than this, in units per second, wakes the whole
/// islands of the bodies it touches.
const WAKE_ISLAND_SPEED: f64 = 20.0;

/// How long a body must have been still before it sleeps, in seconds. A body that slides more
/// slowly than that is stopped by friction within a tick. A rocking body is as slow where it turns
/// back, but only for a tenth of this time. A body that starts from rest on ground that is a degree
/// too steep is faster after this time.
pub(crate) const STILL_SECONDS: f64 = 0.15;

/// How long a body that touches no other body must jitter before it sleeps, in seconds. This is
/// longer than [`STILL_SECONDS`], so that the body has time to begin to slide. In a heap jitter
/// counts as being still.
const JITTER_SECONDS: f64 = 0.5;

/// A body that touches no other body and is faster than this, in units per second, rocks: it would
/// fall asleep aslant if this counted as jitter.
const ROCKING_SPEED: f64 = 6.0;

/// How long a body must have been held by the solver or the guard before it sleeps, in seconds.
/// This is short, because only a push from outside moves it again.
const HELD_SECONDS: f64 = 0.03;

/// Minimum number of ticks for which a body must have been held before it sleeps. A rocking body
/// stands for one tick where it turns back.
const HELD_TICKS: u16 = 2;

/// Bodies nearer than this, in units, touch. The solver aims for the rest gap, but may push bodies
/// farther apart than that.
pub(crate) const TOUCH: f64 = 2.0 * REST_GAP;

/// Whether the two parts of a pair touch.
pub(crate) fn touches(pair: &Pair) -> bool {
    pair.points.iter().any(|point| f64::from(point.gap) < TOUCH)
}

/// A contact carries the upper body if its normal rises by at least this much (the sine of six
/// degrees).
const CARRYING: f64 = 0.1;

/// Upper bound of the speed of all points of a body, in units per second.
pub(crate) fn surface_speed(entity: &Entity, shapes: &Shapes) -> f64 {
    let radius = shapes[entity.shape].radius;
    entity.velocity.length() + entity.angular.length() * radius
}

/// Wakes the prop in `slot` and its island. If half of an island slept on, it would lie like a rock
/// on the other half.
pub(crate) fn wake(entities: &mut Entities, slot: u16) {
    wake_all(entities, &[slot]);
}

/// Wakes the props in these slots, and their islands.
pub(crate) fn wake_all(entities: &mut Entities, slots: &[u16]) {
    let mut waking = WakingIslands::default();
    slots.iter().for_each(|&slot| waking.add(entities, slot));
    waking.wake(entities);
}

/// Islands that are woken together, so that all bodies are visited once and not once for each
/// island.
#[derive(Debug, Default)]
struct WakingIslands {
    islands: BTreeSet<u16>,
}

impl WakingIslands {
    /// Wakes the prop in `slot`, and marks its island to be woken by [`wake`](Self::wake).
    fn add(&mut self, entities: &mut Entities, slot: u16) {
        let Some(entity) = entities.get_mut(slot) else { return };
        if entity.is_kinematic() {
            return;
        }
        if entity.sleep.asleep {
            self.islands.insert(entity.sleep.island);
        }
        entity.resume();
        entity.sleep.reset_timers();
        entity.shoved_by = None;
    }

    /// Wakes all bodies of the marked islands.
    fn wake(self, entities: &mut Entities) {
        if self.islands.is_empty() {
            return;
        }
        for entity in entities.iter_mut() {
            if entity.sleep.asleep && self.islands.contains(&entity.sleep.island) {
                entity.resume();
            }
        }
    }
}

/// Wakes every prop that may have leant on a body at `bounds`.
pub(crate) fn wake_around(entities: &mut Entities, bounds: &obsp::geometry::Aabb) {
    let bounds = bounds.inflated(TOUCH);
    let mut near = Vec::new();
    entities.near(&bounds, &mut near);
    let mut waking = WakingIslands::default();
    for slot in near {
        let touched = entities
            .get(slot)
            .filter(|entity| entity.sleep.asleep)
            .and_then(Entity::placement)
            .is_some_and(|placement| placement.bounds().overlaps(&bounds));
        if touched {
            waking.add(entities, slot);
        }
    }
    waking.wake(entities);
}

/// Wakes sleeping bodies that a moving body touches. Touched bodies that would skip the tick move
/// as well. Returns whether there were any such bodies.
pub(crate) fn wake_touched(
    entities: &mut Entities,
    shapes: &Shapes,
    pairs: &[Pair],
    seconds: f64,
) -> bool {
    let enough = ticks(STILL_SECONDS, seconds);
    let driven = Driven::new(entities, pairs);
    // A kinematic body, or a body that it drives, wakes others even if it moves slowly.
    let drives = |entity: &Entity| entity.is_driven() || driven.contains(entity.id.slot);
    let moves = |entity: &Entity| {
        entity.is_awake_body() &&
        // A body that jitters in its place in a heap does not count as moving.
        (surface_speed(entity, shapes) > WAKING_SPEED && entity.sleep.jitter_ticks < enough
            || drives(entity))
    };
    let gives_way = |entity: &Entity| entity.stands_still() && !entity.is_kinematic();
    let touched: Vec<(u16, u16)> = pairs
        .iter()
        .filter(|pair| !pair.points.is_empty())
        .filter_map(|pair| Some((pair.key.body, pair.key.other.entity()?)))
        .filter(|&(_, other)| entities.get(other).is_some_and(gives_way))
        .filter(|&(body, _)| entities.get(body).is_some_and(moves))
        .collect();
    let mut waking = WakingIslands::default();
    let wakes_all = |body| {
        let wakes =
            |entity: &Entity| surface_speed(entity, shapes) > WAKE_ISLAND_SPEED || drives(entity);
        entities.get(body).is_some_and(wakes)
    };
    let touched: Vec<(bool, u16)> =
        touched.into_iter().map(|(body, slot)| (wakes_all(body), slot)).collect();
    for &(wakes_all, slot) in &touched {
        // An impact wakes the whole island. A body that only leans over wakes its neighbour. The
        // neighbour wakes the next one if it has to give way.
        if wakes_all {
            waking.add(entities, slot);
        } else if let Some(entity) = entities.get_mut(slot) {
            entity.resume();
        }
    }
    waking.wake(entities);
    !touched.is_empty()
}

/// Wakes sleeping bodies that an awake body touched in the last tick and touches no longer. The
/// awake body may have carried them, and may have moved away too slowly to wake them. Returns
/// whether there were any such bodies.
pub(crate) fn wake_parted(entities: &mut Entities, before: &[Pair], pairs: &PairIndex) -> bool {
    let parted: Vec<u16> = before
        .iter()
        .filter(|pair| !pair.points.is_empty())
        .filter_map(|pair| Some((pair.key.body, pair.key.other.entity()?)))
        .filter(|&(_, other)| {
            let sleeps = |entity: &Entity| entity.sleep.asleep && !entity.is_kinematic();
            entities.get(other).is_some_and(sleeps)
        })
        .filter(|&(body, _)| entities.get(body).is_some_and(Entity::is_awake_body))
        .filter(|&(body, other)| {
            let now = pairs.known(body, Blocker::Entity(other)).pairs();
            now.iter().all(|pair| pair.points.is_empty())
        })
        .map(|(_, other)| other)
        .collect();
    let mut waking = WakingIslands::default();
    parted.iter().for_each(|&slot| waking.add(entities, slot));
    waking.wake(entities);
    !parted.is_empty()
}

fn ticks(least: f64, seconds: f64) -> u16 {
    (least / seconds).ceil() as u16
}

/// Whether a body has stayed near its anchor.
fn jitters(entity: &Entity, shapes: &Shapes) -> bool {
    let (Some(anchor), Some(placement)) = (entity.sleep.anchor, entity.placement()) else {
        return false;
    };
    let pose = placement.pose();
    // The dot product is the cosine of half the angle.
    let half_versine = (1.0 - pose.orientation.dot(anchor.orientation).abs()).max(0.0);
    let turned = (8.0 * half_versine).sqrt() * shapes[entity.shape].radius;
    pose.position.distance(anchor.position) + turned < JITTER_DISTANCE
}

/// Returns whether the body in a slot touches another.
fn in_heap(pairs: &[Pair], slot_count: usize) -> impl Fn(u16) -> bool + use<> {
    let slots = pairs
        .iter()
        .filter(|pair| !pair.points.is_empty())
        .filter_map(|pair| Some([pair.key.body, pair.key.other.entity()?]))
        .flatten();
    let among = flags_by_slot(slots, slot_count);
    move |slot| among[usize::from(slot)]
}

/// Returns whether something touches the body in a slot from below. A body that the guard stops
/// beside another body is not carried, and would sleep hanging in the air.
fn carried(pairs: &[Pair], slot_count: usize) -> impl Fn(u16) -> bool + use<> {
    let touching = pairs.iter().filter(|pair| touches(pair));
    let slots = touching.filter_map(|pair| {
        // The axis points from the body to the other.
        match pair.axis.z {
            down if down < -CARRYING => Some(pair.key.body),
            up if up > CARRYING => pair.key.other.entity(),
            _ => None,
        }
    });
    let among = flags_by_slot(slots, slot_count);
    move |slot| among[usize::from(slot)]
}

/// Counts the ticks of rest. A body falls asleep if it has rested for long enough and touches only
/// bodies that have rested as long. A resting body that touches a moving body stays awake. Bodies
/// that touch nothing except the resting one may sleep.
pub(crate) fn settle(entities: &mut Entities, shapes: &Shapes, pairs: &[Pair], seconds: f64) {
    let ticks = |least| ticks(least, seconds);
    let (enough, jitter_ticks) = (ticks(STILL_SECONDS), ticks(JITTER_SECONDS));
    let held = ticks(HELD_SECONDS).max(HELD_TICKS);
    let mut islands = Islands::new(entities.slot_count());
    let slot_count = entities.slot_count();
    let (in_heap, carried) = (in_heap(pairs, slot_count), carried(pairs, slot_count));
    for entity in entities.iter().filter(|entity| entity.is_driven()) {
        islands.state[usize::from(entity.id.slot)] = State::Awake(AwakeReason::Moves);
    }
    for entity in entities.iter_mut().filter(|entity| entity.is_solved()) {
        let jitters = jitters(entity, shapes);
        if !jitters {
            entity.sleep.anchor = entity.placement().map(|placement| *placement.pose());
        }
        let speed = surface_speed(entity, shapes);
        let is_still = speed < STILL_SPEED;
        let slot = entity.id.slot;
        let is_vehicle = entity.hovertank().is_some();
        let sleep = &mut entity.sleep;
        let in_air = !carried(slot) && !sleep.held_by_solver && !is_vehicle;
        let count = |so_far: u16, goes_on, ticks| {
            if goes_on { so_far.saturating_add(ticks) } else { 0 }
        };
        let passed = entity.pace.ticks();
        sleep.still_ticks = count(sleep.still_ticks, is_still, passed);
        let in_heap = in_heap(slot);
        let rests = jitters && (in_heap || speed < ROCKING_SPEED);
        sleep.jitter_ticks = count(sleep.jitter_ticks, rests, passed);
        sleep.held_ticks = count(sleep.held_ticks, sleep.held, 1);
        let jitter_ticks = if in_heap { enough } else { jitter_ticks };
        // A body that lies alone does not sleep just because it is still: it has to come to its
        // rest gap before.
        let stands = (in_heap || is_vehicle) && sleep.still_ticks >= enough;
        let moves = !stands && sleep.jitter_ticks < jitter_ticks && sleep.held_ticks < held;
        let settles = is_still || jitters && jitter_ticks == enough || sleep.held;
        islands.state[usize::from(slot)] = match (moves, in_air) {
            (true, _) if settles => State::Awake(AwakeReason::Settles),
            (true, _) => State::Awake(AwakeReason::Moves),
            (false, true) => State::Awake(AwakeReason::InAir),
            (false, false) => State::MaySleep,
        };
    }
    islands.keep_awake(entities, pairs);
    for slot in entities.slots_where(Entity::is_awake_body) {
        let state = islands.state[usize::from(slot)];
        let island = islands.root(slot);
        let Some(entity) = entities.get_mut(slot) else { continue };
        if let State::Awake(reason) | State::KeptAwake(reason) = state {
            entity.sleep.awake_because = reason;
        } else {
            entity.sleep.asleep = true;
            entity.sleep.island = island;
            // The body gets a new anchor after it wakes.
            entity.sleep.anchor = None;
            entity.velocity = DVec3::ZERO;
            entity.angular = DVec3::ZERO;
        }
    }
}

/// Whether a body may sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The body is not awake.
    NotAwake,
    /// The body does not rest, or nothing carries it. Bodies that touch it stay awake with it.
    Awake(AwakeReason),
    /// The body rests, but stays awake because of another one.
    KeptAwake(AwakeReason),
    /// The body may sleep.
    MaySleep,
}

/// The bodies that fall asleep, in disjoint sets of slots. The lowest slot of a set
/// names the island.
struct Islands {
    state: Vec<State>,
    parent: Vec<u16>,
}

impl Islands {
    fn new(slots: usize) -> Self {
        let parent = (0..slots).map(|slot| slot as u16).collect();
        Self { state: vec![State::NotAwake; slots], parent }
    }

    /// Keeps resting bodies awake if they touch a moving one, and joins the other touching bodies
    /// into islands.
    fn keep_awake(&mut self, entities: &Entities, pairs: &[Pair]) {
        let touching = || {
            let touching = pairs.iter().filter(|pair| !pair.points.is_empty());
            touching.filter_map(|pair| Some((pair, pair.key.body, pair.key.other.entity()?)))
        };
        for (pair, body, other) in touching() {
            let [a, b] = [body, other].map(usize::from);
            // A body that leans on a player on foot stays awake, because the player may walk away
            // at any time. A body that leans on a missile may sleep, because it is woken when the
            // missile is removed.
            let leans = pair.points.iter().any(|point| point.impulse[0] > 0.0);
            let on_player = entities.get(other).is_some_and(|entity| entity.walker().is_some());
            let moves = |state: State| matches!(state, State::Awake(_));
            if self.state[a] == State::MaySleep {
                if moves(self.state[b]) {
                    self.state[a] = State::KeptAwake(AwakeReason::TouchesMoving);
                } else if leans && on_player {
                    self.state[a] = State::KeptAwake(AwakeReason::LeansOnPlayer);
                }
            }
            if self.state[b] == State::MaySleep && moves(self.state[a]) {
                self.state[b] = State::KeptAwake(AwakeReason::TouchesMoving);
            }
        }
        let driven = Driven::new(entities, pairs);
        for (slot, state) in self.state.iter_mut().enumerate() {
            if *state == State::MaySleep && driven.contains(slot as u16) {
                *state = State::KeptAwake(AwakeReason::TouchesMoving);
            }
        }
        for (_, body, other) in touching() {
            if [body, other].iter().all(|&slot| self.state[usize::from(slot)] == State::MaySleep) {
                let (a, b) = (self.root(body), self.root(other));
                self.parent[usize::from(a.max(b))] = a.min(b);
            }
        }
    }

    fn root(&mut self, slot: u16) -> u16 {
        let mut root = slot;
        while self.parent[usize::from(root)] != root {
            let above = self.parent[usize::from(root)];
            self.parent[usize::from(root)] = self.parent[usize::from(above)];
            root = above;
        }
        root
    }
}
