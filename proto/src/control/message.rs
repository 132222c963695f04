use std::fmt;
use std::num::NonZeroU16;

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};
use sim::EntityId;

use super::{ChatLine, MAX_FRAME, MapName, MatchEvent, PlayerName, frame};
use crate::quantise::WorldBounds;
use crate::{PROTOCOL_VERSION, Tick};

/// The content hash of a compiled map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct MapHash(pub [u8; 32]);

impl MapHash {
    /// What a client says that takes whatever map the server has.
    pub const ANY: Self = Self([0; 32]);
}

impl fmt::Display for MapHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// The first message of a client.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ClientHello {
    version: u32,
    map: MapHash,
    name: String,
}

impl ClientHello {
    /// A hello in this version of the protocol, with the map the client has,
    /// or [`MapHash::ANY`].
    pub fn new(map: MapHash, name: &PlayerName) -> Self {
        Self { version: PROTOCOL_VERSION, map, name: name.as_str().to_owned() }
    }

    /// The version the client speaks.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The map it has, or [`MapHash::ANY`].
    pub fn map(&self) -> MapHash {
        self.map
    }

    /// What it wants to be called; unchecked if it came from a client.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// What a client says on the control stream.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum ClientMessage {
    /// The wish to join; always and only the first message.
    Hello(ClientHello),
    /// A clean goodbye.
    Leave,
    /// A digest did not agree with what was decoded: somebody has a defect.
    Mismatch {
        /// The tick of the snapshot, its lowest 32 bits.
        tick: u32,
    },
    /// Something for everybody to hear.
    Say(ChatLine),
}

/// The answer to a hello that is welcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerHello {
    /// The entity that the client steers; `None` for a spectator.
    pub player: Option<EntityId>,
    /// Ticks a second.
    pub tick_rate: NonZeroU16,
    /// Snapshots a second the client may expect.
    pub snapshot_rate: NonZeroU16,
    /// The last tick simulated when this was written.
    pub tick: Tick,
    /// Which map is played.
    pub map: MapHash,
    /// What that map is called.
    pub map_name: MapName,
    /// The lattice that positions are rounded to.
    pub bounds: WorldBounds,
    /// How many players the server takes.
    pub player_limit: u16,
}

/// Why a client may not join.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, thiserror::Error)]
pub enum RefusalReason {
    /// The two speak different protocols.
    #[error("the server speaks protocol version {server}")]
    WrongVersion {
        /// What the server speaks.
        server: u32,
    },
    /// No place is left.
    #[error("the server is full: {limit} players")]
    Full {
        /// How many players it takes.
        limit: u16,
    },
    /// The client has another map.
    #[error("the server plays {name} ({server})")]
    WrongMap {
        /// The map the server has.
        server: MapHash,
        /// What that map is called.
        name: MapName,
    },
    /// The name is not fit to be shown.
    #[error("the name is not fit to be shown")]
    BadName,
    /// The server is starting or stopping.
    #[error("the server is not ready to take players")]
    NotReady,
    /// The operator does not want this client.
    #[error("the server's operator has banned this address")]
    Banned,
}

/// Why the server ends a session that had begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, thiserror::Error)]
pub enum ClosingReason {
    /// The server is shutting down.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The client was silent too long.
    #[error("nothing was heard for too long")]
    TimedOut,
    /// An operator or a rule removed the player.
    #[error("removed from the match")]
    Removed,
}

/// What a server says on the control stream.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum ServerMessage {
    /// Welcome; always and only the first message to a client that may join.
    Hello(ServerHello),
    /// The first and last message to a client that may not.
    Refused(RefusalReason),
    /// The last message to a client that had joined.
    Closing(ClosingReason),
    /// Something happened in the match that everybody must learn, in the
    /// order in which it happened.
    Event {
        /// The tick in whose state it shows first.
        tick: Tick,
        /// What happened.
        event: MatchEvent,
    },
}

/// Why a frame holds no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// It is not the encoding of any message.
    #[error("undecodable: {reason}")]
    Undecodable {
        /// What the decoder says.
        reason: String,
    },
    /// Bytes are left after the message.
    #[error("{count} bytes after the message")]
    Trailing {
        /// How many.
        count: usize,
    },
}

/// The encoding of every control message: bincode 2, little endian,
/// variable-length integers, and no more memory than a frame has earned.
fn configuration() -> impl bincode::config::Config {
    bincode::config::standard().with_limit::<MAX_FRAME>()
}

/// The message as a frame, ready to be written to the stream.
pub fn encode_client_message(message: &ClientMessage) -> Vec<u8> {
    encode(message)
}

/// The message as a frame, ready to be written to the stream.
pub fn encode_server_message(message: &ServerMessage) -> Vec<u8> {
    encode(message)
}

/// The message in a frame's content.
pub fn decode_client_message(content: &[u8]) -> Result<ClientMessage, MessageError> {
    decode(content)
}

/// The message in a frame's content.
pub fn decode_server_message(content: &[u8]) -> Result<ServerMessage, MessageError> {
    decode(content)
}

/// The version in what may be the hello of any version: its first two fields
/// never change place. `None` if it is no hello at all.
pub fn hello_version(content: &[u8]) -> Option<u32> {
    let ((tag, version), _) =
        bincode::decode_from_slice::<(u32, u32), _>(content, configuration()).ok()?;
    (tag == 0).then_some(version)
}

fn encode<M: Encode>(message: &M) -> Vec<u8> {
    // Neither can fail: every text in a message has a type that bounds it, or
    // came out of a frame, and memory takes whatever is written to it.
    let content = bincode::encode_to_vec(message, configuration()).expect("memory takes it");
    frame(&content).expect("a message's types keep it below the limit of a frame")
}

fn decode<M: Decode<()>>(content: &[u8]) -> Result<M, MessageError> {
    let (message, used) = bincode::decode_from_slice(content, configuration())
        .map_err(|error| MessageError::Undecodable { reason: error.to_string() })?;
    match content.len() - used {
        0 => Ok(message),
        count => Err(MessageError::Trailing { count }),
    }
}

/// The slot, after the last there is, and the generation of a player that a
/// spectator does not have.
const NOBODY: (u16, u16) = (crate::MAX_SLOTS as u16, 0);

/// The fields of a [`ServerHello`] as they are written.
type HelloFields =
    ((u16, u16), NonZeroU16, NonZeroU16, u32, MapHash, MapName, ([i32; 3], [u8; 3]), u16);

impl Encode for ServerHello {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        let fields: HelloFields = (
            self.player.map_or(NOBODY, |player| (player.slot, player.generation)),
            self.tick_rate,
            self.snapshot_rate,
            self.tick.0,
            self.map,
            self.map_name.clone(),
            (self.bounds.origin(), self.bounds.bits()),
            self.player_limit,
        );
        fields.encode(encoder)
    }
}

impl<Context> Decode<Context> for ServerHello {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let (player, tick_rate, snapshot_rate, tick, map, map_name, bounds, player_limit) =
            HelloFields::decode(decoder)?;
        let player = match player {
            NOBODY => None,
            (slot, generation) if usize::from(slot) < crate::MAX_SLOTS => {
                Some(EntityId { slot, generation })
            }
            _ => return Err(DecodeError::Other("the player's slot is out of range")),
        };
        let (origin, bits) = bounds;
        let bounds = WorldBounds::new(origin, bits)
            .map_err(|_| DecodeError::Other("the world's bounds are out of range"))?;
        let tick = Tick(tick);
        Ok(Self { player, tick_rate, snapshot_rate, tick, map, map_name, bounds, player_limit })
    }
}

bincode::impl_borrow_decode!(ServerHello);

#[cfg(test)]
mod tests {
    use super::*;

    const PLAYER: EntityId = EntityId { slot: 4095, generation: 65_535 };

    fn hello() -> ServerHello {
        ServerHello {
            player: Some(PLAYER),
            tick_rate: NonZeroU16::MAX,
            snapshot_rate: NonZeroU16::MAX,
            tick: Tick(u32::MAX),
            map: MapHash([255; 32]),
            map_name: MapName::new(&"ä".repeat(100)),
            bounds: WorldBounds::new([-(1 << 20); 3], [24; 3]).unwrap(),
            player_limit: u16::MAX,
        }
    }

    #[test]
    fn messages_come_back_and_nothing_may_follow_them() {
        let name = PlayerName::new(&"\u{10ffff}".repeat(24)).unwrap();
        let wrong_map =
            RefusalReason::WrongMap { server: MapHash([255; 32]), name: MapName::new("dm4") };
        let server = [
            ServerMessage::Hello(hello()),
            ServerMessage::Refused(wrong_map),
            ServerMessage::Refused(RefusalReason::WrongVersion { server: 7 }),
            ServerMessage::Refused(RefusalReason::Full { limit: 32 }),
            ServerMessage::Refused(RefusalReason::BadName),
            ServerMessage::Refused(RefusalReason::Banned),
            ServerMessage::Closing(ClosingReason::Removed),
            ServerMessage::Event {
                tick: Tick(u32::MAX),
                event: MatchEvent::Joined { player: PLAYER, name: name.clone() },
            },
            ServerMessage::Event {
                tick: Tick(u32::MAX),
                event: MatchEvent::Said {
                    player: PLAYER,
                    line: ChatLine::new(&"\u{10ffff}".repeat(160)).unwrap(),
                },
            },
            ServerMessage::Event { tick: Tick(0), event: MatchEvent::Left { player: PLAYER } },
        ];
        for message in server {
            let mut content = encode_server_message(&message).split_off(2);
            assert_eq!(decode_server_message(&content), Ok(message));
            content.push(0);
            assert_eq!(decode_server_message(&content), Err(MessageError::Trailing { count: 1 }));
        }
        for message in [
            ClientMessage::Hello(ClientHello::new(MapHash::ANY, &name)),
            ClientMessage::Leave,
            ClientMessage::Mismatch { tick: 70_000 },
            ClientMessage::Say(ChatLine::new(&"\u{10ffff}".repeat(160)).unwrap()),
        ] {
            let content = encode_client_message(&message).split_off(2);
            assert_eq!(decode_client_message(&content), Ok(message));
        }
    }

    #[test]
    fn the_version_of_a_future_hello_is_readable() {
        assert_eq!(hello_version(&[0, 9, 1, 2, 3]), Some(9));
        assert_eq!(hello_version(&[0, 251, 0x2c, 0x01]), Some(300));
        assert_eq!(hello_version(&[1]), None);
        assert_eq!(hello_version(&[0]), None);
    }

    #[test]
    fn a_hello_with_impossible_fields_is_no_hello() {
        let mut slot = hello();
        slot.player = Some(EntityId { slot: 4096, generation: 1 });
        let content = encode_server_message(&ServerMessage::Hello(slot)).split_off(2);
        assert!(matches!(decode_server_message(&content), Err(MessageError::Undecodable { .. })));
    }

    #[test]
    fn a_claimed_length_is_not_believed() {
        // A hello whose name claims 2^63 bytes.
        let mut content = vec![0, 1];
        content.extend([0; 32]);
        content.extend([253, 0, 0, 0, 0, 0, 0, 0, 128]);
        assert!(matches!(decode_client_message(&content), Err(MessageError::Undecodable { .. })));
    }
}
