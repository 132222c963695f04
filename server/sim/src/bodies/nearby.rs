//! Finds the bodies that may come near a box within a tick, by how far each of them may move.
//!
//! The grid contains the places where bodies start, so it is queried with a box that is inflated by
//! their reach. One rocket would inflate the box for all bodies. So the few bodies that reach
//! farthest are compared one by one, and the grid is queried only as far as the other bodies reach.

use obsp::geometry::Aabb;

use super::entities::Entities;

/// Maximum number of bodies that are compared one by one. The grid cells around a body in a heap
/// hold about as many.
const FEW: usize = 32;

/// Placed bodies, each with its reach: how far it may move within the tick.
pub(crate) struct Nearby {
    /// The bodies that are compared one by one: slot, box, and reach in units. The copies save
    /// looking up the entities in memory.
    one_by_one: Vec<(u16, Aabb, f64)>,
    /// For each slot: whether its body is found through the grid.
    in_grid: Vec<bool>,
    /// Largest reach of the bodies that are found through the grid, in units; `None` if there are
    /// none.
    reach_in_grid: Option<f64>,
}

impl Nearby {
    /// A list of the `entities` that are given by their slots and their reaches in units. Bodies
    /// that reach no farther than `grid_reach` are found through the grid.
    pub(crate) fn new(
        entities: &Entities,
        bodies: impl Iterator<Item = (u16, f64)>,
        grid_reach: f64,
    ) -> Self {
        let mut in_grid = vec![false; entities.slot_count()];
        let mut reach_in_grid = None;
        let mut find_in_grid = |(slot, reach): (u16, f64)| {
            in_grid[usize::from(slot)] = true;
            reach_in_grid = Some(reach_in_grid.map_or(reach, |most: f64| most.max(reach)));
        };
        let mut one_by_one = Vec::new();
        for body in bodies {
            if body.1 > grid_reach {
                one_by_one.push(body);
            } else {
                find_in_grid(body);
            }
        }
        if one_by_one.len() > FEW {
            one_by_one.select_nth_unstable_by(FEW, |(_, a), (_, b)| b.total_cmp(a));
            one_by_one.drain(FEW..).for_each(find_in_grid);
        }
        let with_box = |(slot, reach)| Some((slot, bounds_of(entities, slot)?, reach));
        let one_by_one = one_by_one.into_iter().filter_map(with_box).collect();
        Self { one_by_one, in_grid, reach_in_grid }
    }

    /// Writes to `near` the slots of all bodies that may come into `bounds` within the tick, in no
    /// particular order. Some of the slots may belong to bodies that cannot come into `bounds`.
    pub(crate) fn within(&self, bounds: &Aabb, entities: &Entities, near: &mut Vec<u16>) {
        near.clear();
        if let Some(reach) = self.reach_in_grid {
            let around = bounds.inflated(reach);
            entities.near_where(&around, |slot| self.in_grid[usize::from(slot)], near);
            let own = |slot| bounds_of(entities, slot);
            near.retain(|&slot| own(slot).is_some_and(|own| own.overlaps(&around)));
        }
        for (slot, own, reach) in &self.one_by_one {
            if own.overlaps(&bounds.inflated(*reach)) {
                near.push(*slot);
            }
        }
    }
}

/// The box of the entity in a slot, if it is placed.
fn bounds_of(entities: &Entities, slot: u16) -> Option<Aabb> {
    Some(*entities.get(slot)?.placement()?.bounds())
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use obsp::model::shipped;

    use super::*;
    use crate::bodies::guard::{Seeker, Space};
    use crate::bodies::roles::Role;
    use crate::collision::pose::Pose;
    use crate::collision::shape::Shapes;
    use crate::context::StepContext;
    use crate::random::Random;
    use crate::state::ModelId;
    use crate::test_maps::{block, compiled};

    /// Crates hang in the air, and more of them reach far than are compared one by one. Each crate
    /// that may come into a box is found exactly once, with the grid and without.
    #[test]
    fn all_that_may_come_into_a_box_are_found_once() {
        let map = compiled(&block([-2048, -2048, -16], [2048, 2048, 0]), [-2000, -2000, 40], "");
        let shapes = Shapes::new(&map, &shipped()).unwrap();
        let crates = shapes.of_model(ModelId(0)).unwrap();
        let mut context = StepContext::default();
        let mut entities = Entities::new(&map.bounds(), 0);
        for index in 0..400 {
            let place = DVec3::new(f64::from(index % 20), f64::from(index / 20), 1.0);
            let position = place * 80.0 - DVec3::new(800.0, 800.0, 0.0);
            let space = Space { map: &map, shapes: &shapes, entities: &entities };
            let placement =
                space.place(crates, Pose::at(position), Seeker::QUERY, &mut context).unwrap();
            let id = entities.insert(Role::Prop(ModelId(0)), crates).unwrap();
            entities.commit(id.slot, placement);
        }
        let mut random = Random::new(3);
        let mut reaches: Vec<(u16, f64)> = Vec::new();
        for entity in entities.iter() {
            let reach = [0.0, 0.05, 40.0, 400.0][random.below(4) as usize];
            reaches.push((entity.id.slot, reach * random.unit()));
        }
        reaches[77].1 = f64::INFINITY;
        for count in [FEW / 2, reaches.len()] {
            for use_grid in [true, false] {
                entities.use_grid(use_grid);
                let bodies = reaches[..count].iter().copied();
                let nearby = Nearby::new(&entities, bodies, 0.05);
                let mut near = Vec::new();
                for _ in 0..50 {
                    let corner = DVec3::new(random.between(-800.0, 800.0), random.unit(), 40.0);
                    let around = Aabb { min: corner, max: corner + DVec3::splat(90.0) };
                    nearby.within(&around, &entities, &mut near);
                    near.sort_unstable();
                    assert!(near.is_sorted_by(|a, b| a < b), "a slot is found twice: {near:?}");
                    for &(slot, reach) in &reaches[..count] {
                        let own = bounds_of(&entities, slot).unwrap();
                        let may_come = own.overlaps(&around.inflated(reach));
                        assert!(
                            !may_come || near.binary_search(&slot).is_ok(),
                            "slot {slot} may come into the box, and is missing"
                        );
                    }
                }
            }
        }
    }
}
