use std::sync::Arc;

use glam::DVec3;
use maps::SizeId;
use maps::model::Model;

use crate::setup::SetupError;
use crate::shape::Shapes;
use crate::spawn;
use crate::state::{ModelId, Posture};
use crate::trigger::Triggers;

/// Below the lowest solid by this many units, a body has fallen out of a map
/// that is not sealed.
const FALLEN: f64 = 1024.0;

/// Everything about a match that never changes, shared by the world that
/// decides and the clients that predict.
#[derive(Clone, Debug)]
pub(crate) struct Arena {
    pub(crate) map: Arc<maps::World>,
    pub(crate) shapes: Shapes,
    pub(crate) triggers: Triggers,
    /// Names of the models, by [`ModelId`].
    pub(crate) model_names: Vec<String>,
    /// Centres of a standing player at the map's spawn points.
    pub(crate) spawn_points: Vec<DVec3>,
    /// The size for which "in plain sight" is decided.
    pub(crate) sight: SizeId,
    /// Whoever is below this height has fallen out of the map.
    pub(crate) floor: f64,
}

impl Arena {
    /// What a match on `map` with bodies of `models` is played with.
    ///
    /// # Errors
    /// [`SetupError`] if the map lacks a size that players need, or there are
    /// too many models.
    pub(crate) fn new(map: Arc<maps::World>, models: &[Model]) -> Result<Self, SetupError> {
        let shapes = Shapes::new(&map, models)?;
        Ok(Self {
            triggers: Triggers::new(&map),
            model_names: models.iter().map(|model| model.name().to_owned()).collect(),
            spawn_points: spawn::spawn_points(&map),
            sight: map.size("point").unwrap_or(shapes.boxes.of(Posture::Crouching).1),
            floor: map.bounds().min.z - FALLEN,
            shapes,
            map,
        })
    }

    /// The model of this name, if the match has it.
    pub(crate) fn model(&self, name: &str) -> Option<ModelId> {
        let index = self.model_names.iter().position(|known| known == name)?;
        u8::try_from(index).ok().map(ModelId)
    }
}
