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
        events: vec!["taken".into()],
        actions: vec![Action::new("throw", "Throw").key("KeyG").gamepad(16)],
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
        assert!(refused(|parts| parts.events.push(name.into())).contains("is not allowed"));
    }
    for (least, most) in [(0, 0), (1, 0), (0, 65_536), (i32::MIN, i32::MAX)] {
        let range = Field::new("range", least, most);
        assert!(refused(|parts| parts.of_match.push(range)).contains("\"range\" ranges from"));
    }
    let long = |index| (format!("{index:0>32}"), Vec::new());
    assert!(refused(|parts| parts.models = (0..128).map(long).collect()).contains("4096"));
    let events = (0..65).map(|index| EventKind::new(&format!("e{index}"))).collect();
    assert!(refused(|parts| parts.events = events).contains("65 kinds of events"));
}

#[test]
fn an_action_beyond_a_limit_is_refused() {
    let of = |action: Action| refused(|parts| parts.actions.push(action));
    let many = |count: usize| {
        let actions = (0..count).map(|index| Action::new(&format!("a{index}"), "A")).collect();
        Schema::new(SchemaParts { actions, ..SchemaParts::default() })
    };
    assert!(many(16).is_ok());
    assert_eq!(many(17).unwrap_err(), SchemaError::TooManyActions { count: 17 });
    let call = || Action::new("call", "Call");
    let ok = [
        Action::new("call", &"x".repeat(MAX_LABEL)),
        call().key("A").key("B").key("C").key("D"),
        call().key(&"k".repeat(MAX_KEY_NAME)),
        call().gamepad(GAMEPAD_BUTTONS - 1),
    ];
    assert!(ok.iter().all(|action| action.check().is_ok()));
    assert!(of(Action::new("throw", "Throw")).contains("\"throw\" occurs twice"));
    assert!(of(Action::new("with space", "A")).contains("is not allowed"));
    assert!(of(Action::new("call", "")).contains("0 bytes"));
    assert!(of(Action::new("call", &"x".repeat(MAX_LABEL + 1))).contains("33 bytes"));
    assert!(of(Action::new("call", "\u{202e}")).contains("its label"));
    assert!(of(call().key("A").key("B").key("C").key("D").key("E")).contains("has 5 keys"));
    assert!(of(call().key(&"k".repeat(MAX_KEY_NAME + 1))).contains("is not a key"));
    assert!(of(call().key("Key G")).contains("is not a key") && of(call().key("")).contains("key"));
    assert!(of(call().gamepad(GAMEPAD_BUTTONS)).contains("no button 17"));
}

#[test]
fn an_event_that_cannot_be_shown_is_refused() {
    let of = |event: EventKind| refused(|parts| parts.events.push(event));
    let won = || EventKind::new("won").field("team", EventType::U8);
    assert!(won().toast("{team} won").sound("kill").check().is_ok());
    assert!(won().toast(&"x".repeat(MAX_TOAST)).check().is_ok());
    assert!(of(won().toast(&"x".repeat(MAX_TOAST + 1))).contains("81 bytes"));
    assert!(of(won().toast("{teem} won")).contains("{teem}"));
    assert!(of(won().field("team", EventType::U8)).contains("\"team\" occurs twice"));
    assert!(of(won().sound("with space")).contains("is not allowed"));
    let many = (0..17).fold(EventKind::new("won"), |event, index| {
        event.field(&format!("f{index}"), EventType::Bool)
    });
    assert!(of(many).contains("17 fields"));
}

#[test]
fn the_content_of_an_event_is_read_by_its_types() {
    let kind = [
        EventType::Bool,
        EventType::U8,
        EventType::Unsigned,
        EventType::I8,
        EventType::Signed,
        EventType::F32,
        EventType::F64,
        EventType::Text,
        EventType::Player,
    ];
    let all = kind
        .into_iter()
        .enumerate()
        .fold(EventKind::new("all"), |event, (index, of)| event.field(&format!("f{index}"), of));
    let id = obsp_sim::EntityId { slot: 300, generation: 2 };
    let value = (true, 255_u8, 70_000_u64, -1_i8, -300_i32, 0.5_f32, -2.25_f64, "Red", id);
    let event = GameEvent::new(0, &value).unwrap();
    let values = [
        EventValue::Bool(true),
        EventValue::Unsigned(255),
        EventValue::Unsigned(70_000),
        EventValue::Signed(-1),
        EventValue::Signed(-300),
        EventValue::Float(0.5),
        EventValue::Float(-2.25),
        EventValue::Text("Red".into()),
        EventValue::Player(id),
    ];
    assert_eq!(event.values(&all).as_deref(), Some(&values[..]));
    assert_eq!(event.values(&EventKind::new("less")), None, "bytes are left over");
    let more = all.field("more", EventType::U8);
    assert_eq!(event.values(&more), None, "bytes are missing");
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
