//! A schema in the server's hello.

use bincode::de::Decoder;
use bincode::enc::write::SizeWriter;
use bincode::enc::{Encoder, EncoderImpl};
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};

use super::{Field, Schema, SchemaParts};

/// The fields of a schema in their encoding.
type Parts = (Vec<Field>, Vec<Field>, Vec<Field>, Vec<(String, Vec<Field>)>, Vec<String>);

/// Bytes of a schema on the wire.
pub(super) fn length(schema: &Schema) -> usize {
    let mut encoder = EncoderImpl::new(SizeWriter::default(), bincode::config::standard());
    // Counting bytes has no errors.
    let _ = schema.encode(&mut encoder);
    encoder.into_writer().bytes_written
}

impl Encode for Schema {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.of_match.encode(encoder)?;
        self.of_own_player.encode(encoder)?;
        self.of_players.encode(encoder)?;
        self.models.encode(encoder)?;
        self.events.encode(encoder)
    }
}

impl<Context> Decode<Context> for Schema {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let (of_match, of_own_player, of_players, models, events) = Parts::decode(decoder)?;
        Self::new(SchemaParts { of_match, of_own_player, of_players, models, events })
            .map_err(|error| DecodeError::OtherString(error.to_string()))
    }
}

bincode::impl_borrow_decode!(Schema);

impl Encode for Field {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.name().encode(encoder)?;
        self.least().encode(encoder)?;
        self.most().encode(encoder)
    }
}

impl<Context> Decode<Context> for Field {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let (name, least, most) = <(String, i32, i32)>::decode(decoder)?;
        Ok(Self::received(name, least, most))
    }
}

bincode::impl_borrow_decode!(Field);
