//! An adaptive binary range coder. Likely bits cost little.
//!
//! [`Coder`] is one interface for both directions, so that a layout is written once. A writer
//! passes each value to the coder. A reader passes any value and gets back the value that was
//! written. All arithmetic is in 32-bit integers (`PROTOCOL.md`, "Range coding").
//!
//! The coder is Martin's (1979) in the binary form of Pavlov's LZMA. A carry propagates into the
//! bytes already written, and the reader needs no division for a bit.

mod decoder;
mod encoder;

pub use decoder::Decoder;
pub use encoder::Encoder;

/// The adaptive probability that a bit is 1, in 65,536ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Probability(u16);

/// Shift for the adaptation of a probability: each coded bit moves it by 1/32 of the difference.
const ADAPTATION: u32 = 5;

/// Lower limit of the range. Bytes are shifted out to keep the range above it.
const MIN_RANGE: u32 = 1 << 24;

/// Maximum number of bits that are coded at once without a probability.
const RAW_STEP: u32 = 16;

impl Probability {
    /// The initial probability from a table, in 256ths, 1 to 255.
    fn new(prior: u8) -> Self {
        debug_assert!(prior > 0);
        Self(u16::from(prior) << 8)
    }

    /// The part of the range that a 1 takes. It is neither nothing nor all of the range.
    fn share(self, range: u32) -> u32 {
        (range >> 16) * u32::from(self.0)
    }

    fn adapt(&mut self, bit: bool) {
        if bit {
            self.0 += ((65_536 - u32::from(self.0)) >> ADAPTATION) as u16;
        } else {
            self.0 -= self.0 >> ADAPTATION;
        }
    }
}

/// The probabilities by which a number below a limit is coded. First comes its width in bits, in
/// unary with a probability for each step, then its bits below the highest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Index in the table of its first probability.
    pub at: usize,
    /// Maximum width of the number in bits, which is also its number of probabilities; at most 16.
    pub width: usize,
}

/// Codes bits in either direction; see the module.
pub trait Coder {
    /// Codes a bit with a probability of the table.
    fn bit(&mut self, probability: usize, bit: bool) -> bool;

    /// Codes `width` bits, at most 32, all of whose values are equally likely.
    fn raw(&mut self, value: u32, width: u32) -> u32;

    /// Codes a number with at most `number.width` bits.
    #[inline]
    fn number(&mut self, number: Number, value: u32) -> u32 {
        let wanted = (u32::BITS - value.leading_zeros()) as usize;
        let mut width = 0;
        while width < number.width && self.bit(number.at + width, width < wanted) {
            width += 1;
        }
        if width < 2 {
            return width as u32;
        }
        let rest = width as u32 - 1;
        1 << rest | self.raw(value & ((1 << rest) - 1), rest)
    }

    /// Codes a signed number: its magnitude as [`Coder::number`], then the sign.
    #[inline]
    fn signed(&mut self, number: Number, value: i32) -> i32 {
        let magnitude = self.number(number, value.unsigned_abs()) as i32;
        if magnitude != 0 && self.raw(u32::from(value < 0), 1) != 0 {
            return -magnitude;
        }
        magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DatagramError;

    const TABLE: [u8; 20] = [128; 20];
    const NUMBER: Number = Number { at: 3, width: 16 };

    /// Codes values of all kinds.
    fn mixture(coder: &mut impl Coder, count: u32, value: impl Fn(u32) -> u32) -> Vec<u32> {
        let mut coded = Vec::new();
        for step in 0..count {
            let value = value(step);
            coded.push(coder.bit((step % 3) as usize, value.is_multiple_of(7)).into());
            coded.push(coder.raw(value, 32));
            coded.push(coder.raw(value & 7, 3));
            coded.push(coder.number(NUMBER, value >> (16 + value % 16)));
            coded.push(coder.signed(NUMBER, value as i32 >> (16 + value % 16)) as u32);
        }
        coded
    }

    fn hashed(step: u32) -> u32 {
        step.wrapping_mul(0x9e37_79b9).rotate_left(step % 32)
    }

    #[test]
    fn written_values_are_read_back_and_other_bytes_are_rejected() {
        for count in 0..60 {
            let mut encoder = Encoder::new(&TABLE, vec![7, 7]);
            let written = mixture(&mut encoder, count, hashed);
            let bytes = encoder.finish();
            let mut decoder = Decoder::new(&TABLE, &bytes[2..]);
            assert_eq!(mixture(&mut decoder, count, |_| 0), written);
            assert_eq!(decoder.finish(), Ok(()));
            for more in [&[][..], &[0], &[1], &[255], &[0, 0, 0, 0, 1]] {
                let shorter = usize::from(more.is_empty() && bytes.len() > 2);
                let other = [&bytes[2..bytes.len() - shorter], more].concat();
                let mut decoder = Decoder::new(&TABLE, &other);
                let same = mixture(&mut decoder, count, |_| 0) == written;
                let refused = decoder.finish() == Err(DatagramError::Trailing);
                assert!(refused || !same || other == bytes[2..], "{count} {more:?}");
                assert!(refused || more != [0], "{count}");
            }
        }
    }

    /// Fuzzing found this defect. Symptom: a number above the greatest possible one was taken for
    /// the greatest one, and the excess was lost before the check at the end.
    #[test]
    fn numbers_that_no_writer_produces_are_rejected() {
        let bytes = [0xff, 0xff, 0xff, 0xff, 0xe3, 0x00, 0x0f];
        let mut decoder = Decoder::new(&TABLE, &bytes);
        for width in [22, 22, 22, 22] {
            decoder.raw(0, width);
        }
        assert_eq!(decoder.finish(), Err(DatagramError::Trailing));
    }

    #[test]
    fn a_carry_propagates_through_bytes_already_written() {
        // The test codes the least likely bit many times, then the likeliest one, so that `low` is
        // often near the end of the range.
        for zeros in 0..200 {
            let mut encoder = Encoder::new(&TABLE, Vec::new());
            let bits: Vec<bool> = (0..400).map(|step| step % 200 >= zeros).collect();
            bits.iter().for_each(|&bit| {
                encoder.bit(0, bit);
            });
            let bytes = encoder.finish();
            let mut decoder = Decoder::new(&TABLE, &bytes);
            assert!(bits.iter().all(|&bit| decoder.bit(0, false) == bit), "{zeros}");
            assert_eq!(decoder.finish(), Ok(()));
        }
    }

    #[test]
    fn likely_bits_cost_little() {
        let mut encoder = Encoder::new(&[250; 1], Vec::new());
        (0..1000).for_each(|_| {
            encoder.bit(0, true);
        });
        let length = encoder.finish().len();
        assert!(length < 6, "{length} bytes");
    }
}
