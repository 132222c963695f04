use super::zigzag;

/// Writes bits into bytes.
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that fill no byte yet, the first lowest.
    pending: u64,
    /// How many; less than 8 between calls.
    pending_bits: u32,
}

/// A place in what was written, to go back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    bytes: usize,
    pending: u64,
    pending_bits: u32,
}

impl BitWriter {
    /// A writer of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A writer of nothing yet that can hold this many bytes without growing.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ..Self::default() }
    }

    /// Writes the lowest `width` bits of `value`, at most 32; the others must
    /// be zero.
    pub fn write(&mut self, value: u32, width: u32) {
        debug_assert!(width <= 32 && u64::from(value) < 1 << width, "{value} in {width} bits");
        self.pending |= u64::from(value) << self.pending_bits;
        self.pending_bits += width;
        while self.pending_bits >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.pending_bits -= 8;
        }
    }

    /// Writes one bit.
    pub fn write_bit(&mut self, bit: bool) {
        self.write(u32::from(bit), 1);
    }

    /// Writes any integer, the small ones short: an exponential Golomb code
    /// of this order, at most 31, in which integers below 2^order take
    /// order + 1 bits.
    pub fn write_count(&mut self, value: u32, order: u32) {
        let shifted = u64::from(value) + (1 << order);
        let width = 63 - shifted.leading_zeros();
        self.write(0, width - order);
        self.write_bit(true);
        self.write((shifted - (1 << width)) as u32, width);
    }

    /// Writes any signed integer, those near zero short: their zigzag as a
    /// count of this order.
    pub fn write_offset(&mut self, value: i32, order: u32) {
        self.write_count(zigzag(value), order);
    }

    /// How many bits have been written.
    pub fn bit_count(&self) -> usize {
        self.bytes.len() * 8 + self.pending_bits as usize
    }

    /// Where the next bit goes.
    pub fn mark(&self) -> Mark {
        let Self { ref bytes, pending, pending_bits } = *self;
        Mark { bytes: bytes.len(), pending, pending_bits }
    }

    /// Takes back all that was written since `mark` was made.
    pub fn rewind(&mut self, mark: Mark) {
        self.bytes.truncate(mark.bytes);
        self.pending = mark.pending;
        self.pending_bits = mark.pending_bits;
    }

    /// Replaces a byte already written whole; does nothing if there is none.
    pub fn replace_byte(&mut self, index: usize, byte: u8) {
        if let Some(place) = self.bytes.get_mut(index) {
            *place = byte;
        }
    }

    /// The bytes; the last is filled up with zeros.
    pub fn finish(mut self) -> Vec<u8> {
        if self.pending_bits > 0 {
            self.bytes.push(self.pending as u8);
        }
        self.bytes
    }
}
