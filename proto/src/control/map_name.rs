//! Map names.

use std::fmt;

use bincode::de::Decoder;
use bincode::error::DecodeError;
use bincode::{Decode, Encode};

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

    /// The text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MapName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<Context> Decode<Context> for MapName {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let name = String::decode(decoder)?;
        if name.len() > MAX_MAP_NAME {
            return Err(DecodeError::Other("the map's name is too long"));
        }
        Ok(Self(name))
    }
}

bincode::impl_borrow_decode!(MapName);
