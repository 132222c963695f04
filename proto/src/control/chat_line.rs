//! Chat lines.

use bincode::Encode;

use super::checked_text::checked_text;
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
}

checked_text!(
    ChatLine,
    |line| Self::new(&line).ok(),
    "the chat line is empty, too long or not printable"
);

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
