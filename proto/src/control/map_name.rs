//! Map names.

use bincode::Encode;

use super::checked_text::checked_text;

/// Limit in bytes of a map's name.
pub const MAX_MAP_NAME: usize = 64;

/// A map's name for people to read. The [`super::MapHash`] identifies the map.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode)]
pub struct MapName(String);

impl MapName {
    /// The name, cut to [`MAX_MAP_NAME`] bytes.
    pub fn new(name: &str) -> Self {
        let mut cut = name.to_owned();
        while cut.len() > MAX_MAP_NAME {
            cut.pop();
        }
        Self(cut)
    }
}

checked_text!(
    MapName,
    |name| (name.len() <= MAX_MAP_NAME).then_some(Self(name)),
    "the map's name is too long"
);
