//! Writes bit streams.

/// Writes bits into bytes.
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// The bits of the unfinished byte. The bit written first is the lowest.
    pending: u64,
    /// Number of pending bits; less than 8 between calls.
    pending_bits: u32,
}

impl BitWriter {
    /// An empty writer.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty writer with room for this many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ..Self::default() }
    }

    /// Writes the lowest `width` bits of `value`. The width is at most 32, and the higher bits must
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

    /// The bytes written. Zero bits fill up the last one.
    pub fn finish(mut self) -> Vec<u8> {
        if self.pending_bits > 0 {
            self.bytes.push(self.pending as u8);
        }
        self.bytes
    }
}
