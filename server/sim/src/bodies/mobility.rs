//! The cause of a body's motion in a tick. The search, the islands, the guard and sleep distinguish
//! bodies by this cause.

use serde::{Deserialize, Serialize};

/// The cause of a body's motion in this tick, and the effect of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mobility {
    /// Nothing: the body is outside of the world.
    Absent,
    /// The body's own rules: it is a player on foot, or a missile that flies straight. No impulse
    /// moves it.
    OwnRules,
    /// Nothing: the body is kinematic, and its game gives no velocity to it or to its surface.
    Parked,
    /// The velocity that a game gives the body or its surface. No impulse changes that velocity.
    Kinematic,
    /// Nothing: the body sleeps. A hit wakes it.
    Asleep,
    /// Nothing: the body skips this tick because of overload. A hit lets it move.
    Skips,
    /// The body's own rules, and impulses: it is a missile that bounces.
    Ball,
    /// Impulses: the solver proposes a motion, and the guard checks it.
    Dynamic,
}

impl Mobility {
    /// Whether the guard moves the body in this tick, at the game's velocity or at the solver's.
    pub(crate) fn is_guarded(self) -> bool {
        matches!(self, Self::Kinematic | Self::Dynamic)
    }

    /// Whether contacts take the body's velocity into account in this tick.
    pub(crate) fn has_velocity(self) -> bool {
        matches!(self, Self::Kinematic | Self::Ball | Self::Dynamic)
    }

    /// Whether the body is left out of this tick, and would move if something hit it.
    pub(crate) fn is_at_rest(self) -> bool {
        matches!(self, Self::Asleep | Self::Skips)
    }

    /// Whether the body is left out of this tick.
    pub(crate) fn stands_still(self) -> bool {
        matches!(self, Self::Parked | Self::Asleep | Self::Skips)
    }
}

/// The share of a tick that a body gets. Under overload it may be less than the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Pace {
    /// With all sub-steps.
    #[default]
    Full,
    /// With about three quarters of the sub-steps.
    FewerSubSteps,
    /// Not at all: the body stands still.
    Skips,
    /// By two ticks: this one and the last one, in which the body stood still.
    Double,
}

impl Pace {
    /// Ticks by which the body moves.
    pub(crate) fn ticks(self) -> u16 {
        match self {
            Self::Full | Self::FewerSubSteps => 1,
            Self::Skips => 0,
            Self::Double => 2,
        }
    }
}
