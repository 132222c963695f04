//! The reading direction of the range coder.

use super::encoder::shortest;
use super::{Coder, MIN_RANGE, Probability, RAW_STEP};
use crate::DatagramError;

/// Reads the values that an [`Encoder`](super::Encoder) wrote with the same table. It returns only
/// values that can be written, even if the bytes are arbitrary. Bytes beyond the last one count as
/// zeros.
#[derive(Clone, Debug)]
pub struct Decoder<'a, const N: usize> {
    probabilities: [Probability; N],
    bytes: &'a [u8],
    /// The next byte to be read.
    next: usize,
    /// `low` and `range` are those of the encoder.
    low: u32,
    range: u32,
    /// The encoded number, less `low`.
    above: u32,
    /// Whether the encoded number was ever above the greatest number that can be written.
    is_beyond: bool,
}

impl<'a, const N: usize> Decoder<'a, N> {
    /// A decoder of these bytes, with initial probabilities `priors`.
    pub fn new(priors: &[u8; N], bytes: &'a [u8]) -> Self {
        let probabilities = priors.map(Probability::new);
        let (low, range, above) = (0, u32::MAX, 0);
        let mut decoder =
            Self { probabilities, bytes, next: 0, low, range, above, is_beyond: false };
        for _ in 0..4 {
            decoder.above = decoder.above << 8 | decoder.next_byte();
        }
        decoder.is_beyond = decoder.above >= decoder.range;
        decoder
    }

    /// Checks that the bytes are exactly those that the encoder would have written.
    ///
    /// # Errors
    /// The bytes are too many or too few, or no encoder could have written them.
    pub fn finish(self) -> Result<(), DatagramError> {
        let ends_in_zero = self.bytes.last() == Some(&0);
        let goes_on = self.next < self.bytes.len();
        if ends_in_zero
            || goes_on
            || self.is_beyond
            || self.above != shortest(self.low, self.range).wrapping_sub(self.low)
        {
            return Err(DatagramError::Trailing);
        }
        Ok(())
    }

    fn next_byte(&mut self) -> u32 {
        let byte = self.bytes.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        byte.into()
    }

    #[inline]
    fn normalise(&mut self) {
        while self.range < MIN_RANGE {
            self.above = self.above << 8 | self.next_byte();
            self.low <<= 8;
            self.range <<= 8;
        }
    }
}

impl<const N: usize> Coder for Decoder<'_, N> {
    #[inline]
    fn bit(&mut self, probability: usize, _: bool) -> bool {
        let probability = &mut self.probabilities[probability];
        let share = probability.share(self.range);
        let bit = self.above < share;
        probability.adapt(bit);
        if bit {
            self.range = share;
        } else {
            self.low = self.low.wrapping_add(share);
            self.above -= share;
            self.range -= share;
        }
        self.normalise();
        bit
    }

    #[inline]
    fn raw(&mut self, _: u32, mut width: u32) -> u32 {
        let (mut value, mut shift) = (0, 0);
        while width > 0 {
            let step = width.min(RAW_STEP);
            self.range >>= step;
            // A number above the greatest one that can be written is taken as the last symbol.
            let part = (self.above / self.range).min((1 << step) - 1);
            self.low = self.low.wrapping_add(part * self.range);
            self.above -= part * self.range;
            self.is_beyond |= self.above >= self.range;
            self.normalise();
            value |= part << shift;
            shift += step;
            width -= step;
        }
        value
    }
}
