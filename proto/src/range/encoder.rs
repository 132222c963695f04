use super::{Chance, Coder, LEAST_RANGE, RAW_STEP};

/// Writes by a table of chances that begins anew with each encoder.
#[derive(Clone, Debug)]
pub struct Encoder<const N: usize> {
    chances: [Chance; N],
    bytes: Vec<u8>,
    /// Where in `bytes` coding began: no carry goes beyond.
    start: usize,
    /// The least number that stands for what was coded, but for the bytes.
    low: u32,
    /// How many numbers from there do.
    range: u32,
}

impl<const N: usize> Encoder<N> {
    /// An encoder that adds to `bytes`, with chances as `priors` gives them.
    pub fn new(priors: &[u8; N], bytes: Vec<u8>) -> Self {
        let chances = priors.map(Chance::new);
        Self { chances, start: bytes.len(), bytes, low: 0, range: u32::MAX }
    }

    /// Bytes that [`Encoder::finish`] would give now, at most.
    pub fn length(&self) -> usize {
        self.bytes.len() + 4
    }

    /// The fewest bytes that say what was coded: a reader takes what is missing
    /// for zeros.
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
        while self.range < LEAST_RANGE {
            self.bytes.push((self.low >> 24) as u8);
            self.low <<= 8;
            self.range <<= 8;
        }
    }
}

/// Of the `range` numbers from `low`, modulo 2^32, the one with the most zero
/// bytes at its end; of several the least.
pub(super) fn shortest(low: u32, range: u32) -> u32 {
    [32, 24, 16, 8]
        .into_iter()
        .map(|zeros| low.wrapping_add(distance(low, zeros)))
        .find(|candidate| candidate.wrapping_sub(low) < range)
        .unwrap_or(low)
}

/// How far the next number is, from `low` on, that ends with so many zero bits.
fn distance(low: u32, zeros: u32) -> u32 {
    let mask = u32::MAX >> (32 - zeros);
    low.wrapping_neg() & mask
}

impl<const N: usize> Coder for Encoder<N> {
    #[inline]
    fn bit(&mut self, chance: usize, bit: bool) -> bool {
        let chance = &mut self.chances[chance];
        let share = chance.share(self.range);
        chance.adapt(bit);
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
