use glam::DVec3;

use crate::state::EntityId;

/// Something that happened within a tick and that positions do not show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
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
    /// A ray was shot.
    Ray {
        /// The shooter.
        player: EntityId,
        /// Start.
        from: DVec3,
        /// End.
        to: DVec3,
    },
    /// Something exploded.
    Blast {
        /// Position.
        at: DVec3,
        /// Radius in units.
        radius: f64,
    },
    /// A player lost health.
    Hurt {
        /// The player.
        player: EntityId,
        /// The attacker, who may have left.
        by: EntityId,
        /// Health lost.
        damage: u16,
    },
    /// A player died and waits to come back.
    Died {
        /// The player.
        player: EntityId,
        /// The attacker; may be the player.
        by: EntityId,
    },
    /// A cargo box touched the ground and was replaced by a repair pad.
    Deployed {
        /// The pad.
        pad: EntityId,
    },
    /// The emergency routine took a body out of an overlap and put it elsewhere, or into
    /// limbo.
    Replaced {
        /// The body.
        entity: EntityId,
    },
}
