use glam::DVec3;
use obsp_proto::effects::Effect;
use obsp_proto::schema::GameEvent;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use crate::chat::Audience;

/// An event within a tick that positions do not show. A server shows it or reports it to the
/// players.
///
/// ```
/// use std::sync::Arc;
///
/// use obsp_game::{Event, Game, Match, RunningMatch, WorldMut};
/// use obsp_sim::{Config, EntityId, PlayerKind};
///
/// #[derive(Clone, Debug)]
/// struct Greeter;
///
/// impl Game for Greeter {
///     type State = ();
///
///     fn set_up(&self, _: &mut WorldMut<'_>) {}
///
///     fn joined(&self, _: &mut (), world: &mut WorldMut<'_>, _: EntityId) {
///         world.announce("Welcome");
///     }
/// }
///
/// let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let mut game = Match::new(Greeter, map, Config::default())?;
/// game.join_as(PlayerKind::Box)?;
/// game.step(&[]);
/// assert!(game.events().contains(&Event::Announced { line: "Welcome".to_owned() }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
        /// Start of the ray.
        from: DVec3,
        /// End of the ray.
        to: DVec3,
    },
    /// Something exploded.
    Blast {
        /// Centre of the explosion.
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
    /// A player died, or is out of the game for a while.
    Died {
        /// The player.
        player: EntityId,
        /// The attacker; may be the player.
        by: EntityId,
        /// The means by which the player died, such as `rocket`; empty if they have no name. A
        /// saved match does not hold them, so a death in the tick of the save has none once the
        /// match is loaded.
        #[serde(skip)]
        means: &'static str,
    },
    /// The emergency routine took a body out of an overlap and put it elsewhere, or into
    /// limbo.
    Replaced {
        /// The body.
        entity: EntityId,
    },
    /// The carrier of an attached body left the world. The body stays where it was.
    Detached {
        /// The body.
        entity: EntityId,
        /// The carrier.
        from: EntityId,
    },
    /// A player has come to the exit of the map. A server with limited rounds then ends the round.
    Exited {
        /// The player.
        player: EntityId,
    },
    /// A line of text for all players.
    Announced {
        /// The line. A server shortens it to the length that its protocol allows.
        line: String,
    },
    /// A player said something.
    Said {
        /// The speaker.
        player: EntityId,
        /// The line, as the game passed it on. A server shortens it to the length that its protocol
        /// allows.
        line: String,
        /// The listeners.
        to: Audience,
    },
    /// An event that the game defines, for all clients.
    Game(GameEvent),
    /// An event that the game defines, for the client of one player alone.
    Private {
        /// The player.
        player: EntityId,
        /// The event.
        event: GameEvent,
    },
}

impl Event {
    /// The event as clients are shown it for a moment. `None` for events that are no effects,
    /// because clients get them from snapshots or from the control stream.
    pub fn effect(&self) -> Option<Effect> {
        match *self {
            Self::Ray { player, from, to } => Some(Effect::Ray { player: player.slot, from, to }),
            Self::Blast { at, radius } => Some(Effect::Blast { at, radius }),
            Self::Hurt { player, by, damage } => {
                Some(Effect::Hurt { player: player.slot, by: by.slot, damage })
            }
            Self::Replaced { entity } => Some(Effect::Replaced { entity: entity.slot }),
            Self::Spawned { .. }
            | Self::Teleported { .. }
            | Self::Died { .. }
            | Self::Detached { .. }
            | Self::Exited { .. }
            | Self::Announced { .. }
            | Self::Said { .. }
            | Self::Game(_)
            | Self::Private { .. } => None,
        }
    }
}

impl From<obsp_sim::WorldEvent> for Event {
    fn from(event: obsp_sim::WorldEvent) -> Self {
        match event {
            obsp_sim::WorldEvent::Spawned { player } => Self::Spawned { player },
            obsp_sim::WorldEvent::Teleported { player } => Self::Teleported { player },
            obsp_sim::WorldEvent::Replaced { entity } => Self::Replaced { entity },
            obsp_sim::WorldEvent::Detached { entity, from } => Self::Detached { entity, from },
        }
    }
}
