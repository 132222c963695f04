//! The means by which a player died.

use std::fmt;

use bincode::de::Decoder;
use bincode::error::DecodeError;
use bincode::{Decode, Encode};

/// Limit in bytes of the name of a means.
pub const MAX_MEANS: usize = 32;

/// The means by which a player died, by the name that the game gives it: `ray`, `rocket` and
/// `grenade` in the arena. It is empty if the game gives none.
///
/// ```
/// use obsp_proto::control::Means;
///
/// assert_eq!(Means::new("lift-shaft").as_str(), "lift-shaft");
/// assert_eq!(Means::new("a pit!").as_str(), "apit");
/// assert_eq!(Means::default(), Means::new(""));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Encode)]
pub struct Means(String);

/// Whether a name may have this byte, as in names of a schema.
fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

impl Means {
    /// The means of this name, without the characters that it must not have (it may have letters
    /// and digits of ASCII, `_`, `-` and `.`), cut to [`MAX_MEANS`].
    pub fn new(name: &str) -> Self {
        let allowed = name.bytes().filter(|&byte| is_allowed(byte)).take(MAX_MEANS);
        Self(allowed.map(char::from).collect())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Means {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<Context> Decode<Context> for Means {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let name = String::decode(decoder)?;
        if name.len() > MAX_MEANS || !name.bytes().all(is_allowed) {
            return Err(DecodeError::Other("the name of a means of death is not valid"));
        }
        Ok(Self(name))
    }
}

bincode::impl_borrow_decode!(Means);
