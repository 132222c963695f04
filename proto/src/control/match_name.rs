//! Names of matches, because a server may run several on one port.

use std::fmt;
use std::str::FromStr;

use bincode::de::Decoder;
use bincode::error::DecodeError;
use bincode::{Decode, Encode};

use super::checked_text::checked_text;

/// Limit in bytes of a match's name.
pub const MAX_MATCH_NAME: usize = 32;

/// Maximum number of matches per server. Each match costs a core while it is played.
pub const MAX_MATCHES: usize = 8;

/// The name of a match on its server: 1 to [`MAX_MATCH_NAME`] letters and digits of ASCII, hyphens
/// and underscores. So it fits a URL, a file name and a metric's label without changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode)]
pub struct MatchName(String);

/// The text is not a match's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} cannot be the name of a match: a name has 1 to {MAX_MATCH_NAME} letters and digits of \
     ASCII, hyphens and underscores"
)]
pub struct MatchNameError(String);

impl FromStr for MatchName {
    type Err = MatchNameError;

    fn from_str(text: &str) -> Result<Self, MatchNameError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if text.is_empty() || text.len() > MAX_MATCH_NAME || !text.bytes().all(fits) {
            return Err(MatchNameError(text.chars().take(MAX_MATCH_NAME).collect()));
        }
        Ok(Self(text.to_owned()))
    }
}

checked_text!(MatchName, |name| name.parse().ok(), "not a valid match name");

/// The names of a server's matches, at most [`MAX_MATCHES`], in the server's order.
#[derive(Clone, Debug, PartialEq, Eq, Encode)]
pub struct MatchNames(Vec<MatchName>);

impl MatchNames {
    /// The first [`MAX_MATCHES`] of these names.
    pub fn new(names: impl IntoIterator<Item = MatchName>) -> Self {
        Self(names.into_iter().take(MAX_MATCHES).collect())
    }

    /// The names.
    pub fn as_slice(&self) -> &[MatchName] {
        &self.0
    }
}

impl fmt::Display for MatchNames {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(MatchName::as_str).collect();
        formatter.write_str(&names.join(", "))
    }
}

impl<Context> Decode<Context> for MatchNames {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let count = u64::decode(decoder)?;
        if count > MAX_MATCHES as u64 {
            return Err(DecodeError::Other("too many matches"));
        }
        (0..count).map(|_| MatchName::decode(decoder)).collect::<Result<_, _>>().map(Self)
    }
}

bincode::impl_borrow_decode!(MatchNames);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_a_url_and_a_label() {
        for good in ["duel", "A", "King_of-the-Hill-2", &"x".repeat(32)] {
            assert_eq!(good.parse::<MatchName>().unwrap().as_str(), good);
        }
        for bad in ["", "a b", "a/b", "ä", "a\"", "a.b", "&", &"x".repeat(33)] {
            let error = bad.parse::<MatchName>().unwrap_err().to_string();
            assert!(error.contains("letters and digits"), "{error}");
        }
    }
}
