//! Reads and writes the integers of QUIC.

/// A reader of bytes. Its field has the bytes that are still to be read.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    /// The next byte.
    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// The next `length` bytes; `None` if fewer are left.
    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// An integer of variable length (RFC 9000, section 16).
    pub(super) fn integer(&mut self) -> Option<u64> {
        let first = *self.0.first()?;
        let bytes = self.take(1 << (first >> 6))?;
        let value = bytes.iter().fold(0, |value: u64, byte| (value << 8) | u64::from(*byte));
        Some(value & (u64::MAX >> (64 - 8 * bytes.len() + 2)))
    }

    /// The bytes that follow their length, which is an integer of variable length.
    pub(super) fn counted(&mut self) -> Option<&'a [u8]> {
        let length = self.integer()?;
        self.take(usize::try_from(length).ok()?)
    }
}

/// Writes an integer of variable length.
pub(super) fn write_integer(bytes: &mut Vec<u8>, value: u64) {
    match value {
        0..0x40 => bytes.push(value as u8),
        0x40..0x4000 => bytes.extend((value as u16 | 0x4000).to_be_bytes()),
        0x4000..0x4000_0000 => bytes.extend((value as u32 | 0x8000_0000).to_be_bytes()),
        _ => bytes.extend((value | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The samples of RFC 9000, appendix A.1.
    #[test]
    fn integers_are_those_of_the_specification() {
        let samples: [(&[u8], u64); 4] = [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
        ];
        for (bytes, value) in samples {
            assert_eq!(Reader(bytes).integer(), Some(value));
            let mut written = Vec::new();
            write_integer(&mut written, value);
            assert_eq!(written, bytes);
            assert_eq!(Reader(&bytes[..bytes.len() - 1]).integer(), None);
        }
    }
}
