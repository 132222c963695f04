//! The reasons why bodies are awake, for metrics and games.

use serde::{Deserialize, Serialize};

/// Why a body that solver and guard move was awake at the end of a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AwakeReason {
    /// The body moves, or has just been created.
    #[default]
    Moves,
    /// The body hardly moves, but has not rested long enough to sleep.
    Settles,
    /// The body rests, but nothing carries it.
    InAir,
    /// The body rests, but touches a body that moves.
    TouchesMoving,
    /// The body rests, but leans on a player on foot, who may walk away at any time.
    LeansOnPlayer,
    /// The body is a missile that bounces and has not come to rest yet.
    IsMissile,
}

impl AwakeReason {
    /// Number of reasons.
    pub const COUNT: usize = 6;

    /// All reasons, in the order of their declaration.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Moves,
        Self::Settles,
        Self::InAir,
        Self::TouchesMoving,
        Self::LeansOnPlayer,
        Self::IsMissile,
    ];

    /// Name of the reason in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Moves => "moves",
            Self::Settles => "settles",
            Self::InAir => "in_air",
            Self::TouchesMoving => "touches_moving",
            Self::LeansOnPlayer => "leans_on_player",
            Self::IsMissile => "is_missile",
        }
    }
}
