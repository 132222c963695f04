//! The entities in a volume, searched for again and again.

use obsp::geometry::ConvexSolid;

use super::World;
use super::queries::reaches_into;
use crate::bodies::entities::Entity;
use crate::bodies::guard::Seeker;
use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;
use crate::state::EntityId;

/// A solid volume of one match, and the answers of its last search ([`World::find_in`]). An entity
/// that has neither moved nor changed its shape since then is not tested again. The answers are not
/// part of a match, because a new search finds the same.
#[derive(Clone, Debug)]
pub struct VolumeSearch {
    volume: ConvexSolid,
    /// The entities near the volume, in ascending order of slot.
    near: Vec<Answer>,
}

/// Whether an entity was found in the volume, and the place where it was then.
#[derive(Clone, Copy, Debug)]
struct Answer {
    entity: EntityId,
    shape: ShapeId,
    pose: Pose,
    is_inside: bool,
}

impl Answer {
    /// Whether the entity is still as it was.
    fn holds_for(&self, entity: &Entity) -> bool {
        let placement = entity.placement().map(|at| (at.shape(), *at.pose()));
        self.entity == entity.id && placement == Some((self.shape, self.pose))
    }
}

impl VolumeSearch {
    /// A search of a volume.
    pub fn new(volume: ConvexSolid) -> Self {
        Self { volume, near: Vec::new() }
    }

    /// The volume.
    pub fn volume(&self) -> &ConvexSolid {
        &self.volume
    }
}

impl World {
    /// The entities that [`World::overlapping`] finds in the volume of a search. A search that is
    /// kept from tick to tick costs nothing for entities at rest.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::DVec3;
    /// # use obsp::geometry::{Aabb, ConvexSolid};
    /// # use obsp_sim::{Config, World};
    /// use obsp_sim::VolumeSearch;
    ///
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let player = world.join()?;
    /// let at = world.entity(player).expect("the entity is in the world").position;
    /// let around = Aabb { min: at - DVec3::splat(50.0), max: at + DVec3::splat(50.0) };
    /// let mut search = VolumeSearch::new(ConvexSolid::from_box(&around)?);
    /// for _ in 0..3 {
    ///     world.step(&[]);
    ///     assert!(world.find_in(&mut search).contains(&player));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find_in(&self, search: &mut VolumeSearch) -> Vec<EntityId> {
        let VolumeSearch { volume, near } = search;
        let (space, mut slots) = (self.space(), Vec::new());
        space.entities_touching(volume.bounds(), Seeker::QUERY, &mut slots);
        let before = std::mem::take(near);
        let answer = |&slot: &u16| {
            let entity = self.entities.get(slot)?;
            let known = before.binary_search_by_key(&slot, |answer| answer.entity.slot);
            let known = known.map(|at| &before[at]).ok().filter(|known| known.holds_for(entity));
            if known.is_some() {
                return known.copied();
            }
            let (shape, pose) = entity.placement().map(|at| (at.shape(), *at.pose()))?;
            let is_inside = reaches_into(&space.standing(entity)?, volume);
            Some(Answer { entity: entity.id, shape, pose, is_inside })
        };
        near.extend(slots.iter().filter_map(answer));
        near.iter().filter(|answer| answer.is_inside).map(|answer| answer.entity).collect()
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};
    use obsp::geometry::Aabb;
    use obsp::model::shipped;

    use super::*;
    use crate::random::Random;
    use crate::setup::Config;
    use crate::test_maps::{block, compiled};

    /// Crates rest, move, turn, leave and come in other sizes. A search that is kept finds each
    /// time what a new one finds.
    #[test]
    fn a_kept_search_finds_what_a_new_one_finds() {
        let map = compiled(&block([-512, -512, -16], [512, 512, 0]), [400, 400, 40], "");
        let mut world = World::new(map, shipped().into(), Config::default()).unwrap();
        let box_ = Aabb::from_centre(DVec3::new(0.0, 0.0, 60.0), DVec3::splat(60.0));
        let volume = ConvexSolid::from_box(&box_).unwrap();
        let mut kept = VolumeSearch::new(volume.clone());
        let models = ["crate", "small_crate"].map(|name| world.model(name).unwrap());
        let (mut random, mut bodies, mut counts) = (Random::new(7), Vec::new(), [0; 2]);
        for round in 0..400 {
            let at = DVec3::new(random.between(-100.0, 100.0), random.between(-100.0, 100.0), 60.0);
            let turn = DQuat::from_rotation_z(random.between(0.0, 3.0));
            match random.below(4) {
                0 => {
                    let model = models[random.below(2) as usize];
                    bodies.extend(world.spawn_body(model, at, turn).ok());
                }
                1 if !bodies.is_empty() => {
                    let index = random.below(bodies.len() as u64) as usize;
                    world.remove(bodies.swap_remove(index)).unwrap();
                }
                2 if !bodies.is_empty() => {
                    let index = random.below(bodies.len() as u64) as usize;
                    let _ = world.place(bodies[index], at, turn);
                }
                _ => world.step(&[]),
            }
            let now = world.overlapping(&volume);
            assert_eq!(world.find_in(&mut kept), now, "round {round}");
            let near = kept.near.len();
            counts = [counts[0] + now.len(), counts[1] + near - now.len()];
        }
        assert!(counts.iter().all(|count| *count > 20), "inside and outside: {counts:?}");
    }
}
