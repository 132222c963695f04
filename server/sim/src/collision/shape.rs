//! The shapes of bodies: convex parts, bounds, mass and inertia.

use glam::DVec3;
use obsp::SizeId;
use obsp::geometry::{Aabb, ConvexSolid};
use obsp::model::{BodyKind, Material, Model};
use serde::{Deserialize, Serialize};

use crate::collision::cascade::Mesh;
use crate::collision::distances::ROUNDING;
use crate::collision::mass::MassProperties;
use crate::conventions::GRAVITY;
use crate::setup::SetupError;
use crate::state::{MAX_MODELS, ModelId, Posture};

/// Index of a [`Shape`] in the match's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShapeId(pub(crate) u16);

/// Every shape of a match: the two boxes of a player, then the models.
#[derive(Clone, Debug)]
pub(crate) struct Shapes {
    list: Vec<Shape>,
    /// The player's boxes.
    pub(crate) boxes: AgentBoxes,
}

/// The two boxes of a player, as shapes and as sizes of the onion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentBoxes {
    standing: (ShapeId, SizeId),
    crouching: (ShapeId, SizeId),
    /// Height of the standing box's centre above that of the crouching one, with
    /// the feet in the same place.
    pub(crate) rise: f32,
}

impl AgentBoxes {
    pub(crate) fn of(&self, posture: Posture) -> (ShapeId, SizeId) {
        match posture {
            Posture::Standing => self.standing,
            Posture::Crouching => self.crouching,
        }
    }
}

impl Shapes {
    /// The shapes of a match on `map`.
    ///
    /// # Errors
    /// [`SetupError`] if the map lacks a size that players need, or there are
    /// more models than a [`ModelId`] can name.
    pub(crate) fn new(map: &obsp::Map, models: &[Model]) -> Result<Self, SetupError> {
        if models.len() > MAX_MODELS {
            return Err(SetupError::TooManyModels(models.len()));
        }
        let agent = |name: &'static str| {
            let size = map.size(name).ok_or(SetupError::MissingSize(name))?;
            let half = map.sizes()[size.index()].half_extents;
            let shape = Shape::agent(size, half.as_dvec3());
            Ok((shape.ok_or(SetupError::MissingSize(name))?, size, half.z))
        };
        let (standing, standing_size, tall) = agent("standing")?;
        let (crouching, crouching_size, low) = agent("crouching")?;
        let boxes = AgentBoxes {
            standing: (ShapeId(0), standing_size),
            crouching: (ShapeId(1), crouching_size),
            rise: tall - low,
        };
        let list = [standing, crouching].into_iter().chain(models.iter().map(Shape::prop));
        Ok(Self { list: list.collect(), boxes })
    }

    /// Sets the gravity that acts on all bodies: see [`Shape::gravity`].
    pub(crate) fn set_gravity(&mut self, gravity: f64) {
        self.list.iter_mut().for_each(|shape| shape.gravity = gravity);
    }

    /// The gravity that acts on all bodies.
    pub(crate) fn gravity(&self) -> f64 {
        self.list.first().map_or(GRAVITY, |shape| shape.gravity)
    }

    /// The shape of a model's bodies; `None` if there is no such model.
    pub(crate) fn of_model(&self, model: ModelId) -> Option<ShapeId> {
        let index = u16::from(model.0) + 2;
        (usize::from(index) < self.list.len()).then_some(ShapeId(index))
    }

    /// Whether bodies of a model are kinematic.
    pub(crate) fn is_kinematic(&self, model: ModelId) -> bool {
        self.of_model(model).is_some_and(|shape| self[shape].kind == BodyKind::Kinematic)
    }

    /// The shape of a player in `posture`.
    pub(crate) fn of_posture(&self, posture: Posture) -> ShapeId {
        self.boxes.of(posture).0
    }
}

impl std::ops::Index<ShapeId> for Shapes {
    type Output = Shape;

    fn index(&self, id: ShapeId) -> &Shape {
        &self.list[usize::from(id.0)]
    }
}

/// A body in its own axes, about its centre of mass.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Convex parts whose union is the body.
    pub(crate) parts: Vec<ConvexSolid>,
    /// The surface of all parts together, for the BSP stages.
    pub(crate) mesh: Mesh,
    /// Bounding sphere about the centre of mass.
    pub(crate) radius: f64,
    /// Bounding box in body axes.
    pub(crate) bounds: Aabb,
    /// The size of this box in the onion; only for a player's box.
    pub(crate) size: Option<SizeId>,
    /// The material of the body.
    pub(crate) material: Material,
    /// How bodies of this shape move.
    pub(crate) kind: BodyKind,
    /// The mass and inertia by the material. A body may have its own:
    /// [`Entity::mass`](crate::bodies::entities::Entity::mass).
    pub(crate) mass: MassProperties,
    /// The match's gravity on bodies: a downward acceleration, in units per second squared. All
    /// shapes have the same value, and the material scales it.
    pub(crate) gravity: f64,
}

impl Shape {
    /// A rigid prop.
    pub(crate) fn prop(model: &Model) -> Self {
        let mass = match model.kind() {
            BodyKind::Kinematic => MassProperties::default(),
            BodyKind::Dynamic | BodyKind::Missile => {
                let mass = model.volume() * model.material().density();
                MassProperties::new(mass, model.inertia())
            }
        };
        Self {
            parts: model.parts().to_vec(),
            mesh: Mesh::of_model(model),
            radius: model.radius() + ROUNDING,
            bounds: model.bounds().inflated(ROUNDING),
            size: None,
            material: model.material(),
            kind: model.kind(),
            mass,
            gravity: GRAVITY,
        }
    }

    /// A player's box, which never turns. `None` if the box has no volume.
    pub(crate) fn agent(size: SizeId, half_extents: DVec3) -> Option<Self> {
        Some(Self { size: Some(size), ..Self::probe(half_extents)? })
    }

    /// A box that no impulse moves. `None` if the box has no volume, or is not finite.
    pub(crate) fn probe(half_extents: DVec3) -> Option<Self> {
        if !half_extents.is_finite() || half_extents.min_element() <= 0.0 {
            return None;
        }
        let bounds = Aabb::from_centre(DVec3::ZERO, half_extents);
        let solid = ConvexSolid::from_box(&bounds).ok()?;
        Some(Self {
            mesh: Mesh::of_solid(&solid),
            parts: vec![solid],
            radius: half_extents.length() + ROUNDING,
            bounds,
            size: None,
            material: Material::USUAL,
            kind: BodyKind::Dynamic,
            mass: MassProperties::default(),
            gravity: GRAVITY,
        })
    }
}
