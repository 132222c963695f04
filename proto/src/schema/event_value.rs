//! The content of an event, read by the types that the game declares.

use obsp_sim::EntityId;

use super::{EventKind, EventType, GameEvent};

/// The value of a field of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum EventValue {
    /// A value of [`EventType::Bool`].
    Bool(bool),
    /// A value of [`EventType::U8`] or [`EventType::Unsigned`].
    Unsigned(u64),
    /// A value of [`EventType::I8`] or [`EventType::Signed`].
    Signed(i64),
    /// A value of [`EventType::F32`] or [`EventType::F64`].
    Float(f64),
    /// A value of [`EventType::Text`].
    Text(String),
    /// A value of [`EventType::Player`].
    Player(EntityId),
}

impl GameEvent {
    /// The values of the fields of `kind`, which must be the kind of this event, in the order of
    /// the fields. `None` if the content lacks a field or has more than these fields.
    pub fn values(&self, kind: &EventKind) -> Option<Vec<EventValue>> {
        let mut rest = self.data();
        let values = kind.fields().iter().map(|(_, of)| take(&mut rest, *of));
        let values: Option<Vec<_>> = values.collect();
        values.filter(|_| rest.is_empty())
    }
}

/// Reads a value from the start of `rest`.
fn take(rest: &mut &[u8], of: EventType) -> Option<EventValue> {
    Some(match of {
        EventType::Bool => EventValue::Bool(decode(rest)?),
        EventType::U8 => EventValue::Unsigned(decode::<u8>(rest)?.into()),
        EventType::Unsigned => EventValue::Unsigned(decode(rest)?),
        EventType::I8 => EventValue::Signed(decode::<i8>(rest)?.into()),
        EventType::Signed => EventValue::Signed(decode(rest)?),
        EventType::F32 => EventValue::Float(decode::<f32>(rest)?.into()),
        EventType::F64 => EventValue::Float(decode(rest)?),
        EventType::Text => EventValue::Text(decode(rest)?),
        EventType::Player => {
            let (slot, generation) = decode(rest)?;
            EventValue::Player(EntityId { slot, generation })
        }
    })
}

fn decode<T: bincode::Decode<()>>(rest: &mut &[u8]) -> Option<T> {
    let limited = bincode::config::standard().with_limit::<{ super::MAX_EVENT_DATA }>();
    let (value, used) = bincode::decode_from_slice(rest, limited).ok()?;
    *rest = &rest[used..];
    Some(value)
}
