//! The means by which a player died.

use bincode::Encode;

use super::checked_text::checked_text;

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
}

checked_text!(
    Means,
    |name| {
        let is_valid = name.len() <= MAX_MEANS && name.bytes().all(is_allowed);
        is_valid.then_some(Self(name))
    },
    "the name of a means of death is not valid"
);
