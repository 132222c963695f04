//! Player names.

use bincode::Encode;

use super::checked_text::checked_text;
use super::text::{self, TextFault};

/// Maximum number of characters of a player's name. A score board can show this many.
pub const MAX_NAME_CHARS: usize = 24;

/// A player's name, checked to be printable.
///
/// ```
/// use obsp_proto::control::{NameError, PlayerName};
///
/// assert_eq!(PlayerName::new("Ann")?.as_str(), "Ann");
/// assert_eq!(PlayerName::new("Ann "), Err(NameError::Padded));
/// # Ok::<(), NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode)]
pub struct PlayerName(String);

/// Why a text is not a [`PlayerName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The name is empty or blank.
    #[error("a name needs at least one visible character")]
    Empty,
    /// The name has more than [`MAX_NAME_CHARS`] characters.
    #[error("a name must have at most {MAX_NAME_CHARS} characters")]
    TooLong,
    /// The name has blanks at an end, where they cannot be seen.
    #[error("a name must not begin or end with a blank")]
    Padded,
    /// The name has characters that could forge a log line or a score board.
    #[error("a name must not have {0}")]
    Unprintable(TextFault),
}

impl PlayerName {
    /// Checks a name.
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
        text::check(name).map_err(NameError::Unprintable)?;
        Ok(Self(name.to_owned()))
    }

    /// The beginning of the name, of at most `most` characters. No emoji is cut.
    pub fn beginning(&self, most: usize) -> String {
        text::shortened(&self.0, most)
    }
}

checked_text!(
    PlayerName,
    |name| Self::new(&name).ok(),
    "the name is empty, too long, not printable, or has blanks at an end"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_names_are_accepted_and_others_rejected_with_a_reason() {
        for fit in ["a", "Bot 31", "Jürgen", "名前", "Ann ❤\u{fe0f}"] {
            assert_eq!(PlayerName::new(fit).unwrap().as_str(), fit);
        }
        assert_eq!(PlayerName::new(" \t"), Err(NameError::Empty));
        assert_eq!(PlayerName::new(&"x".repeat(25)), Err(NameError::TooLong));
        assert!(PlayerName::new(&"é".repeat(24)).is_ok());
        assert_eq!(PlayerName::new("a "), Err(NameError::Padded));
        assert_eq!(PlayerName::new("a\nb"), Err(NameError::Unprintable(TextFault::Unprintable)));
        for unseen in [
            '\u{202e}',
            '\u{ad}',
            '\u{61c}',
            '\u{3164}',
            '\u{fe0f}',
            '\u{1bca0}',
            '\u{1d159}',
            '\u{e0041}',
        ] {
            let refused = PlayerName::new(&format!("a{unseen}b"));
            assert!(matches!(refused, Err(NameError::Unprintable(_))), "{unseen:?}: {refused:?}");
        }
    }
}
