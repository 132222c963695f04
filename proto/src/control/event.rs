//! Events of a match, which are sent reliably and in order.

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};
use obsp_sim::EntityId;

use super::{ChatLine, MapName, Means, PlayerName, Vitals};
use crate::schema::GameEvent;
use crate::{MAX_ENTITIES, Tick};

/// An event of a match that no client may miss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchEvent {
    /// A player joined, or was in the match when the receiver joined.
    Joined {
        /// The entity that the player controls.
        player: EntityId,
        /// The player's name.
        name: PlayerName,
    },
    /// A player left.
    Left {
        /// The entity that the player controlled.
        player: EntityId,
    },
    /// A player died.
    Died {
        /// The entity that the player controls.
        player: EntityId,
        /// The player who killed `player`. After a suicide it is the player's own id.
        by: EntityId,
        /// The means by which the player died.
        means: Means,
    },
    /// A player's health or score changed.
    Vitals {
        /// The entity that the player controls.
        player: EntityId,
        /// The new values.
        vitals: Vitals,
    },
    /// A player sent a chat line to everybody.
    Said {
        /// The entity that the player controls.
        player: EntityId,
        /// The line.
        line: ChatLine,
    },
    /// The server sends a line to everybody, for example to announce a shutdown.
    Announced {
        /// The line.
        line: ChatLine,
    },
    /// The match changed its phase. A client that joins is sent the present phase first.
    Round {
        /// The phase.
        phase: RoundPhase,
        /// The tick in which the phase ends; `None` if the phase has no time limit.
        ends: Option<Tick>,
        /// The map of the next round; `None` unless the phase is an intermission.
        next: Option<MapName>,
    },
    /// An event that the game defines.
    Game(GameEvent),
}

/// The phase of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum RoundPhase {
    /// The match waits for players. The score is reset when the round begins.
    WarmUp,
    /// The round is played.
    Playing,
    /// The round is over, and nobody moves. The next round is about to begin.
    Intermission,
}

/// An entity's id on the wire: slot and generation.
type IdFields = (u16, u16);

/// The encoding of events. The order of the variants is part of the protocol.
#[derive(Encode, Decode)]
enum EventFields {
    Joined(IdFields, PlayerName),
    Left(IdFields),
    Died(IdFields, IdFields, Means),
    Said(IdFields, ChatLine),
    Vitals(IdFields, u16, i16),
    Announced(ChatLine),
    Round(RoundPhase, u32, MapName),
    Game(GameEvent),
}

impl Encode for MatchEvent {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        let fields = |id: &EntityId| (id.slot, id.generation);
        match self {
            Self::Joined { player, name } => EventFields::Joined(fields(player), name.clone()),
            Self::Left { player } => EventFields::Left(fields(player)),
            Self::Died { player, by, means } => {
                EventFields::Died(fields(player), fields(by), means.clone())
            }
            Self::Said { player, line } => EventFields::Said(fields(player), line.clone()),
            Self::Vitals { player, vitals } => {
                EventFields::Vitals(fields(player), vitals.health, vitals.score)
            }
            Self::Announced { line } => EventFields::Announced(line.clone()),
            // 0 stands for `None`, because the match begins after tick 0 and no phase ends in tick
            // 0. No map has an empty name.
            Self::Round { phase, ends, next } => {
                let next = next.clone().unwrap_or_else(|| MapName::new(""));
                EventFields::Round(*phase, ends.map_or(0, |tick| tick.0), next)
            }
            Self::Game(event) => EventFields::Game(event.clone()),
        }
        .encode(encoder)
    }
}

impl<Context> Decode<Context> for MatchEvent {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let entity = |(slot, generation): IdFields| {
            let possible = usize::from(slot) < MAX_ENTITIES;
            let id = possible.then_some(EntityId { slot, generation });
            id.ok_or(DecodeError::Other("an entity's slot is out of range"))
        };
        Ok(match EventFields::decode(decoder)? {
            EventFields::Joined(player, name) => Self::Joined { player: entity(player)?, name },
            EventFields::Left(player) => Self::Left { player: entity(player)? },
            EventFields::Said(player, line) => Self::Said { player: entity(player)?, line },
            EventFields::Vitals(player, health, score) => {
                Self::Vitals { player: entity(player)?, vitals: Vitals { health, score } }
            }
            EventFields::Announced(line) => Self::Announced { line },
            EventFields::Round(phase, ends, next) => {
                let ends = (ends > 0).then_some(Tick(ends));
                Self::Round { phase, ends, next: Some(next).filter(|map| !map.as_str().is_empty()) }
            }
            EventFields::Game(event) => Self::Game(event),
            EventFields::Died(player, by, means) => {
                Self::Died { player: entity(player)?, by: entity(by)?, means }
            }
        })
    }
}

bincode::impl_borrow_decode!(MatchEvent);
