//! A schema in the server's hello.

use bincode::de::Decoder;
use bincode::enc::write::SizeWriter;
use bincode::enc::{Encoder, EncoderImpl};
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};

use super::{Action, EventKind, Field, Hint, Schema, SchemaParts};

/// The fields of a schema in their encoding.
type Parts =
    (Vec<Field>, Vec<Field>, Vec<Field>, Vec<(String, Vec<Field>)>, Vec<EventKind>, Vec<Action>);

/// Bytes of a schema on the wire.
pub(super) fn length(schema: &Schema) -> usize {
    let mut encoder = EncoderImpl::new(SizeWriter::default(), bincode::config::standard());
    // Counting bytes has no errors.
    let _ = schema.encode(&mut encoder);
    encoder.into_writer().bytes_written
}

impl Schema {
    /// The schema as a hello has it.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Plain numbers and texts always have an encoding.
        bincode::encode_to_vec(self, bincode::config::standard()).unwrap_or_default()
    }
}

impl Encode for Schema {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.of_match.encode(encoder)?;
        self.of_own_player.encode(encoder)?;
        self.of_players.encode(encoder)?;
        self.models.encode(encoder)?;
        self.events.encode(encoder)?;
        self.actions.encode(encoder)
    }
}

impl<Context> Decode<Context> for Schema {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let (of_match, of_own_player, of_players, models, events, actions) =
            Parts::decode(decoder)?;
        Self::new(SchemaParts { of_match, of_own_player, of_players, models, events, actions })
            .map_err(|error| DecodeError::OtherString(error.to_string()))
    }
}

bincode::impl_borrow_decode!(Schema);

impl Encode for Field {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.name().encode(encoder)?;
        self.least().encode(encoder)?;
        self.most().encode(encoder)?;
        self.hint().encode(encoder)
    }
}

impl<Context> Decode<Context> for Field {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let (name, least, most, hint) = <(String, i32, i32, Hint)>::decode(decoder)?;
        Ok(Self::received(name, least, most, hint))
    }
}

bincode::impl_borrow_decode!(Field);
