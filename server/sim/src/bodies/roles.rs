//! What an entity is in the match, as data: player on foot or in a hovertank,
//! prop, projectile, cargo. The rules that change these are in `players`.

use glam::DVec3;

use crate::state::{EntityId, ModelId, Posture};

/// What an entity does in the match.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Role {
    /// Steered by commands.
    Player(Player),
    /// A rigid polyhedron.
    Prop(ModelId),
    /// Something thrown that will explode.
    Projectile(Projectile),
    /// A box that will turn into a repair pad.
    Cargo(Cargo),
}

/// A player, as a body and as a fighter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Player {
    pub(crate) body: PlayerBody,
    pub(crate) fighter: Fighter,
}

/// How a player gets about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PlayerBody {
    /// On foot, as a box agent.
    Box(Walker),
    /// In a hovertank.
    Hovertank(Hovertank),
}

/// The state of a player on foot that lasts from tick to tick, besides
/// position and velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Walker {
    /// Standing or crouching.
    pub posture: Posture,
    /// Heading, as the last command gave it.
    pub yaw: u16,
    /// Whether the player stands on ground flat enough to carry.
    pub grounded: bool,
    /// Whether the jump key has been down since the last jump.
    pub jump_held: bool,
}

/// The state of a hovertank that lasts from tick to tick, besides position and
/// velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hovertank {
    pub(crate) model: ModelId,
    /// What the engine gives this tick.
    pub(crate) drive: Drive,
    /// The cargo that is out: a box on its way down, or the pad it became.
    pub(crate) cargo: Option<EntityId>,
}

impl Hovertank {
    pub(crate) fn new(model: ModelId) -> Self {
        Self { model, drive: Drive::default(), cargo: None }
    }
}

/// The acceleration that an engine gives a body throughout one tick, gravity
/// not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Drive {
    /// Units per second squared.
    pub(crate) linear: DVec3,
    /// Radians per second squared, world axes.
    pub(crate) angular: DVec3,
}

/// A player as a fighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fighter {
    pub(crate) health: i16,
    pub(crate) score: i16,
    /// Ticks until the next shot.
    pub(crate) reload: u16,
    /// Ticks until a dead player comes back.
    pub(crate) dead: u16,
    /// Whether the player takes no damage in this tick. Each tick begins by setting it,
    /// so it is not part of the digest.
    pub(crate) protected: bool,
}

impl Fighter {
    /// Health of a player who has just spawned.
    const HEALTH: i16 = 100;
}

impl Default for Fighter {
    fn default() -> Self {
        Self { health: Self::HEALTH, score: 0, reload: 0, dead: 0, protected: false }
    }
}

/// A weapon that throws something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weapon {
    /// Flies straight and explodes at the first touch.
    Rocket,
    /// Bounces and explodes when its fuse has burnt down.
    Grenade,
}

impl Weapon {
    /// All weapons that throw something.
    pub(crate) const ALL: [Self; 2] = [Self::Rocket, Self::Grenade];

    /// The model that it throws.
    pub(crate) fn model_name(self) -> &'static str {
        match self {
            Self::Rocket => "rocket",
            Self::Grenade => "grenade",
        }
    }
}

/// Something thrown that will explode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Projectile {
    pub(crate) weapon: Weapon,
    pub(crate) model: ModelId,
    pub(crate) owner: EntityId,
    /// Ticks until it explodes of itself.
    pub(crate) fuse: u16,
}

/// A cargo box on its way to become a repair pad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cargo {
    pub(crate) model: ModelId,
    pub(crate) owner: EntityId,
    /// Ticks until it looks again for room.
    pub(crate) wait: u16,
}
