//! Reasons why a peer's bytes are rejected, with the code for closing the connection.

use crate::control::{FrameError, MessageError};

/// Why a datagram is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatagramError {
    /// The datagram ends before its last field.
    #[error("it ends before its last field")]
    Truncated,
    /// Bytes follow the last field of the datagram, or its padding is not zero.
    #[error("bytes follow its last field")]
    Trailing,
    /// The kind of the datagram is unknown.
    #[error("unknown datagram kind {kind}")]
    UnknownKind {
        /// The kind that the datagram claims.
        kind: u32,
    },
    /// A field has a value outside its range.
    #[error("{field} is out of range")]
    OutOfRange {
        /// The field.
        field: &'static str,
    },
    /// An entity occurs twice.
    #[error("slot {slot} occurs twice")]
    RepeatedSlot {
        /// The slot.
        slot: u16,
    },
    /// A record references a value that the reader does not have.
    #[error("slot {slot} references a missing baseline of tick {tick}")]
    UnknownBaseline {
        /// The slot.
        slot: u16,
        /// The tick of the baseline.
        tick: u32,
    },
    /// Values of the match, or of a client's own player, reference values that the reader does not
    /// have.
    #[error("values reference a missing baseline, {age} ticks before the datagram")]
    UnknownValues {
        /// The number of ticks from the baseline to the datagram.
        age: u8,
    },
    /// The datagram acknowledges a snapshot that was never sent.
    #[error("tick {tick} is acknowledged, but no snapshot of it was sent")]
    UnsentAcknowledged {
        /// The tick in question.
        tick: u32,
    },
}

/// The way in which a peer broke the protocol. The session is over, and the caller closes the
/// connection with [`ProtocolError::code`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The control stream cannot be cut into frames.
    #[error("control stream: {0}")]
    Frame(FrameError),
    /// A frame holds no valid message.
    #[error("a control message {0}")]
    Message(MessageError),
    /// A message arrived in a state in which it is not allowed.
    #[error("unexpected control message {message} while {state}")]
    Unexpected {
        /// The message.
        message: &'static str,
        /// The state of the session.
        state: &'static str,
    },
    /// A datagram is malformed.
    #[error("datagram: {0}")]
    Datagram(DatagramError),
}

impl From<FrameError> for ProtocolError {
    fn from(error: FrameError) -> Self {
        Self::Frame(error)
    }
}

impl From<MessageError> for ProtocolError {
    fn from(error: MessageError) -> Self {
        Self::Message(error)
    }
}

impl From<DatagramError> for ProtocolError {
    fn from(error: DatagramError) -> Self {
        Self::Datagram(error)
    }
}

impl ProtocolError {
    /// The QUIC application error code for closing the connection.
    pub fn code(&self) -> u32 {
        match self {
            Self::Frame(_) | Self::Message(_) => 2,
            Self::Unexpected { .. } => 3,
            Self::Datagram(_) => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn a_message_contains_its_cause_which_is_no_source_too() {
        let cause = DatagramError::Truncated;
        let error = ProtocolError::from(cause);
        assert_eq!(error.to_string(), format!("datagram: {cause}"));
        assert!(error.source().is_none(), "a list of causes would print the cause twice");
    }
}
