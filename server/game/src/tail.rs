//! An optional last part of a game's state.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The last part of a game's state, which takes no bytes while it is not used. So a match that does
/// without it has the digests and the saved bytes that it had before the game knew this part.
///
/// It has to be the last part of the state, because its absence shows by the end of the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tail<T>(pub(crate) Option<T>);

/// The byte that comes before the part.
const MARK: u8 = 1;

impl<T> Default for Tail<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Serialize> Serialize for Tail<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            None => serializer.serialize_unit(),
            Some(part) => (MARK, part).serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Tail<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_tuple(2, Part(PhantomData))
    }
}

struct Part<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Part<T> {
    type Value = Tail<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the end, or the last part of a state")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Tail<T>, A::Error> {
        // Reading one byte fails only at the end of the bytes.
        match parts.next_element::<u8>() {
            Err(_) | Ok(None) => Ok(Tail(None)),
            Ok(Some(MARK)) => {
                let part = parts.next_element()?;
                Ok(Tail(Some(part.ok_or_else(|| A::Error::custom("its last part is missing"))?)))
            }
            Ok(Some(mark)) => Err(A::Error::custom(format!("an unknown last part, {mark}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use bincode::serde::{decode_from_slice, encode_to_vec};

    use super::*;
    use crate::save::wire;

    type State = (u32, Tail<Vec<u32>>);

    #[test]
    fn an_unused_tail_takes_no_bytes_and_a_damaged_one_is_refused() {
        let read = |bytes: &[u8]| decode_from_slice::<State, _>(bytes, wire());
        let unused: State = (7, Tail::default());
        let bytes = encode_to_vec(&unused, wire()).unwrap();
        assert_eq!(bytes, encode_to_vec(7_u32, wire()).unwrap());
        assert_eq!(read(&bytes).unwrap(), (unused, bytes.len()));

        let used: State = (7, Tail(Some(vec![1, 2, 3])));
        let bytes = encode_to_vec(&used, wire()).unwrap();
        assert_eq!(read(&bytes).unwrap(), (used, bytes.len()));
        for length in 2..bytes.len() {
            read(&bytes[..length]).unwrap_err();
        }
        let mut other = bytes;
        other[1] = 9;
        assert!(read(&other).unwrap_err().to_string().contains("an unknown last part, 9"));
    }
}
