//! Chat lines.

use std::fmt;

use bincode::de::Decoder;
use bincode::error::DecodeError;
use bincode::{Decode, Encode};

use super::text::{self, TextFault};

/// Maximum number of characters of a chat line: two rows of a screen.
pub const MAX_CHAT_CHARS: usize = 160;

/// A chat line, checked to be printable.
///
/// ```
/// use obsp_proto::control::{ChatError, ChatLine, TextFault};
///
/// assert_eq!(ChatLine::new("well played")?.as_str(), "well played");
/// assert_eq!(ChatLine::new("two\nlines"), Err(ChatError::Unprintable(TextFault::Unprintable)));
/// assert_eq!(ChatLine::shortened("two\nlines").unwrap().as_str(), "twolines");
/// # Ok::<(), ChatError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode)]
pub struct ChatLine(String);

/// Why a text is not a [`ChatLine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    /// The line is empty or blank.
    #[error("a line needs at least one visible character")]
    Empty,
    /// The line has more than [`MAX_CHAT_CHARS`] characters.
    #[error("a line must have at most {MAX_CHAT_CHARS} characters")]
    TooLong,
    /// The line has characters that could forge another line.
    #[error("a line must not have {0}")]
    Unprintable(TextFault),
}

impl ChatLine {
    /// Checks a line.
    pub fn new(line: &str) -> Result<Self, ChatError> {
        if line.trim().is_empty() {
            return Err(ChatError::Empty);
        }
        if line.chars().count() > MAX_CHAT_CHARS {
            return Err(ChatError::TooLong);
        }
        text::check(line).map_err(ChatError::Unprintable)?;
        Ok(Self(line.to_owned()))
    }

    /// A line of `text` without the characters that cannot be shown, cut to
    /// [`MAX_CHAT_CHARS`]; `None` if nothing is left.
    pub fn shortened(text: &str) -> Option<Self> {
        Self::new(&text::shortened(text, MAX_CHAT_CHARS)).ok()
    }

    /// The text of the line.
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
        Self::new(&line)
            .map_err(|_| DecodeError::Other("the chat line is empty, too long or not printable"))
    }
}

bincode::impl_borrow_decode!(ChatLine);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_lines_are_accepted_and_others_rejected_with_a_reason() {
        for fit in ["gg", " well played ", &"\u{10ffff}".repeat(MAX_CHAT_CHARS)] {
            assert_eq!(ChatLine::new(fit).unwrap().as_str(), fit);
        }
        assert_eq!(ChatLine::new("  "), Err(ChatError::Empty));
        assert_eq!(ChatLine::new(&"x".repeat(MAX_CHAT_CHARS + 1)), Err(ChatError::TooLong));
        assert_eq!(ChatLine::new("a\nb"), Err(ChatError::Unprintable(TextFault::Unprintable)));
    }
}
