//! Waking in a tick: what a moving body touches, and what it has left.

use super::settle::heap_jitter;
use super::{WAKING_SPEED, WakingIslands, surface_speed};
use crate::bodies::blocker::Blocker;
use crate::bodies::contact::{Pair, PairIndex, search_woken, touching_bodies};
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::islands::Driven;
use crate::bodies::mobility::Mobility;
use crate::collision::shape::Shapes;
use crate::context::StepContext;

/// Maximum number of rounds of waking per tick. Within a tick an impact propagates through a heap
/// of sleeping bodies by this many bodies.
const MAX_ROUNDS: usize = 3;

/// A body whose surface is faster than this, in units per second, wakes the whole
/// islands of the bodies it touches.
const WAKE_ISLAND_SPEED: f64 = 20.0;

/// Wakes the sleeping bodies that a moving body touches by `pairs`, or has left since `before`, the
/// pairs of the last tick. Adds to `pairs` those of the bodies that have woken.
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
    // The last search wakes no body. A body that moves without a search could leave a sleeping one
    // in the air, and no pair would show that.
    for _ in 0..MAX_ROUNDS {
        woken |= wake_touched(entities, shapes, pairs, context.seconds);
        if !woken {
            break;
        }
        woken = false;
        search_woken(map, shapes, entities, pairs, context);
    }
}

/// Wakes sleeping bodies that a moving body touches. Touched bodies that would skip the tick move
/// as well. Returns whether there were any such bodies.
fn wake_touched(entities: &mut Entities, shapes: &Shapes, pairs: &[Pair], seconds: f64) -> bool {
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
    let touched: Vec<(u16, u16)> = touching_bodies(pairs)
        .filter(|&(_, other)| entities.mobility(other).is_at_rest())
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
    let parted: Vec<u16> = touching_bodies(before)
        .filter(|&(_, other)| entities.mobility(other) == Mobility::Asleep)
        .filter(|&(body, _)| entities.mobility(body).is_guarded())
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
