//! Questions about the liquids of the map.

use super::World;
use crate::players::submersion::Submersion;
use crate::state::EntityId;

impl World {
    /// The liquid that a player on foot is in, and how deep; `None` on land, for other entities,
    /// and outside of the world. It is computed from the player's position, so it is not stored.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::DVec3;
    /// # use obsp_sim::{Config, PlayerKind, World};
    /// use obsp_sim::Depth;
    ///
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// // The pit in the middle of the arena is wet up to 12 units above its ground.
    /// let place = DVec3::new(0.0, 0.0, -99.0);
    /// let player = world.add_agent_at(PlayerKind::Box, place, 0)?;
    /// let submersion = world.submersion(player).expect("the feet are in water");
    /// assert_eq!((submersion.kind, submersion.depth), (obsp::LiquidKind::Water, Depth::Feet));
    /// assert!(!submersion.swims());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn submersion(&self, id: EntityId) -> Option<Submersion> {
        let entity = self.entities.find(id)?;
        let shape = self.arena.shapes.of_posture(entity.walker()?.posture);
        let half_height = self.arena.shapes[shape].bounds.half_extents().z;
        let position = entity.placement()?.pose().position.as_vec3();
        Submersion::of(&self.arena.map, half_height, position)
    }
}
