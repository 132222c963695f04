use glam::{DQuat, DVec3};
use obsp::geometry::{Aabb, ConvexSolid};
use obsp::model::Model;

use super::surface::{Figure, Surface};
use crate::setup::SetupError;
use crate::state::{EntityState, Kind, Posture};
use crate::traits::Substance;

/// The surfaces of all kinds of entities.
#[derive(Debug)]
pub(super) struct Surfaces {
    standing: Surface,
    crouching: Surface,
    models: Vec<Surface>,
}

/// An entity with its surface in the world, at the last state.
#[derive(Clone, Debug)]
pub(super) struct AuditedBody {
    pub(super) entity: EntityState,
    pub(super) figure: Figure,
}

impl Surfaces {
    pub(super) fn new(map: &obsp::Map, models: &[Model]) -> Result<Self, SetupError> {
        let agent = |name: &'static str| {
            let missing = SetupError::MissingSize(name);
            let size = map.sizes().iter().find(|size| size.name == name).ok_or(missing.clone())?;
            let bounds = Aabb::from_centre(DVec3::ZERO, size.half_extents.as_dvec3());
            let solid = ConvexSolid::from_box(&bounds).map_err(|_| missing)?;
            Ok(Surface::of_convex_body(&solid))
        };
        Ok(Self {
            standing: agent("standing")?,
            crouching: agent("crouching")?,
            models: models.iter().map(Surface::of_model).collect(),
        })
    }

    /// The surface of an entity; `None` if the entity has none.
    pub(super) fn of(&self, entity: &EntityState) -> Option<&Surface> {
        match entity.kind {
            Kind::Player { posture: Posture::Standing } => Some(&self.standing),
            Kind::Player { posture: Posture::Crouching } => Some(&self.crouching),
            Kind::Vehicle { model } | Kind::Prop { model } => self.models.get(usize::from(model.0)),
        }
    }

    /// An entity and its surface in the world.
    pub(super) fn see(&self, entity: &EntityState) -> Option<AuditedBody> {
        let figure = self.of(entity)?.placed(attitude(entity), entity.position);
        Some(AuditedBody { entity: *entity, figure })
    }

    /// A point in the world that is well inside an entity.
    pub(super) fn anchor(&self, entity: &EntityState) -> Option<DVec3> {
        Some(entity.position + attitude(entity) * self.of(entity)?.anchor)
    }
}

/// Orientation of an entity's surface. The boxes of players never turn.
pub(super) fn attitude(entity: &EntityState) -> DQuat {
    match entity.kind {
        Kind::Player { .. } => DQuat::IDENTITY,
        Kind::Vehicle { .. } | Kind::Prop { .. } => entity.orientation,
    }
}

/// Whether an entity takes room, so that others must keep out of it.
pub(super) fn takes_room(entity: &EntityState) -> bool {
    match entity.traits.substance {
        Substance::Solid => true,
        Substance::Intangible | Substance::Attached(_) => false,
    }
}

/// Whether two entities must keep out of each other: each is on at least one layer of the other's
/// mask.
pub(super) fn exclude_each_other(one: &EntityState, other: &EntityState) -> bool {
    let has = |set: u32, layer: u32| (set >> layer) % 2 == 1;
    let minds = |who: &EntityState, whom: &EntityState| {
        let (mask, layers) = (who.traits.layers.mask, whom.traits.layers.layers);
        (0..32).any(|layer| has(mask, layer) && has(layers, layer))
    };
    minds(one, other) && minds(other, one)
}

impl AuditedBody {
    /// Whether `entity` has the kind, the pose and the layers of this body.
    pub(super) fn is_as(&self, entity: &EntityState) -> bool {
        self.entity.kind == entity.kind
            && self.entity.position == entity.position
            && attitude(&self.entity) == attitude(entity)
            && self.entity.traits.layers == entity.traits.layers
    }

    /// The middle of this body's box if the body had already had the shape of `now`. A player who
    /// stands up or crouches gets another box, and the middle of that box is at another height over
    /// the feet.
    pub(super) fn origin_as(&self, now: &Self) -> DVec3 {
        let origin = self.entity.position;
        if self.entity.kind == now.entity.kind {
            return origin;
        }
        let over_feet = now.entity.position.z - now.figure.bounds().min.z;
        origin.with_z(self.figure.bounds().min.z + over_feet)
    }
}
