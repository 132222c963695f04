//! The search for contacts: it finds the bodies that may come near each other in this tick. The
//! search can be divided among threads. A body that has not changed since the last search keeps
//! that search's results.

use std::ops::Range;

use obsp::geometry::Aabb;

use super::meet::{Finder, MIN_SEARCH_REACH, SPECULATIVE_DISTANCE, Search, Searcher, reach_of};
use super::{Pair, PairKey};
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::guard::Space;
use crate::bodies::nearby::Nearby;
use crate::bodies::slots::flags_by_slot;
use crate::collision::broad_phase::Overlaps;
use crate::collision::distances::MARGIN;
use crate::collision::shape::Shapes;
use crate::context::StepContext;
use crate::counters::Stage;
use crate::threads::joined;

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
    let awake = search.searchers(|entity| entity.mobility().is_guarded(), &context.threads);
    if awake.is_empty() {
        return Found::default();
    }
    let boxes: Vec<Aabb> = awake
        .iter()
        .map(|own| own.bounds.inflated(0.5 * SPECULATIVE_DISTANCE + own.reach))
        .collect();
    let overlaps = Overlaps::new(&boxes, space.entities.uses_grid(), &context.threads);
    let neighbourhood = Neighbourhood::new(&search, |entity| !entity.mobility().is_guarded());
    // The bodies are in ascending order, and so are the pairs of each body. So the list of all
    // pairs is in order.
    search.shared_out(&awake, context, |finder, range| {
        let mut lists = Lists::default();
        for at in range {
            let own = &awake[at];
            let later = overlaps.after(at).iter().map(|&index| &awake[index as usize]);
            let later = later.filter(|other| own.entity.may_meet(other.entity));
            finder.meet_all(&neighbourhood, own, later, &mut lists);
        }
    })
}

/// Updates `pairs`, the result of the last search, after bodies have woken. Only the woken bodies
/// are searched for contacts again. No body may have moved since the last search.
pub(super) fn find_woken(space: &Space, pairs: Vec<Pair>, context: &mut StepContext) -> Found {
    let search = Search::new(space, &pairs, context.seconds);
    let woken = search.searchers(Entity::has_woken, &context.threads);
    let neighbourhood = Neighbourhood::new(&search, |entity| !entity.has_woken());
    let mut found = search.shared_out(&woken, context, |finder, range| {
        let mut lists = Lists::default();
        for at in range {
            let own = &woken[at];
            let later = woken[at + 1..].iter().filter(|other| own.may_meet(other));
            finder.meet_all(&neighbourhood, own, later, &mut lists);
        }
    });
    let slots = woken.iter().map(|own| own.entity.id.slot);
    let has_woken = flags_by_slot(slots, space.entities.slot_count());
    let has_woken = |slot: u16| has_woken[usize::from(slot)];
    let stays = |&Pair { key: PairKey { body, other, .. }, .. }: &Pair| {
        !has_woken(body) && !other.entity().is_some_and(has_woken)
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

/// The bodies that do not search for contacts, but may be near bodies that do.
struct Neighbourhood {
    bodies: Nearby,
    entity_count: u64,
}

impl Neighbourhood {
    /// The placed entities for which `belongs` holds.
    fn new(search: &Search, belongs: impl Fn(&Entity) -> bool) -> Self {
        let entities = search.space.entities;
        let chosen = entities.iter().filter(|e| e.placement().is_some() && belongs(e));
        let bodies = chosen.map(|entity| (entity.id.slot, search.reach_of(entity)));
        Self {
            bodies: Nearby::new(entities, bodies, MIN_SEARCH_REACH),
            entity_count: entities.iter().count() as u64,
        }
    }
}

impl<'a> Search<'a> {
    /// Runs `work` over all `searchers`, shared out over threads, and joins the results.
    fn shared_out(
        &'a self,
        searchers: &[Searcher<'a>],
        context: &mut StepContext,
        work: impl Fn(&mut Finder<'a, '_>, Range<usize>) + Sync,
    ) -> Found {
        let shares = context.threads.in_shares(searchers.len(), MIN_SHARE, |range| {
            let mut context = context.share();
            // The pairs of all shares are appended to the list of the first share, so that list
            // gets room for all pairs.
            let bodies = if range.start == 0 { searchers.len() } else { range.len() };
            let mut finder = Finder::new(self, &mut context, bodies);
            work(&mut finder, range);
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
    /// Adds the pairs of a body with everything around it. `later` contains the bodies that also
    /// search for contacts and come after it.
    fn meet_all(
        &mut self,
        neighbourhood: &Neighbourhood,
        own: &Searcher<'a>,
        later: impl Iterator<Item = &'a Searcher<'a>>,
        lists: &mut Lists<'a>,
    ) {
        self.meet_solids(own);
        let mut watch = self.context.watch();
        let Lists { near, partners } = lists;
        let around = own.bounds.inflated(SPECULATIVE_DISTANCE + own.reach);
        neighbourhood.bodies.within(&around, self.search.space.entities, near);
        partners.clear();
        partners.extend(near.iter().map(|&slot| (slot, None)));
        // If both bodies search for contacts, the pair is tested once, under the lower slot.
        partners.extend(later.map(|other| (other.entity.id.slot, Some(other))));
        partners.sort_unstable_by_key(|&(slot, _)| slot);
        if self.context.stages.contains(Stage::Grid) {
            let others = neighbourhood.entity_count - 1;
            let spared = others.saturating_sub(partners.len() as u64);
            self.context.note_many(Stage::Grid, others, spared, &mut watch);
        }
        for &(slot, other) in partners.iter() {
            match other {
                Some(other) => self.meet_awake(own, other),
                None => self.meet_standing(own, slot),
            }
        }
    }
}

/// Lists that are refilled for each body.
#[derive(Default)]
struct Lists<'a> {
    /// Slots of nearby bodies that do not search for contacts.
    near: Vec<u16>,
    /// All nearby bodies in order of slot. A body that searches for contacts is given as a
    /// searcher.
    partners: Vec<(u16, Option<&'a Searcher<'a>>)>,
}

/// Updates each awake prop's list of the solids around it, which [`find`] reads.
pub(crate) fn look_around(map: &obsp::Map, shapes: &Shapes, entities: &mut Entities, seconds: f64) {
    for entity in entities.iter_mut().filter(|entity| entity.mobility().is_guarded()) {
        let reach = SPECULATIVE_DISTANCE + reach_of(entity, &shapes[entity.shape], seconds);
        let Some(around) = entity.placement().map(|p| p.bounds().inflated(reach)) else { continue };
        entity.record.near_solids.look_around(map, &around);
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
            look_around(&map, &shapes, &mut entities, context.seconds);
            let space = Space { map: &map, shapes: &shapes, entities: &entities };
            let before = find(&space, &[], &mut context).pairs;
            for entity in entities.iter_mut() {
                entity.record.searched_as = entity.search_state();
                entity.sleep.asleep &= random.below(2) > 0;
            }
            look_around(&map, &shapes, &mut entities, context.seconds);
            let woken = entities.iter().filter(|entity| entity.has_woken()).count();
            assert!(woken > 0, "seed {seed}: no body has woken");
            let space = Space { map: &map, shapes: &shapes, entities: &entities };
            let all = find(&space, &before, &mut context).pairs;
            let by_woken = find_woken(&space, before.clone(), &mut context).pairs;
            assert!(all.len() > before.len(), "seed {seed}: waking added no pair");
            let rounded = |pair: &Pair| (pair.key, pair.points.len(), (pair.gap * 1e6).round());
            let [all, by_woken] =
                [all, by_woken].map(|pairs| pairs.iter().map(rounded).collect::<Vec<_>>());
            assert_eq!(all, by_woken, "seed {seed}");
        }
    }
}
