//! The kinds of a game's events: the fields of their contents, and how clients may show them.

use bincode::{Decode, Encode};

use super::field::check_name;
use super::{MAX_FIELDS, SchemaError};
use crate::control::ChatLine;

/// Maximum length of the text of a toast, in bytes.
pub const MAX_TOAST: usize = 80;

/// The type of a field of an event's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum EventType {
    /// A `bool`.
    Bool,
    /// A `u8`.
    U8,
    /// A `u16`, `u32` or `u64`.
    Unsigned,
    /// An `i8`.
    I8,
    /// An `i16`, `i32` or `i64`.
    Signed,
    /// An `f32`.
    F32,
    /// An `f64`.
    F64,
    /// A `String` or `&str`.
    Text,
    /// The `EntityId` of a player. Clients show the player's name.
    Player,
}

/// A kind of events that a game declares. A client that does not know the game reads the content by
/// the types of the fields, and shows the event by its toast and sound.
///
/// ```
/// use obsp_proto::schema::{EventKind, EventType, EventValue, GameEvent};
///
/// let captured = EventKind::new("captured")
///     .field("team", EventType::U8)
///     .field("seconds", EventType::Unsigned)
///     .toast("Team {team} has the flag after {seconds} s")
///     .sound("kill");
/// let event = GameEvent::new(0, &(1_u8, 300_u32))?;
/// let values = event.values(&captured).expect("the content fits the fields");
/// assert_eq!(values, [EventValue::Unsigned(1), EventValue::Unsigned(300)]);
/// # Ok::<(), obsp_proto::schema::EventError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct EventKind {
    name: String,
    fields: Vec<(String, EventType)>,
    toast: String,
    sound: String,
}

impl EventKind {
    /// A kind without fields, toast and sound. It is checked when it becomes part of a
    /// [`Schema`](super::Schema).
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Adds a field. The fields are the parts, in order, of the tuple or structure that the game
    /// sends.
    #[must_use]
    pub fn field(mut self, name: &str, of: EventType) -> Self {
        self.fields.push((name.to_owned(), of));
        self
    }

    /// Shows a line for some seconds when such an event comes. `{NAME}` in the text stands for the
    /// value of that field.
    #[must_use]
    pub fn toast(mut self, text: &str) -> Self {
        self.toast = text.to_owned();
        self
    }

    /// Plays a sound when such an event comes. The page knows `ray`, `launch`, `blast`, `step`,
    /// `jump`, `land`, `pain`, `hit`, `kill` and `died`.
    #[must_use]
    pub fn sound(mut self, name: &str) -> Self {
        self.sound = name.to_owned();
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fields of the content, in order, each with its type; empty if only the game knows what
    /// the content means.
    pub fn fields(&self) -> &[(String, EventType)] {
        &self.fields
    }

    /// The text of the toast; `None` if there is none.
    pub fn toast_text(&self) -> Option<&str> {
        (!self.toast.is_empty()).then_some(self.toast.as_str())
    }

    /// The name of the sound; `None` if there is none.
    pub fn sound_name(&self) -> Option<&str> {
        (!self.sound.is_empty()).then_some(self.sound.as_str())
    }

    pub(super) fn check(&self) -> Result<(), SchemaError> {
        check_name(&self.name)?;
        if self.fields.len() > MAX_FIELDS {
            let of = format!("the event {:?}", self.name);
            return Err(SchemaError::TooManyFields { of, count: self.fields.len() });
        }
        let names = || self.fields.iter().map(|(name, _)| name.as_str());
        names().try_for_each(check_name)?;
        super::check_names(&format!("the event {:?}", self.name), names())?;
        if !self.sound.is_empty() {
            check_name(&self.sound)?;
        }
        let refused = |fault: String| Err(SchemaError::BadEvent { name: self.name.clone(), fault });
        if self.toast.len() > MAX_TOAST {
            let bytes = self.toast.len();
            return refused(format!(
                "its toast has {bytes} bytes; at most {MAX_TOAST} are allowed"
            ));
        }
        if let Some(Err(error)) = self.toast_text().map(ChatLine::new) {
            return refused(format!("its toast: {error}"));
        }
        for part in self.toast.split('{').skip(1) {
            let name = part.split_once('}').map_or(part, |(name, _)| name);
            if !names().any(|field| field == name) {
                return refused(format!(
                    "its toast names {{{name}}}, but the event has no such field"
                ));
            }
        }
        Ok(())
    }
}

impl From<&str> for EventKind {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}
