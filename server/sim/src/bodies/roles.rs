//! The role of an entity in the match, as data: a player on foot or in a hovertank, a prop, a
//! missile, or a kinematic body. The rules that change the roles are in `players` and
//! `missiles`.

use glam::{DQuat, DVec3, Vec3};
use obsp::geometry::Aabb;
use serde::{Deserialize, Serialize};

use crate::bodies::linear_move::LinearMove;
use crate::bodies::swing::Swing;
use crate::collision::shape::Shapes;
use crate::conventions::turn;
use crate::state::{ModelId, MovementId, Posture};

/// The role of an entity in the match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// A player, steered by commands.
    Player(PlayerBody),
    /// A rigid polyhedron.
    Prop(ModelId),
    /// A missile, which flies by its own rules.
    Missile(Missile),
    /// A rigid polyhedron that moves by the velocity that a game gives it.
    Kinematic(Kinematic),
}

impl Role {
    /// The role of a body that no player steers, by its model: a kinematic body or a prop.
    pub(crate) fn of_body(model: ModelId, shapes: &Shapes) -> Self {
        if shapes.is_kinematic(model) {
            Self::Kinematic(Kinematic {
                model,
                slowdowns: 0,
                linear_move: None,
                swing: None,
                surface: DVec3::ZERO,
                pocket: None,
            })
        } else {
            Self::Prop(model)
        }
    }
}

/// A body that a game moves by setting its velocity, or by a place to which it is to go.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kinematic {
    pub(crate) model: ModelId,
    /// How many times the body's velocity is halved at present. It grows by one after each tick in
    /// which something stopped the body, and shrinks by one after each free tick (see
    /// [`driven`](crate::bodies::driven)). It is at most [`Kinematic::MAX_SLOWDOWNS`].
    pub(crate) slowdowns: u8,
    /// The linear move of the body, until the body has reached its goal.
    pub(crate) linear_move: Option<LinearMove>,
    /// The swing of a body that has no linear move.
    pub(crate) swing: Option<Swing>,
    /// The velocity of the body's surface relative to the body, in units per second. It is zero for
    /// all bodies except conveyors.
    pub(crate) surface: DVec3,
    /// The box in which the static world does not stop the body.
    pub(crate) pocket: Option<Aabb>,
}

impl Kinematic {
    /// Maximum number of slowdowns. So a body moves at 1/256 of its set velocity or faster. Up to
    /// 700 units per second, the slowest motion of a tick is then shorter than the distance by
    /// which the solver pushes bodies apart in a tick.
    pub(crate) const MAX_SLOWDOWNS: u8 = 8;

    /// The share of its set velocity with which the body moves.
    pub(crate) fn share(self) -> f64 {
        1.0 / f64::from(1_u32 << self.slowdowns.min(Self::MAX_SLOWDOWNS))
    }
}

/// The way in which a player moves about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum PlayerBody {
    /// On foot, as a box agent.
    Box(Walker),
    /// In a hovertank.
    Hovertank(Hovertank),
}

/// The state of a player on foot that lasts from tick to tick, besides
/// position and velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Walker {
    /// Standing or crouching.
    pub posture: Posture,
    /// Heading of the last command.
    pub yaw: u16,
    /// Whether the player stands on ground flat enough to carry.
    pub grounded: bool,
    /// Whether the jump key has been down since the last jump.
    pub jump_held: bool,
    /// Velocity of the ground that carried the player in the last tick, in units per second; zero
    /// unless a kinematic body carried the player. When the ground changes its velocity, the
    /// player's changes by as much.
    pub ground_velocity: Vec3,
    /// The set of movement parameters by which the player moves.
    pub movement: MovementId,
}

impl Walker {
    /// The heading about +Z.
    pub(crate) fn heading(&self) -> DQuat {
        turn(f64::from(self.yaw) * (std::f64::consts::TAU / 65536.0))
    }
}

/// The state of a hovertank that lasts from tick to tick, besides position and
/// velocity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hovertank {
    pub(crate) model: ModelId,
    /// The acceleration by its engine in this tick.
    pub(crate) drive: Drive,
}

impl Hovertank {
    pub(crate) fn new(model: ModelId) -> Self {
        Self { model, drive: Drive::default() }
    }
}

/// The acceleration that an engine gives a body throughout one tick, gravity
/// not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Drive {
    /// Units per second squared.
    pub(crate) linear: DVec3,
    /// Radians per second squared, world axes.
    pub(crate) angular: DVec3,
}

/// How a missile moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MissileMotion {
    /// Straight on, until something stops it.
    Straight,
    /// As a ball: it falls, bounces, pushes what it hits, and comes to rest.
    Bouncing,
}

/// A missile. Its own rules propose its motion, and the guard checks it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Missile {
    pub(crate) model: ModelId,
    pub(crate) motion: MissileMotion,
}
