use std::net::SocketAddr;

use serde::Serialize;

/// The object that is posted.
#[derive(Serialize)]
pub(super) struct Envelope<'a> {
    /// The id of the post. A repeated post keeps its id; every other post has another one.
    pub(super) id: &'a str,
    /// Seconds since 1970.
    pub(super) time: u64,
    /// The name of the server, if it has one.
    pub(super) server: Option<&'a str>,
    /// The match in which the event happened; `None` if it concerns the whole server.
    #[serde(rename = "match")]
    pub(super) match_name: Option<&'a str>,
    #[serde(flatten)]
    pub(super) happening: &'a Happening,
}

/// Something that is posted.
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
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Join { .. } => "join",
            Self::Leave { .. } => "leave",
            Self::Result { .. } => "result",
            Self::Ban { .. } => "ban",
        }
    }
}

/// A player of an event.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_flat_object() {
        let player = Person {
            connection: 12,
            name: "Ann \"A\"".to_owned(),
            player: Some(7),
            address: ([192, 0, 2, 1], 5).into(),
        };
        let happening = Happening::Join { player, players: 3 };
        let envelope = Envelope {
            id: "1-0",
            time: 5,
            server: Some("Hall"),
            match_name: Some("main"),
            happening: &happening,
        };
        let written: serde_json::Value = serde_json::to_value(&envelope).unwrap();
        let expected = serde_json::json!({
            "id": "1-0", "time": 5, "server": "Hall", "match": "main", "event": "join",
            "player": {
                "connection": 12, "name": "Ann \"A\"", "player": 7, "address": "192.0.2.1:5",
            },
            "players": 3,
        });
        assert_eq!(written, expected);
        assert_eq!(written["event"], happening.name());
    }
}
