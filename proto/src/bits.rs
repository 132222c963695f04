//! Bit streams of datagrams: the lowest bit of a value goes first, into the lowest free
//! bit of a byte. The reader accepts any bytes and never panics.

mod reader;
mod writer;

pub use reader::BitReader;
pub use writer::BitWriter;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DatagramError;

    #[test]
    fn written_bits_are_read_back() {
        let mut writer = BitWriter::new();
        let values: Vec<u32> =
            (0..32).flat_map(|bit| [1 << bit, (1 << bit) - 1, u32::MAX >> bit]).collect();
        for (index, &value) in values.iter().enumerate() {
            let width = 32 - value.leading_zeros();
            writer.write(value, width);
            writer.write_bit(index % 3 == 0);
        }
        let bytes = writer.finish();
        let mut reader = BitReader::new(&bytes);
        for (index, &value) in values.iter().enumerate() {
            let width = 32 - value.leading_zeros();
            assert_eq!(reader.read(width), Ok(value));
            assert_eq!(reader.read_bit(), Ok(index % 3 == 0));
        }
        assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn reading_past_the_end_is_an_error() {
        let mut reader = BitReader::new(&[0xff, 0x01]);
        assert_eq!(reader.read(15), Ok(0x1ff));
        assert_eq!(reader.read(2), Err(DatagramError::Truncated));
        assert_eq!(BitReader::new(&[]).read_bit(), Err(DatagramError::Truncated));
    }

    #[test]
    fn bytes_or_ones_after_the_end_are_an_error() {
        let mut reader = BitReader::new(&[0x01, 0]);
        assert_eq!(reader.read(3), Ok(1));
        assert_eq!(reader.finish(), Err(DatagramError::Trailing));
        let mut reader = BitReader::new(&[0x09]);
        assert_eq!(reader.read(3), Ok(1));
        assert_eq!(reader.finish(), Err(DatagramError::Trailing));
        let mut reader = BitReader::new(&[0x01]);
        assert_eq!(reader.read(3), Ok(1));
        assert_eq!(reader.finish(), Ok(()));
    }
}
