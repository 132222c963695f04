//! What lies about when a match begins.

use std::sync::Arc;

use maps::model::EVERYDAY;

use super::World;
use crate::counters::Counters;
use crate::entities::{Entity, Role};
use crate::guard::{Placement, Space};
use crate::pose::Pose;
use crate::random::Random;
use crate::setup::SetupWarning;
use crate::shape::ShapeId;
use crate::spawn;
use crate::state::{ModelId, Posture};

/// Longest time in game seconds that placed props get to come to rest.
const SETTLING_SECONDS: u32 = 10;

impl World {
    pub(super) fn place_drawn_props(&mut self) {
        let map = Arc::clone(&self.arena.map);
        for drawn in map.entities().iter().filter(|entity| entity.classname() == "prop") {
            let Some(position) = drawn.origin() else {
                self.warnings.push(SetupWarning::NoOrigin { classname: "prop".into() });
                continue;
            };
            let name = drawn.get("model").unwrap_or_default();
            let Some(model) = self.arena.model(name) else {
                self.warnings.push(SetupWarning::UnknownModel {
                    origin: position,
                    model: name.to_owned(),
                    known: self.arena.model_names.join(", "),
                });
                continue;
            };
            let orientation = spawn::turn(drawn.angle().unwrap_or(0.0));
            let pose = Pose { position, orientation };
            let sight = self.arena.sight;
            let found = self.insert_prop(model, |space, shape, counters| {
                spawn::nearest_free(space, shape, pose, sight, counters)
            });
            if !found {
                let model = name.to_owned();
                self.warnings.push(SetupWarning::NoRoom { origin: position, model });
            }
        }
    }

    pub(super) fn scatter_props(&mut self) {
        let mut random = Random::new(self.config.seed);
        let models: Vec<ModelId> =
            EVERYDAY.iter().filter_map(|name| self.arena.model(name)).collect();
        let asked = self.config.objects;
        if asked == 0 || models.is_empty() {
            return;
        }
        let standing = self.arena.shapes.boxes.of(Posture::Standing);
        let (points, places) = (self.arena.spawn_points.clone(), self.arena.places().clone());
        let mut placed = 0;
        for _ in 0..asked {
            let model = models[random.below(models.len() as u64) as usize];
            placed += u32::from(self.insert_prop(model, |space, shape, counters| {
                let over = (points.as_slice(), &places);
                spawn::scattered(space, over, shape, standing, &mut random, counters)
            }));
        }
        if placed < asked {
            self.warnings.push(SetupWarning::FewerObjects { asked, placed });
        }
    }

    /// Adds a prop if `place` finds room for it. Returns whether it has.
    fn insert_prop(
        &mut self,
        model: ModelId,
        place: impl FnOnce(&Space, ShapeId, &mut Counters) -> Option<Placement>,
    ) -> bool {
        let Some(shape) = self.arena.shapes.of_model(model) else { return false };
        let mut counters = self.counters;
        let placement = place(&self.space(), shape, &mut counters);
        self.counters = counters;
        let Some(placement) = placement else { return false };
        let Some(id) = self.entities.insert(Role::Prop(model), shape) else { return false };
        self.entities.commit(id.slot, placement);
        true
    }

    /// Lets what was placed fall and come to rest before the match begins, so
    /// that the first players do not join an avalanche.
    pub(super) fn settle_props(&mut self) {
        let seconds = 1.0 / f64::from(self.config.tick_rate);
        let longest = SETTLING_SECONDS * self.config.tick_rate;
        for _ in 0..longest {
            if self.entities.slots_where(Entity::is_awake_body).is_empty() {
                break;
            }
            self.advance_props(seconds, Vec::new());
        }
        if self.counters.fallen > 0 {
            self.warnings.push(SetupWarning::Fell { count: self.counters.fallen });
        }
    }
}
