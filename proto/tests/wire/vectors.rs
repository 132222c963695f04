//! The test vectors of `PROTOCOL.md`: the code encodes and decodes the bytes that the page
//! prints.

mod effects;
mod messages;
mod range_coding;
mod snapshots;

use std::num::NonZeroU16;
use std::sync::Arc;

use obsp_proto::quantise::WorldBounds;
use obsp_proto::schema::{Action, EventKind, EventType, Field, Hint, Schema, SchemaParts};

const RATE: NonZeroU16 = NonZeroU16::new(60).unwrap();

/// The bytes that `PROTOCOL.md` prints under this name, in a fenced block that begins with
/// "vector NAME".
fn printed(name: &str) -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/PROTOCOL.md");
    let text = std::fs::read_to_string(path).unwrap();
    let fence = format!("```vector {name}\n");
    let block = text.split(&fence).nth(1).unwrap_or_else(|| panic!("no vector {name}"));
    let digits: String = block.split("```").next().unwrap().split_whitespace().collect();
    let byte = |index: usize| u8::from_str_radix(&digits[index..index + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

#[track_caller]
fn check(name: &str, written: &[u8]) {
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ");
    assert_eq!(hex(&printed(name)), hex(written), "{name}");
}

fn bounds() -> WorldBounds {
    WorldBounds::new([-512, -512, -256], [15, 15, 14]).unwrap()
}

const SECONDS: Field = Field::new("seconds", -5, 30).with_hint(Hint::Timer);
const HOLDER: Field = Field::new("holder", 0, 2);
const AMMUNITION: Field = Field::new("ammunition", 0, 65_535);
const TEAM: Field = Field::new("team", 0, 1).with_hint(Hint::Team);
const HITS: Field = Field::new("hits", 0, 1000);

fn schema() -> Arc<Schema> {
    let taken = EventKind::new("taken")
        .field("team", EventType::Text)
        .field("points", EventType::Unsigned)
        .toast("{team} took it")
        .sound("kill");
    let throw = Action::new("throw", "Throw").key("KeyG").key("Mouse2").gamepad(2);
    let parts = SchemaParts {
        of_match: vec![SECONDS, HOLDER],
        of_own_player: vec![AMMUNITION],
        of_players: vec![TEAM],
        models: vec![("crate".to_owned(), vec![]), ("pin".to_owned(), vec![HITS])],
        events: vec![taken, "won".into()],
        actions: vec![throw, Action::new("call", "Call").without_touch()],
    };
    Arc::new(Schema::new(parts).unwrap())
}
