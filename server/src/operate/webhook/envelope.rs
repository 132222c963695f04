use serde::Serialize;

use crate::matches::happening::Happening;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matches::happening::Person;

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
