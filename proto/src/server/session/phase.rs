//! The phases of a session.

use obsp_sim::EntityId;

use crate::Time;
use crate::server::baselines::Baselines;
use crate::server::effect_schedule::EffectSchedule;

/// The phase of a session: what the server expects of the client next.
#[derive(Debug)]
pub(super) enum Phase {
    /// No whole hello has arrived.
    AwaitingHello,
    /// The match has continued in another world since this time, and the client has not said
    /// hello again yet.
    AwaitingHelloAgain(Time),
    /// The caller has to accept or refuse the client.
    AwaitingAnswer,
    /// In the match.
    Joined {
        player: Option<EntityId>,
        baselines: Box<Baselines>,
        /// The effects to send, if the client asks for effects.
        effects: Option<EffectSchedule>,
    },
    /// Ended, for any reason.
    Over,
}

impl Phase {
    pub(super) fn awaits_hello(&self) -> bool {
        matches!(self, Self::AwaitingHello | Self::AwaitingHelloAgain(_))
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::AwaitingHello | Self::AwaitingHelloAgain(_) => "waiting for the hello",
            Self::AwaitingAnswer => "answering the hello",
            Self::Joined { .. } => "in the match",
            Self::Over => "over",
        }
    }
}
