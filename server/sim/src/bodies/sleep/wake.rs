//! Waking in a tick: what a moving body touches, and what it has left.

use super::settle::heap_jitter;
use super::{WAKING_SPEED, WakingIslands, surface_speed};
use crate::bodies::blocker::Blocker;
use crate::bodies::contact::{Pair, PairIndex, meeting_bodies, search_woken};
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::islands::Driven;
use crate::bodies::mobility::Mobility;
use crate::bodies::slots::SlotSet;
use crate::collision::shape::Shapes;
use crate::context::StepContext;

/// Maximum number of rounds of waking per tick. Within a tick an impact propagates through a heap
/// of sleeping bodies by this many bodies.
const MAX_ROUNDS: usize = 3;

/// A body whose surface is faster than this, in units per second, wakes the whole
/// islands of the bodies it touches.
const WAKE_ISLAND_SPEED: f64 = 20.0;

/// Wakes the sleeping bodies that a moving body touches in `pairs`, and those that an awake body
/// touched in `before`, the pairs of the last tick, and has left since. Adds the pairs of the woken
/// bodies to `pairs`.
pub(crate) fn wake_for_tick(
    map: &obsp::Map,
    shapes: &Shapes,
    entities: &mut Entities,
    pairs: &mut Vec<Pair>,
    before: &[Pair],
    context: &mut StepContext,
) {
    let index = PairIndex::new(pairs, entities.slot_count());
    let mut woken = wake_parted(entities, before, &index);
    // No body is woken after the last search. Such a body would move without a search, and could
    // leave a sleeping body in the air without any pair that shows this.
    for _ in 0..MAX_ROUNDS {
        woken.extend(wake_touched(entities, shapes, pairs, context.seconds).iter());
        if woken.is_empty() {
            break;
        }
        search_woken(map, shapes, entities, pairs, &woken, context);
        woken = SlotSet::EMPTY;
    }
}

/// Wakes sleeping bodies that a moving body touches. Touched bodies that would skip the tick move
/// as well. Returns the bodies that have woken.
fn wake_touched(entities: &mut Entities, shapes: &Shapes, pairs: &[Pair], seconds: f64) -> SlotSet {
    let jitter = heap_jitter(seconds);
    let driven = Driven::new(entities, pairs);
    // A kinematic body, or a body that it drives, wakes others even if it moves slowly.
    let drives = |entity: &Entity| {
        entity.mobility() == Mobility::Kinematic || driven.contains(entity.id.slot)
    };
    let moves = |entity: &Entity| {
        // A body that jitters in its place in a heap does not count as moving.
        let goes =
            || surface_speed(entity, shapes) > WAKING_SPEED && entity.sleep.jitter_ticks < jitter;
        entity.mobility().is_guarded() && (goes() || drives(entity))
    };
    let wakes_all =
        |entity: &Entity| surface_speed(entity, shapes) > WAKE_ISLAND_SPEED || drives(entity);
    let resting = meeting_bodies(pairs).filter(|&(_, other)| entities.mobility(other).is_at_rest());
    let touched = resting.filter_map(|(body, other)| {
        let entity = entities.get(body).filter(|entity| moves(entity))?;
        Some((wakes_all(entity), other))
    });
    let mut waking = WakingIslands::NONE;
    for (wakes_all, slot) in touched.collect::<Vec<_>>() {
        // An impact wakes the whole island. A body that only leans over wakes just its neighbour.
        // The neighbour wakes the next body if it has to give way.
        if wakes_all {
            waking.add(entities, slot);
        } else {
            waking.add_alone(entities, slot);
        }
    }
    waking.wake(entities)
}

/// Wakes sleeping bodies that an awake body touched in the last tick and touches no longer. The
/// awake body may have carried them, and may have moved away too slowly to wake them. Returns the
/// bodies that have woken.
pub(crate) fn wake_parted(entities: &mut Entities, before: &[Pair], pairs: &PairIndex) -> SlotSet {
    let parted: Vec<u16> = meeting_bodies(before)
        .filter(|&(_, other)| entities.mobility(other) == Mobility::Asleep)
        .filter(|&(body, _)| entities.mobility(body).is_guarded())
        .filter(|&(body, other)| {
            let now = pairs.known(body, Blocker::Entity(other)).pairs();
            now.iter().all(|pair| pair.points.is_empty())
        })
        .map(|(_, other)| other)
        .collect();
    let mut waking = WakingIslands::NONE;
    parted.iter().for_each(|&slot| waking.add(entities, slot));
    waking.wake(entities)
}
