//! The content of a game's event as fields with names.

use std::ffi::c_char;

use obsp_proto::schema::{EventKind, EventValue, GameEvent, MAX_EVENT_DATA, MAX_FIELD_NAME};

use crate::events::{ObspId, ObspMatchEvent};
use crate::failure::{Failure, guard};
use crate::handle::ObspClient;
use crate::raw;

/// Bytes of the name of a field, its zero byte included.
pub const OBSP_FIELD_NAME_BYTES: usize = 36;
const _: () = assert!(OBSP_FIELD_NAME_BYTES > MAX_FIELD_NAME, "every name fits");

/// Bytes of the text of a field, its zero byte included.
pub const OBSP_FIELD_TEXT_BYTES: usize = 260;
const _: () = assert!(OBSP_FIELD_TEXT_BYTES > MAX_EVENT_DATA, "every text fits");

/// The type of a field of a game's event, which says where its value is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObspFieldType {
    /// `integer` is 1 for true and 0 for false.
    Bool,
    /// `integer`.
    Integer,
    /// `number`.
    Number,
    /// `text`.
    Text,
    /// `player`.
    Player,
}

/// A field of a game's event.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspField {
    /// The type of the value.
    pub kind: ObspFieldType,
    /// A whole number. A number too great for the type is given as the greatest number that fits.
    pub integer: i64,
    /// A number with a fraction.
    pub number: f64,
    /// A player.
    pub player: ObspId,
    /// The name of the field.
    pub name: [c_char; OBSP_FIELD_NAME_BYTES],
    /// A text.
    pub text: [c_char; OBSP_FIELD_TEXT_BYTES],
}

/// Copies the fields of an event of the kind `OBSP_MATCH_EVENT_KIND_GAME`, at most `capacity` of
/// them. Returns the number of all its fields, at most 16. If the game declares no fields for this
/// kind of event, the number is 0, and `data` has the content in an encoding that only the game
/// knows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_event_fields(
    client: *mut ObspClient,
    event: *const ObspMatchEvent,
    fields: *mut ObspField,
    capacity: usize,
) -> usize {
    guard(0, || {
        // SAFETY: the contract of the header.
        let client = unsafe { raw::client(client)? };
        // SAFETY: the contract of the header.
        let event = unsafe { raw::structure(event, "the event")? };
        let Some(hello) = client.client.session().hello() else { return Ok(0) };
        // SAFETY: the contract of the header.
        let name = unsafe { raw::text(event.text.as_ptr(), "the name of the event")? };
        let (number, kind) = (hello.schema.event_kind(name))
            .and_then(|number| Some((number, hello.schema.events().get(usize::from(number))?)))
            .ok_or_else(|| {
                Failure::invalid(format!(
                    "the game has no events {name:?}: the event is of another kind than \
                     OBSP_MATCH_EVENT_KIND_GAME, or from another world"
                ))
            })?;
        let read = read(number, kind, event)?;
        // SAFETY: the contract of the header.
        unsafe { raw::put_all(fields, capacity, read.into_iter()) }
    })
}

fn read(number: u8, kind: &EventKind, event: &ObspMatchEvent) -> Result<Vec<ObspField>, Failure> {
    if kind.fields().is_empty() {
        return Ok(Vec::new());
    }
    let length = usize::from(event.data_length).min(event.data.len());
    let content = GameEvent::try_from((number, event.data[..length].to_vec()));
    let values = content.map_err(Failure::invalid)?.values(kind).ok_or_else(|| {
        Failure::invalid(format!(
            "the content of the event {} does not have the fields that the game declares",
            kind.name()
        ))
    })?;
    Ok(kind.fields().iter().zip(values).map(|((name, _), value)| field(name, value)).collect())
}

fn field(name: &str, value: EventValue) -> ObspField {
    let mut field = ObspField {
        kind: ObspFieldType::Integer,
        integer: 0,
        number: 0.0,
        player: ObspId::NOBODY,
        name: raw::fixed(name),
        text: raw::fixed(""),
    };
    match value {
        EventValue::Bool(value) => {
            (field.kind, field.integer) = (ObspFieldType::Bool, value.into());
        }
        EventValue::Unsigned(value) => field.integer = i64::try_from(value).unwrap_or(i64::MAX),
        EventValue::Signed(value) => field.integer = value,
        EventValue::Float(value) => (field.kind, field.number) = (ObspFieldType::Number, value),
        EventValue::Text(text) => {
            (field.kind, field.text) = (ObspFieldType::Text, raw::fixed(&text));
        }
        EventValue::Player(id) => (field.kind, field.player) = (ObspFieldType::Player, id.into()),
    }
    field
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use obsp_proto::schema::EventType;

    use super::*;

    #[test]
    fn a_field_has_the_value_of_its_type() {
        let of = |value| field("f", value);
        assert_eq!(of(EventValue::Unsigned(u64::MAX)).integer, i64::MAX);
        assert_eq!(of(EventValue::Signed(-7)).integer, -7);
        assert_eq!(of(EventValue::Bool(true)).kind, ObspFieldType::Bool);
        assert_eq!(of(EventValue::Float(0.5)).number, 0.5);
        let text = of(EventValue::Text("Red".into()));
        assert_eq!(text.kind, ObspFieldType::Text);
        // SAFETY: the text ends with a zero byte.
        assert_eq!(unsafe { CStr::from_ptr(text.text.as_ptr()) }, c"Red");
    }

    #[test]
    fn a_content_that_does_not_fit_is_refused() {
        let kind = EventKind::new("won").field("team", EventType::U8);
        let mut event = ObspMatchEvent::game("won", &[3]);
        assert_eq!(read(0, &kind, &event).unwrap()[0].integer, 3);
        event.data_length = 2;
        assert!(read(0, &kind, &event).is_err());
        event.data_length = u16::MAX;
        assert!(read(0, &kind, &event).is_err());
    }
}
