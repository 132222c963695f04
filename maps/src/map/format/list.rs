//! Sequences of an `.obsp` body.

use bincode::de::BorrowDecoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{BorrowDecode, Decode, Encode};

/// A list that allocates memory when its items arrive, never for the length that the bytes claim.
pub(super) struct List<T>(pub(super) Vec<T>);

impl<T: Encode> Encode for List<T> {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        (self.0.len() as u64).encode(encoder)?;
        self.0.iter().try_for_each(|item| item.encode(encoder))
    }
}

impl<'de, C, T: BorrowDecode<'de, C>> BorrowDecode<'de, C> for List<T> {
    fn borrow_decode<D: BorrowDecoder<'de, Context = C>>(
        decoder: &mut D,
    ) -> Result<Self, DecodeError> {
        let length = u64::decode(decoder)?;
        let mut items = Vec::new();
        // Every item takes at least a byte, so the loop ends with the input.
        for _ in 0..length {
            items.push(T::borrow_decode(decoder)?);
        }
        Ok(Self(items))
    }
}
