//! Bits in and out of datagrams: the lowest bit of a value goes first, into
//! the lowest free bit of a byte. The reader trusts nothing.

mod reader;
mod writer;

pub use reader::BitReader;
pub use writer::{BitWriter, Mark};

/// The integer without a sign that stands for a signed one: 0, -1, 1, -2, …
/// become 0, 1, 2, 3, …
fn zigzag(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)) as u32
}

/// The signed integer that [`zigzag`] made this of.
fn unzigzag(value: u32) -> i32 {
    (value >> 1) as i32 ^ -((value & 1) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DatagramError;

    #[test]
    fn what_is_written_is_read() {
        let mut writer = BitWriter::new();
        let values: Vec<u32> =
            (0..32).flat_map(|bit| [1 << bit, (1 << bit) - 1, u32::MAX >> bit]).collect();
        for (index, &value) in values.iter().enumerate() {
            let width = 32 - value.leading_zeros();
            writer.write(value, width);
            writer.write_bit(index % 3 == 0);
            for order in [0, 2, 5, 20] {
                writer.write_count(value, order);
                writer.write_offset(value as i32, order);
            }
        }
        let bytes = writer.finish();
        let mut reader = BitReader::new(&bytes);
        for (index, &value) in values.iter().enumerate() {
            let width = 32 - value.leading_zeros();
            assert_eq!(reader.read(width), Ok(value));
            assert_eq!(reader.read_bit(), Ok(index % 3 == 0));
            for order in [0, 2, 5, 20] {
                assert_eq!(reader.read_count(order), Ok(value));
                assert_eq!(reader.read_offset(order), Ok(value as i32));
            }
        }
        assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn a_mark_takes_back_what_came_after_it() {
        for before in 0..20 {
            let mut writer = BitWriter::new();
            writer.write(0x000f_5a5a & ((1 << before) - 1), before);
            let mut expected = writer.clone();
            let mark = writer.mark();
            writer.write(u32::MAX, 32);
            writer.write(31, 5);
            writer.rewind(mark);
            assert_eq!(writer.bit_count(), before as usize);
            writer.write(1, 2);
            expected.write(1, 2);
            assert_eq!(writer.finish(), expected.finish());
        }
    }

    #[test]
    fn reading_past_the_end_is_an_error() {
        let mut reader = BitReader::new(&[0xff, 0x01]);
        assert_eq!(reader.read(15), Ok(0x1ff));
        assert_eq!(reader.read(2), Err(DatagramError::Truncated));
        assert_eq!(BitReader::new(&[]).read_bit(), Err(DatagramError::Truncated));
        assert_eq!(BitReader::new(&[0; 3]).read_count(0), Err(DatagramError::Truncated));
        let endless = DatagramError::OutOfRange { field: "count" };
        assert_eq!(BitReader::new(&[0; 9]).read_count(0), Err(endless));
        // 31 zeros and all ones stand for 2^32 - 1 with order 1 one too high.
        let mut writer = BitWriter::new();
        writer.write(0, 32);
        writer.write_bit(true);
        writer.write(u32::MAX, 32);
        assert_eq!(BitReader::new(&writer.finish()).read_count(0), Err(endless));
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
