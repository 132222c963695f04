//! The writing direction of the range coder.

use super::{Coder, MIN_RANGE, Probability, RAW_STEP};

/// Writes values with a table of probabilities. Each encoder starts with the initial table.
#[derive(Clone, Debug)]
pub struct Encoder<const N: usize> {
    probabilities: [Probability; N],
    bytes: Vec<u8>,
    /// Index in `bytes` at which coding began. No carry propagates to earlier bytes.
    start: usize,
    /// The smallest number that encodes the values, without the part in `bytes`.
    low: u32,
    /// The count of numbers, from `low` on, that encode the values.
    range: u32,
}

impl<const N: usize> Encoder<N> {
    /// An encoder that appends to `bytes`, with initial probabilities `priors`.
    pub fn new(priors: &[u8; N], bytes: Vec<u8>) -> Self {
        let probabilities = priors.map(Probability::new);
        Self { probabilities, start: bytes.len(), bytes, low: 0, range: u32::MAX }
    }

    /// Upper bound of the bytes that [`Encoder::finish`] would return now.
    pub fn length(&self) -> usize {
        self.bytes.len() + 4
    }

    /// The fewest bytes that encode the values. A reader takes missing bytes as zeros.
    pub fn finish(mut self) -> Vec<u8> {
        let last = shortest(self.low, self.range);
        self.add(last.wrapping_sub(self.low));
        self.bytes.extend(self.low.to_be_bytes());
        while self.bytes.len() > self.start && self.bytes.last() == Some(&0) {
            self.bytes.pop();
        }
        self.bytes
    }

    #[inline]
    fn add(&mut self, amount: u32) {
        let (low, carries) = self.low.overflowing_add(amount);
        self.low = low;
        if carries {
            for byte in self.bytes[self.start..].iter_mut().rev() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
    }

    #[inline]
    fn normalise(&mut self) {
        while self.range < MIN_RANGE {
            self.bytes.push((self.low >> 24) as u8);
            self.low <<= 8;
            self.range <<= 8;
        }
    }
}

/// The number with the most zero bytes at its end among the `range` numbers from `low` on,
/// modulo 2^32; the least if there are several.
pub(super) fn shortest(low: u32, range: u32) -> u32 {
    [32, 24, 16, 8]
        .into_iter()
        .map(|zeros| low.wrapping_add(distance(low, zeros)))
        .find(|candidate| candidate.wrapping_sub(low) < range)
        .unwrap_or(low)
}

/// The distance from `low` to the next number that ends with `zeros` zero bits.
fn distance(low: u32, zeros: u32) -> u32 {
    let mask = u32::MAX >> (32 - zeros);
    low.wrapping_neg() & mask
}

impl<const N: usize> Coder for Encoder<N> {
    #[inline]
    fn bit(&mut self, probability: usize, bit: bool) -> bool {
        let probability = &mut self.probabilities[probability];
        let share = probability.share(self.range);
        probability.adapt(bit);
        if bit {
            self.range = share;
        } else {
            self.add(share);
            self.range -= share;
        }
        self.normalise();
        bit
    }

    #[inline]
    fn raw(&mut self, value: u32, mut width: u32) -> u32 {
        // The lowest bits first.
        let mut left = value;
        while width > 0 {
            let step = width.min(RAW_STEP);
            self.range >>= step;
            self.add((left & ((1 << step) - 1)) * self.range);
            self.normalise();
            left >>= step;
            width -= step;
        }
        value
    }
}
