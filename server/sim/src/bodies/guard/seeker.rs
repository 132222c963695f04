use obsp::geometry::Aabb;

use crate::bodies::entities::Entity;
use crate::traits::CollisionLayers;

/// The entity, or the query, for which the entities and the solids in a box are looked up. Only the
/// entities and solids that the seeker's layers and pocket let it meet are found, so code that
/// follows a motion need not check this again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seeker {
    /// The slot of the entity, which is left out.
    own: Option<u16>,
    /// The layers of the entity; `None` for a query, which meets everything.
    layers: Option<CollisionLayers>,
    /// Layers that the found entities must not meet: the old layers of an entity with new layers.
    but_not: Option<CollisionLayers>,
    /// The box in which the static world is left out.
    pocket: Option<Aabb>,
}

impl Seeker {
    /// A query that meets everything.
    pub(crate) const QUERY: Self = Self { own: None, layers: None, but_not: None, pocket: None };

    /// A query that meets everything except the entity in a slot.
    pub(crate) fn query_except(slot: u16) -> Self {
        Self { own: Some(slot), ..Self::QUERY }
    }

    /// An entity of the match.
    pub(crate) fn of(entity: &Entity) -> Self {
        Self {
            own: Some(entity.id.slot),
            layers: Some(entity.layers),
            pocket: entity.pocket(),
            ..Self::QUERY
        }
    }

    /// An entity that is not in the match yet.
    pub(crate) const fn newcomer(layers: CollisionLayers) -> Self {
        Self { layers: Some(layers), ..Self::QUERY }
    }

    /// An entity that gets new layers. It meets only what it could not meet before.
    pub(crate) fn newly(entity: &Entity, layers: CollisionLayers) -> Self {
        Self { layers: Some(layers), but_not: Some(entity.layers), ..Self::of(entity) }
    }

    /// This seeker with another pocket, or none.
    pub(crate) fn with_pocket(self, pocket: Option<Aabb>) -> Self {
        Self { pocket, ..self }
    }

    /// The box in which the static world is left out.
    pub(super) fn pocket(&self) -> Option<Aabb> {
        self.pocket
    }

    /// Whether the seeker meets this entity.
    pub(crate) fn meets(self, entity: &Entity) -> bool {
        Some(entity.id.slot) != self.own
            && self.layers.is_none_or(|layers| layers.may_meet(entity.layers))
            && !self.but_not.is_some_and(|layers| layers.may_meet(entity.layers))
    }
}
