use std::fmt;

use bincode::de::Decoder;
use bincode::error::DecodeError;
use bincode::{Decode, Encode};

use super::player_name::unprintable;

/// Most characters of a line that one player says to all: two rows of a screen.
pub const MAX_CHAT_CHARS: usize = 160;

/// A line that a player says to everybody, fit to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode)]
pub struct ChatLine(String);

/// Why a text is no [`ChatLine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    /// Nothing, or nothing but blanks.
    #[error("a line needs at least one visible character")]
    Empty,
    /// More than [`MAX_CHAT_CHARS`] characters.
    #[error("a line has at most {MAX_CHAT_CHARS} characters")]
    TooLong,
    /// A character that could forge another line.
    #[error("a line has no control or direction characters")]
    Unprintable,
}

impl ChatLine {
    /// The line, if it is fit to be shown.
    pub fn new(line: &str) -> Result<Self, ChatError> {
        if line.trim().is_empty() {
            return Err(ChatError::Empty);
        }
        if line.chars().count() > MAX_CHAT_CHARS {
            return Err(ChatError::TooLong);
        }
        if line.chars().any(unprintable) {
            return Err(ChatError::Unprintable);
        }
        Ok(Self(line.to_owned()))
    }

    /// The line itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ChatLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<Context> Decode<Context> for ChatLine {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let line = String::decode(decoder)?;
        Self::new(&line).map_err(|_| DecodeError::Other("the line is not fit to be shown"))
    }
}

bincode::impl_borrow_decode!(ChatLine);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fit_lines_pass_and_others_say_why() {
        for fit in ["gg", " well played ", &"\u{10ffff}".repeat(MAX_CHAT_CHARS)] {
            assert_eq!(ChatLine::new(fit).unwrap().as_str(), fit);
        }
        assert_eq!(ChatLine::new("  "), Err(ChatError::Empty));
        assert_eq!(ChatLine::new(&"x".repeat(MAX_CHAT_CHARS + 1)), Err(ChatError::TooLong));
        assert_eq!(ChatLine::new("a\nb"), Err(ChatError::Unprintable));
    }
}
