use glam::DVec3;

use crate::state::EntityId;

/// Something that happened within a tick and that a position cannot tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A player came into the world, or back into it.
    Spawned {
        /// Who.
        player: EntityId,
    },
    /// A player went through a teleporter.
    Teleported {
        /// Who.
        player: EntityId,
    },
    /// A ray was shot.
    Ray {
        /// By whom.
        player: EntityId,
        /// From where.
        from: DVec3,
        /// To where.
        to: DVec3,
    },
    /// Something burst.
    Blast {
        /// Where.
        at: DVec3,
        /// How far it reaches, in units.
        radius: f64,
    },
    /// A player lost health.
    Hurt {
        /// Who.
        player: EntityId,
        /// Through whom, if they are still there.
        by: EntityId,
        /// How much.
        damage: u16,
    },
    /// A player died and waits to come back.
    Died {
        /// Who.
        player: EntityId,
        /// Through whom; oneself counts against oneself.
        by: EntityId,
    },
    /// A box of cargo touched the ground and a repair pad is there instead.
    Deployed {
        /// The pad.
        pad: EntityId,
    },
    /// The emergency routine took a body out of an overlap and put it back
    /// elsewhere, or into limbo.
    Replaced {
        /// Which.
        entity: EntityId,
    },
}
