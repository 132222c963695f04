//! The search for contacts: it finds the bodies that may come near each other in this tick. The
//! search can be divided among threads. A body that has not changed since the last search keeps
//! that search's results.

use super::meet::{Finder, SPECULATIVE_DISTANCE, Search, Searcher, reach_of};
use super::{Pair, PairKey};
use crate::bodies::entities::{CLEARANCE, Entities, Entity};
use crate::bodies::guard::Space;
use crate::bodies::slots::SlotSet;
use crate::collision::distances::MARGIN;
use crate::collision::shape::Shapes;
use crate::context::StepContext;
use crate::counters::Stage;
use crate::threads::joined;

// The search looks at the neighbours of a body. Two bodies within reach of each other are
// neighbours if each keeps half of the speculative distance to the sides of its region.
const _: () = assert!(CLEARANCE >= 0.5 * SPECULATIVE_DISTANCE);

/// The free distance of a body that does not move, in units. Two bodies that are not a pair are
/// farther apart than the speculative distance. Each of them may use half of that distance, less
/// half the guard's margin.
pub(super) const FREE_AT_REST: f64 = 0.5 * (SPECULATIVE_DISTANCE - MARGIN);

/// Minimum number of bodies per thread's share.
const MIN_SHARE: usize = 24;

/// The result of a search.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The pairs, in order of key.
    pub(crate) pairs: Vec<Pair>,
    /// The free distance of each searched body: how far its surface may move, in units, before it
    /// can meet a body or solid that is not in its pairs. The distance is negative infinity for
    /// bodies that overlap something.
    pub(crate) free_distances: Vec<(u16, f64)>,
}

/// All pairs of parts that awake props may bring together within the tick. `before` contains the
/// pairs of the last tick.
pub(crate) fn find(space: &Space, before: &[Pair], context: &mut StepContext) -> Found {
    let search = Search::new(space, before, context.seconds);
    let awake = search.searchers(space.entities.active_slots(), &context.threads);
    // The bodies are in ascending order, and so are the pairs of each body. So the list of all
    // pairs is in order.
    search.shared_out(&awake, context)
}

/// Updates `pairs`, the result of the last search, after bodies have woken. Only the woken bodies
/// are searched for contacts again. No body may have moved since the last search.
pub(super) fn find_woken(
    space: &Space,
    woken: &SlotSet,
    pairs: Vec<Pair>,
    context: &mut StepContext,
) -> Found {
    let search = Search::new(space, &pairs, context.seconds);
    let searchers = search.searchers(woken, &context.threads);
    let mut found = search.shared_out(&searchers, context);
    // A ball that has woken searches for nothing. Its pairs are those that others found.
    let searched: SlotSet = searchers.iter().map(|own| own.entity.id.slot).collect();
    let searches = |slot| searched.contains(slot);
    let stays = |&Pair { key: PairKey { body, other, .. }, .. }: &Pair| {
        !searches(body) && !other.entity().is_some_and(searches)
    };
    let mut all = pairs;
    all.retain(stays);
    // A pair of a woken body is listed under the other body, if the other body has the lower slot.
    found.pairs.sort_by_key(|pair| pair.key);
    if !found.pairs.is_empty() {
        // The sort merges two lists that are in order, and copies only the shorter one.
        all.append(&mut found.pairs);
        all.sort_by_key(|pair| pair.key);
    }
    Found { pairs: all, ..found }
}

impl<'a> Search<'a> {
    /// Finds the pairs of all `searchers`, shared out over threads, and joins the results.
    fn shared_out(&'a self, searchers: &[Searcher<'a>], context: &mut StepContext) -> Found {
        if searchers.is_empty() {
            return Found::default();
        }
        // For each slot: the number of its searcher, counted from one; zero for others.
        let mut searcher_of = vec![0u16; self.space.entities.slot_count()];
        for (searcher, number) in searchers.iter().zip(1..) {
            searcher_of[usize::from(searcher.entity.id.slot)] = number;
        }
        let searcher_of =
            |slot: u16| searchers.get(usize::from(searcher_of[usize::from(slot)]).checked_sub(1)?);
        let shares = context.threads.in_shares(searchers.len(), MIN_SHARE, |range| {
            let mut context = context.share();
            // The pairs of all shares are appended to the list of the first share, so that list
            // gets room for all pairs.
            let bodies = if range.start == 0 { searchers.len() } else { range.len() };
            let mut finder = Finder::new(self, &mut context, bodies);
            searchers[range].iter().for_each(|own| finder.meet_all(own, searcher_of));
            let (pairs, overlapping) = finder.into_found();
            (pairs, overlapping, context)
        });
        let (mut pairs, mut overlapping) = (Vec::with_capacity(shares.len()), Vec::new());
        for (found, inside, counted) in shares {
            pairs.push(found);
            overlapping.extend(inside);
            context.counters.add_earlier(&counted.counters);
        }
        let pairs = joined(pairs);
        let free = |own: &Searcher| (own.entity.id.slot, own.reach + FREE_AT_REST);
        let free_distances = searchers.iter().map(free);
        let none = overlapping.into_iter().map(|slot| (slot, f64::NEG_INFINITY));
        Found { pairs, free_distances: free_distances.chain(none).collect() }
    }
}

impl<'a> Finder<'a, '_> {
    /// Adds the pairs of a body with everything around it. `searcher_of` gives the body in a slot,
    /// if that body also searches for contacts.
    fn meet_all<'s>(
        &mut self,
        own: &Searcher<'a>,
        searcher_of: impl Fn(u16) -> Option<&'s Searcher<'a>>,
    ) where
        'a: 's,
    {
        self.meet_solids(own);
        let mut watch = self.context.watch();
        let (entities, slot) = (self.search.space.entities, own.entity.id.slot);
        let neighbours = entities.neighbours(slot);
        if self.context.stages.contains(Stage::Grid) {
            let others = entities.placed_count() as u64 - 1;
            let spared = others - neighbours.len() as u64;
            self.context.note_many(Stage::Grid, others, spared, &mut watch);
        }
        for &other in neighbours.iter() {
            match searcher_of(other) {
                None => self.meet_standing(own, other),
                // If both bodies search for contacts, the pair is tested once, under the lower
                // slot.
                Some(other) if other.entity.id.slot > slot => self.meet_awake(own, other),
                Some(_) => {}
            }
        }
    }
}

/// Updates the surroundings of the bodies that may move, which [`find`] reads:
/// their neighbours, and the solids around them if the guard moves them.
pub(crate) fn look_around(
    (map, shapes): (&obsp::Map, &Shapes),
    entities: &mut Entities,
    bodies: &SlotSet,
    seconds: f64,
) {
    let may_move = |entity: &&mut Entity| !entity.mobility().stands_still();
    for slot in bodies.iter() {
        let Some(entity) = entities.get_mut(slot).filter(may_move) else { continue };
        let Some(placement) = entity.placement() else { continue };
        let reach = reach_of(entity, &shapes[entity.shape], seconds);
        let (bounds, way) = (placement.bounds().inflated(reach), entity.velocity * seconds);
        if entity.mobility().is_guarded() {
            let around = bounds.inflated(SPECULATIVE_DISTANCE);
            entity.record.near_solids.look_around(map, &around);
        }
        entities.hold_closely(slot, &bounds, way);
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use obsp::model::shipped;

    use super::*;
    use crate::bodies::guard::Seeker;
    use crate::bodies::roles::Role;
    use crate::collision::pose::Pose;
    use crate::random::Random;
    use crate::state::ModelId;
    use crate::test_maps::{block, compiled};

    /// The bodies lie close together. Most of them sleep, and some wake after the first search.
    /// Searching only the woken bodies must find the pairs that a search for all finds.
    #[test]
    fn searching_the_woken_finds_what_searching_all_finds() {
        let map = compiled(&block([-256, -256, -16], [256, 256, 0]), [-200, -200, 40], "");
        let shapes = Shapes::new(&map, &shipped()).unwrap();
        let crates = shapes.of_model(ModelId(0)).unwrap();
        let mut context = StepContext { seconds: 1.0 / 60.0, ..StepContext::default() };
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let mut entities = Entities::new(&map.bounds(), 0);
            for index in 0..27 {
                let place = [index % 3, index / 3 % 3, index / 9].map(f64::from);
                let near = |place: f64| 32.5 * place + random.between(0.0, 0.4);
                let position = DVec3::from_array(place.map(near)) + DVec3::Z * 16.2;
                let space = Space { map: &map, shapes: &shapes, entities: &entities };
                let placement =
                    space.place(crates, Pose::at(position), Seeker::QUERY, &mut context).unwrap();
                let id = entities.insert(Role::Prop(ModelId(0)), crates).unwrap();
                entities.commit(id.slot, placement);
                let entity = entities.find_mut(id).unwrap();
                entity.sleep.asleep = random.below(4) > 0;
                entity.velocity = DVec3::X * random.between(-60.0, 60.0);
            }
            let slots = entities.active_slots().clone();
            look_around((&map, &shapes), &mut entities, &slots, context.seconds);
            let space = Space { map: &map, shapes: &shapes, entities: &entities };
            let before = find(&space, &[], &mut context).pairs;
            let mut woken = SlotSet::EMPTY;
            for entity in entities.active_mut() {
                entity.record.searched_as = entity.search_state();
                if entity.sleep.asleep && random.below(2) == 0 {
                    entity.sleep.asleep = false;
                    woken.insert(entity.id.slot);
                }
            }
            look_around((&map, &shapes), &mut entities, &slots, context.seconds);
            assert!(!woken.is_empty(), "seed {seed}: no body has woken");
            let space = Space { map: &map, shapes: &shapes, entities: &entities };
            let all = find(&space, &before, &mut context).pairs;
            let by_woken = find_woken(&space, &woken, before.clone(), &mut context).pairs;
            assert!(all.len() > before.len(), "seed {seed}: waking added no pair");
            let rounded = |pair: &Pair| (pair.key, pair.points.len(), (pair.gap * 1e6).round());
            let [all, by_woken] =
                [all, by_woken].map(|pairs| pairs.iter().map(rounded).collect::<Vec<_>>());
            assert_eq!(all, by_woken, "seed {seed}");
        }
    }
}
