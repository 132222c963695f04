use obsp_proto::ProtocolError;
use obsp_proto::control::{ClosingReason, RefusalReason};
use thiserror::Error;

use crate::MapError;

/// The reason why a client is not in the match, or is no longer in it.
///
/// ```
/// use obsp_client::Disconnected;
/// use obsp_proto::control::{ChatLine, ClosingReason};
///
/// let banned = ClosingReason::Removed(ChatLine::new("spam")?);
/// assert!(Disconnected::Closed(banned).is_final(), "do not rejoin");
/// assert!(!Disconnected::TimedOut.is_final(), "rejoin with the ticket");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Error)]
pub enum Disconnected {
    /// The server ended the session.
    #[error("the server ended the session: {0}")]
    Closed(ClosingReason),
    /// The server refused the client's hello: the first one, or the one for the next world.
    #[error("the server refused this client: {0}")]
    Refused(RefusalReason),
    /// The map could not be loaded.
    #[error(transparent)]
    Map(#[from] MapError),
    /// The server sent nothing for too long.
    #[error("the server was silent too long")]
    TimedOut,
    /// The connection broke, with the reason that the transport gives.
    #[error("the connection was lost: {0}")]
    Connection(String),
    /// The server broke the protocol, or this client is of another version.
    #[error("the server broke the protocol, or this client is of another version: {0}")]
    Protocol(ProtocolError),
}

impl From<ProtocolError> for Disconnected {
    fn from(error: ProtocolError) -> Self {
        Self::Protocol(error)
    }
}

impl Disconnected {
    /// Whether rejoining is pointless: the server does not want this client, or one of the two
    /// sides breaks the protocol.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Closed(reason) => {
                matches!(reason, ClosingReason::Removed(_) | ClosingReason::Replaced)
            }
            Self::Refused(reason) => is_final_refusal(reason),
            Self::Protocol(_) => true,
            Self::TimedOut | Self::Connection(_) | Self::Map(_) => false,
        }
    }
}

/// Whether a retry is pointless after this refusal.
pub(crate) fn is_final_refusal(reason: &RefusalReason) -> bool {
    use RefusalReason::{AddressLimit, Full, NotReady};
    !matches!(reason, Full { .. } | NotReady | AddressLimit)
}
