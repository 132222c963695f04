use std::sync::Arc;

use super::*;
use crate::control::{ServerMessage, decode_server_message, encode_server_message};

const SECONDS: Field = Field::new("seconds", -5, 30);

fn parts() -> SchemaParts {
    SchemaParts {
        of_match: vec![SECONDS, Field::new("holder", 0, 2)],
        of_own_player: vec![Field::new("ammunition", 0, 65_535)],
        of_players: vec![Field::new("team", 0, 1)],
        models: vec![("crate".to_owned(), vec![]), ("pin".to_owned(), vec![Field::new("a", 0, 1)])],
        events: vec!["taken".to_owned()],
    }
}

/// A schema of the greatest length that is allowed.
pub(crate) fn longest() -> Arc<Schema> {
    let long = |index: usize| format!("{index:0>32}");
    let of = |count: usize| Schema::of_models((0..count).map(long));
    // Each name takes 33 bytes and its list of fields one.
    let schema = (0..=128).rev().find_map(|count| of(count).ok()).unwrap();
    assert!(schema.models().count() > 118);
    Arc::new(schema)
}

fn refused(change: impl FnOnce(&mut SchemaParts)) -> String {
    let mut parts = parts();
    change(&mut parts);
    Schema::new(parts).unwrap_err().to_string()
}

#[test]
fn a_fault_of_a_schema_is_named() {
    let field = |name| Field::new(name, 0, 1);
    let fields = vec![field("a"); 17];
    assert!(refused(|parts| parts.of_players = fields).contains("players has 17 fields"));
    assert!(refused(|parts| parts.of_match.push(SECONDS)).contains("\"seconds\" occurs twice"));
    for name in ["", "with space", "\u{202e}", "a123456789012345678901234567890123"] {
        assert!(refused(|parts| parts.of_match.push(field(name))).contains("is not allowed"));
        assert!(refused(|parts| parts.events.push(name.to_owned())).contains("is not allowed"));
    }
    for (least, most) in [(0, 0), (1, 0), (0, 65_536), (i32::MIN, i32::MAX)] {
        let range = Field::new("range", least, most);
        assert!(refused(|parts| parts.of_match.push(range)).contains("\"range\" ranges from"));
    }
    let long = |index| (format!("{index:0>32}"), Vec::new());
    assert!(refused(|parts| parts.models = (0..128).map(long).collect()).contains("4096"));
    let events = (0..65).map(|index| format!("e{index}")).collect();
    assert!(refused(|parts| parts.events = events).contains("65 kinds of events"));
}

#[test]
fn values_are_clamped_to_their_range() {
    let schema = Schema::new(parts()).unwrap();
    let mut values = FieldValues::default();
    assert_eq!(values.get(schema.of_match(), "seconds"), Some(-5));
    for (set, got) in [(7, 7), (-100, -5), (i64::MAX, 30)] {
        assert!(values.set(schema.of_match(), &SECONDS, set));
        assert_eq!(values.get(schema.of_match(), "seconds"), Some(got));
    }
    assert!(!values.set(schema.of_players(), &SECONDS, 1));
    assert_eq!(values.get(schema.of_players(), "seconds"), None);
    assert_eq!((SECONDS.bits(), SECONDS.span()), (6, 35));
}

#[test]
fn an_event_is_what_the_game_encoded() {
    let event = GameEvent::new(3, &("Red", 12_u16)).unwrap();
    assert_eq!(event.decode::<(String, u16)>().unwrap(), ("Red".to_owned(), 12));
    assert!(event.decode::<u8>().is_err(), "bytes are left over");
    assert!(event.decode::<[u64; 4]>().is_err());
    assert!(GameEvent::new(0, &vec![0_u8; MAX_EVENT_DATA]).is_err());
    let longest = GameEvent::new(0, &[0_u64; 32].map(|_| u8::MAX)).unwrap();
    let message = ServerMessage::Event {
        tick: crate::Tick(1),
        event: crate::control::MatchEvent::Game(longest),
    };
    let content = encode_server_message(&message).split_off(2);
    assert_eq!(decode_server_message(&content), Ok(message));
}
