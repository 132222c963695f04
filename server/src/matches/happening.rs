//! Happenings that are reported outside of the server: joins and leaves, results of rounds, bans.

use std::net::SocketAddr;
use std::sync::Arc;

use obsp_proto::control::MatchName;
use serde::Serialize;

/// A function that receives happenings. It must not wait.
type Hear = dyn Fn(Option<&MatchName>, &Happening) + Send + Sync;

/// Hands happenings to a receiver, such as the webhook. Without a receiver, they are dropped.
#[derive(Clone, Default)]
pub(crate) struct Listener(Option<Arc<Hear>>);

impl Listener {
    /// A listener that hands all happenings to `hear`.
    pub(crate) fn new(
        hear: impl Fn(Option<&MatchName>, &Happening) + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(hear)))
    }

    /// Hands over something that happened in a match, or on the whole server. It never waits.
    pub(crate) fn tell(&self, match_name: Option<&MatchName>, happening: &Happening) {
        if let Some(hear) = &self.0 {
            hear(match_name, happening);
        }
    }

    /// Whether there is a receiver.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.is_some()
    }
}

/// Something that happened in a match, or on the whole server.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Happening {
    /// A player came into the match.
    Join {
        player: Person,
        /// Players in the match, with this one.
        players: usize,
    },
    /// A player left, or lost the connection and may come back.
    Leave {
        player: Person,
        /// The reason, as metrics and the log name it.
        reason: &'static str,
        /// Time that the connection was in the match.
        seconds: f64,
        /// Players in the match, without this one unless the place is kept.
        players: usize,
    },
    /// A round ended.
    Result {
        map: String,
        next_map: Option<String>,
        /// The players, the best first.
        scores: Vec<Standing>,
    },
    /// An administrator banned a player or addresses.
    Ban {
        subject: String,
        reason: String,
        by: String,
        /// When the ban ends, in seconds since 1970; `None` for never.
        expires: Option<u64>,
    },
}

impl Happening {
    /// The name of the event.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Join { .. } => "join",
            Self::Leave { .. } => "leave",
            Self::Result { .. } => "result",
            Self::Ban { .. } => "ban",
        }
    }
}

/// The player whom a happening is about.
#[derive(Debug, Serialize)]
pub(crate) struct Person {
    /// The number of the connection, as the log and administrators know it.
    pub(crate) connection: u64,
    pub(crate) name: String,
    /// The player id in the connect token, if there was a token.
    pub(crate) player: Option<u64>,
    pub(crate) address: SocketAddr,
}

/// A player's score at the end of a round.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Standing {
    pub(crate) name: String,
    pub(crate) score: i16,
}
