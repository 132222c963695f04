//! Reasons for refusals and disconnects, as logs and metrics name them.

use std::fmt;

use super::{ClosingReason, RefusalReason};

/// Declares each reason with its code, the stage at which it occurs, and its sentence.
macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $stage:ident, $sentence:literal;)*) => {
        /// The reason why a client was refused, or is no longer in the match. Logs, metrics, the
        /// reason phrase of a QUIC close and `deploy/REFUSALS.md` all use its [`code`](Self::code).
        /// [`RefusalReason`] and [`ClosingReason`], which are sent on the control stream, map to
        /// one of these.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reason {
            $($(#[$doc])* $name,)*
        }

        impl Reason {
            /// Every reason, in numerical order (`reason as usize`).
            pub const ALL: [Self; [$(Self::$name),*].len()] = [$(Self::$name),*];

            /// The stable name of the reason for programs. It never changes.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            fn stage(self) -> Stage {
                match self {
                    $(Self::$name => Stage::$stage,)*
                }
            }
        }

        /// The reason as a sentence for logs.
        impl fmt::Display for Reason {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(match self {
                    $(Self::$name => $sentence,)*
                })
            }
        }
    };
}

/// When a reason can end a connection.
#[derive(PartialEq, Eq)]
enum Stage {
    /// Only before the client has joined the match.
    Joining,
    /// Only after the client has joined the match.
    Joined,
    /// At any time.
    Any,
}

reasons! {
    /// The client speaks another version of the protocol.
    WrongVersion = "wrong_version", Any, "the client speaks another protocol version";
    /// All player places are taken.
    Full = "full", Any, "no place is left";
    /// The client has another map.
    WrongMap = "wrong_map", Any, "the client has another map";
    /// The name is empty, too long, not printable, or has blanks at an end.
    BadName = "bad_name", Any,
        "the name is empty, too long, not printable, or has blanks at an end";
    /// The match did not answer in time, or the server is draining.
    NotReady = "not_ready", Any, "the match did not answer in time, or the server is draining";
    /// The operator has banned the address.
    Banned = "banned", Joining, "the client is banned";
    /// The client has no connect token, or no password.
    TokenRequired = "token_required", Joining, "the client has no connect token or password";
    /// The password is wrong, or the connect token is not valid here, has expired, or was used
    /// before.
    BadToken = "bad_token", Joining,
        "the token or password is wrong, or the token has expired or was used before";
    /// The address has reached its limit of players, of joins a minute, or of wrong passwords.
    AddressLimit = "address_limit", Joining, "the address has reached its limit";
    /// The server has no match of the name that the client asks for.
    NoSuchMatch = "no_such_match", Joining, "the server has no match of that name";
    /// The operator's list of admitted players does not name the client.
    NotAllowed = "not_allowed", Joining, "the server's list of players does not name the client";
    /// More connections are open than the server accepts.
    Overloaded = "overloaded", Joining, "too many connections are open";
    /// No QUIC connection, or no WebTransport session, was established.
    HandshakeFailed = "handshake_failed", Joining, "the handshake failed or took too long";
    /// The connection was established, but no hello arrived.
    NoHello = "no_hello", Joining, "no hello arrived";
    /// The client said goodbye.
    Left = "left", Joined, "the client said goodbye";
    /// The client closed the connection without a goodbye.
    Closed = "closed", Joined, "the client closed the connection without a goodbye";
    /// Nothing valid was received for too long.
    TimedOut = "timed_out", Joined, "nothing was received for too long";
    /// The connection broke.
    Lost = "lost", Joined, "the connection broke";
    /// More events waited for the client than the server keeps.
    FellBehind = "fell_behind", Joined, "too many events waited for the client";
    /// The client did not read its control stream.
    Unread = "unread", Joined, "the client did not read its control stream";
    /// An operator or a rule removed the player.
    Removed = "removed", Joined, "the player was removed from the match";
    /// The player did nothing for too long.
    Idle = "idle", Joined, "the player was idle for too long";
    /// The player has connected again.
    Replaced = "replaced", Joined, "the same player has connected again";
    /// The match cannot go on. The server's other matches continue.
    MatchFailed = "match_failed", Joined, "the match has failed";
    /// The client does not accept QUIC datagrams, which carry the snapshots.
    NoDatagrams = "no_datagrams", Any, "the client accepts no QUIC datagrams";
    /// The client broke the protocol.
    Malformed = "malformed", Any, "the client broke the protocol";
    /// The client sends more than any client needs.
    Flooding = "flooding", Any, "the client sends more than any client needs";
    /// The server is shutting down.
    Shutdown = "shutdown", Any, "the server is shutting down";
}

impl Reason {
    /// Whether a client that has not joined can be refused for this reason.
    pub fn refuses(self) -> bool {
        self.stage() != Stage::Joined
    }

    /// Whether a client that has joined can be disconnected for this reason.
    pub fn disconnects(self) -> bool {
        self.stage() != Stage::Joining
    }
}

impl From<&RefusalReason> for Reason {
    fn from(reason: &RefusalReason) -> Self {
        match reason {
            RefusalReason::WrongVersion { .. } => Self::WrongVersion,
            RefusalReason::Full { .. } => Self::Full,
            RefusalReason::WrongMap { .. } => Self::WrongMap,
            RefusalReason::BadName => Self::BadName,
            RefusalReason::NotReady => Self::NotReady,
            RefusalReason::Banned => Self::Banned,
            RefusalReason::TokenRequired => Self::TokenRequired,
            RefusalReason::BadToken => Self::BadToken,
            RefusalReason::AddressLimit => Self::AddressLimit,
            RefusalReason::NoSuchMatch { .. } => Self::NoSuchMatch,
            RefusalReason::NotAllowed => Self::NotAllowed,
        }
    }
}

impl From<&ClosingReason> for Reason {
    fn from(reason: &ClosingReason) -> Self {
        match reason {
            ClosingReason::ShuttingDown => Self::Shutdown,
            ClosingReason::TimedOut => Self::TimedOut,
            ClosingReason::Removed(_) => Self::Removed,
            ClosingReason::Replaced => Self::Replaced,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::control::{ChatLine, MapHash, MapName, MatchNames};

    #[test]
    fn codes_are_distinct_identifiers() {
        let codes: BTreeSet<_> = Reason::ALL.map(Reason::code).into();
        assert_eq!(codes.len(), Reason::ALL.len());
        for (index, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
            assert!(
                reason.code().chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
            );
            assert!(reason.refuses() || reason.disconnects());
        }
    }

    #[test]
    fn the_protocol_page_names_the_code_of_each_reason_on_the_wire() {
        let page = include_str!("../../PROTOCOL.md");
        let refusals = [
            RefusalReason::WrongVersion { server: 1 },
            RefusalReason::Full { limit: 1 },
            RefusalReason::WrongMap { server: MapHash::ANY, name: MapName::new("m") },
            RefusalReason::BadName,
            RefusalReason::NotReady,
            RefusalReason::Banned,
            RefusalReason::TokenRequired,
            RefusalReason::BadToken,
            RefusalReason::AddressLimit,
            RefusalReason::NoSuchMatch { matches: MatchNames::new([]) },
            RefusalReason::NotAllowed,
        ];
        let closings = [
            ClosingReason::ShuttingDown,
            ClosingReason::TimedOut,
            ClosingReason::Removed(ChatLine::new("x").unwrap()),
            ClosingReason::Replaced,
        ];
        let row = |message: &str| {
            let rows = page.lines().filter(|line| line.starts_with("| "));
            rows.clone().find(|row| row.contains(&format!(" | {message} | "))).unwrap()
        };
        for (variant, refusal) in refusals.iter().enumerate() {
            let reason = Reason::from(refusal);
            assert!(reason.refuses(), "{reason:?}");
            let named = format!("{variant} {reason:?} (`{}`)", reason.code());
            assert!(row("Refused").contains(&named), "{named}");
        }
        for (variant, closing) in closings.into_iter().enumerate() {
            let reason = Reason::from(&closing);
            assert!(reason.disconnects(), "{reason:?}");
            let named = match &closing {
                ClosingReason::ShuttingDown => "ShuttingDown".to_owned(),
                _ => format!("{reason:?}"),
            };
            let named = format!("{variant} {named} (`{}`)", reason.code());
            assert!(row("Closing").contains(&named), "{named}");
        }
    }
}
