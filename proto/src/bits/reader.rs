//! Reads bit streams.

use crate::DatagramError;

/// Reads bits from untrusted bytes.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// Number of bits read.
    position: usize,
}

impl<'a> BitReader<'a> {
    /// A reader at the first bit.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Reads `width` bits, at most 32.
    ///
    /// # Errors
    /// Fewer than `width` bits are left.
    pub fn read(&mut self, width: u32) -> Result<u32, DatagramError> {
        let end = self.position + width as usize;
        if end > self.bytes.len() * 8 {
            return Err(DatagramError::Truncated);
        }
        // 32 bits that start anywhere in a byte touch five bytes at most.
        let first = self.position / 8;
        let mut window = [0; 8];
        let touched = (self.bytes.len() - first).min(5);
        window[..touched].copy_from_slice(&self.bytes[first..first + touched]);
        let shifted = u64::from_le_bytes(window) >> (self.position % 8);
        self.position = end;
        Ok((shifted & ((1 << width) - 1)) as u32)
    }

    /// Reads one bit.
    ///
    /// # Errors
    /// No bit is left.
    pub fn read_bit(&mut self) -> Result<bool, DatagramError> {
        Ok(self.read(1)? == 1)
    }

    /// Checks that everything has been read.
    ///
    /// # Errors
    /// The padding of the last byte is not zero, or whole bytes are left.
    pub fn finish(mut self) -> Result<(), DatagramError> {
        let left = self.bytes.len() * 8 - self.position;
        if left >= 8 || self.read(left as u32)? != 0 {
            return Err(DatagramError::Trailing);
        }
        Ok(())
    }
}
