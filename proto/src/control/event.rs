use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};
use sim::{EntityId, Vitals};

use super::{ChatLine, PlayerName};
use crate::MAX_SLOTS;

/// What happens in a match and must not be missed by anybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchEvent {
    /// A player came in, or was there when the hearer did.
    Joined {
        /// The entity that the player steers.
        player: EntityId,
        /// What the player wants to be called.
        name: PlayerName,
    },
    /// A player is gone.
    Left {
        /// The entity that the player steered.
        player: EntityId,
    },
    /// A player died.
    Died {
        /// The entity that the player steers.
        player: EntityId,
        /// The player whose doing it was, possibly their own.
        by: EntityId,
    },
    /// A player's health or score is another now.
    Standing {
        /// The entity that the player steers.
        player: EntityId,
        /// How they stand.
        vitals: Vitals,
    },
    /// A player said something to everybody.
    Said {
        /// The entity that the player steers.
        player: EntityId,
        /// What was said.
        line: ChatLine,
    },
}

/// An entity's name as it is written.
type IdFields = (u16, u16);

/// Each event as it is written.
#[derive(Encode, Decode)]
enum Written {
    Joined(IdFields, PlayerName),
    Left(IdFields),
    Died(IdFields, IdFields),
    Said(IdFields, ChatLine),
    Standing(IdFields, u16, i16),
}

impl Encode for MatchEvent {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        let fields = |id: &EntityId| (id.slot, id.generation);
        match self {
            Self::Joined { player, name } => Written::Joined(fields(player), name.clone()),
            Self::Left { player } => Written::Left(fields(player)),
            Self::Died { player, by } => Written::Died(fields(player), fields(by)),
            Self::Said { player, line } => Written::Said(fields(player), line.clone()),
            Self::Standing { player, vitals } => {
                Written::Standing(fields(player), vitals.health, vitals.score)
            }
        }
        .encode(encoder)
    }
}

impl<Context> Decode<Context> for MatchEvent {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let entity = |(slot, generation): IdFields| {
            let possible = usize::from(slot) < MAX_SLOTS;
            let id = possible.then_some(EntityId { slot, generation });
            id.ok_or(DecodeError::Other("an entity's slot is out of range"))
        };
        Ok(match Written::decode(decoder)? {
            Written::Joined(player, name) => Self::Joined { player: entity(player)?, name },
            Written::Left(player) => Self::Left { player: entity(player)? },
            Written::Said(player, line) => Self::Said { player: entity(player)?, line },
            Written::Standing(player, health, score) => {
                Self::Standing { player: entity(player)?, vitals: Vitals { health, score } }
            }
            Written::Died(player, by) => Self::Died { player: entity(player)?, by: entity(by)? },
        })
    }
}

bincode::impl_borrow_decode!(MatchEvent);
