use std::collections::BTreeMap;

use glam::DVec3;
use obsp::geometry::Aabb;
use obsp_sim::{EntityId, EntityState, State};

/// Finds bodies that leave the box around everything solid, and remembers where they were before.
/// In a map without holes, no body can leave it.
#[derive(Debug)]
pub struct Outside {
    bounds: Aabb,
    places: BTreeMap<EntityId, Place>,
}

/// The place of a body.
#[derive(Clone, Copy, Debug)]
struct Place {
    last_within: DVec3,
    outside: bool,
}

impl Outside {
    /// A watch over a match in a map with these bounds.
    pub fn new(bounds: Aabb) -> Self {
        Self { bounds, places: BTreeMap::new() }
    }

    /// Checks the places of all solid bodies but movers, which go where the game sends them.
    /// Returns the bodies that have just left the bounds, and their last places within.
    pub fn see(
        &mut self,
        state: &State,
        is_mover: impl Fn(&EntityState) -> bool,
    ) -> Vec<(EntityId, DVec3)> {
        let mut left = Vec::new();
        let mut before = std::mem::take(&mut self.places);
        // A game may put a picture anywhere.
        let counts = |entity: &&EntityState| entity.traits.is_solid() && !is_mover(entity);
        for entity in state.entities.iter().filter(counts) {
            // Height does not count: a body that is thrown over a wall comes down.
            let position = entity.position.min(entity.position.with_z(self.bounds.max.z));
            let within = self.bounds.contains(position);
            let known = before.remove(&entity.id);
            let mut place = known.unwrap_or(Place { last_within: entity.position, outside: false });
            if within {
                place = Place { last_within: entity.position, outside: false };
            } else if !place.outside {
                place.outside = true;
                left.push((entity.id, place.last_within));
            }
            self.places.insert(entity.id, place);
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;
    use obsp_sim::{Kind, ModelId, Traits};

    use super::*;

    #[test]
    fn an_entity_that_leaves_the_bounds_is_reported_once_with_its_place_before() {
        let bounds = Aabb { min: DVec3::splat(-10.0), max: DVec3::splat(10.0) };
        let mut outside = Outside::new(bounds);
        let id = EntityId { slot: 3, generation: 0 };
        let mut see_as = |is_mover: bool, z: f64| {
            let entity = EntityState {
                id,
                kind: Kind::Prop { model: ModelId(0) },
                position: DVec3::new(1.0, 2.0, z),
                orientation: DQuat::IDENTITY,
                velocity: DVec3::ZERO,
                asleep: false,
                traits: Traits::default(),
            };
            outside.see(&State { tick: 0, entities: vec![entity] }, |_| is_mover)
        };
        assert_eq!(see_as(true, -11.0), [], "a door may be drawn in an outer wall");
        let mut see = |z| see_as(false, z);
        assert_eq!(see(-9.0), []);
        assert_eq!(see(50.0), [], "over the walls");
        assert_eq!(see(-9.5), []);
        assert_eq!(see(-11.0), [(id, DVec3::new(1.0, 2.0, -9.5))]);
        assert_eq!(see(-30.0), [], "it was reported already");
    }
}
