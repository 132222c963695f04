use serde::{Deserialize, Serialize};

use crate::state::EntityId;

/// An event within a tick that the positions of a state do not show.
///
/// ```
/// # use std::sync::Arc;
/// use obsp_sim::{Config, World, WorldEvent};
///
/// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
/// let player = world.join()?;
/// assert!(world.events().contains(&WorldEvent::Spawned { player }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum WorldEvent {
    /// A player spawned, or spawned again.
    Spawned {
        /// The player.
        player: EntityId,
    },
    /// A player went through a teleporter.
    Teleported {
        /// The player.
        player: EntityId,
    },
    /// The emergency routine took a body out of an overlap and put it elsewhere, or into
    /// limbo.
    Replaced {
        /// The body.
        entity: EntityId,
    },
    /// The carrier of an attached body left the world. The body stays where it was, intangible.
    Detached {
        /// The body.
        entity: EntityId,
        /// The carrier.
        from: EntityId,
    },
}
