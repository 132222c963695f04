use super::Lead;
use crate::bits::{BitReader, BitWriter};
use crate::{DatagramError, Tick};

/// What a datagram is: its first two bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramKind {
    /// From the server.
    Snapshot = 0,
    /// From a client.
    Commands = 1,
}

impl DatagramKind {
    /// Reads a kind that must be this one.
    pub(crate) fn expect(self, reader: &mut BitReader<'_>) -> Result<(), DatagramError> {
        match reader.read(2)? {
            kind if kind == self as u32 => Ok(()),
            kind => Err(DatagramError::UnknownKind { kind }),
        }
    }
}

/// Bytes of a snapshot's header.
pub const HEADER_BYTES: usize = 6;

/// Where in the header the number of records is, which is known last.
const COUNT_BYTE: usize = 5;

/// What a snapshot begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The tick it is of.
    pub tick: Tick,
    /// Whether a digest ends it.
    pub has_digest: bool,
    /// Whether the client's own motion follows.
    pub has_motion: bool,
    /// Bits of a slot number in it, 0 to 12.
    pub slot_bits: u32,
    /// How early the client's commands arrive.
    pub lead: Option<Lead>,
    /// How many ticks before its own the baseline of most of its records is;
    /// 0 if they have none in common.
    pub common_age: u8,
    /// How many records follow.
    pub records: u8,
}

impl Header {
    /// Writes it at the beginning of a datagram.
    pub fn write(&self, writer: &mut BitWriter) {
        writer.write(DatagramKind::Snapshot as u32, 2);
        writer.write_bit(self.has_digest);
        writer.write(self.slot_bits, 4);
        writer.write_bit(self.has_motion);
        writer.write(self.tick.low_bits().into(), 16);
        writer.write(Lead::to_byte(self.lead).into(), 8);
        writer.write(self.common_age.into(), 8);
        writer.write(self.records.into(), 8);
    }

    /// Corrects the number of records in a header already written.
    pub fn set_records(writer: &mut BitWriter, records: u8) {
        writer.replace_byte(COUNT_BYTE, records);
    }

    /// Reads it; `near` is a tick that the sender cannot be far from.
    ///
    /// # Errors
    /// It ends early, or has a value no header has.
    pub fn read(reader: &mut BitReader<'_>, near: Tick) -> Result<Self, DatagramError> {
        DatagramKind::Snapshot.expect(reader)?;
        let has_digest = reader.read_bit()?;
        let slot_bits = reader.read(4)?;
        if 1 << slot_bits > crate::MAX_SLOTS {
            return Err(DatagramError::OutOfRange { field: "slot bits" });
        }
        let has_motion = reader.read_bit()?;
        let tick = Tick::from_low_bits(reader.read(16)? as u16, near)
            .ok_or(DatagramError::OutOfRange { field: "tick" })?;
        let lead = Lead::from_byte(reader.read(8)? as u8);
        let common_age = reader.read(8)? as u8;
        let records = reader.read(8)? as u8;
        Ok(Self { tick, has_digest, has_motion, slot_bits, lead, common_age, records })
    }
}
