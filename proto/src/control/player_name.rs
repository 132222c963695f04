use std::fmt;

use bincode::de::Decoder;
use bincode::error::DecodeError;
use bincode::{Decode, Encode};

/// Most characters a player's name may have: what a score board can show.
pub const MAX_NAME_CHARS: usize = 24;

/// A name fit to be shown to others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode)]
pub struct PlayerName(String);

/// Why a string is no [`PlayerName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing, or nothing but blanks.
    #[error("a name needs at least one visible character")]
    Empty,
    /// More than [`MAX_NAME_CHARS`] characters.
    #[error("a name has at most {MAX_NAME_CHARS} characters")]
    TooLong,
    /// Blanks at either end, which nobody could tell apart.
    #[error("a name neither begins nor ends with a blank")]
    Padded,
    /// A character that could forge a log line or a score board.
    #[error("a name has no control or direction characters")]
    Unprintable,
}

impl PlayerName {
    /// The name, if it is fit to be shown.
    pub fn new(name: &str) -> Result<Self, NameError> {
        let trimmed = name.trim();
        if trimmed.is_empty() {
            return Err(NameError::Empty);
        }
        if name.chars().count() > MAX_NAME_CHARS {
            return Err(NameError::TooLong);
        }
        if trimmed.len() != name.len() {
            return Err(NameError::Padded);
        }
        if name.chars().any(unprintable) {
            return Err(NameError::Unprintable);
        }
        Ok(Self(name.to_owned()))
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Controls, and the marks that turn the writing direction or are not seen.
pub(super) fn unprintable(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}

impl fmt::Display for PlayerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<Context> Decode<Context> for PlayerName {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let name = String::decode(decoder)?;
        Self::new(&name).map_err(|_| DecodeError::Other("the name is not fit to be shown"))
    }
}

bincode::impl_borrow_decode!(PlayerName);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fit_names_pass_and_others_say_why() {
        for fit in ["a", "Bot 31", "Jürgen", "名前"] {
            assert_eq!(PlayerName::new(fit).unwrap().as_str(), fit);
        }
        assert_eq!(PlayerName::new(" \t"), Err(NameError::Empty));
        assert_eq!(PlayerName::new(&"x".repeat(25)), Err(NameError::TooLong));
        assert!(PlayerName::new(&"é".repeat(24)).is_ok());
        assert_eq!(PlayerName::new("a "), Err(NameError::Padded));
        assert_eq!(PlayerName::new("a\nb"), Err(NameError::Unprintable));
        assert_eq!(PlayerName::new("a\u{202e}b"), Err(NameError::Unprintable));
    }
}
