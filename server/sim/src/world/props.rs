//! The props with which a match begins.

use std::sync::Arc;

use obsp::MapEntity;
use obsp::model::EVERYDAY;

use super::World;
use super::operations::NEWCOMER;
use crate::arena::LEFT;
use crate::arena::spawn::{self, SpawnCandidates};
use crate::bodies::guard::{Placement, Space};
use crate::bodies::roles::Role;
use crate::bodies::slots::MAX_ENTITIES;
use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;
use crate::context::StepContext;
use crate::conventions::turn;
use crate::random::Random;
use crate::setup::SetupWarning;
use crate::state::{ModelId, Posture};

/// Longest game time for placed props to come to rest, in seconds.
const SETTLING_SECONDS: u32 = 10;

impl World {
    pub(super) fn place_drawn_props(&mut self) {
        let map = Arc::clone(&self.arena.map);
        for drawn in map.entities().iter().filter(|entity| entity.classname() == "prop") {
            self.place_drawn(drawn, drawn.get("model").unwrap_or_default());
        }
    }

    /// Adds a body of a model where an entity of the map is drawn, or at the nearest free place
    /// in sight of it. If there is no origin, no such model or no free place, nothing is added,
    /// and [`World::warnings`] has the reason.
    pub fn place_drawn(&mut self, drawn: &MapEntity, model: &str) {
        let Some(origin) = drawn.origin() else {
            let classname = drawn.classname().to_owned();
            return self.warnings.push(SetupWarning::NoOrigin { classname });
        };
        let Some(id) = self.arena.model(model) else {
            let known = self.arena.model_names.join(", ");
            let model = model.to_owned();
            return self.warnings.push(SetupWarning::UnknownModel { origin, model, known });
        };
        let orientation = turn(drawn.angle().unwrap_or(0.0));
        // A prop that is drawn below the map falls out of it, and another warning reports that.
        let around = self.arena.map.bounds().inflated(LEFT);
        let pose = Pose::checked(origin, orientation).filter(|_| around.contains(origin));
        let sight = self.arena.sight;
        let found = self.insert_prop(id, |space, shape, context| {
            spawn::nearest_free(space, (shape, NEWCOMER), pose?, sight, context)
        });
        if !found {
            self.warnings.push(SetupWarning::NoRoom { origin, model: model.to_owned() });
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
        // Places are looked for only for as many props as a match can hold.
        for _ in 0..asked.min(MAX_ENTITIES as u32) {
            let model = models[random.below(models.len() as u64) as usize];
            placed += u32::from(self.insert_prop(model, |space, shape, context| {
                let candidates = SpawnCandidates { points: &points, places: &places, attempt: 0 };
                spawn::scattered(
                    space,
                    &candidates,
                    (shape, NEWCOMER),
                    standing,
                    &mut random,
                    context,
                )
            }));
        }
        if placed < asked {
            self.warnings.push(SetupWarning::FewerObjects { asked, placed });
        }
    }

    /// Adds a prop if `place` finds room for it. Returns whether it did.
    fn insert_prop(
        &mut self,
        model: ModelId,
        place: impl FnOnce(&Space, ShapeId, &mut StepContext) -> Option<Placement>,
    ) -> bool {
        let Some(shape) = self.arena.shapes.of_model(model) else { return false };
        let Self { arena, entities, context, .. } = self;
        let space = arena.space(entities);
        let Some(placement) = place(&space, shape, context) else { return false };
        let role = Role::of_body(model, &self.arena.shapes);
        let Some(id) = self.entities.insert(role, shape) else { return false };
        self.entities.commit(id.slot, placement);
        true
    }

    /// Lets the props fall and come to rest before the match begins, so that the first
    /// players do not join an avalanche.
    pub(super) fn settle_props(&mut self) {
        let longest = SETTLING_SECONDS * self.config.tick_rate;
        for _ in 0..longest {
            if !self.entities.active().any(|entity| entity.mobility().is_guarded()) {
                break;
            }
            self.advance_props(Vec::new());
        }
        if self.context.counters.fallen > 0 {
            self.warnings.push(SetupWarning::Fell { count: self.context.counters.fallen });
        }
    }
}
