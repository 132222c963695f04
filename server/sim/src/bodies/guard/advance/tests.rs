//! Compares two runs of the guard: on the pairs that the search found, and on all pairs.

use glam::DQuat;
use obsp::model::shipped;

use super::*;
use crate::bodies::contact::{PairIndex, find, look_around};
use crate::bodies::entities::Entities;
use crate::bodies::guard::{Seeker, hold};
use crate::bodies::roles::Role;
use crate::collision::cascade::NearParts;
use crate::collision::shape::Shapes;
use crate::random::Random;
use crate::state::ModelId;
use crate::test_maps::{block, compiled};

/// The planes that the search for contacts found, or else a proposed one.
#[derive(Clone, Copy)]
struct Proposed<P> {
    known: P,
    axis: DVec3,
}

impl<P: LastPlane> LastPlane for Proposed<P> {
    fn whole(self) -> Option<DVec3> {
        self.known.whole().or(Some(self.axis))
    }

    fn between(self, ours: usize, theirs: usize) -> Option<NearParts> {
        self.known.between(ours, theirs).or(Some(self.axis).between(ours, theirs))
    }

    fn gap(self) -> f64 {
        self.known.whole().map_or(0.0, |_| self.known.gap())
    }

    fn near_parts(self, index: usize) -> Option<NearParts> {
        let proposed = NearParts::along(self.axis, [0; 2]);
        match self.known.whole() {
            Some(_) => self.known.near_parts(index),
            None => (index == 0).then_some(proposed),
        }
    }
}

/// Crates fly about a room close together. Testing only the pairs that the search found must stop
/// them where testing all pairs stops them.
#[test]
fn bodies_that_the_search_left_out_stop_nothing() {
    let map = compiled(&block([-256, -256, -16], [256, 256, 0]), [-200, -200, 40], "");
    let shapes = Shapes::new(&map, &shipped()).unwrap();
    let crates = shapes.of_model(ModelId(0)).unwrap();
    let mut context = StepContext { seconds: 1.0 / 60.0, ..StepContext::default() };
    let mut stopped = 0;
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let mut vector =
            |reach: f64| DVec3::from_array(std::array::from_fn(|_| random.between(-reach, reach)));
        let mut entities = Entities::new(&map.bounds(), 0);
        for index in 0..27 {
            let place = DVec3::from_array([index % 3, index / 3 % 3, index / 9].map(f64::from));
            let position = place * 35.0 + vector(0.4) + DVec3::Z * 18.0;
            let pose = Pose { position, orientation: DQuat::from_scaled_axis(vector(0.02)) };
            let space = Space { map: &map, shapes: &shapes, entities: &entities };
            let placement = space.place(crates, pose, Seeker::QUERY, &mut context).unwrap();
            let id = entities.insert(Role::Prop(ModelId(0)), crates).unwrap();
            entities.commit(id.slot, placement);
            let entity = entities.find_mut(id).unwrap();
            (entity.velocity, entity.angular) = (vector(400.0), vector(4.0));
        }
        let bodies = entities.active_slots().clone();
        look_around((&map, &shapes), &mut entities, &bodies, context.seconds);
        let space = Space { map: &map, shapes: &shapes, entities: &entities };
        let found = find(&space, &[], &mut context);
        for &(slot, free_distance) in &found.free_distances {
            let entity = entities.get_mut(slot).unwrap();
            (entity.record.free_distance, entity.record.moved) = (free_distance, 0.0);
        }
        let index = PairIndex::new(&found.pairs, entities.slot_count());
        let neighbours: Vec<_> = index.neighbours().map(|(a, b, _)| (a, b)).collect();
        let solids = (0..map.solids().len() as u32).map(Blocker::Solid);
        let others = solids.chain((0..27).map(Blocker::Entity));
        let all: Vec<_> = (0..27_u16)
            .flat_map(|slot| others.clone().map(move |other| (slot, other)))
            .filter(|(slot, other)| other.entity().is_none_or(|other| *slot < other))
            .collect();
        assert!(neighbours.len() < all.len());
        let seconds = context.seconds;
        let proposal = |entity: &Entity| {
            let start = *entity.placement().unwrap().pose();
            let target = start.advanced(entity.velocity, entity.angular, seconds);
            Proposal { slot: entity.id.slot, target, seconds }
        };
        let proposals: Vec<_> = entities.iter().map(proposal).collect();
        hold(&shapes, &mut entities, &proposals);
        let space = Space { map: &map, shapes: &shapes, entities: &entities };
        let planes = |slot, other: Blocker| {
            let place = |slot| entities.get(slot).unwrap().placement().unwrap().pose().position;
            let towards = other.entity().map_or(-DVec3::Z, |other| place(other) - place(slot));
            Proposed { known: index.known(slot, other), axis: towards.normalize() }
        };
        let mut reached = |pairs: &[(u16, Blocker)]| -> Vec<_> {
            let pairs: Vec<_> = pairs.iter().map(|&(a, b)| (a, b, planes(a, b))).collect();
            let advances = space.advance(&proposals, &pairs, planes, &mut context);
            let outcome = |advance: &Advance| {
                (*advance.placement.unwrap().pose(), advance.stop.map(|(by, _)| by))
            };
            advances.iter().map(outcome).collect()
        };
        let (few, many) = (reached(&neighbours), reached(&all));
        assert_eq!(few, many, "seed {seed}");
        stopped += few.iter().filter(|(_, stop)| stop.is_some()).count();
    }
    assert!(stopped > 100, "only {stopped} bodies were stopped");
}
