//! Contacts: places where bodies touch or are about to touch.
//!
//! [`find`] tests every awake prop through the filter cascade, a row of tests from cheap to exact
//! ([`cascade`](crate::collision::cascade)). For each pair of convex parts that touch, or may touch
//! by the end of this tick, it keeps a *manifold* of contact points. The solver turns the
//! manifolds into velocities. It aims for [`REST_GAP`](crate::collision::distances::REST_GAP)
//! between surfaces. This gap is well above the guard's margin, so the guard never refuses a body
//! at rest.

mod clip;
mod edges;
mod find;
mod manifold;
mod meet;
mod pair;
mod pair_index;
mod seam;
mod support;
mod warm_start;

use crate::bodies::blocker::Blocker;
use crate::bodies::entities::Entities;
use crate::bodies::guard::Space;
use crate::bodies::mobility::Mobility;
use crate::bodies::slots::SlotSet;
use crate::collision::shape::Shapes;
use crate::context::StepContext;

use find::FREE_AT_REST;
pub(crate) use find::{find, look_around};
#[cfg(test)]
pub(crate) use pair::ContactPoint;
pub(crate) use pair::{MAX_POINTS, Pair, PairKey, Points, meeting, meeting_bodies, tangents};
pub(crate) use pair_index::{KnownPairs, PairIndex};

/// Replaces `pairs` by the pairs of this tick. Notes on each body how far it may move before it can
/// meet something that the search has not seen. Returns the pairs of the last tick. A pair that is
/// not found again is forgotten, with its impulses, unless one of its bodies skips the tick and the
/// other stands still.
pub(crate) fn search(
    map: &obsp::Map,
    shapes: &Shapes,
    entities: &mut Entities,
    pairs: &mut Vec<Pair>,
    context: &mut StepContext,
) -> Vec<Pair> {
    let active = entities.active_slots().clone();
    find::look_around((map, shapes), entities, &active, context.seconds);
    let found = find::find(&Space { map, shapes, entities }, pairs, context);
    let before = std::mem::replace(pairs, found.pairs);
    keep_skipped(entities, &before, pairs);
    note_search(entities, &active, &found.free_distances);
    before
}

/// Like [`search`], but adds only the pairs of the bodies in `woken`, which have woken since the
/// search of this tick. No body may have moved since then.
pub(crate) fn search_woken(
    map: &obsp::Map,
    shapes: &Shapes,
    entities: &mut Entities,
    pairs: &mut Vec<Pair>,
    woken: &SlotSet,
    context: &mut StepContext,
) {
    find::look_around((map, shapes), entities, woken, context.seconds);
    let space = Space { map, shapes, entities };
    let found = find::find_woken(&space, woken, std::mem::take(pairs), context);
    *pairs = found.pairs;
    note_search(entities, woken, &found.free_distances);
}

/// Notes on each body of `searched` the state in which the search found it, and clears the note on
/// its last stop.
fn note_search(entities: &mut Entities, searched: &SlotSet, free_distances: &[(u16, f64)]) {
    for slot in searched.iter() {
        let Some(entity) = entities.get_mut(slot) else { continue };
        let state = entity.search_state();
        let record = &mut entity.record;
        (record.searched_as, record.moved, record.stopped) = (state, 0.0, None);
        if !state.is_some_and(|state| state.awake) {
            record.free_distance = FREE_AT_REST;
        }
    }
    for &(slot, free_distance) in free_distances {
        if let Some(entity) = entities.get_mut(slot) {
            entity.record.free_distance = free_distance;
            // An overlap makes no pair, so the next search has to find it again.
            if free_distance == f64::NEG_INFINITY {
                entity.record.searched_as = None;
            }
        }
    }
}

/// Adds to the found `pairs` those pairs of `before` that the search left out because one body
/// skips the tick and the other stands still. The next tick begins with these pairs.
fn keep_skipped(entities: &Entities, before: &[Pair], pairs: &mut Vec<Pair>) {
    let skips = |slot| entities.mobility(slot) == Mobility::Skips;
    if !entities.active().any(|entity| entity.mobility() == Mobility::Skips) {
        return;
    }
    let stands_still =
        |other: Blocker| other.entity().is_none_or(|slot| entities.mobility(slot).stands_still());
    let kept = before.iter().filter(|pair| skips(pair.key.body) && stands_still(pair.key.other));
    let found = pairs.len();
    pairs.extend(kept.cloned());
    if pairs.len() > found {
        pairs.sort_by_key(|pair| pair.key);
    }
}
