use crate::control::{FrameError, MessageError};

/// Why a datagram cannot be what a well-behaved peer sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatagramError {
    /// It ends before its last field.
    #[error("the datagram ends before its last field")]
    Truncated,
    /// It goes on after its last field, or its padding is not zero.
    #[error("the datagram goes on after its last field")]
    Trailing,
    /// It is of no known kind.
    #[error("a datagram of unknown kind {kind}")]
    UnknownKind {
        /// The kind it claims.
        kind: u32,
    },
    /// A field has a value that it cannot have.
    #[error("{field} is out of range")]
    OutOfRange {
        /// Which field.
        field: &'static str,
    },
    /// An entity is carried twice.
    #[error("slot {slot} is carried twice")]
    RepeatedSlot {
        /// Whose slot.
        slot: u16,
    },
    /// A record leans on a value that the reader never had or need not keep.
    #[error("slot {slot} leans on a baseline of tick {tick} that is not there")]
    UnknownBaseline {
        /// Whose slot.
        slot: u16,
        /// The tick the baseline would be of.
        tick: u32,
    },
    /// A snapshot is acknowledged that was never sent.
    #[error("tick {tick} is acknowledged, but no snapshot of it was sent")]
    UnsentAcknowledged {
        /// The tick in question.
        tick: u32,
    },
}

/// The peer broke the protocol: the session is over, and the caller closes
/// the connection with [`ProtocolError::code`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The control stream cannot be cut into frames.
    #[error("control stream: {0}")]
    Frame(#[from] FrameError),
    /// A control frame holds no message.
    #[error("control message: {0}")]
    Message(#[from] MessageError),
    /// A message came at a time at which it makes no sense.
    #[error("control message {message} while {state}")]
    Unexpected {
        /// Which message.
        message: &'static str,
        /// What the session was doing.
        state: &'static str,
    },
    /// A datagram is malformed.
    #[error("datagram: {0}")]
    Datagram(#[from] DatagramError),
}

impl ProtocolError {
    /// The QUIC application error code to close the connection with.
    pub fn code(&self) -> u32 {
        match self {
            Self::Frame(_) | Self::Message(_) => 2,
            Self::Unexpected { .. } => 3,
            Self::Datagram(_) => 4,
        }
    }
}
