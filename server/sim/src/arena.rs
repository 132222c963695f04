//! The parts of a match that never change: the map, the shapes, the spawn points, the triggers and
//! the numbers of movement. The server's world and the predicting clients share these parts.

pub(crate) mod currents;
pub(crate) mod direction;
pub(crate) mod ladders;
pub(crate) mod movement_sets;
pub(crate) mod parameters;
pub(crate) mod ray;
pub(crate) mod spawn;
pub(crate) mod triggers;

use std::sync::{Arc, OnceLock};

use glam::DVec3;
use obsp::geometry::Aabb;
use obsp::model::Model;
use obsp::{SizeId, Trace, clip_to_extent};

use crate::arena::ladders::Ladders;
use crate::arena::movement_sets::MovementSets;
use crate::arena::parameters::MovementParameters;
use crate::arena::spawn::{Places, SpawnPoint};
use crate::arena::triggers::Triggers;
use crate::bodies::entities::Entities;
use crate::bodies::guard::Space;
use crate::bodies::roles::Walker;
use crate::collision::currents::Currents;
use crate::collision::shape::Shapes;
use crate::setup::{SetupError, SetupWarning};
use crate::state::{ModelId, Posture};

/// A body this far below the lowest solid, in units, has fallen out of a map that is
/// not sealed.
const FALLEN: f64 = 1024.0;

/// A body this far outside the bounds of the map in any other direction, in units, has left the map
/// as well. The fastest body falls out of the map before it has flown a quarter of this distance.
pub(crate) const LEFT: f64 = 65_536.0;

/// Everything about a match that never changes.
#[derive(Clone, Debug)]
pub(crate) struct Arena {
    pub(crate) map: Arc<obsp::Map>,
    pub(crate) shapes: Shapes,
    pub(crate) triggers: Triggers,
    pub(crate) ladders: Ladders,
    pub(crate) currents: Currents,
    /// Names of the models, by [`ModelId`].
    pub(crate) model_names: Vec<String>,
    /// The models that are drawn in the map, each with the index of its entity.
    pub(crate) drawn: Vec<(usize, DrawnModel)>,
    /// The map's spawn points. A match has at least one.
    pub(crate) spawn_points: Vec<SpawnPoint>,
    /// Problems with the map's spawn points.
    pub(crate) warnings: Vec<SetupWarning>,
    /// The player size with which lines of sight are traced.
    pub(crate) sight: SizeId,
    /// A body whose centre is outside this box has left the map.
    pub(crate) space: Aabb,
    /// The sets of parameters of the players' movement.
    pub(crate) movement: MovementSets,
    /// The places that players can reach. They are computed when first needed. A predicting client
    /// never needs them.
    places: OnceLock<Places>,
}

impl Arena {
    /// The arena of a match on `map` with bodies of `models`.
    ///
    /// # Errors
    /// [`SetupError`] if the map lacks a size that players need, or there are
    /// too many models.
    pub(crate) fn new(map: Arc<obsp::Map>, models: &[Model]) -> Result<Self, SetupError> {
        let shapes = Shapes::new(&map, models)?;
        let (_, standing) = shapes.boxes.of(Posture::Standing);
        let mut warnings = Vec::new();
        Ok(Self {
            triggers: Triggers::new(&map, standing),
            ladders: Ladders::new(&map),
            currents: currents::currents(&map),
            drawn: drawn(&map, models)?,
            model_names: models.iter().map(|model| model.name().to_owned()).collect(),
            spawn_points: spawn::spawn_points(&map, standing, &mut warnings),
            warnings,
            sight: map.size("point").unwrap_or(shapes.boxes.of(Posture::Crouching).1),
            space: space_around(&map.bounds()),
            movement: MovementSets::default(),
            places: OnceLock::new(),
            shapes,
            map,
        })
    }

    /// Sets the parameters of the players' movement.
    pub(crate) fn set_movement(&mut self, movement: MovementSets) {
        if movement.usual().step_height != self.movement.usual().step_height {
            self.places = OnceLock::new();
        }
        self.movement = movement;
    }

    /// The parameters by which a player moves now.
    pub(crate) fn movement_of(&self, walker: &Walker) -> &MovementParameters {
        self.movement.get(walker.movement)
    }

    /// The places that players can reach from the spawn points.
    pub(crate) fn places(&self) -> &Places {
        let (_, standing) = self.shapes.boxes.of(Posture::Standing);
        let points = || self.spawn_points.iter().map(|point| point.centre).collect::<Vec<DVec3>>();
        let step_height = self.movement.usual().step_height;
        self.places.get_or_init(|| Places::new(&self.map, standing, &points(), step_height))
    }

    /// Whether nothing of the map lies between the two points. If `from` is in solid, the answer is
    /// no.
    pub(crate) fn in_sight(&self, from: DVec3, to: DVec3) -> bool {
        let Some(clipped) = clip_to_extent(from, to) else { return false };
        let (from, to) = (from.as_vec3(), clipped.end.as_vec3());
        self.map.find_first_transition(self.sight, from, to) == Trace::Clear
    }

    /// The space of this arena with these entities in it.
    pub(crate) fn space<'a>(&'a self, entities: &'a Entities) -> Space<'a> {
        Space { map: &self.map, shapes: &self.shapes, entities }
    }

    /// The model with this name; `None` if the match has no such model.
    pub(crate) fn model(&self, name: &str) -> Option<ModelId> {
        let index = self.model_names.iter().position(|known| known == name)?;
        u8::try_from(index).ok().map(ModelId)
    }
}

/// A model that is drawn in the map of a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnModel {
    /// The model.
    pub model: ModelId,
    /// The position, in units, at which an unrotated body of the model stands where the model is
    /// drawn.
    pub place: DVec3,
}

fn drawn(map: &obsp::Map, models: &[Model]) -> Result<Vec<(usize, DrawnModel)>, SetupError> {
    let mut found = Vec::new();
    for (model, id) in models.iter().zip((0..=u8::MAX).map(ModelId)) {
        let Some(drawn) = model.drawn() else { continue };
        if drawn.map != map.hash() {
            return Err(SetupError::OtherMap(model.name().to_owned()));
        }
        found.push((drawn.entity, DrawnModel { model: id, place: drawn.place }));
    }
    Ok(found)
}

/// The space in which bodies of a map with these bounds may be.
fn space_around(bounds: &Aabb) -> Aabb {
    let space = bounds.inflated(LEFT);
    Aabb { min: space.min.with_z(bounds.min.z - FALLEN), ..space }
}
