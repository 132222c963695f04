use std::borrow::Cow;

use super::{Hint, SchemaError};

/// Maximum number of fields per subject: of the match, of a player, or of a body of one model.
pub const MAX_FIELDS: usize = 16;

/// Maximum length of the name of a field, of a model or of a kind of events, in bytes.
pub const MAX_FIELD_NAME: usize = 32;

/// A whole number that a game replicates, with its range, which has at most 65,536 values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    name: Cow<'static, str>,
    least: i32,
    most: i32,
    hint: Hint,
}

impl Field {
    /// A field of a game, which is checked when it becomes part of a
    /// [`Schema`](super::Schema).
    pub const fn new(name: &'static str, least: i32, most: i32) -> Self {
        Self { name: Cow::Borrowed(name), least, most, hint: Hint::None }
    }

    /// This field with a hint at how to show its value.
    #[must_use]
    pub const fn with_hint(mut self, hint: Hint) -> Self {
        self.hint = hint;
        self
    }

    pub(super) fn received(name: String, least: i32, most: i32, hint: Hint) -> Self {
        Self { name: Cow::Owned(name), least, most, hint }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The smallest value.
    pub fn least(&self) -> i32 {
        self.least
    }

    /// The largest value.
    pub fn most(&self) -> i32 {
        self.most
    }

    /// How to show the value.
    pub fn hint(&self) -> Hint {
        self.hint
    }

    /// The difference between the largest value and the smallest.
    pub(crate) fn span(&self) -> u16 {
        // A schema has checked the range.
        (i64::from(self.most) - i64::from(self.least)).clamp(0, u16::MAX.into()) as u16
    }

    /// Bits of a value.
    pub(crate) fn bits(&self) -> u32 {
        u16::BITS - self.span().leading_zeros()
    }

    pub(super) fn check(&self) -> Result<(), SchemaError> {
        check_name(&self.name)?;
        let span = i64::from(self.most) - i64::from(self.least);
        if (1..=i64::from(u16::MAX)).contains(&span) {
            return Ok(());
        }
        let (name, least, most) = (self.name.clone().into_owned(), self.least, self.most);
        Err(SchemaError::BadRange { name, least, most })
    }
}

/// Checks the name of a model. Models that are drawn in the map have names such as `*3`.
pub(super) fn check_model_name(name: &str) -> Result<(), SchemaError> {
    check_name(name.strip_prefix('*').unwrap_or(name))
        .map_err(|_| SchemaError::BadName { name: name.to_owned() })
}

/// Checks a name of a schema.
pub(super) fn check_name(name: &str) -> Result<(), SchemaError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let is_allowed = (1..=MAX_FIELD_NAME).contains(&name.len()) && name.bytes().all(allowed);
    if is_allowed { Ok(()) } else { Err(SchemaError::BadName { name: name.to_owned() }) }
}
