use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Maximum length of the content of a game's event, in bytes.
pub const MAX_EVENT_DATA: usize = 256;

/// An event of a game: the number of its kind in the schema, and a content whose meaning only the
/// game knows.
///
/// ```
/// use obsp_proto::schema::{EventError, GameEvent};
///
/// let event = GameEvent::new(3, &("Red", 12_u16))?;
/// assert_eq!(event.kind(), 3);
/// assert_eq!(event.decode::<(String, u16)>()?, ("Red".to_owned(), 12));
/// # Ok::<(), EventError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(u8, Vec<u8>)", try_from = "(u8, Vec<u8>)")]
pub struct GameEvent {
    kind: u8,
    data: Vec<u8>,
}

impl From<GameEvent> for (u8, Vec<u8>) {
    fn from(GameEvent { kind, data }: GameEvent) -> Self {
        (kind, data)
    }
}

impl TryFrom<(u8, Vec<u8>)> for GameEvent {
    type Error = EventError;

    fn try_from((kind, data): (u8, Vec<u8>)) -> Result<Self, EventError> {
        let bytes = data.len();
        if bytes > MAX_EVENT_DATA {
            Err(EventError::TooLong { bytes })
        } else {
            Ok(Self { kind, data })
        }
    }
}

/// The reason why a value is not the content of an event.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// The schema has no such kind.
    #[error("the game declares no event {name:?}")]
    UnknownKind {
        /// The name of the kind.
        name: String,
    },
    /// The encoding of the event is too long.
    #[error("the event has {bytes} bytes; at most {MAX_EVENT_DATA} are allowed")]
    TooLong {
        /// The length.
        bytes: usize,
    },
    /// The game has sent too many events in this tick.
    #[error("the game sends more than {most} events in a tick")]
    TooMany {
        /// Maximum number of events in a tick.
        most: usize,
    },
    /// The value has no encoding.
    #[error("the event cannot be encoded: {0}")]
    Encode(EncodeError),
    /// The content is not a value of the wanted type.
    #[error("the event cannot be decoded as the wanted type: {0}")]
    Decode(DecodeError),
}

impl GameEvent {
    /// An event of the kind with this number. Its content is `value`, which bincode encodes.
    ///
    /// # Errors
    /// The value cannot be encoded, or its encoding is longer than [`MAX_EVENT_DATA`].
    pub fn new(kind: u8, value: &impl Serialize) -> Result<Self, EventError> {
        let data = bincode::serde::encode_to_vec(value, bincode::config::standard())
            .map_err(EventError::Encode)?;
        if data.len() > MAX_EVENT_DATA {
            return Err(EventError::TooLong { bytes: data.len() });
        }
        Ok(Self { kind, data })
    }

    /// The number of the event's kind.
    pub fn kind(&self) -> u8 {
        self.kind
    }

    /// The encoded content.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Decodes the content as the value that the game encoded.
    ///
    /// # Errors
    /// The content is not a `T`, or bytes follow it.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, EventError> {
        let limited = bincode::config::standard().with_limit::<MAX_EVENT_DATA>();
        let (value, used) =
            bincode::serde::decode_from_slice(&self.data, limited).map_err(EventError::Decode)?;
        if used != self.data.len() {
            return Err(EventError::Decode(DecodeError::Other("bytes are left over")));
        }
        Ok(value)
    }
}

impl Encode for GameEvent {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        (self.kind, &self.data).encode(encoder)
    }
}

impl<Context> Decode<Context> for GameEvent {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let (kind, data) = <(u8, Vec<u8>)>::decode(decoder)?;
        if data.len() > MAX_EVENT_DATA {
            return Err(DecodeError::Other("the content of an event is too long"));
        }
        Ok(Self { kind, data })
    }
}

bincode::impl_borrow_decode!(GameEvent);
