//! The layers of entities: which others an entity may meet.

use super::World;
use crate::bodies::guard::Seeker;
use crate::bodies::sleep;
use crate::place_error::PlaceError;
use crate::state::EntityId;
use crate::traits::CollisionLayers;

impl World {
    /// The layers of an entity, which may be outside of the world; `None` if there is no such
    /// entity.
    pub fn layers(&self, id: EntityId) -> Option<CollisionLayers> {
        self.entities.find(id).map(|entity| entity.layers)
    }

    /// Sets the layers of an entity. Bodies that rested on it wake up, and fall if they may not
    /// meet it any more.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::{DQuat, DVec3};
    /// # use obsp_sim::{Config, World};
    /// use obsp_sim::{CollisionLayers, PlaceError};
    ///
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let model = world.model("crate").expect("a shipped model");
    /// let at = DVec3::new(-400.0, -260.0, 100.0);
    /// let first = world.spawn_body(model, at, DQuat::IDENTITY)?;
    /// let second = world.spawn_body(model, at + DVec3::Z * 40.0, DQuat::IDENTITY)?;
    /// // A ghost passes through everything but the map.
    /// let ghost = CollisionLayers { layers: 0, mask: 0 };
    /// world.set_layers(second, ghost)?;
    /// world.teleport(second, at, DQuat::IDENTITY)?;
    /// // It cannot become solid within the first crate.
    /// let usual = CollisionLayers::default();
    /// assert_eq!(world.set_layers(second, usual), Err(PlaceError::NoRoom));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if there is no such entity, and [`PlaceError::NoRoom`] if it
    /// overlaps something that it may meet from then on, or is nearer to it than the guard's
    /// margin. Nothing changes then.
    pub fn set_layers(&mut self, id: EntityId, layers: CollisionLayers) -> Result<(), PlaceError> {
        let entity = self.entities.find(id).ok_or(PlaceError::NoSuchEntity)?;
        if entity.layers == layers {
            return Ok(());
        }
        let placed = entity.placement().copied();
        if placed.is_some() {
            let mut context = self.context.share();
            let newly = Seeker::newly(entity, layers);
            if !self.space().is_clear_of(entity, newly, &mut context) {
                return Err(PlaceError::NoRoom);
            }
        }
        if let Some(entity) = self.entities.find_mut(id) {
            entity.layers = layers;
            // The pairs of the last search no longer say what the entity meets.
            entity.record.searched_as = None;
        }
        self.forget_pairs(id.slot);
        if let Some(placement) = placed {
            sleep::wake_around(&mut self.entities, placement.bounds());
            self.disturb(id);
        }
        Ok(())
    }

    /// Drops the known pairs of a body with bodies that it may not meet any more.
    fn forget_pairs(&mut self, slot: u16) {
        let Self { entities, pairs, .. } = self;
        let Some(own) = entities.get(slot) else { return };
        let meets = |other: u16| entities.get(other).is_some_and(|other| own.may_meet(other));
        pairs.retain(|pair| match pair.key.other.entity() {
            Some(other) if pair.key.body == slot => meets(other),
            Some(other) if other == slot => meets(pair.key.body),
            _ => true,
        });
    }

    /// Whether an entity may meet something with these layers. The functions that select entities
    /// for [`World::cast_ray_where`] and similar queries can call this.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::DVec3;
    /// # use obsp_sim::{Config, World};
    /// use obsp_sim::CollisionLayers;
    ///
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// # let (player, friend) = (world.join()?, world.join()?);
    /// const RED: u32 = 1 << 1;
    /// let from = DVec3::new(-400.0, -320.0, 100.0);
    /// let to = from - DVec3::Z * 200.0;
    /// // A ray that ignores two entities.
    /// world.cast_ray_where(from, to, |id| id != player && id != friend);
    /// // A ray that is stopped by nothing of the red team.
    /// let ray = CollisionLayers { layers: 1, mask: !RED };
    /// let hit = world.cast_ray_where(from, to, |id| world.may_meet(id, ray));
    /// assert!(hit.entity.is_none_or(|id| world.may_meet(id, ray)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn may_meet(&self, id: EntityId, layers: CollisionLayers) -> bool {
        self.layers(id).is_some_and(|own| own.may_meet(layers))
    }
}
