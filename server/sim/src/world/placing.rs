//! What lies about when a match begins.

use std::sync::Arc;

use maps::SizeId;
use maps::model::EVERYDAY;

use super::World;
use crate::counters::Counters;
use crate::entities::{Entity, Role};
use crate::guard::{Placement, Space};
use crate::pose::Pose;
use crate::random::Random;
use crate::shape::ShapeId;
use crate::spawn;
use crate::state::ModelId;

/// Longest time in game seconds that placed props get to come to rest.
const SETTLING_SECONDS: u32 = 10;

impl World {
    pub(super) fn place_drawn_props(&mut self) {
        let map = Arc::clone(&self.arena.map);
        for drawn in map.entities().iter().filter(|entity| entity.classname() == "prop") {
            let model = drawn.get("model").and_then(|name| self.arena.model(name));
            let (Some(model), Some(position)) = (model, drawn.origin()) else { continue };
            let orientation = spawn::turn(drawn.angle().unwrap_or(0.0));
            let pose = Pose { position, orientation };
            self.insert_prop(model, |space, shape, sight, counters| {
                spawn::nearest_free(space, shape, pose, sight, counters)
            });
        }
    }

    pub(super) fn scatter_props(&mut self) {
        let mut random = Random::new(self.config.seed);
        let models: Vec<ModelId> =
            EVERYDAY.iter().filter_map(|name| self.arena.model(name)).collect();
        if models.is_empty() {
            return;
        }
        let points = self.arena.spawn_points.clone();
        for _ in 0..self.config.objects {
            let model = models[random.below(models.len() as u64) as usize];
            self.insert_prop(model, |space, shape, sight, counters| {
                spawn::scattered(space, &points, shape, sight, &mut random, counters)
            });
        }
    }

    /// Adds a prop if `place` finds room for it.
    fn insert_prop(
        &mut self,
        model: ModelId,
        place: impl FnOnce(&Space, ShapeId, SizeId, &mut Counters) -> Option<Placement>,
    ) {
        let Some(shape) = self.arena.shapes.of_model(model) else { return };
        let mut counters = self.counters;
        let placement = place(&self.space(), shape, self.arena.sight, &mut counters);
        self.counters = counters;
        let Some(placement) = placement else { return };
        if let Some(id) = self.entities.insert(Role::Prop(model), shape) {
            self.entities.commit(id.slot, placement);
        }
    }

    /// Lets what was placed fall and come to rest before the match begins, so
    /// that the first players do not join an avalanche.
    pub(super) fn settle_props(&mut self) {
        let seconds = 1.0 / f64::from(self.config.tick_rate);
        let longest = SETTLING_SECONDS * self.config.tick_rate;
        for _ in 0..longest {
            if self.entities.slots_where(Entity::is_awake_prop).is_empty() {
                break;
            }
            self.advance_props(seconds, Vec::new());
        }
    }
}
