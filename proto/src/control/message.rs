//! The messages of the control stream, and their encoding.

use std::fmt;
use std::num::NonZeroU16;
use std::sync::Arc;

use bincode::config::Config;
use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};
use obsp_sim::EntityId;

use super::{
    ChatLine, MAX_CLIENT_FRAME, MAX_SERVER_FRAME, MapName, MatchEvent, MatchName, MatchNames,
    PlayerName, Ticket, frame,
};
use crate::quantise::WorldBounds;
use crate::schema::Schema;
use crate::{PROTOCOL_VERSION, Tick};

/// The content hash of a compiled map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct MapHash(pub [u8; 32]);

impl MapHash {
    /// In a client's hello, this hash stands for any map that the server plays.
    pub const ANY: Self = Self([0; 32]);
}

impl fmt::Display for MapHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// The BLAKE3 hash of a game's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameHash(pub [u8; 32]);

impl GameHash {
    /// The hash of the data that a server sends; `None` if there are no data.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        (!bytes.is_empty()).then(|| Self(blake3::hash(bytes).into()))
    }
}

impl fmt::Display for GameHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        MapHash(self.0).fmt(formatter)
    }
}

/// Maximum length of the connect token in a hello, in bytes.
pub const MAX_TOKEN: usize = 512;

/// The first message of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientHello {
    version: u32,
    map: MapHash,
    name: String,
    token: Vec<u8>,
    ticket: Ticket,
    match_name: Option<MatchName>,
    effects: bool,
}

impl ClientHello {
    /// A hello in this version of the protocol, with the map that the client has, or
    /// [`MapHash::ANY`].
    pub fn new(map: MapHash, name: &PlayerName) -> Self {
        let (name, token, ticket) = (name.as_str().to_owned(), Vec::new(), Ticket::NONE);
        let (match_name, effects) = (None, false);
        Self { version: PROTOCOL_VERSION, map, name, token, ticket, match_name, effects }
    }

    /// The hello that answers [`ServerMessage::NewWorld`]. It accepts any map, because that world
    /// may also be over when the hello arrives.
    pub fn again(&self) -> Self {
        let (map, name) = (MapHash::ANY, self.name.clone());
        let (token, ticket, match_name) = (Vec::new(), Ticket::NONE, None);
        Self { map, name, token, ticket, match_name, ..*self }
    }

    /// Adds a connect token. A token of more than [`MAX_TOKEN`] bytes is left out, because no
    /// server would accept it.
    pub fn with_token(mut self, token: &[u8]) -> Self {
        if token.len() <= MAX_TOKEN {
            self.token = token.to_owned();
        }
        self
    }

    /// Adds the ticket of an earlier connection.
    pub fn with_ticket(self, ticket: Ticket) -> Self {
        Self { ticket, ..self }
    }

    /// Asks for the match of this name, or for the server's first match if the name is `None`.
    pub fn with_match(self, match_name: Option<MatchName>) -> Self {
        Self { match_name, ..self }
    }

    /// Asks for the [`Effect`](crate::effects::Effect)s of the match.
    pub fn with_effects(self, effects: bool) -> Self {
        Self { effects, ..self }
    }

    /// The client's version of the protocol.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The client's map, or [`MapHash::ANY`].
    pub fn map(&self) -> MapHash {
        self.map
    }

    /// The name that the client asks for. The name in a received hello has not been checked.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The connect token, which has not been checked; empty if there is none.
    pub fn token(&self) -> &[u8] {
        &self.token
    }

    /// The ticket of an earlier connection, or [`Ticket::NONE`].
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// The match that the client asks for; `None` for the server's first match.
    pub fn match_name(&self) -> Option<&MatchName> {
        self.match_name.as_ref()
    }

    /// Whether the client asks for effects.
    pub fn effects(&self) -> bool {
        self.effects
    }
}

/// A message from a client.
///
/// ```
/// use obsp_proto::control::{
///     ChatLine, ClientMessage, decode_client_message, encode_client_message,
/// };
///
/// let message = ClientMessage::Say(ChatLine::new("gg")?);
/// let framed = encode_client_message(&message);
/// // The first two bytes are the length of the frame's content.
/// assert_eq!(decode_client_message(&framed[2..])?, message);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum ClientMessage {
    /// The request to join: the first message, and the answer to [`ServerMessage::NewWorld`].
    Hello(ClientHello),
    /// A regular goodbye.
    Leave,
    /// The digest of a snapshot did not match the decoded state, so one of the two ends has a
    /// defect.
    Mismatch {
        /// The tick of the snapshot, its lowest 32 bits.
        tick: u32,
    },
    /// A chat line to everybody.
    Say(ChatLine),
}

/// The answer to a hello that is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerHello {
    /// The entity that the client controls; `None` for a spectator.
    pub player: Option<EntityId>,
    /// Ticks per second.
    pub tick_rate: NonZeroU16,
    /// Snapshots per second that the client may expect.
    pub snapshot_rate: NonZeroU16,
    /// The last tick that was simulated before this hello was encoded.
    pub tick: Tick,
    /// The map that is played.
    pub map: MapHash,
    /// The name of that map.
    pub map_name: MapName,
    /// The lattice that positions are rounded to.
    pub bounds: WorldBounds,
    /// Maximum number of players that the server accepts.
    pub player_limit: u16,
    /// The ticket to rejoin with after a lost connection; [`Ticket::NONE`] for a
    /// spectator.
    pub ticket: Ticket,
    /// Seconds for which the ticket is valid after the connection was lost.
    pub rejoin_seconds: u16,
    /// The models, fields and events of the game that is played.
    pub schema: Arc<Schema>,
    /// The hash of the game's data. The client needs the data for its prediction. `None` for a
    /// game with the default movement parameters and the shipped models only.
    pub game: Option<GameHash>,
}

/// Why a server refuses a client.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, thiserror::Error)]
pub enum RefusalReason {
    /// The client speaks another version of the protocol.
    #[error(
        "the server speaks protocol version {server}, this client version {own}: update the older \
         of the two",
        own = PROTOCOL_VERSION
    )]
    WrongVersion {
        /// The server's version.
        server: u32,
    },
    /// All player places that are open to the client are taken.
    #[error("the server is full (players: {limit}; reserved places are not counted)")]
    Full {
        /// The number of places that are open to the client. Reserved places count only if the
        /// client may have them.
        limit: u16,
    },
    /// The client has another map.
    #[error("the server plays another map: {name} ({server})")]
    WrongMap {
        /// The map that is played.
        server: MapHash,
        /// The name of that map.
        name: MapName,
    },
    /// The name is empty, too long, not printable, or has blanks at an end.
    #[error("the name is empty, too long, not printable, or has blanks at an end")]
    BadName,
    /// The server is starting or stopping.
    #[error("the server is not ready to take players")]
    NotReady,
    /// The operator has banned this client.
    #[error("the server's operator has banned this client")]
    Banned,
    /// The server requires a connect token, or a password.
    #[error("the server requires a connect token or a password")]
    TokenRequired,
    /// The server does not accept the connect token, or the password.
    #[error(
        "the connect token or password is not valid here; a token expires, and works only once"
    )]
    BadToken,
    /// The client's address has reached its limit of players, of joins a minute, or of wrong
    /// passwords.
    #[error("too many players, joins a minute or wrong passwords come from this address")]
    AddressLimit,
    /// The server has no match of the name that the client asks for.
    #[error("the server has no match of that name; it has: {matches}")]
    NoSuchMatch {
        /// The matches that the server has.
        matches: MatchNames,
    },
    /// The operator's list of admitted players does not name this client.
    #[error("the server's list of players does not name this client; its operator can add it")]
    NotAllowed,
}

/// The reason why a server ends a session that had begun.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, thiserror::Error)]
pub enum ClosingReason {
    /// The server is shutting down.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The client was silent too long.
    #[error("nothing was received for too long")]
    TimedOut,
    /// An operator or a rule removed the player.
    #[error("the player was removed from the match: {0}")]
    Removed(ChatLine),
    /// The player has connected again.
    #[error("the same player has connected again")]
    Replaced,
}

/// A message from a server.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum ServerMessage {
    /// The client is accepted: the answer to its hello.
    Hello(ServerHello),
    /// The client is refused: the last message to it.
    Refused(RefusalReason),
    /// The last message to a client that had joined.
    Closing(ClosingReason),
    /// A match event. Events are sent in the order in which they happened.
    Event {
        /// The first tick whose state shows the event.
        tick: Tick,
        /// The event.
        event: MatchEvent,
    },
    /// The match continues in another world. The client says hello again, and everything that it
    /// knows of the old world is void.
    NewWorld {
        /// The map of the new world, which may be that of the old one.
        map: MapHash,
        /// The name of that map.
        name: MapName,
    },
}

/// Why a frame holds no valid message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// The content of the frame cannot be decoded as a message.
    #[error("cannot be decoded ({reason})")]
    Undecodable {
        /// The reason that the decoder gives.
        reason: String,
    },
    /// Bytes follow the message.
    #[error("has {count} bytes too many")]
    Trailing {
        /// The number of bytes.
        count: usize,
    },
}

/// The encoding of a client's control messages: bincode 2, little endian, variable-length integers.
/// The decoder takes no more memory than a frame has bytes.
fn of_clients() -> impl Config {
    bincode::config::standard().with_limit::<MAX_CLIENT_FRAME>()
}

/// The encoding of a server's control messages, which differs only in the limit.
fn of_servers() -> impl Config {
    bincode::config::standard().with_limit::<MAX_SERVER_FRAME>()
}

/// Encodes a message as a frame, ready to be written to the stream.
pub fn encode_client_message(message: &ClientMessage) -> Vec<u8> {
    encode(message, of_clients(), MAX_CLIENT_FRAME)
}

/// Encodes a message as a frame, ready to be written to the stream.
pub fn encode_server_message(message: &ServerMessage) -> Vec<u8> {
    encode(message, of_servers(), MAX_SERVER_FRAME)
}

/// Decodes the content of a frame.
pub fn decode_client_message(content: &[u8]) -> Result<ClientMessage, MessageError> {
    decode(content, of_clients())
}

/// Decodes the content of a frame.
pub fn decode_server_message(content: &[u8]) -> Result<ServerMessage, MessageError> {
    decode(content, of_servers())
}

/// The protocol version in a hello, whose first two fields are the same in every version. `None` if
/// the content is not a hello.
pub fn hello_version(content: &[u8]) -> Option<u32> {
    let ((tag, version), _) =
        bincode::decode_from_slice::<(u32, u32), _>(content, of_clients()).ok()?;
    (tag == 0).then_some(version)
}

fn encode<M: Encode>(message: &M, configuration: impl Config, limit: usize) -> Vec<u8> {
    // Neither call can fail. Every text in a message has a type that bounds its length, or came out
    // of a frame, and writing to memory never fails.
    let content = bincode::encode_to_vec(message, configuration).expect("a message can be encoded");
    frame(&content, limit).expect("the types of a message keep it below the limit of a frame")
}

fn decode<M: Decode<()>>(content: &[u8], configuration: impl Config) -> Result<M, MessageError> {
    let (message, used) = bincode::decode_from_slice(content, configuration)
        .map_err(|error| MessageError::Undecodable { reason: error.to_string() })?;
    match content.len() - used {
        0 => Ok(message),
        count => Err(MessageError::Trailing { count }),
    }
}

/// Slot and generation in a hello to a spectator, which has no player. No entity can have this
/// slot.
const NO_PLAYER: (u16, u16) = (crate::MAX_ENTITIES as u16, 0);

/// The fields of a [`ServerHello`] in their encoding.
type HelloFields = (
    ((u16, u16), NonZeroU16, NonZeroU16, u32, MapHash, MapName, ([i32; 3], [u8; 3]), u16),
    (Ticket, u16),
    Schema,
    Option<[u8; 32]>,
);

impl Encode for ServerHello {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        let match_info = (
            self.player.map_or(NO_PLAYER, |player| (player.slot, player.generation)),
            self.tick_rate,
            self.snapshot_rate,
            self.tick.0,
            self.map,
            self.map_name.clone(),
            (self.bounds.origin(), self.bounds.bits()),
            self.player_limit,
        );
        let rejoin = (self.ticket, self.rejoin_seconds);
        (match_info, rejoin, &*self.schema, self.game.map(|hash| hash.0)).encode(encoder)
    }
}

impl<Context> Decode<Context> for ServerHello {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let (match_info, rejoin, schema, game) = HelloFields::decode(decoder)?;
        let ((ticket, rejoin_seconds), schema) = (rejoin, Arc::new(schema));
        let (player, tick_rate, snapshot_rate, tick, map, map_name, bounds, player_limit) =
            match_info;
        let player = match player {
            NO_PLAYER => None,
            (slot, generation) if usize::from(slot) < crate::MAX_ENTITIES => {
                Some(EntityId { slot, generation })
            }
            _ => return Err(DecodeError::Other("the player's slot is out of range")),
        };
        let (origin, bits) = bounds;
        let bounds = WorldBounds::new(origin, bits)
            .map_err(|_| DecodeError::Other("the world's bounds are out of range"))?;
        let tick = Tick(tick);
        Ok(Self {
            player,
            tick_rate,
            snapshot_rate,
            tick,
            map,
            map_name,
            bounds,
            player_limit,
            ticket,
            rejoin_seconds,
            schema,
            game: game.map(GameHash),
        })
    }
}

bincode::impl_borrow_decode!(ServerHello);

impl Encode for ClientHello {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        let Self { version, map, name, token, ticket, match_name, effects } = self;
        let match_name = match_name.as_ref().map_or("", MatchName::as_str);
        (version, map, name, token, ticket, match_name, effects).encode(encoder)
    }
}

impl<Context> Decode<Context> for ClientHello {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let (version, map, name, token, ticket, match_name, effects) =
            <(u32, MapHash, String, Vec<u8>, Ticket, String, bool)>::decode(decoder)?;
        if token.len() > MAX_TOKEN {
            return Err(DecodeError::Other("the token is too long"));
        }
        let not_a_name = |_| DecodeError::Other("not a valid match name");
        let named = (!match_name.is_empty()).then(|| match_name.parse().map_err(not_a_name));
        let match_name = named.transpose()?;
        Ok(Self { version, map, name, token, ticket, match_name, effects })
    }
}

bincode::impl_borrow_decode!(ClientHello);

#[cfg(test)]
mod tests;
