use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};
use obsp_sim::MovementParameters;

/// The numbers by which a server moves players on foot, to the bit: a client predicts by
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Movement([u64; 9]);

impl Movement {
    /// The numbers.
    pub fn parameters(&self) -> MovementParameters {
        // They were checked, or come from parameters.
        MovementParameters::from_array(self.0.map(f64::from_bits)).unwrap_or_default()
    }
}

impl From<MovementParameters> for Movement {
    fn from(parameters: MovementParameters) -> Self {
        Self(parameters.to_array().map(f64::to_bits))
    }
}

impl Default for Movement {
    fn default() -> Self {
        MovementParameters::default().into()
    }
}

impl Encode for Movement {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        let numbers = (*self != Self::default()).then(|| self.0.map(f64::from_bits));
        numbers.encode(encoder)
    }
}

impl<Context> Decode<Context> for Movement {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let Some(numbers) = Option::<[f64; 9]>::decode(decoder)? else {
            return Ok(Self::default());
        };
        MovementParameters::from_array(numbers)
            .map(Self::from)
            .map_err(|error| DecodeError::OtherString(error.to_string()))
    }
}

bincode::impl_borrow_decode!(Movement);

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(movement: Movement) -> Vec<u8> {
        bincode::encode_to_vec(movement, bincode::config::standard()).unwrap()
    }

    fn read(bytes: &[u8]) -> Result<Movement, DecodeError> {
        bincode::decode_from_slice(bytes, bincode::config::standard()).map(|(movement, _)| movement)
    }

    #[test]
    fn usual_numbers_cost_a_byte_and_others_survive_to_the_bit() {
        assert_eq!(bytes(Movement::default()), [0]);
        let odd = MovementParameters { run_speed: 0.1 + 320.0, ..MovementParameters::default() };
        assert_eq!(read(&bytes(odd.into())).unwrap().parameters(), odd);
        let mut wrong = bytes(odd.into());
        wrong[1..9].copy_from_slice(&f64::NAN.to_le_bytes());
        assert!(read(&wrong).unwrap_err().to_string().contains("run_speed"));
    }
}
